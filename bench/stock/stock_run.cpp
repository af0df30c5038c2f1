// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "stock_run.h"

namespace litepcie {

namespace {

constexpr uint64_t kLow = 0x10000000,
                   kHigh = 0x100000000;  // host addresses of the source
constexpr uint64_t kTarget = 0x8000000;  // from the source to the target
constexpr uint64_t kSettle = 500;        // cycles besides the host's latency

Measure measure(uint64_t bytes, uint64_t cycles) {
    Measure m;
    m.counters.bytes = bytes;
    m.counters.active = m.model_cycles = cycles;
    return m;
}

uint64_t longest_latency_ns(const ModelOptions &host) {
    return host.latency_ns + host.latency_extra_ns + host.latency_jitter_ns + host.latency_outlier_ns;
}

}  // namespace

StockRun::StockRun(ModelDriver &driver, const RunOptions &options, bool count_table)
    : driver_(driver), options_(options), count_table_(count_table), reader_(driver, StockDma::Kind::Reader),
      writer_(driver, StockDma::Kind::Writer), read_check_(driver, driver.model().info().data_width / 8),
      source_(options.address_bits == 64 ? kHigh : kLow), target_(source_ + kTarget),
      total_(options.length * options.batch) {
    const CardInfo &card = driver.model().info();
    const unsigned word = card.data_width / 8;
    if (options.length % word)
        throw HostError("length of " + std::to_string(options.length) + " bytes: stock LitePCIe moves whole words of " +
                        std::to_string(word) + " bytes");
    settle_ = kSettle + cycles_of(longest_latency_ns(driver.model().options()), card.clock_hz);
    Arena &memory = driver.memory();
    memory.add_region(source_, options.length);
    memory.add_region(target_, options.length);
    fill_dwords(memory.at(source_, options.length), options.length);
    memory.on_card_write = [this](uint64_t address, size_t bytes) { landed(address, bytes); };
}

void StockRun::landed(uint64_t address, size_t bytes) {
    write_check_.landed(address, driver_.memory().at(address, bytes), bytes);
    landed_ = driver_.model().cycle();
}

Iteration StockRun::iterate() {
    if (options_.sequence == "read-and-write")
        return transfer(true, true);
    Iteration result = transfer(false, true);
    result.read = transfer(true, false).read;
    return result;
}

Iteration StockRun::transfer(bool reads, bool writes) {
    Model &model = driver_.model();
    const uint64_t empty = fill_tables(reads, writes);
    const uint64_t enabled = move(reads, writes);
    const uint64_t start = count_table_ ? empty : enabled;
    Iteration result;
    if (reads) {
        read_check_.finish(total_);  // first: completions may still wait in front of the card
        result.read = measure(total_, model.last_completion_cycle() - start);
    }
    if (writes)
        result.write = measure(total_, landed_ - start);
    return result;
}

// Returns the cycle at which the tables were empty.
uint64_t StockRun::fill_tables(bool reads, bool writes) {
    reader_.reset();
    writer_.reset();
    read_check_.start(options_.length);
    write_check_.start(target_, options_.length);
    driver_.flush();
    const uint64_t empty = driver_.model().cycle();
    for (uint64_t i = 0; i < options_.batch; i++) {
        if (reads)
            reader_.add(source_, options_.length);
        if (writes)
            writer_.add(target_, options_.length);
    }
    driver_.flush();
    return empty;
}

// Enables the engines, and waits until they moved the bytes of their tables, and no more. Returns the cycle at which
// the card had accepted the writes that enable them.
uint64_t StockRun::move(bool reads, bool writes) {
    const Model &model = driver_.model();
    const CompleterCounts before = model.completer_counts();
    const uint64_t must_read = before.read_bytes + (reads ? total_ : 0);
    const uint64_t must_write = before.written_bytes + (writes ? total_ : 0);
    if (writes)
        writer_.enable();
    if (reads)
        reader_.enable();
    driver_.flush();
    const uint64_t enabled = model.cycle();
    driver_.run_until([&] {
        const CompleterCounts &now = model.completer_counts();
        return now.read_bytes >= must_read && now.written_bytes >= must_write;
    });
    driver_.run_until([] { return false; }, settle_);  // the last completions are on their way
    const CompleterCounts &after = model.completer_counts();
    if (after.read_bytes != must_read || after.written_bytes != must_write)
        throw HostError("the card did not move the bytes of its table, and no others");
    return enabled;
}

}  // namespace litepcie
