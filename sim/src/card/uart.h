// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <deque>

namespace litepcie::soft {

// The other end of a card's serial port: 8 data bits, no parity, one stop bit, the lowest bit first.
class Uart {
  public:
    // `cycles`: length of a bit.
    explicit Uart(unsigned cycles) : cycles_(cycles) {}

    // A cycle: takes the level that the card sends, and returns the one that it receives.
    bool step(bool line) {
        receive(line);
        return send();
    }

    std::deque<uint8_t> to_card, from_card;
    bool idle() const { return !left_ && to_card.empty() && !receiving_; }

  private:
    static constexpr unsigned kBits = 10;  // with start and stop bit

    void receive(bool line) {
        if (!receiving_) {
            if (!line)
                receiving_ = kBits, sample_in_ = cycles_ / 2;
            return;
        }
        if (sample_in_--)
            return;
        sample_in_ = cycles_ - 1;
        bits_in_ = uint16_t(bits_in_ >> 1 | (line ? 1u << (kBits - 1) : 0));
        // A stop bit that is 0 is a broken byte.
        if (--receiving_ == 0 && line)
            from_card.push_back(uint8_t(bits_in_ >> 1));
    }

    bool send() {
        if (!left_ && !to_card.empty()) {
            bits_out_ = uint16_t(1u << (kBits - 1) | to_card.front() << 1);
            to_card.pop_front();
            left_ = kBits * cycles_;
        }
        if (!left_)
            return true;
        return bits_out_ >> (kBits - 1 - --left_ / cycles_) & 1;
    }

    unsigned cycles_, receiving_ = 0, sample_in_ = 0, left_ = 0;
    uint16_t bits_in_ = 0, bits_out_ = 0;
};

}  // namespace litepcie::soft
