// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace litepcie::lane {

// A symbol of a lane before 8b/10b coding: its data in bits 7:0, and flags.
//
// This folder is a root port at the other end of one lane at 2.5 GT/s, symbol by symbol: physical layer, data link
// layer, and the lane between it and the SerDes of an endpoint in gateware. It shares no code with that gateware.
using Symbol = uint16_t;

constexpr Symbol kControl = 0x100;  // a control symbol (K)
constexpr Symbol kDamaged = 0x200;  // the decoder saw a wrong code or a wrong running disparity
constexpr Symbol kSilence = 0x400;  // electrical idle instead of a symbol

// Control symbols (PCIe 2.1 4.2.1.2).
constexpr Symbol kCom = 0x1bc, kStp = 0x1fb, kSdp = 0x15c, kEnd = 0x1fd, kEdb = 0x1fe, kPad = 0x1f7;
constexpr Symbol kSkp = 0x11c, kFts = 0x13c, kIdl = 0x17c;

constexpr uint64_t kSymbolsPerMicrosecond = 250;

// The symbol that arrives if the two wires of the lane are swapped. Of the two groups of bits in a code, one with as
// many ones as zeros becomes the code of other data. Every other group is the same data with the other running
// disparity, and so are all control symbols.
constexpr Symbol inverted(Symbol symbol) {
    if (symbol & (kControl | kSilence))
        return symbol;
    const unsigned low = symbol & 31, high = symbol >> 5 & 7;
    const int ones = __builtin_popcount(low);
    const bool low_balanced = (ones == 2 || ones == 3) && low != 7 && low != 24;
    const bool high_balanced = high == 1 || high == 2 || high == 5 || high == 6;
    return (symbol & kDamaged) | (high_balanced ? 7 - high : high) << 5 | (low_balanced ? 31 - low : low);
}

// No bit that is fed back reaches bit 15 within one symbol, so the upper byte of the register gives all.
struct ScramblerTables {
    std::array<uint16_t, 256> feedback{};
    std::array<uint8_t, 256> mask{};
    constexpr ScramblerTables() {
        for (unsigned top = 0; top < 256; top++)
            for (unsigned bit = 0; bit < 8; bit++)
                if (top << bit & 0x80) {
                    feedback[top] ^= 0x39 << (7 - bit);
                    mask[top] |= 1 << bit;
                }
    }
};
inline constexpr ScramblerTables kScramblerTables{};

// Scrambles or descrambles one direction (PCIe 2.1 4.2.3): x^16 + x^5 + x^4 + x^3 + 1, one symbol per call.
class Scrambler {
  public:
    // With `plain` the register moves, but the symbol is not changed, as in training sets.
    Symbol operator()(Symbol symbol, bool plain = false) {
        if (symbol == kCom) {
            register_ = 0xffff;
            return symbol;
        }
        if (symbol == kSkp)
            return symbol;
        const uint8_t top = register_ >> 8;
        register_ = register_ << 8 ^ kScramblerTables.feedback[top];
        return plain || off || symbol & kControl ? symbol : symbol ^ kScramblerTables.mask[top];
    }

    bool off = false;  // both ends have agreed not to scramble

  private:
    uint16_t register_ = 0xffff;
};

// A TS1 or TS2 ordered set (PCIe 2.1 tables 4-2 and 4-3).
struct TrainingSet {
    static constexpr unsigned kSymbols = 16;
    static constexpr uint8_t kHotReset = 1, kDisable = 2, kLoopback = 4, kNoScrambling = 8, kCompliance = 16;
    static constexpr uint8_t kIdentifiers[2] = {0x4a, 0x45};  // of TS1 and TS2

    Symbol link = kPad, lane = kPad;  // kPad, or a number
    uint8_t n_fts = 0, rates = 2, control = 0;
    bool second = false;    // TS2
    bool inverted = false;  // it arrived over swapped wires

    bool blank() const { return link == kPad && lane == kPad; }
    bool numbered(Symbol wanted_link) const { return link == wanted_link && lane == 0; }
    bool operator==(const TrainingSet &other) const {
        return link == other.link && lane == other.lane && n_fts == other.n_fts && rates == other.rates &&
               control == other.control && second == other.second && inverted == other.inverted;
    }

    std::array<Symbol, kSymbols> symbols() const {
        std::array<Symbol, kSymbols> set;
        set.fill(kIdentifiers[second]);
        set[0] = kCom, set[1] = link, set[2] = lane, set[3] = n_fts, set[4] = rates, set[5] = control;
        return set;
    }
    // False if these symbols are no training set.
    bool parse(const std::array<Symbol, kSymbols> &set);
};

