// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "link/link_direction.h"
#include "root/root_complex.h"

#include <cstdint>
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
    std::string stats, trace;         // names of output files; empty: not written
};

// Adds these options to a command line.
void add_model_options(CommandLine &line, ModelOptions &options);
// Adds those that do not describe the link model or its card.
void add_host_options(CommandLine &line, ModelOptions &options);

// What the options say of the completer, in cycles of this clock.
CompleterOptions completer_options(const ModelOptions &options, uint64_t clock_hz);
uint64_t cycles_of(uint64_t ns, uint64_t clock_hz);

}  // namespace litepcie
