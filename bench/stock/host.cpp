// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Drives stock LitePCIe with the same model of link and host as litepcie_host, and the same options and report. Stock
// LitePCIe has no counters, so the clock of the model measures each transfer. The time starts at the write that enables
// an engine with a filled table (--count-table: at the first write that fills the table). It ends at the last byte in
// memory (writer) or at the last completion that the card accepts (reader).
#include "card/card_on_link.h"
#include "common/command_line.h"
#include "dma.h"
#include "model/model_options.h"
#include "run/run_report.h"
#include "run/transfer_run.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace litepcie;

namespace {

constexpr uint32_t kSource = 0x10000000, kTarget = 0x20000000;
constexpr uint8_t kUntouched = 0xa5;
constexpr uint64_t kSettle = 4000;          // cycles without traffic after which a transfer has ended
constexpr uint32_t kLoopBytes = 4096;

struct HostOptions {
    ModelOptions model;
    RunOptions run;
    LinkOptions link;
    bool count_table = false;
    std::string json;
};

void add_options(CommandLine &line, HostOptions &o) {
    line.choice("--sequence", "transfers of an iteration", o.run.sequence, {"write-then-read", "read-and-write"});
    line.number("--length", "BYTES", "bytes of one transfer", o.run.length, 1, StockDma::kLongest);
    line.number("--iterations", "N", "iterations, measured one by one (20)", o.run.iterations, 1, 1000000);
    line.number("--batch", "N", "transfers in the table, measured as one (1)", o.run.batch, 1, StockDma::kTable);
    line.choice("--mps", "Max_Payload_Size, bytes (256)", o.run.mps, {128, 256, 512});
    line.choice("--mrrs", "Max_Read_Request_Size, bytes (512)", o.run.mrrs, {128, 256, 512});
    line.number("--descriptor-bytes", "BYTES", "largest descriptor, used for the bound (0)", o.run.descriptor_bytes, 0,
                StockDma::kLongest);
    add_link_options(line, o.link);
    line.flag("--count-table", "also count the writes that fill the table", o.count_table);
    line.text("--json", "FILE", "write the results as JSON", o.json);
    add_model_options(line, o.model);
}

class StockRun {
  public:
    StockRun(HostDriver &driver, const RunOptions &options, bool count_table)
        : driver_(driver), options_(options), count_table_(count_table), reader_(driver, StockDma::Kind::Reader),
          writer_(driver, StockDma::Kind::Writer), bytes_(std::max<uint64_t>(options.length, kLoopBytes)) {
        const unsigned word = driver.model().info().data_width / 8;
        if (options.length % word)
            throw HostError("length of " + std::to_string(options.length) +
                            " bytes: stock LitePCIe moves whole words of " + std::to_string(word) + " bytes");
        driver.memory().add_region(kSource, bytes_);
        driver.memory().add_region(kTarget, bytes_);
        driver.memory().on_card_write = [this](uint64_t) { landed_ = driver_.model().cycle(); };
    }

    // Sends host memory through reader and writer and back; throws HostError if the data differs.
    void check_loopback() {
        uint8_t *source = driver_.memory().at(kSource, bytes_);
        for (uint32_t i = 0; i < kLoopBytes; i++)
            source[i] = i * 167 + (i >> 8);
        set_loopback(driver_, true);
        transfer(true, true, kLoopBytes, 1);
        set_loopback(driver_, false);
        if (memcmp(source, driver_.memory().at(kTarget, bytes_), kLoopBytes))
            throw HostError("data returned by the loopback differs from the data sent");
    }

    Iteration iterate() {
        Iteration result;
        if (options_.sequence == "read-and-write")
            return transfer(true, true, options_.length, options_.batch);
        result.write = transfer(false, true, options_.length, options_.batch).write;
        result.read = transfer(true, false, options_.length, options_.batch).read;
        return result;
    }

  private:
    Iteration transfer(bool reads, bool writes, uint32_t length, uint64_t count) {
        Model &model = driver_.model();
        uint8_t *target = driver_.memory().at(kTarget, bytes_);
        memset(target, kUntouched, bytes_);
        for (StockDma *dma : {&reader_, &writer_})
            dma->reset();
        driver_.flush();
        const uint64_t empty = model.cycle();
        for (uint64_t i = 0; i < count; i++) {
            if (reads)
                reader_.add(kSource, length);
            if (writes)
                writer_.add(kTarget, length);
        }
        driver_.flush();
        const CompleterCounts before = model.completer_counts();
        if (writes)
            writer_.enable();
        if (reads)
            reader_.enable();
        driver_.flush();
        const uint64_t start = count_table_ ? empty : model.cycle(), total = length * count;
        const bool finished = driver_.run_until([&] {
            const CompleterCounts &now = model.completer_counts();
            return (!reads || now.read_bytes - before.read_bytes >= total) &&
                   (!writes || now.written_bytes - before.written_bytes >= total);
        });
        driver_.run_until([] { return false; }, kSettle);   // the last completion is on its way
        const CompleterCounts &after = model.completer_counts();
        if (!finished || (reads && after.read_bytes - before.read_bytes != total) ||
            (writes && after.written_bytes - before.written_bytes != total))
            throw HostError("the card did not move all bytes of its table");
        if (writes && std::all_of(target, target + length, [](uint8_t b) { return b == kUntouched; }))
            throw HostError("data of the writer did not reach host memory");
        Iteration result;
        if (reads)
            result.read = measure(total, model.figures().last_completion_cycle - start);
        if (writes)
            result.write = measure(total, landed_ - start);
        return result;
    }

    static Measure measure(uint64_t bytes, uint64_t cycles) {
        Measure m;
        m.counters.bytes = bytes;
        m.counters.active = m.model_cycles = cycles;
        return m;
    }

    HostDriver &driver_;
    RunOptions options_;
    bool count_table_;
    StockDma reader_, writer_;
    uint64_t bytes_;         // of each buffer
    uint64_t landed_ = 0;    // cycle of the last write into memory
};

int run(const HostOptions &o) {
    CardOnLink card(make_card(), o.link);
    Arena memory;
    Model model(card, memory, o.model);
    HostDriver driver(model, memory);
    driver.set_up({o.run.mps, o.run.mrrs});
    StockRun run(driver, o.run, o.count_table);
    run.check_loopback();
    Identity identity{};
    identity.target = "stock LitePCIe";
    RunReport report(model, identity, o.run);
    for (uint64_t i = 0; i < o.run.iterations; i++)
        report.add(run.iterate());
    report.print();
    if (!o.json.empty())
        report.write_json(o.json, "");
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    const char *const name = "stock_host";
    try {
        CommandLine line(name, "drives stock LitePCIe with the same link and host as litepcie_host");
        HostOptions options;
        add_options(line, options);
        return line.parse(argc, argv) ? run(options) : 0;
    } catch (const UsageError &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitUsage;
    } catch (const Violation &broken) {
        fprintf(stderr, "the card broke a rule of PCI Express: %s\n", broken.what());
        return kExitViolation;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitMismatch;
    }
}
