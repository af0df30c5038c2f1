// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/root_port.h"
#include "tlp/random_tlps.h"

#include <algorithm>
#include <deque>

namespace litepcie::lane {

// A card's end of a lane. It trains because it sends back each training set that comes, and it has a data link layer.
// While `hostile`, it adds to that whatever a broken card could send.
class HostilePartner {
  public:
    explicit HostilePartner(uint64_t seed) : transmitter_(seed), random_(seed) { reset(); }

    // As after power-on: correct, and with nothing of before.
    void reset() {
        hostile = false;
        DataLinkOptions options;
        options.greedy = true;
        link = DataLink(options);
        raw_.clear();
        transmitter_.cut();
        receiver_ = Receiver();
        begin();
    }
    Symbol step(Symbol symbol) {
        take(symbol);
        link.advance(linked_, linked_ && !sets_);
        return give();
    }

    // Sends the first symbols of a packet after all that was asked for before.
    void add(const Packet &packet, size_t most = SIZE_MAX) {
        Transmitter symbols(1);
        symbols.scrambler.off = true;
        for (symbols.load(packet); !symbols.empty() && most; most--)
            add(symbols.pop(), 1, false);
    }

    bool hostile = false;
    DataLink link{DataLinkOptions()};

  private:
    void begin() {
        set_ = TrainingSet();
        sets_ = true;
        linked_ = false;
    }
    void take(Symbol symbol) {
        if (symbol == kSilence) {
            receiver_.silence();
            if (++silence_ == 64)
                begin();
            return;
        }
        silence_ = 0;
        const Received what = receiver_.take(symbol);
        if (what == Received::TrainingSet && receiver_.alike() >= kFew) {
            set_ = receiver_.training_set();
            sets_ = true;
            linked_ &= !set_.blank() && !(set_.control & set_.kHotReset);
        } else if (what == Received::LogicalIdle && receiver_.idle() >= kInARow && !set_.blank()) {
            sets_ = false;
            linked_ = true;
        } else if (what == Received::Packet) {
            link.receive(receiver_.packet());
        }
    }
    Symbol give() {
        if (transmitter_.empty() && raw_.empty() && hostile && random_.one_in(24))
            storm();
        if (transmitter_.empty() && !raw_.empty()) {
            const Symbol symbol = raw_.front();
            raw_.pop_front();
            return symbol;
        }
        if (transmitter_.empty() && !transmitter_.load_skip()) {
            const Packet *packet = sets_ ? nullptr : link.next();
            if (sets_)
                transmitter_.load(set_);
            else if (!packet)
                return transmitter_.idle();
            else
                transmitter_.load(*packet);
        }
        const Symbol symbol = transmitter_.pop();
        return hostile && random_.one_in(1024) ? Symbol(random_.below(0x400)) : symbol;
    }

    // Symbols that are sent next. `plain`: as they are, not scrambled.
    void add(Symbol symbol, unsigned count = 1, bool plain = true) {
        for (; count; count--)
            raw_.push_back(symbol == kSilence ? symbol : transmitter_.scrambler(symbol, plain));
    }
    void storm() {
        switch (random_.below(10)) {
        case 0:
            for (unsigned n = random_.below(64); n; n--)
                add(Symbol(random_.below(0x400)));
            break;
        case 1: training_sets(); break;
        case 2:
            add(kCom);
            add(kSkp, random_.below(random_.one_in(8) ? 3000 : 7));
            break;
        case 3:
            add(kCom);
            add(random_.one_in(2) ? kIdl : kFts, random_.below(6));
            add(kSilence, random_.below(random_.one_in(8) ? 2000 : 8));
            break;
        case 4: add(kSilence, random_.below(random_.one_in(16) ? 40000 : 200)); break;
        case 5: link.send(random_.any(Tlp::memory_read(0, uint8_t(random_.below(32)), 0xe0000000, 4))); break;
        case 6: broken_framing(); break;
        default:
            for (unsigned n = 1 + random_.below(4); n; n--)
                add(dllp().packet());
        }
    }
    void training_sets() {
        TrainingSet set = set_;
        if (random_.one_in(2))
            set.link = random_.one_in(2) ? kPad : Symbol(random_.below(256));
        if (random_.one_in(2))
            set.lane = random_.one_in(2) ? kPad : Symbol(random_.below(256));
        set.n_fts = uint8_t(random_.below(256));
        set.rates = uint8_t(random_.below(256));
        set.control = random_.one_in(2) ? uint8_t(random_.below(256)) : 0;
        set.second = random_.one_in(2);
        const bool swapped = random_.one_in(8);
        for (unsigned n = 1 + random_.below(40); n; n--) {
            const unsigned most = random_.one_in(8) ? random_.below(TrainingSet::kSymbols) : TrainingSet::kSymbols;
            for (unsigned i = 0; i < most; i++)
                add(swapped ? inverted(set.symbols()[i]) : set.symbols()[i]);
        }
    }
    void broken_framing() {
        static constexpr Symbol kFrames[] = {kStp, kSdp, kEnd, kEdb, kPad, kCom};
        const Packet packet = random_.one_in(2) ? dllp().packet() : framed(random_.below(4096), random_.request());
        add(packet, random_.below(packet.bytes.size()));
        for (unsigned n = random_.below(4); n; n--)
            add(kFrames[random_.below(std::size(kFrames))]);
        add(Symbol(random_.below(256)), random_.below(random_.one_in(16) ? 5000 : 40), false);
    }
    // Its CRC is right.
    Dllp dllp() {
        static constexpr Dllp::Power kPower[] = {Dllp::EnterL1, Dllp::EnterL23, Dllp::RequestAck};
        switch (random_.below(6)) {
        case 0: return Dllp::ack(random_.below(4096));
        case 1: return Dllp::nak(random_.below(4096));
        case 2:
        case 3:
            return Dllp::flow_control(Dllp::FlowControl(1 + random_.below(3)), random_.below(4), random_.edge(),
                                      random_.edge());
        case 4: return Dllp::power(kPower[random_.below(std::size(kPower))]);
        default: return {random_.edge()};
        }
    }

    Transmitter transmitter_;
    RandomTlps random_;
    Receiver receiver_;
    TrainingSet set_;      // to be sent
    bool sets_ = true;     // sets are sent, not data
    bool linked_ = false;  // LinkUp
    unsigned silence_ = 0;
    std::deque<Symbol> raw_;
};

}  // namespace litepcie::lane
