// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace litepcie {

constexpr unsigned kMaxBeatDwords = 16;
constexpr unsigned kBars = 6;

// One beat of a stream at the PHY boundary, of any width up to 512 bit.
struct Beat {
    uint32_t dat[kMaxBeatDwords];
    uint64_t be;
    bool first, last;
};

// Completions that the hard block can hold until the card accepts them: their number, and the bytes of their data in
// units of a credit. An endpoint advertises infinite credits for completions, so it loses those that exceed this.
struct CompletionSpace {
    unsigned headers, data;
};

// Logic at the user's side of a board, by addresses on the user's bus: gateware/board/user_logic.py. Without it 0.
struct UserLogic {
    uint32_t ram, hole;                   // a RAM, and an address without a slave
    uint32_t copier, mover, host_origin;  // masters of the port to host memory, and where its buffers begin for them
    uint32_t copy, copies;                // where a processor copies the RAM's first words to, and counts
    std::array<uint32_t, 2> loops;        // registers that loop streams back which begin with the pattern
};

// The parameters that the card was built with, from its soc.h.
struct CardInfo {
    unsigned gen, lanes, data_width;
    uint64_t clock_hz;
    std::array<uint32_t, kBars> bars;  // bytes of each; 0: there is none
    uint16_t vendor, device, subsystem_vendor, subsystem_device;
    uint32_t class_code;
    uint64_t memory_size;
    CompletionSpace completion_space;
    unsigned tags = 32;           // most outstanding requests of the card, with extended tags
    bool split = false;           // requests and completions have separate streams
    bool little_endian = false;   // payload dwords are little-endian
    unsigned fabric_width = 0;    // bits of the completion buffer in the fabric; 0: there is none
    unsigned fabric_beats = 0;    // its beats
    unsigned block_width = 0;     // of the hard block in bits; 0: the block never limits the card's streams
    uint64_t block_clock_hz = 0;  // of the hard block
    unsigned msi_vectors = 1;     // that the card can send, a power of two; 0: it has no MSI
    unsigned msix_vectors = 0;    // entries of its MSI-X table; 0: it has no MSI-X
    uint32_t msix_table = 0, msix_pending = 0;  // as in the capability: offset, and in bits 2:0 the BAR
    unsigned memory_channels = 0, streams = 0;  // whose engines have the registers of litepcie_regs.h
    bool own = true;             // BAR0 has the registers of litepcie_regs.h; false: somebody else's card
    bool function_reset = true;  // the card has Function Level Reset
    UserLogic user{};

    // The straddle option of the hard block, with which several completions share a beat.
    bool straddle() const { return fabric_width >= 256; }
    unsigned channels() const { return split ? 2 : 1; }
};

constexpr unsigned kMaxChannels = 2;  // channel 0 is for requests, 1 for completions; a shared stream is channel 0

// A stream from the host to the card.
struct RxInput {
    bool valid = false;
    bool changed = false;  // `beat` is not the beat of the previous cycle
    Beat beat{};
    uint8_t bar = 0;  // that the TLP's address is in, if it is a request; of somebody else's card only
};

// Inputs of the card. The card sees a change at its next clock edge.
struct CardInputs {
    bool reset = true;
    std::array<bool, kMaxChannels> tx_ready{};
    std::array<RxInput, kMaxChannels> rx{};
    uint16_t id = 0;
    uint16_t max_payload_size = 128, max_request_size = 512;  // bytes
    bool extended_tag = false, bus_master_enable = false, link_up = false, msi_enable = false;
    bool msix_enable = false, msix_function_mask = false;
    bool relaxed_ordering_enable = true, no_snoop_enable = true;  // Device Control
    bool rcb_128 = false;                                         // Link Control
    bool function_reset = false;                                  // waits for function_reset_done
    bool msi_ready = false;
};

// Outputs of the card before a clock edge.
struct CardOutputs {
    std::array<bool, kMaxChannels> tx_valid{};
    std::array<Beat, kMaxChannels> tx{};  // meaningful while tx_valid
    std::array<bool, kMaxChannels> rx_ready{};
    bool msi_valid = false;
    uint8_t msi_vector = 0;
    bool function_reset_done = false;
    bool completion_timeout = false, unexpected_completion = false;  // errors to be reported
    bool poisoned = false, unsupported_request = false, completer_abort = false;
};

// The card: the Verilog module `litepcie_soc_sim`, compiled by Verilator. In each clock cycle, settle() first evaluates
// the outputs for the given inputs, then edge() gives the rising edge of the clock.
//
// This folder is the card, with the hard block that is no part of its Verilog: configuration space, and the PHY with
// the streams of TLPs on one side and the link on the other.
class Card {
  public:
    virtual ~Card() = default;
    virtual const CardInfo &info() const = 0;
    virtual void settle(CardInputs &inputs, CardOutputs &outputs) = 0;
    virtual void edge() = 0;
};

// The Verilated card that this program is linked with.
std::unique_ptr<Card> make_card();

}  // namespace litepcie
