// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The only file that is compiled for each build of the card: it knows the width of the ports and the build's soc.h.
#include "card/card.h"

#include "Vlitepcie_soc_sim.h"
#if __has_include("csr.h")
#include "csr.h"
#endif
#include "soc.h"

#include <verilated.h>

#include <cstring>
#include <filesystem>

// Values of the simulated PHY for a card whose soc.h does not define them.
#ifndef CONFIG_PCIE_COMPLETION_HEADERS
#define CONFIG_PCIE_COMPLETION_HEADERS 512
#endif
#ifndef CONFIG_PCIE_COMPLETION_DATA
#define CONFIG_PCIE_COMPLETION_DATA 32768
#endif
#ifndef CONFIG_PCIE_FABRIC_WIDTH
#define CONFIG_PCIE_FABRIC_WIDTH 0
#define CONFIG_PCIE_FABRIC_BEATS 0
#endif
#ifndef CONFIG_PCIE_MSIX_VECTORS
#define CONFIG_PCIE_MSIX_VECTORS 0
#define CONFIG_PCIE_MSIX_TABLE 0
#define CONFIG_PCIE_MSIX_PENDING 0
#endif
#ifndef CONFIG_PCIE_CHANNELS
#define CONFIG_PCIE_CHANNELS 0
#define CONFIG_PCIE_STREAMS 0
#endif
#ifndef CONFIG_PCIE_BARS
#define CONFIG_PCIE_BARS                                                                                               \
    { CONFIG_PCIE_BAR0_SIZE }
#define CONFIG_PCIE_BAR_PORT 0
#endif
// A card of somebody else.
#ifndef CONFIG_PCIE_FOREIGN
#define CONFIG_PCIE_FOREIGN 0
#define CONFIG_PCIE_MSI_VECTORS (CONFIG_PCIE_MSIX_VECTORS ? 16 : 1)  // engines with a vector of their own had MSI-X
#endif
#ifndef CONFIG_PCIE_TAGS
#define CONFIG_PCIE_TAGS 32
#endif
#ifndef CONFIG_PCIE_PHY_SPLIT
#define CONFIG_PCIE_PHY_SPLIT 0
#endif
#ifndef CONFIG_PCIE_ENDIANNESS_LITTLE
#define CONFIG_PCIE_ENDIANNESS_LITTLE 0
#endif

// Logic at the user's side: of the options of every board, or of bench/stress_boards.py.
#ifndef CONFIG_STRESS_RAM
#ifdef CSR_CORE_BASE
#define CONFIG_STRESS_RAM 0x10000
#define CONFIG_STRESS_HOLE 0x20000
#else
#define CONFIG_STRESS_RAM 0
#define CONFIG_STRESS_HOLE 0
#endif
#define CONFIG_STRESS_HOST 0
#endif
#ifndef CONFIG_STRESS_COPY
#define CONFIG_STRESS_COPY 0
#define CONFIG_STRESS_COPIES 0
#endif
#ifndef CSR_USER_COPIER_BASE
#define CSR_USER_COPIER_BASE 0
#define CSR_USER_MOVER_BASE 0
#endif
#ifndef CSR_STREAM0_LOOP_ADDR
#define CSR_STREAM0_LOOP_ADDR 0
#endif
#ifndef CSR_STREAM1_LOOP_ADDR
#define CSR_STREAM1_LOOP_ADDR 0
#endif

// EACH(channel, ports of the card to the host, ports of the host to the card)
#if CONFIG_PCIE_PHY_SPLIT
#define FOR_EACH_CHANNEL(EACH) EACH(0, tx_req, rx_req) EACH(1, tx_cmp, rx_cmp)
#else
#define FOR_EACH_CHANNEL(EACH) EACH(0, tx, rx)
#endif

