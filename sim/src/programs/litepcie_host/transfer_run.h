// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/dma_engine.h"

#include <optional>
#include <string>
#include <vector>

namespace litepcie {

// What a TransferRun does. "Read" is host memory to endpoint memory.
struct RunOptions {
    std::string sequence = "write-then-read";  // write, read, read-then-write, write-then-read, read-and-write
    uint64_t length = 100000;                  // bytes of one transfer
    uint64_t iterations = 20;
    unsigned mps = 256, mrrs = 512;  // bytes
    uint64_t host_offset = 0;        // of the buffers from a 4 KiB boundary, bytes
    uint64_t endpoint_offset = 0;    // byte address in the endpoint memory
    uint64_t descriptor_bytes = 0;   // longest descriptor, bytes; 0: 8 MiB
    unsigned address_bits = 32;      // buffers below (32) or above (64) 4 GiB
    bool direct = false;             // the first descriptor goes into registers, with the doorbell
    uint64_t batch = 1;              // transfers per doorbell, which are measured as one
};

// A measured transfer.
struct Measure {
    EngineCounters counters;    // by the gateware; `active` counts from the doorbell to the last byte
    uint64_t model_cycles = 0;  // by the model, from the doorbell's arrival to the last byte in memory (write) or in
                                // the card (read)
};

struct Iteration {
    std::optional<Measure> read, write;
};

// Transfers data between a buffer of the host and the endpoint memory, as AN 456 measures it. It verifies every byte,
// and on both sides that the bytes around the data did not change.
class TransferRun {
  public:
    // Adds its regions to the driver's memory. Throws HostError if the transfer does not fit the card.
    TransferRun(HostDriver &driver, const Identity &identity, const RunOptions &options);
    // Does and measures the transfers of one iteration. Throws HostError for the first byte that is wrong.
    Iteration iterate();

  private:
    static constexpr uint64_t kGuard = 256;  // bytes checked before and after the data in endpoint memory

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
    uint64_t region_bytes_ = 0;                        // size of source and target, guard bytes included
    uint64_t source_ = 0, target_ = 0, scratch_ = 0;   // host addresses of the regions
    uint64_t data_ = 0;                                // offset of the data in source and target
    uint64_t read_endpoint_ = 0, write_endpoint_ = 0;  // where reads go to and writes come from
    uint64_t image_start_ = 0;                         // endpoint address of the first byte of `image_`
    std::vector<uint8_t> image_;                       // what the endpoint memory must hold, guard bytes included
    std::vector<uint8_t> expected_;                    // what the target region must hold
    uint64_t random_ = 0x9e3779b97f4a7c15;
    uint64_t landed_ = 0;  // cycle of the latest write into the target
};

}  // namespace litepcie
