// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/serial_port.h"
#include "card/soft_card.h"
#include "machine/lane_machine.h"
#include "machine/options.h"
#include "programs/litepcie_host/transfer_run.h"
#include "referee/tlp_checker.h"
#include "root/scan.h"

#include <functional>
#include <string>

namespace litepcie::soft {

// A host with a card at the other end of a lane. Cycles are those of the lane's clock, kLaneHz.
class LaneHost {
  public:
    LaneHost(const LaneSettings &settings, uint64_t seed);

    void clock() {
        card_->clock(lane_);
        cycle_++;
    }
    // Serves the card's serial port until one of the `stop` descriptors is readable.
    void serve(SerialPort &port, int stop);
    // Runs until TLPs can be sent. Returns false if that takes longer than `limit` cycles.
    bool train(uint64_t limit);
    // Finds the card and gives its BARs addresses. `report`: then lets it report errors. Throws scan::ScanError.
    const scan::Function &scan(unsigned mps, bool report = false);
    // A register of BAR0, which scan() has found. Throws scan::ScanError if the card does not answer a read.
    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);

    // Sends `requests` for registers without waiting, ends the link `cycles` later by a hot reset or by disabling it,
    // and trains it again. Returns false if one of both takes longer than `limit` cycles.
    bool reset_link(bool disable, unsigned requests, uint64_t cycles, uint64_t limit);

    const SoftCardInfo &info() const { return card_->info(); }
    lane::RootPort &port() { return lane_.port(); }
    scan::Requester &requester() { return requester_; }
    const ErrorMessages &errors() const { return errors_; }
    uint64_t injected() const { return lane_.injected(); }
    uint64_t cycle() const { return cycle_; }

  private:
    uint64_t address(uint32_t offset) const;
    void report_errors();
    bool run_until(const std::function<bool()> &done, uint64_t limit);

    std::unique_ptr<SoftCard> card_ = make_soft_card();
    lane::SerDesLane lane_;
    ErrorMessages errors_;
    scan::Requester requester_;
    scan::Function found_;
    uint64_t cycle_ = 0;
};

// Moves data by DMA between a host and the card at the other end of a lane, symbol by symbol, compares every byte and
// prints the rates; `json`: a file for all figures, or empty. Throws HostError, or Violation.
void run_transfers(const ModelOptions &host, const LaneSettings &settings, const RunOptions &options,
                   const std::string &json);

// Ends bus mastering, `stops` times, at random moments while a writer runs, lets it go on, and checks that every byte
// arrived that the status block then reports. Prints what the writer did. Throws HostError, or Violation.
void run_stops(const ModelOptions &host, const LaneSettings &settings, unsigned mps, uint64_t stops);

}  // namespace litepcie::soft
