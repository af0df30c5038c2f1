// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "host/faults.h"
#include "host/host_memory.h"
#include "link/egress.h"
#include "link/tlp.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>

namespace litepcie {

struct CompleterOptions {
    uint64_t latency_cycles = 125;  // from the last byte of a request to its first completion ready to be sent
    uint64_t jitter_cycles = 0;     // uniform addition, 0 to this
    uint64_t outlier_cycles = 0;    // addition to every outlier_every-th request
    uint64_t outlier_every = 1000;
    unsigned rcb = 64;              // read completion boundary: 64 or 128
    unsigned completion_bytes = 0;  // 64, 128: a completion ends at each multiple; 0: as long as MPS allows
    uint64_t seed = 1;
    bool reorder = false;  // completions of different requests overtake each other
};

// What the card did to host memory.
struct CompleterCounts {
    uint64_t unmapped_reads = 0, unmapped_writes = 0;
    uint64_t read_bytes = 0, written_bytes = 0;
};

// The root complex towards the card's requests: writes go to memory as they arrive; reads are answered after a latency,
// split at the read completion boundary. Their data is what memory holds when a completion is made. Completions of one
// request come in order of address; those of different ones too unless `reorder`.
class Completer {
  public:
    using Report = std::function<void(const Tlp &)>;

    // `unmapped` is told of every access outside the host's memory.
    Completer(HostMemory &memory, FaultInjector &faults, const CompleterOptions &options, Report unmapped);

    void set_mps(unsigned mps) { mps_ = mps; }
    // The card's completion timeout; the fault `late` delays by twice as much.
    void set_timeout_cycles(uint64_t cycles) { timeout_cycles_ = cycles; }

    // A checked memory request of the card, arrived now. False: the host will not answer it.
    void receive(const Tlp &tlp, uint64_t cycle);
    // Hands completions that are due to `egress`, a few at a time so that new ones can overtake.
    void advance(uint64_t cycle, Egress &egress);

    // Requests the host will still answer.
    bool outstanding() const { return !waiting_.empty() || !active_.empty(); }
    // Tags the host just gave up on or delays past the card's timeout; empties the list.
    std::vector<uint8_t> take_abandoned() { return std::move(abandoned_); }
    bool has_abandoned() const { return !abandoned_.empty(); }
    const CompleterCounts &counts() const { return counts_; }
    void clear();

  private:
    struct Read {
        Tlp request;
        uint64_t address;  // next byte
        unsigned bytes;    // left
        bool abandoned;    // so late that the card may have used its tag again
    };

    void write(const Tlp &tlp);
    uint64_t due(uint64_t cycle);
    unsigned piece_bytes(const Read &read) const;
    // Makes the next completion of a read; true if the read is over.
    bool complete(Read &read, uint64_t cycle, Egress &egress);
    void refuse(const Read &read, CplStatus status, Egress &egress);

    HostMemory &memory_;
    FaultInjector &faults_;
    CompleterOptions options_;
    Report unmapped_;
    std::mt19937_64 random_;
    unsigned mps_ = 128;
    uint64_t timeout_cycles_ = UINT64_MAX;
    uint64_t last_due_ = 0;
    uint64_t requests_ = 0;
    std::multimap<uint64_t, Read> waiting_;  // by the cycle they are due
    std::deque<Read> active_;                // due
    std::vector<uint8_t> abandoned_;
    CompleterCounts counts_;
};

}  // namespace litepcie
