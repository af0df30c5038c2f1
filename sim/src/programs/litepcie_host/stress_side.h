// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/stress_load.h"

#include <memory>
#include <string>
#include <vector>

namespace litepcie {

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

}  // namespace litepcie
