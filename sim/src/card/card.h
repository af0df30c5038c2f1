// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace litepcie {

constexpr unsigned kMaxBeatDwords = 16;

// One beat of a stream at the PHY boundary, any width up to 512 bit.
struct Beat {
    uint32_t dat[kMaxBeatDwords];
    uint64_t be;
    bool first, last;
};

// What the board was built as, from its soc.h.
struct CardInfo {
    unsigned gen, lanes, data_width;
    uint64_t clock_hz;
    uint32_t bar0_size;
    uint16_t vendor, device, subsystem_vendor, subsystem_device;
    uint32_t class_code;
    uint64_t memory_size;
    uint32_t completion_buffer;  // bytes of completions the PHY holds until the card takes them
    unsigned tags = 32;          // most of the card's own requests, with extended tags
    bool split = false;          // streams of their own for requests and completions
    bool little_endian = false;  // of payload dwords

    unsigned channels() const { return split ? 2 : 1; }
};

constexpr unsigned kMaxChannels = 2;  // requests, then completions; shared: one for both

// A stream of the host to the card.
struct RxInput {
    bool valid = false;
    bool changed = false;  // another beat than at the last edge
    Beat beat{};
};

// Inputs of the board; a change becomes visible at its next clock edge.
struct CardInputs {
    bool reset = true;
    std::array<bool, kMaxChannels> tx_ready{};
    std::array<RxInput, kMaxChannels> rx{};
    uint16_t id = 0;
    uint16_t max_payload_size = 128, max_request_size = 512;  // bytes
    bool extended_tag = false, bus_master_enable = false, link_up = false, msi_enable = false;
    bool msi_ready = false;
};

// What the board shows before a clock edge.
struct CardOutputs {
    std::array<bool, kMaxChannels> tx_valid{};
    std::array<Beat, kMaxChannels> tx{};  // meaningful while tx_valid
    std::array<bool, kMaxChannels> rx_ready{};
    bool msi_valid = false;
    uint8_t msi_vector = 0;
};

// The board: `litepcie_soc_sim`, Verilated. A cycle is settle(), which shows the outputs for these inputs, then edge().
class Card {
  public:
    virtual ~Card() = default;
    virtual const CardInfo &info() const = 0;
    virtual void settle(CardInputs &inputs, CardOutputs &outputs) = 0;
    virtual void edge() = 0;
};

std::unique_ptr<Card> make_card();

}  // namespace litepcie
