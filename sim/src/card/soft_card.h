// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/serial_port.h"
#include "lane/root_port.h"

#include <cstdint>
#include <memory>

namespace litepcie::soft {

// The parameters that the card was built with, from its soc.h.
struct SoftCardInfo {
    uint64_t clock_hz;  // of sys; that of the lane is kLaneHz
    uint16_t vendor, device, subsystem_vendor, subsystem_device;
    uint32_t bar0_size;
    unsigned data_width, tags, serial_baud, memory_channels, streams;
};

constexpr uint64_t kLaneHz = 125000000;

// A card with the endpoint in gateware (targets/sim.py --phy soft): the Verilog module `litepcie_soc_sim`, whose only
// ports are two clocks, those of a SerDes, and a serial port.
class SoftCard {
  public:
    virtual ~SoftCard() = default;
    virtual const SoftCardInfo &info() const = 0;
    // One cycle of the lane's clock, and the edges of sys that fall into it.
    virtual void clock(lane::SerDesLane &lane) = 0;
    // The other end of its serial port.
    virtual Uart &serial() = 0;
};

// The Verilated card that this program is linked with.
std::unique_ptr<SoftCard> make_soft_card();

}  // namespace litepcie::soft