// What a symbol completed.
enum class Received { Nothing, LogicalIdle, SkipSet, IdleSet, TrainingSet, Packet };

// The receiver of the physical layer: finds ordered sets and packets in the symbols of the lane.
class Receiver {
  public:
    // `symbol` is not kSilence.
    Received take(Symbol symbol);
    // Electrical idle: what was begun is lost.
    void silence();

    const TrainingSet &training_set() const { return set_; }
    // How many of the last training sets were alike, and how many symbols of logical idle came in a row.
    unsigned alike() const { return alike_; }
    unsigned idle() const { return idle_; }
    void forget() { alike_ = idle_ = 0; }
    // Valid until the next packet.
    const Packet &packet() const { return finished_; }

    bool invert = false;  // the wires are swapped
    Scrambler descrambler;
    uint64_t damaged_symbols = 0, damaged_sets = 0, misplaced_symbols = 0;

  private:
    static constexpr size_t kLongest = 4096 + 16 + 4 + 6;  // bytes of a packet

    Received in_set(Symbol symbol);
    Received outside_set(Symbol symbol);
    Received in_packet(Symbol symbol);
    Received finish(bool nullified, bool damaged);
    Received lose_packet();

    unsigned place_ = 0;  // of the next symbol in an ordered set; 0: there is none
    std::array<Symbol, TrainingSet::kSymbols> symbols_{};
    TrainingSet set_;
    unsigned alike_ = 0, idle_ = 0;
    bool inside_ = false;  // a packet has begun
    Packet packet_, finished_;
};

// The transmitter of the physical layer: sets, packets and idle as symbols, one per call, and SKP sets at the intervals
// of PCIe 2.1 4.2.7.1. Those that fall due during a packet follow it, one behind the other.
class Transmitter {
  public:
    static constexpr unsigned kShortestInterval = 1180, kLongestInterval = 1538;

    explicit Transmitter(uint64_t seed) : random_(seed), interval_(next_interval()) {}

    // What was loaded has been sent. Then one of the load functions must be called before the next symbol.
    bool empty() const { return next_ == queue_.size(); }
    Symbol pop() {
        count();
        return scrambler(queue_[next_++], plain_);
    }
    // One symbol of electrical idle or of logical idle, instead of what was loaded.
    Symbol silence();
    Symbol idle() {
        count();
        return scrambler(0);
    }

    // Loads a SKP set if one is due.
    bool load_skip();
    void load(const TrainingSet &set);
    // A damaged packet has no end.
    void load(const Packet &packet);
    void load_idle_set() { load_ordered(kIdl, 3); }
    // Drops the rest of what was loaded.
    void cut() { next_ = queue_.size(); }

    Scrambler scrambler;
    unsigned skips = 3;           // SKP symbols of a set; 0: 1 to 5, as after repeaters
    unsigned fixed_interval = 0;  // symbols between two SKP sets; 0: random ones
    uint64_t skip_sets = 0;

  private:
    void count() {
        if (++since_ >= interval_) {
            since_ = 0;
            interval_ = next_interval();
            due_++;
        }
    }
    unsigned next_interval();
    void load_ordered(Symbol symbol, unsigned count);

    std::minstd_rand random_;
    std::vector<Symbol> queue_;
    size_t next_ = 0;
    bool plain_ = false;
    unsigned since_ = 0, interval_, due_ = 0;
};

// What a loopback master sends, and how it compares what comes back (PCIe 2.1 4.2.6.10.2): a mark, then random data and
// control symbols with SKP sets between them. SKP symbols are not compared, as the slave may add and remove them.
class LoopbackMaster {
  public:
    explicit LoopbackMaster(uint64_t seed) : random_(seed) {}

    // Loopback.Active begins.
    void begin();
    // The next symbol to be sent.
    Symbol next();
    // A symbol came back.
    void take(Symbol symbol);

    uint64_t compared() const { return compared_; }
    uint64_t wrong() const { return wrong_; }

  private:
    static constexpr unsigned kMark = 8;  // PAD in a row, as in no set

    Symbol any();

    std::minstd_rand random_;
    std::deque<Symbol> set_{}, expected_{};
    unsigned mark_left_ = 0, marks_seen_ = 0, until_skip_ = 0;
    uint64_t compared_ = 0, wrong_ = 0;
};

}  // namespace litepcie::lane
