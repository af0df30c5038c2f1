// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/command_line.h"
#include "link/flow_control.h"

#include <cstdint>
#include <string>
#include <vector>

namespace litepcie {

// What the host and the link are like; the same options for every program of the simulator.
struct ModelOptions {
    unsigned mps_supported = 512;     // bytes
    bool extended_tag = true;         // offered to the host: tags above 31
    uint64_t latency_ns = 1000;       // request's last byte to first completion
    uint64_t latency_jitter_ns = 0;   // uniform addition
    uint64_t latency_outlier_ns = 0;  // addition to every latency_outlier_every-th request
    uint64_t latency_outlier_every = 1000;
    unsigned rcb = 64;              // bytes
    unsigned completion_bytes = 0;  // 0: up to MPS
    uint64_t seed = 1;
    bool reorder = false;
    UpdateFc update_fc = UpdateFc::Guideline;
    uint64_t lcrc_every = 0;          // 0: no TLP arrives damaged
    bool iommu = false;               // report every access outside a live mapping
    std::vector<std::string> faults;  // FAULT@N
    std::string stats, trace;         // file names, empty: none
};

// Adds the options of the model, which every program of the simulator has.
void add_model_options(CommandLine &line, ModelOptions &options);

}  // namespace litepcie
