// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "run/dma_engine.h"
#include "run/shadow.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace litepcie {

// A directed test of the card, as JSON. Numbers may be given as strings, "0x10000000".
//
//   {"setup": {"mps": 256, "mrrs": 512, "extended_tag": true, "bus_master": true, "msi": true}, "steps": [STEP, ...]}
//
// Host memory: 4 MiB at 0x10000000 and 4 MiB at 0x100000000 for data, watched by a shadow that follows every transfer;
// 1 MiB at 0x00100000 and 1 MiB at 0x1f0000000 for rings, status blocks and tables, not watched. Steps:
//
//   {"do": "fill", "address", "bytes", "seed" or "value"}          host memory: random or one value
//   {"do": "peek", "address", "bytes", "expect" (hex)}             host memory, as it is
//   {"do": "write_register", "offset", "value"}                    32 bit, BAR0
//   {"do": "read_register", "offset", "expect", "mask"}            expect and mask may be left out
//   {"do": "store", "offset", "hex"}                               any bytes to BAR0, as one store
//   {"do": "load", "offset", "bytes", "expect" (hex)}              up to 128 bytes; "fails": true if it must be refused
//   {"do": "config_write", "offset", "value", "bytes"}
//   {"do": "configure", "engine", "ring_log2", "ring", "status", "moderation_count", "moderation_us"}
//   {"do": "post", "engine", "descriptors": [D, ...]}              into the ring, without the doorbell
//   {"do": "doorbell", "engine", "value"}                          value: anything but what was posted
//   {"do": "wait", "engine", "reason", "completed", "stopped_bytes", "interrupts"}
//   {"do": "transfer", ...}                                        post, doorbell and wait
//   {"do": "wait_interrupts", "count", "cycles"}                   since the script began; at most so many cycles
//   {"do": "run", "cycles"}
//   {"do": "inject", "fault": "ur@1"}                              counted from the next completion
//   {"do": "reset_engine", "engine"}, {"do": "reset_card"}
//   {"do": "verify"}                                               host memory against the shadow
//
// An engine is "reader" or "writer", of another channel "reader1"; those of streams stand behind the others. Their
// default places have room for rings of 512 descriptors.
//
// D is {"host", "endpoint", "length", "interrupt", "last"}, or {"table": [D, ...], "at", "interrupt"}: a LINK to a
// table that is written to host address `at`; "count" makes the LINK say another number. A wait expects reason NONE and
// every descriptor completed unless told otherwise; of a stopped engine, bytes past what it reports are unknown to the
// shadow, and of a stream all.
class Script {
  public:
    explicit Script(HostDriver &driver);
    ~Script();
    // Throws HostError for the first step that fails, with its number; UsageError if `path` is no script. What each
    // step gave goes to the file `json`, unless that is empty.
    void run(const std::string &path, const std::string &json);

  private:
    using Json = nlohmann::json;
    struct Engine {
        std::unique_ptr<DmaEngine> dma;
        Direction direction;
        unsigned channel;
        std::vector<std::vector<Descriptor>> posted;  // of each ring slot, the transfers behind it
        size_t applied = 0;                           // of them, known to the shadow
    };

    void step(const Json &step, Json &result);
    void memory_step(const std::string &what, const Json &step, Json &result);
    void engine_step(const std::string &what, const Json &step, Json &result);
    bool register_step(const std::string &what, const Json &step, Json &result);
    void configure(Engine &engine, const Json &step);
    void post(Engine &engine, const Json &list);
    Descriptor describe(Engine &engine, const Json &item, std::vector<Descriptor> &transfers);
    void wait(Engine &engine, const Json &step, Json &result);
    void follow(Engine &engine, const EngineReport &report);
    Engine &engine(const Json &step);

    HostDriver &driver_;
    HostSetup setup_;
    Identity identity_;
    std::unique_ptr<Shadow> shadow_;
    std::map<std::string, Engine> engines_;
};

}  // namespace litepcie
