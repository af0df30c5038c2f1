// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The only file that is compiled for each build of such a card: it knows the ports and the build's soc.h.
#include "card/soft_card.h"

#include "Vlitepcie_soc_sim.h"
#include "soc.h"

#include <verilated.h>

namespace litepcie::soft {

namespace {

constexpr SoftCardInfo kInfo = {
    CONFIG_CLOCK_FREQUENCY,          CONFIG_PCIE_VENDOR_ID, CONFIG_PCIE_DEVICE_ID,  CONFIG_PCIE_SUBSYSTEM_VENDOR_ID,
    CONFIG_PCIE_SUBSYSTEM_DEVICE_ID, CONFIG_PCIE_BAR0_SIZE, CONFIG_PCIE_DATA_WIDTH, CONFIG_PCIE_TAGS,
    CONFIG_PCIE_SERIAL_BAUD,         CONFIG_PCIE_CHANNELS,  CONFIG_PCIE_STREAMS,
};

constexpr unsigned kResetCycles = 8;

class VerilatedSoftCard : public SoftCard {
  public:
    VerilatedSoftCard() : uart_(unsigned(kInfo.clock_hz / kInfo.serial_baud)), top_(&context_, "litepcie_soc_sim") {
        top_.sys_clk = top_.pcie_clk = 0;
        top_.sys_rst = top_.pcie_rst = top_.serial_rx = 1;
        top_.eval();
        for (unsigned cycle = 0; cycle < kResetCycles; cycle++) {
            sys_edge();
            pcie_edge();
        }
        top_.sys_rst = top_.pcie_rst = 0;
    }
    ~VerilatedSoftCard() override { top_.final(); }

    const SoftCardInfo &info() const override { return kInfo; }
    Uart &serial() override { return uart_; }

    void clock(lane::SerDesLane &lane) override {
        // Time in units in which both periods are whole numbers: a cycle of one clock lasts as many as the other has
        // Hz.
        for (time_ += kInfo.clock_hz; time_ >= kLaneHz; time_ -= kLaneHz)
            sys_edge();
        lane::SerDesOutputs outputs;
        outputs.tx_data = top_.serdes_tx_data, outputs.tx_k = top_.serdes_tx_k, outputs.tx_idle = top_.serdes_tx_idle;
        outputs.polarity = top_.serdes_polarity, outputs.detect = top_.serdes_detect;
        lane.clock(outputs, in_);
        top_.serdes_rx_data = in_.rx_data, top_.serdes_rx_k = in_.rx_k, top_.serdes_rx_error = in_.rx_error;
        top_.serdes_rx_valid = in_.rx_valid, top_.serdes_rx_idle = in_.rx_idle;
        top_.serdes_rx_overflow = in_.rx_overflow, top_.serdes_ready = in_.ready;
        top_.serdes_detect_done = in_.detect_done, top_.serdes_detect_present = in_.detect_present;
        pcie_edge();
    }

  private:
    void sys_edge() {
        // The level that the card sends in its reset is not to be taken for a start bit.
        top_.serial_rx = top_.sys_rst || uart_.step(top_.serial_tx);
        top_.sys_clk = 0;
        top_.eval();
        top_.sys_clk = 1;
        top_.eval();
    }
    void pcie_edge() {
        top_.pcie_clk = 0;
        top_.eval();
        top_.pcie_clk = 1;
        top_.eval();
    }

    Uart uart_;
    VerilatedContext context_;
    Vlitepcie_soc_sim top_;
    lane::SerDesInputs in_;
    uint64_t time_ = 0;
};

}  // namespace

std::unique_ptr<SoftCard> make_soft_card() { return std::make_unique<VerilatedSoftCard>(); }

}  // namespace litepcie::soft