namespace litepcie {

namespace {

constexpr unsigned kDwords = CONFIG_PCIE_DATA_WIDTH / 32;
static_assert(CONFIG_PCIE_DATA_WIDTH == 64 || CONFIG_PCIE_DATA_WIDTH == 128 || CONFIG_PCIE_DATA_WIDTH == 256 ||
                  CONFIG_PCIE_DATA_WIDTH == 512,
              "the data path must have 64, 128, 256 or 512 bit");

// Verilator makes ports of up to 64 bit integers, and wider ones arrays of 32 bit words. On this machine both are
// little-endian in memory.
template <typename Port> void put(Port &port, const void *value) { memcpy(&port, value, sizeof(port)); }
template <typename Port> void get(const Port &port, void *value) { memcpy(value, &port, sizeof(port)); }

constexpr CardInfo kInfo = {
    CONFIG_PCIE_GEN,
    CONFIG_PCIE_LANES,
    CONFIG_PCIE_DATA_WIDTH,
    CONFIG_CLOCK_FREQUENCY,
    CONFIG_PCIE_BARS,
    CONFIG_PCIE_VENDOR_ID,
    CONFIG_PCIE_DEVICE_ID,
    CONFIG_PCIE_SUBSYSTEM_VENDOR_ID,
    CONFIG_PCIE_SUBSYSTEM_DEVICE_ID,
    CONFIG_PCIE_CLASS_CODE,
    CONFIG_MEMORY_SIZE,
    {CONFIG_PCIE_COMPLETION_HEADERS, CONFIG_PCIE_COMPLETION_DATA},
    CONFIG_PCIE_TAGS,
    CONFIG_PCIE_PHY_SPLIT,
    CONFIG_PCIE_ENDIANNESS_LITTLE,
    CONFIG_PCIE_FABRIC_WIDTH,
    CONFIG_PCIE_FABRIC_BEATS,
    0,
    0,
    CONFIG_PCIE_MSI_VECTORS,
    CONFIG_PCIE_MSIX_VECTORS,
    CONFIG_PCIE_MSIX_TABLE,
    CONFIG_PCIE_MSIX_PENDING,
    CONFIG_PCIE_CHANNELS,
    CONFIG_PCIE_STREAMS,
    !CONFIG_PCIE_FOREIGN,
    !CONFIG_PCIE_FOREIGN,
    {CONFIG_STRESS_RAM,
     CONFIG_STRESS_HOLE,
     CSR_USER_COPIER_BASE,
     CSR_USER_MOVER_BASE,
     CONFIG_STRESS_HOST,
     CONFIG_STRESS_COPY,
     CONFIG_STRESS_COPIES,
     {CSR_STREAM0_LOOP_ADDR, CSR_STREAM1_LOOP_ADDR}},
};

class VerilatedCard : public Card {
  public:
    VerilatedCard() : top_(&context_, "litepcie_soc_sim") {
        // The first evaluation loads memories from files whose names are relative to the folder of the Verilog.
        namespace fs = std::filesystem;
        const fs::path here = fs::current_path();
        const fs::path gateware = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "gateware";
        if (fs::is_directory(gateware))
            fs::current_path(gateware);
        top_.sys_clk = 0;
        top_.sys_rst = 1;
        top_.eval();
        fs::current_path(here);
    }

    ~VerilatedCard() override { top_.final(); }

    const CardInfo &info() const override { return kInfo; }

    void settle(CardInputs &in, CardOutputs &out) override {
        top_.sys_rst = in.reset;
        top_.msi_ready = in.msi_ready;
#define DRIVE(n, TX, RX)                                                                                               \
    top_.TX##_ready = in.tx_ready[n];                                                                                  \
    top_.RX##_valid = in.rx[n].valid;                                                                                  \
    if (in.rx[n].changed) {                                                                                            \
        in.rx[n].changed = false;                                                                                      \
        put(top_.RX##_dat, in.rx[n].beat.dat);                                                                         \
        put(top_.RX##_be, &in.rx[n].beat.be);                                                                          \
        top_.RX##_first = in.rx[n].beat.first;                                                                         \
        top_.RX##_last = in.rx[n].beat.last;                                                                           \
    }
        FOR_EACH_CHANNEL(DRIVE)
#undef DRIVE
#if CONFIG_PCIE_BAR_PORT
        top_.rx_bar = in.rx[0].bar;
#endif
        top_.phy_id = in.id;
        top_.phy_max_payload_size = in.max_payload_size;
        top_.phy_max_request_size = in.max_request_size;
        top_.phy_extended_tag = in.extended_tag;
        top_.phy_bus_master_enable = in.bus_master_enable;
        top_.phy_link_up = in.link_up;
        top_.phy_msi_enable = in.msi_enable;
#if CONFIG_PCIE_MSIX_VECTORS
        top_.phy_msix_enable = in.msix_enable;
        top_.phy_msix_function_mask = in.msix_function_mask;
#endif
        top_.phy_relaxed_ordering_enable = in.relaxed_ordering_enable;
        top_.phy_no_snoop_enable = in.no_snoop_enable;
        top_.phy_rcb_128 = in.rcb_128;
        top_.phy_function_reset = in.function_reset;
        top_.sys_clk = 0;
        top_.eval();
#define OBSERVE(n, TX, RX)                                                                                             \
    out.rx_ready[n] = top_.RX##_ready;                                                                                 \
    out.tx_valid[n] = top_.TX##_valid;                                                                                 \
    if (out.tx_valid[n]) {                                                                                             \
        get(top_.TX##_dat, out.tx[n].dat);                                                                             \
        out.tx[n].be = top_.TX##_be;                                                                                   \
        out.tx[n].first = top_.TX##_first;                                                                             \
        out.tx[n].last = top_.TX##_last;                                                                               \
    }
        FOR_EACH_CHANNEL(OBSERVE)
#undef OBSERVE
        out.msi_valid = top_.msi_valid;
        out.msi_vector = top_.msi_dat;
        out.function_reset_done = top_.phy_function_reset_done;
        out.completion_timeout = top_.phy_error_completion_timeout;
        out.unexpected_completion = top_.phy_error_unexpected_completion;
        out.poisoned = top_.phy_error_poisoned;
        out.unsupported_request = top_.phy_error_unsupported_request;
        out.completer_abort = top_.phy_error_completer_abort;
    }

    void edge() override {
        top_.sys_clk = 1;
        top_.eval();
    }

  private:
    VerilatedContext context_;
    Vlitepcie_soc_sim top_;
};

static_assert(kDwords <= kMaxBeatDwords, "the data path is wider than a Beat");

}  // namespace

std::unique_ptr<Card> make_card() { return std::make_unique<VerilatedCard>(); }

}  // namespace litepcie
