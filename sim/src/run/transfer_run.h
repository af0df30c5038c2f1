// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "run/dma_engine.h"

#include <optional>
#include <string>
#include <vector>

namespace litepcie {

struct RunOptions {
    std::string sequence = "write-then-read";  // write, read, read-then-write, write-then-read, read-and-write
    uint64_t length = 100000;                  // bytes of one transfer
    uint64_t iterations = 20;
    unsigned mps = 256, mrrs = 512;  // bytes
    uint64_t host_offset = 0;        // bytes past a 4 KiB boundary
    uint64_t endpoint_offset = 0;    // byte address in the endpoint memory
    uint64_t descriptor_bytes = 0;   // most of one descriptor; 0: 8 MiB
    unsigned address_bits = 32;      // data below (32) or above (64) 4 GiB
    uint64_t batch = 1;              // transfers behind one doorbell, measured as one
};

// One transfer, by the gateware's counters and by the model's clock.
struct Measure {
    EngineCounters counters;    // active: doorbell to last byte
    uint64_t model_cycles = 0;  // doorbell taken by the card to last data byte in memory (write) or taken (read)
};

struct Iteration {
    std::optional<Measure> read, write;
};

// Transfers between a buffer of the host and the endpoint memory, as AN 456 measures them, every byte verified with the
// bytes around it on both sides.
class TransferRun {
  public:
    // Adds its regions to the driver's memory. Throws HostError if the transfer does not fit the card.
    TransferRun(HostDriver &driver, const Identity &identity, const RunOptions &options);
    // Throws HostError at the first difference, naming the byte.
    Iteration iterate();

  private:
    static constexpr uint64_t kGuard = 256;  // bytes looked at on each side

    void lay_out(const Identity &identity);
    void add_descriptors(DmaEngine &engine, uint64_t host, uint64_t endpoint, uint64_t bytes);
    void move(DmaEngine &engine, uint64_t host, uint64_t endpoint, uint64_t bytes);
    Iteration measure(bool reads, bool writes);
    void prepare_buffers();
    void check_target();
    void check_endpoint();
    uint8_t *host(uint64_t address, uint64_t bytes);
    void fill_random(uint8_t *bytes, uint64_t count);

    HostDriver &driver_;
    RunOptions options_;
    DmaEngine reader_, writer_;
    uint64_t region_bytes_ = 0;                        // of source and target, guards included
    uint64_t source_ = 0, target_ = 0, scratch_ = 0;   // host addresses of the regions
    uint64_t data_ = 0;                                // offset of the data in source and target
    uint64_t read_endpoint_ = 0, write_endpoint_ = 0;  // where reads go to and writes come from
    uint64_t window_ = 0;                              // endpoint address of the bytes looked at
    std::vector<uint8_t> image_;                       // what they must be
    std::vector<uint8_t> expected_;                    // what the target region must be
    uint64_t random_ = 0x9e3779b97f4a7c15;
    uint64_t landed_ = 0;  // cycle of the last write into the target
};

}  // namespace litepcie
