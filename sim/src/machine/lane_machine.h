// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/soft_card.h"
#include "common/program.h"
#include "lane/root_port.h"
#include "link/link_direction.h"
#include "machine/host_side.h"
#include "machine/options.h"
#include "referee/tlp_checker.h"
#include "root/scan.h"
#include "tlp/tlp.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace litepcie::soft {

constexpr unsigned kSlotPower = 1u << 8 | 250;  // 25 W, in units of 0.1 W

// The lane, its root port, and what goes wrong between both.
struct LaneSettings {
    LaneSettings() { port.data_link.power_limit = kSlotPower; }

    lane::LaneOptions wires;
    lane::RootPortOptions port;
    std::vector<std::pair<lane::Fault, unsigned>> faults;  // each in one of so many packets
};

// Adds these options to a command line.
void add_lane_options(CommandLine &line, LaneSettings &settings);

// The machine below the host's software, with a card at the other end of a lane. Whatever the host does to the card,
// also to its configuration space, travels over the lane symbol by symbol. Cycles are those of the lane, kLaneHz.
class LaneMachine final : public HostSide {
  public:
    // Trains the lane. Throws Violation if that takes too long.
    LaneMachine(HostMemory &memory, const ModelOptions &host, const LaneSettings &settings);

    Shape shape() const override;
    void step() override;
    bool busy() const override;

    void bar_store(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes) override;
    uint64_t stores() const override { return egress_.tlps() - egress_.completions(); }
    bool stores_done() const override { return !stores() && link().quiet(); }
    bool bar_load(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) override;

    void config_read(unsigned offset, uint8_t *data, size_t bytes) override;
    void config_write(unsigned offset, const uint8_t *data, size_t bytes) override;
    bool msix_on() const override { return false; }
    void reset_bus() override;

    uint64_t tlps() const override { return link().counts().sent + link().counts().received; }
    uint64_t last_completion_cycle() const override { return completion_.cycle; }

    void write_figures(const std::string &path, const std::string &violation) const override;

  private:
    // Registers of the card's configuration space that its host acts on, as the card has them now.
    struct Control {
        uint32_t command = 0, bar0 = 0, power = 0, device = 0, link = 0;
        uint32_t msi = 0, msi_low = 0, msi_high = 0, msi_data = 0;

        bool memory() const { return command & 2; }
        // D1 and D2 do not exist: a write of them changes nothing.
        bool bus_master() const { return command & 4 && (power & 3) != 3; }
        unsigned mps() const { return 128u << std::min(device >> 5 & 7, 5u); }
        unsigned mrrs() const { return 128u << std::min(device >> 12 & 7, 5u); }
        bool msi_on() const { return msi >> 16 & 1; }
        unsigned msi_vectors() const { return 1u << (msi >> 20 & 7); }
        uint64_t msi_address() const { return uint64_t(msi_high) << 32 | msi_low; }
    };
    struct Leaving {
        uint64_t cycle;  // from which on its room is free
        Tlp tlp;
    };
    struct LinkEnded {};

    LaneMachine(HostMemory &memory, const ModelOptions &host, const LaneSettings &settings,
                std::unique_ptr<SoftCard> card);

    const lane::DataLink &link() const { return lane_.port().data_link(); }
    lane::DataLink &link() { return lane_.port().data_link(); }
    bool run_until_up(bool up);
    void train();
    void from_link();
    void from_card(const Tlp &tlp);
    void to_link();
    void free_room();
    bool is_interrupt(const Tlp &tlp) const;
    void interrupt(const Tlp &tlp);
    void lose();
    void expire_loads();

    std::optional<uint32_t> config(unsigned offset, unsigned enables, std::optional<uint32_t> value = {});
    void find_capabilities();
    std::vector<std::pair<unsigned, uint32_t Control::*>> controls() const;
    void read_controls();
    CardLimits limits(const Control &control) const;

    std::unique_ptr<SoftCard> card_;
    lane::SerDesLane lane_;
    ErrorMessages errors_;
    scan::Requester requester_;
    std::optional<Tlp> answer_;  // of the request for configuration space
    bool asking_ = false;        // there is such a request
    Control control_;
    unsigned express_ = 0, msi_ = 0, power_ = 0;               // capabilities; 0: not there
    std::deque<std::pair<uint64_t, lane::LinkState>> states_;  // of the root port's LTSSM, and their cycles; the last
    std::deque<Leaving> leaving_;                              // TLPs whose room is not free yet
    // The latest completion with data: TLPs that the link has begun to send when this one begins, cycles until it is
    // whole at the card, and when it was.
    struct {
        uint64_t number = 0, length = 0, cycle = 0;
    } completion_;
    uint64_t given_ = 0, sent_before_ = 0;  // TLPs for the link since it is up, and those that it had sent before
    unsigned delay_;                        // cycles that a symbol takes
    bool up_ = false;
    struct Figures {
        uint64_t config_requests = 0, trained_cycle = 0, downs = 0;
    } figures_;
};

}  // namespace litepcie::soft
