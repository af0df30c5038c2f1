// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/options.h"
#include "programs/litepcie_host/expected.h"
#include "programs/litepcie_host/stress_load.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace litepcie {

// What interrupts a load.
//
// Nothing        only the host's wrong completions
// EngineReset    RESET of some of the engines, while the others go on
// CardReset      RESET of all engines by the register of the identity bank
// BusMasterOff   bus mastering is off for a while
// FunctionReset  function level reset; completions of requests before it still come
// HotReset       the host disables the function, then resets it over the link
// LinkDown       the link goes down without a warning
enum class StressEvent { Nothing, EngineReset, CardReset, BusMasterOff, FunctionReset, HotReset, LinkDown };
extern const std::vector<std::pair<std::string, StressEvent>> kStressEvents;

struct StressOptions {
    uint64_t seeds = 0;
    std::string event;   // of all seeds; empty: a random one for each
    uint64_t limit = 0;  // cycles within which everything must settle; 0: 60000 and four of the card's timeouts
    std::vector<std::string> load_faults;   // in place of random ones, each FAULT%P or "none"
    std::vector<std::string> clean_faults;  // each FAULT@N, counted from the start of the clean run
};

// The properties of the host for a seed: latency, order, splits.
ModelOptions stress_model_options(uint64_t seed);

// A random load of all memory channels, streams, the user's bus and the port to host memory, an event at a random
// cycle, recovery as a driver does it, and a clean run.
//
// All bytes are compared: those that the load transferred may have the value before or after, all others of host memory
// and endpoint memory must not change. Once the engines are reset, the host uses the memory of the load for other data,
// so that a late write of the card is found. Late completions of the load still come during the clean run. Its
// transfers often have the lengths and alignments of the load, so that a late completion fits them.
class StressCase {
  public:
    // Throws std::invalid_argument if the event does not exist.
    StressCase(ModelDriver &driver, uint64_t seed, const StressOptions &options);
    // Throws HostError for a wrong byte, or if something does not end in time.
    void run();

    const std::string &event_name() const { return kStressEvents[event_].first; }
    const std::string &phase() const { return phase_; }
    // Registers of the engines and state of the model, for a report of a failure.
    std::string state();
    uint64_t sides_compared() const;
    uint32_t timeouts = 0, unexpected = 0;  // the card's error counters at the end

  private:
    // Bytes of an area that an engine reads or writes.
    static constexpr uint64_t kArea = 0x8000;
    // Host memory of a channel, in offsets: areas of the load, areas of the clean run, a copy of the endpoint memory.
    static constexpr uint64_t kSource = 0, kTarget = 0x10000, kLoadBytes = 0x20000, kAgain = 0x20000, kCopy = 0x40000,
                              kDataBytes = 0x58000;
    // Endpoint memory of a channel: an area that the reader writes, and one that the writer reads.
    static constexpr uint64_t kWriterArea = kArea, kEndpointBytes = 2 * kArea;
    // Ring, status block and tables of all engines: host address for the load and for the clean run, bytes for each.
    static constexpr uint64_t kControl[] = {0x00100000, 0x00200000}, kControlBytes = 0x8000;

    struct Channel {
        Expected host, endpoint;
        uint64_t base;  // host address of the data
    };

    void add_memory();
    void prepare();
    void load();
    void add_faults();
    void strike();
    void reset_function(StressEvent event);
    void command(unsigned value);
    void release(bool function);
    void account(StressEngine &engine);
    bool link_was_cut() const { return kStressEvents[event_].second >= StressEvent::HotReset; }
    void clean();
    void read_back();
    void settle(const std::vector<StressEngine *> &engines, bool with_sides);
    void verify();

    EnginePlace place(const StressEngine &engine, bool again);
    void move(StressEngine &engine, uint64_t host, uint64_t bytes);
    void transferred(StressEngine &engine, const Piece &piece, uint64_t bytes, bool sure);
    void refill(Channel &channel, uint64_t offset, uint64_t bytes);
    uint8_t *memory(uint64_t address, uint64_t bytes);
    std::vector<StressEngine *> all();
    StressEngine &engine(Direction direction, unsigned channel) { return engines_[2 * channel + int(direction)]; }

    ModelDriver &driver_;
    StressOptions options_;
    Random random_;
    size_t event_;
    uint32_t timeout_us_;
    uint64_t limit_;  // cycles within which everything must settle
    HostSetup setup_;
    std::vector<Channel> channels_;
    std::vector<StressEngine> engines_;
    std::vector<std::unique_ptr<StressSide>> sides_;
    std::vector<std::vector<Slot>> twins_;  // what the engines did in the load
    Expected control_;                      // rings, status blocks and tables of the load, after it
    std::string phase_ = "set-up";
};

// Runs a StressCase for each of many seeds, each with a card of its own.
class Stress {
  public:
    Stress(const LinkOptions &link, const ModelOptions &model, const StressOptions &options)
        : link_(link), model_(model), options_(options) {}
    // Runs the seeds from that of the model's options on. Prints each failure, and writes a summary to the file `json`
    // unless that is empty. Returns whether all seeds passed.
    bool run(const std::string &json);

  private:
    struct Totals {
        uint64_t seeds = 0, cycles = 0, faults = 0, timeouts = 0, unexpected = 0, bytes = 0, side_bytes = 0;
        std::map<std::string, uint64_t> events;
    };
    struct Failure {
        uint64_t seed;
        std::string event, phase, message;
    };

    void run_seed(uint64_t seed);

    LinkOptions link_;
    ModelOptions model_;
    StressOptions options_;
    Totals totals_;
    std::vector<Failure> failures_;
};

}  // namespace litepcie
