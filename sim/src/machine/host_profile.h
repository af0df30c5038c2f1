// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/model_options.h"

#include <string>
#include <vector>

namespace litepcie {

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

}  // namespace litepcie
