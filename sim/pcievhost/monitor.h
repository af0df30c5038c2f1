// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace judge {

// A symbol is a byte, and bit 8 for a control symbol; or one of the flags above that.
constexpr unsigned kControl = 0x100, kElectricalIdle = 0x200, kDamaged = 0x400;

// PCIe 2.1 table 4-1.
constexpr unsigned kCom = 0x1bc, kStp = 0x1fb, kSdp = 0x15c, kEnd = 0x1fd, kEdb = 0x1fe, kPad = 0x1f7, kSkp = 0x11c,
                   kFts = 0x13c, kIdl = 0x17c;
constexpr unsigned kTs1 = 0x4a, kTs2 = 0x45;

// Where a symbol stands.
struct Place {
    enum In { Idle, Gap, Set, Packet } in = Idle;
    unsigned begin = 0;     // STP or SDP of a packet; the second symbol of an ordered set
    unsigned index = 0;     // in the packet or set, from 0
    unsigned symbol = 0;    // without scrambling
    uint8_t key = 0;        // what the scrambler adds to a data symbol here
    bool last = false;      // of the packet or set
    bool cut = false;       // the packet or set before this symbol has no end, or this symbol is not allowed here
    In open = Idle;         // what had not ended before this symbol: Packet or Set
    bool training = false;  // in a TS1 or TS2
};

// Scrambling and framing of one direction of a lane at 2.5 GT/s (PCIe 2.1 4.2.1 to 4.2.4).
class Wire {
  public:
    Place next(unsigned raw);

  private:
    uint8_t advance();

    Place at_;
    unsigned length_ = 0;  // of the set
    uint16_t lfsr_ = 0xffff;
};

// CRC-16 of a DLLP and CRC-32 of a TLP, lowest byte first on the wire (PCIe 2.1 3.4.1 and 3.5.2.1).
uint16_t crc16(const uint8_t *bytes, unsigned count);
uint32_t crc32(const uint8_t *bytes, unsigned count);

// What was seen on the lane.
struct Figures {
    uint64_t symbols = 0;
    unsigned ts1 = 0, ts2 = 0, tlps = 0, replays = 0, acks = 0, naks = 0;  // of the endpoint
    unsigned cut = 0;                                     // packets of the endpoint that a training set ends
    unsigned init1 = 0;                                   // InitFC1 for posted requests, the first of three
    uint64_t last_tlp = 0;                                // of the endpoint
    unsigned skp_gap = 0, ack_delay = 0, update_gap = 0;  // symbols, the longest ones
};

// Judges the symbols of an endpoint at 2.5 GT/s, one lane, with MPS 128, by the rules of PCIe 2.1 alone. It follows the
// host's symbols only to know what the endpoint answers.
class Monitor {
  public:
    // The symbols of one symbol time, as each side receives them.
    void step(unsigned up, unsigned down);
    // The endpoint returns the host's symbols: nothing of it is judged.
    void loopback(bool on) { loopback_ = on; }
    const Figures &figures() const { return figures_; }
    // The first rule that was broken; empty: none.
    const std::string &fault() const { return fault_; }

  private:
    struct Packet {
        std::vector<uint8_t> bytes;  // without the framing
        unsigned end;                // END or EDB
        bool tlp;
    };
    struct Waiting {
        unsigned sequence;
        uint64_t since;
    };

    bool collect(Packet &packet, const Place &place);
    void set(const Place &place);
    void link_down();
    void transmitted(const Packet &packet);
    void transmitted_tlp(const Packet &packet);
    void transmitted_dllp(const Packet &packet);
    void received(const Packet &packet);
    void acknowledged(unsigned sequence, bool good);
    void check_header(const uint8_t *header, unsigned bytes);
    void check(bool right, const char *rule);

    Wire up_wire_, down_wire_;
    Packet up_, down_;
    Figures figures_;
    std::string fault_;
    bool loopback_ = false, was_idle_ = true, cut_ = false;

    std::array<uint8_t, 16> training_{};
    uint64_t first_skp_ = 0, last_skp_ = 0;
    unsigned skps_ = 0;
    uint64_t trained_ = 0;  // the last training set of the endpoint

    bool active_ = false;                            // the endpoint sent an InitFC2 or an UpdateFC
    std::array<bool, 2> finite_{};                   // credits that the endpoint gave, posted and non-posted
    std::array<uint64_t, 2> updated_{};              // their last UpdateFC
    unsigned next_ = 0;                              // sequence number of the endpoint's next new TLP
    std::deque<std::vector<uint8_t>> unanswered_{};  // TLPs before that one which the host did not acknowledge
    std::deque<Waiting> host_acks_{};                // which the endpoint may not have seen yet
    unsigned host_next_ = 0, endpoint_ack_ = 4095;
    std::deque<Waiting> waiting_{};  // TLPs of the host without an ACK
};

}  // namespace judge
