// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/egress.h"
#include "root/faults.h"
#include "root/host_memory.h"
#include "root/iommu.h"
#include "root/latency.h"
#include "tlp/tlp.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <utility>

namespace litepcie {

// How the host answers reads.
struct CompleterOptions {
    uint64_t latency_cycles = 125;  // from the last byte of a request until its first completion can be sent
    uint64_t jitter_cycles = 0;     // adds a uniformly distributed 0 to jitter_cycles to each request's latency
    uint64_t outlier_cycles = 0;    // adds this to the latency of every outlier_every-th request
    uint64_t outlier_every = 1000;
    std::vector<Quantile> latencies;  // instead of latency and jitter, if not empty
    double cycles_per_ns = 0.125;     // of `latencies`
    IommuOptions iommu;
    unsigned outstanding = 0;   // reads served at once; later ones wait for one to end; 0: any number
    uint64_t stall_cycles = 0;  // for which memory answers nothing, at the end of every stall_period_cycles
    uint64_t stall_period_cycles = 1;
    unsigned rcb = 64;              // read completion boundary, bytes: 64 or 128
    unsigned completion_bytes = 0;  // 64 or 128: completions end at every multiple of it; 0: as long as MPS allows
    uint64_t seed = 1;              // of the random numbers for jitter and order
    bool reorder = false;           // completions of different requests may overtake each other
    bool split_at_random = false;   // completions end at random multiples of `rcb`, at most MPS bytes apart
};

// The card's accesses to host memory. "Unmapped" counts accesses outside of it.
struct CompleterCounts {
    uint64_t unmapped_reads = 0, unmapped_writes = 0;
    uint64_t read_bytes = 0, written_bytes = 0;
};

// The part of the root complex that serves the card's requests.
//
// A write changes memory when it arrives. A read is answered after a latency, with completions that are split at the
// read completion boundary; a completion has the data that is in memory when it is made. Completions of one request
// come in order of address. Requests are answered in order unless `reorder`, or if a fault holds one back. If memory
// has to be waited for, it is read when the request arrives, and the answer is as late as the data.
//
// Memory stalls periodically if the options say so, as DRAM does that is refreshed. What would be answered in a stall
// is answered at its end. A write that arrives in a stall changes memory at once, but stays in the root port's buffer.
//
// This folder is the root complex: it serves the card's requests, makes the host's loads and stores, injects faults,
// and finds a card by TLPs alone.
class Completer {
  public:
    using Report = std::function<void(const Tlp &)>;

    // Calls `unmapped` with every request that accesses an address outside the host's memory.
    Completer(HostMemory &memory, FaultInjector &faults, const CompleterOptions &options, Report unmapped);

    void set_mps(unsigned mps) { mps_ = mps; }
    // The card's completion timeout. Fault::Late delays a completion by twice this time.
    void set_timeout_cycles(uint64_t cycles) { timeout_cycles_ = cycles; }

    // The cycle in which a memory request that arrives now can leave the root port's buffer: its address is known, and
    // memory takes a write.
    uint64_t accepted(const Tlp &tlp, uint64_t cycle) {
        const uint64_t known = iommu_.translate(tlp.first_byte(), cycle);
        return tlp.is_memory_write() ? memory_ready(known) : known;
    }
    // How many reads wait until another one ends.
    size_t reads_waiting() const { return queue_.size(); }
    // Serves a memory request of the card that arrives now. The TLP has passed the TlpChecker.
    void receive(const Tlp &tlp, uint64_t cycle);
    // Hands completions that are due to `egress`. It keeps only a few there, so that later ones can still overtake.
    void advance(uint64_t cycle, Egress &egress);

    // Whether the host still has to answer a request.
    bool outstanding() const { return !waiting_.empty() || !active_.empty() || !queue_.empty(); }
    // Returns and clears the list of tags that the host answers after the card's timeout, or never.
    std::vector<uint8_t> take_abandoned() { return std::move(abandoned_); }
    bool has_abandoned() const { return !abandoned_.empty(); }
    // Whether a request was answered short since the last call: the card waits for the rest.
    bool take_shortened() { return std::exchange(shortened_, false); }
    const CompleterCounts &counts() const { return counts_; }
    const Iommu &iommu() const { return iommu_; }
    void clear();

  private:
    struct Read {
        Tlp request;
        uint64_t address;  // of the next byte
        unsigned bytes;    // still to be sent
        bool abandoned;    // so late that the card may have timed out and used the tag again
        bool postponed = false;
        std::shared_ptr<Fetch> fetch = nullptr;  // memory that has to be waited for
    };
    // A read that is not served yet.
    struct Queued {
        Tlp request;
        uint64_t arrival;  // cycle
    };

    void write(const Tlp &tlp);
    void serve(const Tlp &tlp, uint64_t arrival, uint64_t cycle);
    void serve_queue(uint64_t cycle);
    // `cycle`, or the end of the stall that it is in.
    uint64_t memory_ready(uint64_t cycle) const;
    // Reads that are served. One that a fault holds back does not count: others are served in its place.
    size_t served() const { return waiting_.size() + active_.size() - postponed_; }
    uint64_t latency();
    uint64_t due(uint64_t cycle);
    unsigned piece_bytes(const Read &read);
    // The next bytes of a read, into `data`. False if they may not be read.
    bool bytes_of(const Read &read, uint8_t *data, unsigned bytes);
    bool here(const Read &read) { return !read.fetch || memory_.arrived(*read.fetch); }
    // Makes the next completion of a read; true if it was the last.
    bool complete(Read &read, uint64_t cycle, Egress &egress);
    void refuse(const Read &read, CplStatus status, Egress &egress);
    // Answers the rest of a read after a delay in which its request may time out.
    void postpone(Read read, uint64_t due);

    HostMemory &memory_;
    FaultInjector &faults_;
    CompleterOptions options_;
    Report unmapped_;
    std::mt19937_64 random_;
    Iommu iommu_;
    unsigned mps_ = 128;
    uint64_t timeout_cycles_ = UINT64_MAX;
    uint64_t last_due_ = 0;
    uint64_t requests_ = 0;
    std::deque<Queued> queue_;
    std::multimap<uint64_t, Read> waiting_;  // keyed by the cycle in which they are due
    std::deque<Read> active_;                // due, and not answered completely
    size_t postponed_ = 0;                   // how many of both a fault holds back
    std::vector<uint8_t> abandoned_;
    bool shortened_ = false;
    CompleterCounts counts_;
};

}  // namespace litepcie
