// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/expected.h"
#include "programs/litepcie_host/host_driver.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace litepcie {

// Runs a directed test of the card, which is a JSON file. A number may also be a string such as "0x10000000".
//
//   {"setup": {"mps": 256, "mrrs": 512, "extended_tag": true, "bus_master": true, "msi": true}, "steps": [STEP, ...]}
//
// Host memory has 4 MiB at 0x10000000 and 4 MiB at 0x100000000 for data. A Shadow follows every transfer and knows what
// these bytes must be. Another 1 MiB at 0x00100000 and 1 MiB at 0x1f0000000 are for rings, status blocks and tables.
//
// The steps:
//
//   {"do": "fill", "address", "bytes", "seed" or "value"}          fills host memory: random bytes or one value
//   {"do": "peek", "address", "bytes", "expect" (hex)}             reads host memory
//   {"do": "write_register", "offset", "value"}                    writes a 32 bit register of BAR0
//   {"do": "read_register", "offset", "expect", "mask"}            reads it; "expect" and "mask" are optional
//   {"do": "store", "offset", "hex"}                               writes any number of bytes to BAR0 in one store
//   {"do": "load", "offset", "bytes", "expect" (hex)}              reads up to 128 bytes of BAR0; with "fails": true
//   the
//                                                                  card must refuse
//   {"do": "config_write", "offset", "value", "bytes"}
//   {"do": "config_read", "offset", "bytes", "expect", "mask"}     "mask" is optional
//   {"do": "configure", "engine", "ring_log2", "ring", "status", "moderation_count", "moderation_us"}
//   {"do": "post", "engine", "descriptors": [D, ...]}              adds descriptors to the ring, without the doorbell
//   {"do": "doorbell", "engine", "value"}                          rings it; "value" replaces the number posted
//   {"do": "wait", "engine", "reason", "completed", "stopped_bytes", "interrupts"}
//   {"do": "transfer", ...}                                        does post, doorbell and wait
//   {"do": "wait_interrupts", "count", "cycles"}                   waits at most "cycles" until "count" interrupts have
//                                                                  arrived since the script began
//   {"do": "run", "cycles"}                                        runs the clock
//   {"do": "inject", "fault": "ur@1"}                              adds a fault; 1 is the next completion
//   {"do": "reset_engine", "engine"}, {"do": "reset_card"}
//   {"do": "function_reset"}                                       function level reset; then sets the card up again
//   {"do": "link_down", "cycles"}                                  loss of the link for so long, as function_reset
//   {"do": "verify"}                                               compares host memory with the shadow
//
// An engine is "reader" or "writer" of channel 0, or "reader1" to "writer6" of another channel; the channels of streams
// come after the memory channels. Without "ring" and "status", a ring may have up to 512 descriptors.
//
// A descriptor D is {"host", "endpoint", "length", "interrupt", "last"}, or {"table": [D, ...], "at", "interrupt"}: a
// LINK to a table, which is written to host address "at"; "count" replaces the number of descriptors in the LINK.
//
// A wait expects reason NONE and all descriptors completed, unless the step says otherwise. If the engine stopped, the
// shadow treats the bytes beyond those reported as unknown. It does not know the data of streams at all.
class Script {
  public:
    explicit Script(ModelDriver &driver);
    ~Script();
    // Runs the script in the file `path`, and writes the result of each step to the file `json` unless that is empty.
    // Throws HostError, with the number of the step, for the first step that fails, and UsageError if the script is
    // wrong.
    void run(const std::string &path, const std::string &json);

  private:
    using Json = nlohmann::json;
    struct Engine {
        std::unique_ptr<DmaEngine> dma;
        Direction direction;
        unsigned channel;
        std::vector<std::vector<Descriptor>> posted;  // for each descriptor of the ring, its transfers
        size_t applied = 0;                           // how many of `posted` the shadow knows about
    };

    void step(const Json &step, Json &result);
    void set_up_again();
    void memory_step(const std::string &what, const Json &step, Json &result);
    void engine_step(const std::string &what, const Json &step, Json &result);
    bool register_step(const std::string &what, const Json &step, Json &result);
    void configure(Engine &engine, const Json &step);
    void post(Engine &engine, const Json &list);
    Descriptor describe(Engine &engine, const Json &item, std::vector<Descriptor> &transfers);
    void wait(Engine &engine, const Json &step, Json &result);
    void follow(Engine &engine, const EngineReport &report);
    Engine &engine(const Json &step);

    ModelDriver &driver_;
    HostSetup setup_;
    Identity identity_;
    std::unique_ptr<Shadow> shadow_;
    std::map<std::string, Engine> engines_;
};

}  // namespace litepcie
