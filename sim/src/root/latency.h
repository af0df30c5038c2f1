// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <vector>

namespace litepcie {

// A measured distribution of latencies, by some of its quantiles: of all requests, `share` percent take at most `ns`.
struct Quantile {
    double share;  // 0 to 100
    double ns;
};

// The latency that `share` percent of the requests do not exceed: between two quantiles in proportion, below the first
// and above the last one equal to it. The list must not be empty, and must ascend.
double latency_ns(const std::vector<Quantile> &quantiles, double share);

}  // namespace litepcie
