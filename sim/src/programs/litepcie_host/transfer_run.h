// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "link/link_rate.h"
#include "machine/model.h"
#include "programs/litepcie_host/host_driver.h"

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

// Adds the options of a TransferRun but --mps to a command line. `pio`: the sequence pio is one more.
void add_run_options(CommandLine &line, RunOptions &options, bool pio);

// Card, link and host of a run, for the bounds of its rates.
struct RunConditions {
    unsigned gen = 1, lanes = 1, data_width = 64;
    uint64_t clock_hz = 0;    // of the card's counters
    uint64_t machine_hz = 0;  // of the machine's cycles
    unsigned block_width = 0;
    uint64_t block_clock_hz = 0;
    bool straddle = false;
    unsigned completion_bytes = 0;
    uint64_t latency_ns = 0;
    UpdateFc update_fc = UpdateFc::Guideline;
};

RunConditions conditions_of(const Model &model);

// The results of a TransferRun: a table with a row for each direction on standard output, and all figures as JSON.
class RunReport {
  public:
    RunReport(RunConditions conditions, const Identity &identity, const RunOptions &options)
        : conditions_(std::move(conditions)), identity_(identity), options_(options) {}

    void add(const Iteration &iteration) { iterations_.push_back(iteration); }
    void print() const;
    // `failure` is the error that ended the run, or empty. Throws std::runtime_error if the file cannot be written.
    void write_json(const std::string &path, const std::string &failure) const;

  private:
    RunConditions conditions_;
    const Identity &identity_;
    const RunOptions &options_;
    std::vector<Iteration> iterations_;
};

}  // namespace litepcie
