// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/expected.h"
#include "programs/litepcie_host/host_driver.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
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

// What works beside the memory channels of a StressCase, with a judge of its own for all that it moves: a stream, the
// user's bus, or the port of the user's logic to host memory.
class StressSide {
  public:
    StressSide(ModelDriver &driver, Random &random) : driver_(driver), random_(random) {}
    virtual ~StressSide() = default;

    // Begins the load, or `again` for the clean run.
    virtual void start(bool again) = 0;
    // Goes on. If `some`, a part may be left for later. Throws HostError if something moved that should not have.
    virtual void feed(bool some) = 0;
    // Whether it has nothing more to do, or cannot go on.
    virtual bool over() = 0;
    // The event resets some of its engines. If `all`, the card has reset every one of them.
    virtual void reset_engines(bool all) { (void)all; }
    // Ends the load. After a reset of the `function` nothing is left to stop, and the card cannot be accessed yet; with
    // `cut`, TLPs on the link were lost. Checks what was moved, and uses the memory of the load for other data.
    virtual void release(bool function, bool cut) = 0;
    // The host has set the function up again after its reset.
    virtual void restart() {}
    // Throws HostError unless all of the clean run has arrived.
    virtual void finish() = 0;
    // Compares the host memory.
    virtual void verify() = 0;
    virtual std::string state() = 0;
    // Bytes that were moved and compared.
    uint64_t compared() const { return compared_; }

  protected:
    static constexpr uint64_t kPatience = 400000;  // cycles within which whatever waits for the host ends

    uint8_t *memory(uint64_t address, uint64_t bytes);
    // Fills host memory with other data, and returns it.
    std::vector<uint8_t> fill(uint64_t address, uint64_t bytes);
    std::vector<uint8_t> load(uint32_t offset, unsigned bytes);
    void store(uint32_t offset, const std::vector<uint8_t> &data);
    // Runs until a register has the value. Throws HostError if that takes too long.
    void await(uint32_t offset, uint32_t value, const char *what);

    ModelDriver &driver_;
    Random &random_;
    uint64_t compared_ = 0;
};

// Throws HostError unless the engine is off and remembers nothing, as after a reset of the function.
void expect_off(DmaEngine &engine, const std::string &name);

// The sides that the card has, beside `channels` memory channels whose endpoint memory ends at `endpoint`.
std::vector<std::unique_ptr<StressSide>> stress_sides(ModelDriver &driver, Random &random, unsigned channels,
                                                      uint32_t endpoint);

// The user's bus: stores and loads of any bytes of its RAM, and accesses to addresses without a slave between them.
class StressUserBus : public StressSide {
  public:
    StressUserBus(ModelDriver &driver, Random &random);

    void start(bool again) override;
    void feed(bool some) override;
    bool over() override { return !left_; }
    void release(bool function, bool cut) override;
    void restart() override { settle(); }
    void finish() override;
    void verify() override {}
    std::string state() override;

  private:
    // Bytes of the RAM that are used.
    static constexpr uint32_t kBytes = 0x400;
    static constexpr uint32_t kCopyBytes = 0x100;  // that a processor copies
    static constexpr unsigned kAccess = 64;

    void access();
    void hole();
    void settle();
    void compare(uint32_t at, unsigned bytes);
    void compare_copy();

    uint32_t ram_, hole_;  // offsets in BAR0
    std::vector<uint8_t> bytes_;
    bool again_ = false;
    unsigned left_ = 0;  // accesses of the clean run
    uint32_t errors_ = 0;
    // The last store, if no load has shown yet that it was done. A reset may lose it.
    uint32_t place_ = 0;
    std::vector<uint8_t> stored_;
    bool unsure_ = false;
};

// Offset in BAR0 of an address on the user's bus; 0 if the host does not reach it.
uint32_t user_offset(HostDriver &driver, uint32_t address);

// The port of the user's logic to host memory: a HostCopier copies dwords between buffers, and a HostMover moves bytes
// between buffers and endpoint memory, while the host gives the card these buffers and takes them back.
class StressHostPort : public StressSide {
  public:
    // The endpoint memory from `endpoint` on is for the mover.
    StressHostPort(ModelDriver &driver, Random &random, uint32_t endpoint);

    void start(bool again) override;
    void feed(bool some) override;
    bool over() override { return early_ || !(copy_.busy || move_.busy || left_); }
    void release(bool function, bool cut) override;
    void restart() override;
    void finish() override;
    void verify() override;
    std::string state() override;

  private:
    // Buffers of the card: what it may only read, what the copier and the mover write, what nobody may write.
    enum Buffer { Source, Copies, Moves, Forbidden, kBuffers };
    static constexpr uint64_t kBufferBytes = 0x2000, kSet = kBuffers * kBufferBytes;
    static constexpr uint64_t kMemory = 0x30000000;  // a set of buffers for the load, and one for the clean run
    static constexpr unsigned kMostWords = 40;
    static constexpr uint32_t kEndpointBytes = 0x1000, kMostBytes = 3000;

    // An operation of the copier or of the mover, with offsets in the buffers `from` and `to`.
    struct Operation {
        bool busy = false, allowed = true, gives_up = false, write = false;
        Buffer from = Source, to = Copies;
        uint32_t at = 0, place = 0, bytes = 0;
    };

    void give();
    void copy();
    void move();
    void poll();
    void copied(bool sure);
    void moved(unsigned reason);
    void read_endpoint(uint32_t place, uint32_t bytes, bool any);
    void settle_endpoint(bool any);
    void stop();
    uint64_t of(Buffer buffer) const { return again_ * kSet + buffer * kBufferBytes; }
    uint32_t address(Buffer buffer, uint32_t at) const { return origin_ + buffer * limit_ + at; }

    uint32_t copier_, mover_, window_, endpoint_at_;
    uint32_t origin_, limit_ = 0;  // of the buffers, at the port
    Expected host_;
    std::vector<uint8_t> endpoint_;
    std::vector<uint8_t> moved_;  // by the last descriptor to the endpoint memory, in which it was not compared yet
    bool again_ = false, early_ = false, unsure_ = false, cut_ = false, lost_ = false;
    unsigned left_ = 0;  // operations of the clean run
    Operation copy_, move_;
    uint32_t submitted_ = 0;
};

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
