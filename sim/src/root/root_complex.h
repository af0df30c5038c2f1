// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/link_direction.h"
#include "root/host_memory.h"
#include "tlp/tlp.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace litepcie {

// What the host does wrong with a completion of a read of the card.
//
// Unsupported, Abort   answers with that status and no data; the request ends
// Poison               sets the poisoned bit
// Drop                 never sends this completion nor the following ones of the request
// Short                answers as if the request were shorter: fewer bytes, a matching byte count; the request ends
// Duplicate            sends the completion twice
// Late                 sends it, and the following ones of the request, after twice the card's completion timeout
// Hold                 as Late, but after a random time of up to four times the timeout
// Requester            sends a completion with another requester ID and other data before it
// Wrong                changes one bit of the data, which no check of PCI Express finds
enum class Fault { None, Unsupported, Abort, Poison, Drop, Short, Duplicate, Late, Hold, Requester, Wrong };

// Faults to be injected, by the number of the completion or at random. Completions of the card's reads are counted from
// 1.
class FaultInjector {
  public:
    explicit FaultInjector(uint64_t seed = 1) : random_(seed) {}

    // Adds a fault given as "FAULT@N", or as "FAULT%P": P of 1000 completions, at random. Throws
    // std::invalid_argument, with the allowed values, if the text is wrong.
    void add(const std::string &text);
    // As add(), but N is counted from the next completion: N = 1 is the next one.
    void add_next(const std::string &text);
    // Ends the faults at random.
    void calm() { at_random_.clear(); }
    // Counts a completion that is about to be sent, and returns its fault.
    Fault next();
    uint64_t injected() const { return injected_; }

  private:
    void parse(const std::string &text, uint64_t base);

    std::map<uint64_t, Fault> faults_;
    std::vector<std::pair<Fault, unsigned>> at_random_;  // each with its share of 1000
    std::mt19937_64 random_;
    uint64_t completions_ = 0, injected_ = 0;
};

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

// A measured distribution of latencies, by some of its quantiles: of all requests, `share` percent take at most `ns`.
struct Quantile {
    double share;  // 0 to 100
    double ns;
};

// The latency that `share` percent of the requests do not exceed: between two quantiles in proportion, below the first
// and above the last one equal to it. The list must not be empty, and must ascend.
double latency_ns(const std::vector<Quantile> &quantiles, double share);

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

// The part of the root complex that turns loads and stores of a processor to the card's BARs into requests.
class HostCpu {
  public:
    // Makes memory writes, split at MPS and at multiples of 4 KiB. Returns the number of TLPs.
    unsigned write(uint64_t address, const uint8_t *data, size_t bytes, Egress &egress);

    // Makes a memory read of 1 to 128 bytes that crosses no multiple of 4 KiB; returns its tag. Throws
    // std::runtime_error if all 32 tags are in use.
    uint8_t read(uint64_t address, size_t bytes, uint64_t cycle, Egress &egress, Tlp *request = nullptr);

    enum class State { Idle, Waiting, Done, Failed };
    State state(uint8_t tag) const { return loads_[tag].state; }
    // Copies the bytes of a load that is Done, and frees its tag. A failed load gives all ones, as on a real processor.
    void take(uint8_t tag, uint8_t *data, size_t bytes);

    // Handles a completion of the card that has passed the TlpChecker.
    void complete(const Tlp &tlp);
    // Fails one load that is older than the completion timeout, and returns its tag; -1 if there is none.
    int expire(uint64_t cycle, uint64_t timeout_cycles);
    bool outstanding() const { return waiting_; }
    void set_mps(unsigned mps) { mps_ = mps; }
    // Fails all outstanding loads.
    void fail_all();

  private:
    struct Load {
        State state = State::Idle;
        unsigned received = 0, bytes = 0;
        uint64_t issued = 0;
        uint8_t data[128];
    };

    std::array<Load, 32> loads_;
    unsigned next_tag_ = 0;
    unsigned waiting_ = 0;
    unsigned mps_ = 128;
};

}  // namespace litepcie
