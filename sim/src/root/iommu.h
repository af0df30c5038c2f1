// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

namespace litepcie {

// How an IOMMU with pages of 4 KiB translates addresses. All times are in cycles, or parts of them.
struct IommuOptions {
    unsigned entries = 0;         // pages whose translation is kept, least recently used; 0: there is no IOMMU
    double walk_cycles = 0;       // what a walk through the tables adds to the latency of a request
    double interval_cycles = 0;   // between the beginnings of two walks
    double directory_cycles = 0;  // added to the interval by a walk in another 2 MiB than the one before
};

// The time that an IOMMU needs to translate addresses.
//
// Addresses are not changed: this is a model of time. Walks begin one after the other, and several are under way at
// once, because `interval_cycles` is shorter than `walk_cycles`. Requests that find their page go past waiting ones.
class Iommu {
  public:
    explicit Iommu(const IommuOptions &options) : options_(options) {}

    // The cycle in which the translation of a request that arrives now is known: `cycle` itself after a hit.
    uint64_t translate(uint64_t address, uint64_t cycle);
    uint64_t misses() const { return misses_; }
    // Forgets all translations.
    void clear();

  private:
    static constexpr unsigned kPageBits = 12, kDirectoryBits = 21;

    IommuOptions options_;
    struct Page {
        std::list<uint64_t>::iterator place;
        uint64_t known;  // cycle in which its walk ends
    };

    std::list<uint64_t> recent_;  // pages, the latest first
    std::unordered_map<uint64_t, Page> pages_;
    double next_walk_ = 0;  // cycle in which the next walk may begin
    uint64_t directory_ = UINT64_MAX;
    uint64_t misses_ = 0;
};

}  // namespace litepcie
