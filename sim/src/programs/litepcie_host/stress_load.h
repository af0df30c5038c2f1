// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/dma_engine.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace litepcie {

using Random = std::mt19937_64;

inline uint64_t below(Random &random, uint64_t limit) { return random() % limit; }
inline bool one_in(Random &random, unsigned n) { return random() % n == 0; }
template <typename T> T any_of(Random &random, std::initializer_list<T> list) {
    return list.begin()[random() % list.size()];
}

inline std::vector<uint8_t> random_bytes(Random &random, uint64_t bytes) {
    std::vector<uint8_t> data((bytes + 7) & ~uint64_t(7));
    for (size_t i = 0; i < data.size(); i += 8) {
        const uint64_t value = random();
        memcpy(&data[i], &value, 8);
    }
    data.resize(bytes);
    return data;
}

// A transfer between two areas, in offsets from their starts.
struct Piece {
    uint64_t from, to;
    uint32_t length;
    bool last = false;  // it ends a packet of a stream
};

// A slot of the ring: one transfer, or with `table` a LINK to a table of them.
struct Slot {
    std::vector<Piece> pieces;
    bool table = false;
    bool interrupt = false;
};

// A random list of transfers between two areas of `area_bytes`. Their lengths and alignments are random, and no two
// write the same byte.
std::vector<Slot> random_slots(Random &random, uint64_t area_bytes);

// Where an engine works: host addresses, and the start of its area in the endpoint memory.
struct EnginePlace {
    DmaEngine::Layout layout;
    uint64_t host;
    uint64_t tables, table_bytes;
    uint32_t endpoint;
};

// An engine with a list of transfers. It is fed as a driver does, with as many as the ring takes.
class StressEngine {
  public:
    StressEngine(HostDriver &driver, Direction direction, unsigned channel)
        : dma_(driver, direction, channel), direction_(direction), channel_(channel) {}

    // Resets the engine, enables it with an empty ring at `place`, and gives it a new list. Throws HostError if the
    // reset does not complete.
    void start(const EnginePlace &place, std::vector<Slot> slots);
    // Puts transfers of the list into the ring, and rings the doorbell if there are any. If `some`, it may leave a part
    // of them for later.
    void feed(Random &random, bool some);
    // Whether the whole list is complete, or the engine stopped.
    bool over() const;

    EngineReport report() const { return dma_.report(); }
    const std::vector<Slot> &slots() const { return slots_; }
    size_t posted() const { return posted_; }
    bool complete() const;
    // The host uses ring and status block for something else from now on.
    void retire() { retired_ = true; }
    // The engine's registers, for a report of a failure.
    std::string state();

    DmaEngine &dma() { return dma_; }
    const EnginePlace &place() const { return place_; }
    Direction direction() const { return direction_; }
    unsigned channel() const { return channel_; }
    std::string name() const { return dma_.name() + std::to_string(channel_); }

  private:
    void post(const Slot &slot);
    Descriptor descriptor(const Piece &piece) const;

    DmaEngine dma_;
    Direction direction_;
    unsigned channel_;
    EnginePlace place_{};
    std::vector<Slot> slots_;
    bool retired_ = false;
    size_t posted_ = 0;        // slots of the list in the ring or done
    uint64_t next_table_ = 0;  // host address
};

}  // namespace litepcie
