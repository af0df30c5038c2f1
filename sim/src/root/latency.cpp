// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/latency.h"

#include <cstddef>

namespace litepcie {

double latency_ns(const std::vector<Quantile> &quantiles, double share) {
    if (share <= quantiles.front().share)
        return quantiles.front().ns;
    for (size_t i = 1; i < quantiles.size(); i++) {
        const Quantile &below = quantiles[i - 1], &above = quantiles[i];
        if (share <= above.share)
            return below.ns + (above.ns - below.ns) * (share - below.share) / (above.share - below.share);
    }
    return quantiles.back().ns;
}

}  // namespace litepcie
