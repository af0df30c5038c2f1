// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "common/program.h"
#include "link/link_direction.h"
#include "root/root_complex.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace litepcie {

// An IOMMU (IommuOptions), with its times in nanoseconds.
struct IommuTimes {
    unsigned entries = 0;
    double walk_ns = 0, interval_ns = 0, directory_ns = 0;
};

// Properties of the host and of the link, which are options of every program of the simulator.
struct ModelOptions {
    unsigned mps_supported = 512;     // largest MPS that the card announces, bytes
    bool extended_tag = true;         // the card offers extended tags (above 31)
    bool msix = true;                 // the card offers MSI-X if it has it
    std::string host = "ideal";       // name of the profile (HostProfile) that set some of the others
    uint64_t latency_ns = 1000;       // from the last byte of a read request to its first completion
    uint64_t latency_extra_ns = 0;    // added to the latency of every read
    uint64_t latency_jitter_ns = 0;   // adds a uniformly distributed 0 to latency_jitter_ns
    uint64_t latency_outlier_ns = 0;  // adds this to every latency_outlier_every-th request
    uint64_t latency_outlier_every = 1000;
    std::vector<Quantile> latencies;     // instead of latency and jitter, if not empty
    Credits credits = kRootPortCredits;  // of the root port
    uint64_t credit_return_ns = 0;       // for which the root port keeps the buffer of a TLP
    uint64_t flight_ns = 0;              // from one end of the link to the other, part of the latency
    uint64_t outstanding = 0;            // reads that the root complex serves at once; 0: any number
    uint64_t stall_ns = 0;               // for which memory answers nothing, once in stall_period_ns
    uint64_t stall_period_ns = 7800;
    unsigned most_mps = 4096;  // largest MPS of the root port
    IommuTimes iommu_times;
    unsigned rcb = 64;              // read completion boundary, bytes
    unsigned completion_bytes = 0;  // completions end at multiples of this; 0: as long as MPS allows
    uint64_t seed = 1;
    bool reorder = false;
    bool split_at_random = false;  // completions end at random multiples of rcb
    UpdateFc update_fc = UpdateFc::Guideline;
    AckPolicy acks = AckPolicy::Interval;
    uint64_t quarantine_us = 0;       // the card must keep the tag of an unanswered request so long; 0: not checked
    bool count_violations = false;    // the card may break rules of PCI Express
    uint64_t lcrc_every = 0;          // every lcrc_every-th TLP of a direction arrives damaged; 0: none
    bool iommu = false;               // report every access outside a live mapping, not only the first ones
    std::vector<std::string> faults;  // each FAULT@N or FAULT%P
    std::string stats, trace, pcap;   // names of output files; empty: not written
};

// Adds these options to a command line.
void add_model_options(CommandLine &line, ModelOptions &options);
// Adds those that do not describe the link model or its card.
void add_host_options(CommandLine &line, ModelOptions &options);

// What the options say of the completer, in cycles of this clock.
CompleterOptions completer_options(const ModelOptions &options, uint64_t clock_hz);
uint64_t cycles_of(uint64_t ns, uint64_t clock_hz);

// A host by its properties: measured ones, or chosen ones where `source` says so.
struct HostProfile {
    std::string name, what, source;
    std::vector<Quantile> latencies;  // of reads; empty: as the options say
    Credits credits = kRootPortCredits;
    uint64_t credit_return_ns = 0;
    uint64_t flight_ns = 0;
    uint64_t outstanding = 0;
    uint64_t stall_ns = 0, stall_period_ns = 7800;
    unsigned most_mps = 4096;
    IommuTimes iommu;
    unsigned completion_bytes = 0;
};

const std::vector<HostProfile> &host_profiles();

// The names of all, separated by ", ".
std::string host_names();

// Sets the options of the profile with this name. Throws UsageError if there is none.
void apply_host(const std::string &name, ModelOptions &options);

// A link, a clock and a hard block in place of those that the card was built for. 0 leaves the value as built.
struct LinkOptions {
    unsigned gen = 0, lanes = 0;
    uint64_t clock_hz = 0;
    unsigned block_width = 0;
    uint64_t block_clock_hz = 0;
    uint64_t completion_headers = 0, completion_data = 0;
};

inline void add_link_options(CommandLine &line, LinkOptions &link) {
    line.choice("--gen", "generation of the link, in place of the one the card was built for", link.gen, {1, 2, 3, 4});
    line.choice("--lanes", "lanes of the link, in place of those the card was built for", link.lanes, {1, 2, 4, 8, 16});
    line.number("--clock-hz", "HZ", "clock of the card, in place of the one it was built for", link.clock_hz, 1000000,
                1000000000);
    line.choice("--block-width", "bits of the hard block behind a clock crossing; 0: it limits nothing (0)",
                link.block_width, {0, 64, 128, 256, 512});
    line.number("--block-clock-hz", "HZ", "clock of the hard block behind a clock crossing", link.block_clock_hz,
                1000000, 1000000000);
    line.number("--completion-headers", "N", "completions that the hard block holds", link.completion_headers, 1,
                1 << 20);
    line.number("--completion-data", "BYTES", "data of completions that the hard block holds", link.completion_data, 1,
                1 << 30);
    line.check([&link] {
        if (!link.block_width != !link.block_clock_hz)
            throw UsageError("--block-width needs --block-clock-hz and the other way round; give both or neither");
    });
}

// A card that runs on another link, or with another clock, than it was built for. The card's logic depends on neither,
// with two exceptions: its identity registers show the values it was built for, and its timers count microseconds in
// cycles of the clock it was built for.
class CardOnLink : public Card {
  public:
    CardOnLink(std::unique_ptr<Card> card, const LinkOptions &link) : card_(std::move(card)), info_(card_->info()) {
        if (link.gen)
            info_.gen = link.gen;
        if (link.lanes)
            info_.lanes = link.lanes;
        if (link.clock_hz)
            info_.clock_hz = link.clock_hz;
        if (link.completion_headers)
            info_.completion_space.headers = link.completion_headers;
        if (link.completion_data)
            info_.completion_space.data = link.completion_data;
        info_.block_width = link.block_width;
        info_.block_clock_hz = link.block_clock_hz;
    }

    const CardInfo &info() const override { return info_; }
    void settle(CardInputs &inputs, CardOutputs &outputs) override { card_->settle(inputs, outputs); }
    void edge() override { card_->edge(); }

  private:
    std::unique_ptr<Card> card_;
    CardInfo info_;
};

}  // namespace litepcie
