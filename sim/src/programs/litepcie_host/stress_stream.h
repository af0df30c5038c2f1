// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/expected.h"
#include "programs/litepcie_host/stress_side.h"

#include <set>

namespace litepcie {

// A stream whose logic sends back what it receives, at any width. Random packets go to the card in random descriptors,
// and come back in random buffers.
//
// The judge knows the packets and their order. In a run, packets come back whole, in order, and none is missing. A
// reset of the reader may cut one packet, whose beginning then comes back as a packet that was cut, and later ones of
// this run never come. A reset of the writer drops any number of packets, and the rest of one that had begun. So after
// resets, several packets may be next; all of them are followed until one of them comes.
class StressStream : public StressSide {
  public:
    StressStream(ModelDriver &driver, Random &random, unsigned channel);

    void start(bool again) override;
    void feed(bool some) override;
    bool over() override;
    void reset_engines(bool all) override;
    void release(bool function, bool cut) override;
    void restart() override;
    void finish() override;
    void verify() override;
    std::string state() override;

  private:
    // Offsets in host memory, for the load and for the clean run: rings, status blocks and tables of both engines; the
    // data to send; the cells that hold buffers.
    static constexpr uint64_t kControl[] = {0, 0x10000}, kControlBytes = 0x8000;
    static constexpr uint64_t kSource[] = {0x20000, 0x28000}, kSourceBytes = 0x8000;
    static constexpr uint64_t kBuffers[] = {0x30000, 0x40000}, kCellBytes = 0x900, kCells = 28, kBytes = 0x50000;

    // A slot of the writer's ring: its descriptors, each in a cell of its own.
    struct Part {
        unsigned cell;
        uint64_t offset;  // in host memory
        uint32_t length;
    };
    using Buffer = std::vector<Part>;

    uint64_t control(bool writer) const { return kControl[again_] + writer * kControlBytes; }
    void make_packets(std::vector<Slot> &slots);
    void post_buffers(bool some);
    void take_buffers();
    void take(const Buffer &buffer, uint32_t report);
    void use_memory();
    void ended(const std::vector<uint8_t> &packet, bool whole);
    std::set<size_t> next() const;
    size_t run_of(size_t packet) const;
    bool all_came() const { return part_.empty() && next_.count(sent_.size()); }
    [[noreturn]] void fail(const std::string &what);

    uint64_t base_;  // host address of the memory
    std::string name_;
    bool again_ = false, active_ = false;
    StressEngine reader_;
    DmaEngine writer_;
    Expected host_;
    std::vector<Buffer> posted_;  // all slots of this run
    std::vector<unsigned> free_;  // cells
    size_t taken_ = 0;            // slots of `posted_` that came back
    uint64_t next_table_ = 0;     // host address
    uint32_t flush_us_ = 0;
    uint32_t passed_ = 0;  // bytes that the reader had given to the logic before the run
    bool reset_ = false;   // an engine was reset in the middle
    // The judge.
    std::vector<std::vector<uint8_t>> sent_;  // packets of all runs
    std::vector<size_t> starts_;              // number of each run's first packet
    std::set<size_t> next_{0};                // packets of which one comes next
    std::vector<uint8_t> part_;               // of a packet, whose end has not come
    bool first_ = true;                       // no packet has ended since the writer's reset
    bool whole_ = false;                      // a whole packet came since power-on
    bool short_ = false;                      // the last buffer was not full, and ended no packet
};

}  // namespace litepcie
