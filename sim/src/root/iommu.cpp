// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/iommu.h"

#include <algorithm>
#include <cmath>

namespace litepcie {

uint64_t Iommu::translate(uint64_t address, uint64_t cycle) {
    if (!options_.entries)
        return cycle;
    const uint64_t page = address >> kPageBits, directory = address >> kDirectoryBits;
    if (auto found = pages_.find(page); found != pages_.end()) {
        recent_.splice(recent_.begin(), recent_, found->second.place);
        return std::max(cycle, found->second.known);
    }
    misses_++;
    const double begin = std::max(double(cycle), next_walk_);
    next_walk_ = begin + options_.interval_cycles + (directory != directory_ ? options_.directory_cycles : 0);
    directory_ = directory;
    if (pages_.size() == options_.entries) {
        pages_.erase(recent_.back());
        recent_.pop_back();
    }
    recent_.push_front(page);
    const uint64_t known = std::lround(begin + options_.walk_cycles);
    pages_[page] = {recent_.begin(), known};
    return known;
}

void Iommu::clear() {
    recent_.clear();
    pages_.clear();
    next_walk_ = 0;
    directory_ = UINT64_MAX;
}

}  // namespace litepcie
