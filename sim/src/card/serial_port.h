// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"

#include <cstdint>
#include <deque>
#include <string>

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

// A pseudo terminal that a program opens like the device file of a serial port.
class SerialPort {
  public:
    // Makes a symbolic link at `path`, which is removed at the end. Throws UsageError, also if `path` exists.
    explicit SerialPort(const std::string &path);
    ~SerialPort();

    // Sends `bytes`, and appends what came to `received`. Waits until something comes, `other` is readable, or
    // `milliseconds` have passed.
    void exchange(std::deque<uint8_t> &bytes, std::deque<uint8_t> &received, int other, int milliseconds);

  private:
    Fd host_, card_;  // Both ends: the port stays as it is while no program has it open.
    std::string path_;
};

}  // namespace litepcie::soft
