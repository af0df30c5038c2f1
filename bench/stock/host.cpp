// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Drives stock LitePCIe with the same model of link and host as litepcie_host, and the same options and report.
#include "common/program.h"
#include "csr.h"
#include "machine/options.h"
#include "programs/litepcie_host/host_driver.h"
#include "programs/litepcie_host/transfer_run.h"
#include "write_check.h"

#include <cstdio>
#include <cstring>

using namespace litepcie;

namespace {

// The engines of the card ------------------------------------------------------------------------

// A reader or writer of stock LitePCIe: a table of descriptors in the card, filled register by register.
class StockDma {
  public:
    static constexpr unsigned kTable = 256;              // descriptors in the table
    static constexpr uint32_t kLongest = (1 << 24) - 1;  // bytes of one descriptor

    enum class Kind { Reader, Writer };
    StockDma(HostDriver &driver, Kind kind);

    // Disables the engine and clears its table, which the host then fills.
    void reset();
    void add(uint64_t host_address, uint32_t bytes);
    void enable();

  private:
    void write(uint32_t offset, uint32_t value);

    HostDriver &driver_;
    uint32_t base_;  // address of the first register
};

// Registers of the writer; the reader has the same at the same distances.
constexpr uint32_t kBase = CSR_PCIE_DMA0_WRITER_ENABLE_ADDR;
constexpr uint32_t kValue = CSR_PCIE_DMA0_WRITER_TABLE_VALUE_ADDR - kBase;
constexpr uint32_t kWriteEnable = CSR_PCIE_DMA0_WRITER_TABLE_WE_ADDR - kBase;
constexpr uint32_t kLoop = CSR_PCIE_DMA0_WRITER_TABLE_LOOP_PROG_N_ADDR - kBase;
constexpr uint32_t kReset = CSR_PCIE_DMA0_WRITER_TABLE_RESET_ADDR - kBase;

static_assert(CSR_PCIE_DMA0_READER_TABLE_VALUE_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kValue &&
                  CSR_PCIE_DMA0_READER_TABLE_WE_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kWriteEnable &&
                  CSR_PCIE_DMA0_READER_TABLE_LOOP_PROG_N_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kLoop &&
                  CSR_PCIE_DMA0_READER_TABLE_RESET_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kReset,
              "reader and writer have the same registers");

StockDma::StockDma(HostDriver &driver, Kind kind)
    : driver_(driver), base_(kind == Kind::Writer ? kBase : CSR_PCIE_DMA0_READER_ENABLE_ADDR) {}

// Posted one after the other; the card takes them as its bus can.
void StockDma::write(uint32_t offset, uint32_t value) { driver_.write(base_ + offset, value); }

void StockDma::reset() {
    write(0, 0);
    write(kLoop, 0);
    write(kReset, 1);
}

// The 64 bit register has its upper half first. The write that enables it has the upper half of the address, which a
// card with addresses of 32 bits ignores.
void StockDma::add(uint64_t host_address, uint32_t bytes) {
    write(kValue, bytes);
    write(kValue + 4, uint32_t(host_address));
    write(kWriteEnable, uint32_t(host_address >> 32));
}

void StockDma::enable() { write(0, 1); }

// Data -------------------------------------------------------------------------------------------

// The data of all transfers are dwords that count up, so that each byte is known; soc.py has the card's side.

// What the card's logic found in the stream of the reader.
class ReadCheck {
  public:
    ReadCheck(HostDriver &driver, unsigned word_bytes) : driver_(driver), word_bytes_(word_bytes) {}
    // Clears the counts. `bytes`: of each descriptor that follows.
    void start(uint32_t bytes);
    // Throws HostError unless `bytes` came and all were right.
    void finish(uint64_t bytes);

  private:
    HostDriver &driver_;
    unsigned word_bytes_;
};

constexpr size_t kDword = 4;
constexpr uint64_t kDrainCycles = 200;  // without a word, after which none comes

// Fills a buffer that the reader fetches: every descriptor begins with dword 0.
void fill_dwords(uint8_t *bytes, size_t count) {
    for (uint32_t i = 0; i < count / kDword; i++)
        memcpy(bytes + i * kDword, &i, kDword);
}

void ReadCheck::start(uint32_t bytes) { driver_.write(CSR_PCIE_CHECK_LENGTH_ADDR, bytes / kDword); }

void ReadCheck::finish(uint64_t bytes) {
    // Stock's buffers still have words when its last completion came.
    uint32_t came = 0, before;
    do {
        before = came;
        driver_.run(kDrainCycles);
        came = driver_.read(CSR_PCIE_CHECK_WORDS_ADDR);
    } while (came != before);
    const uint32_t wrong = driver_.read(CSR_PCIE_CHECK_WRONG_ADDR);
    if (came != bytes / word_bytes_)
        throw HostError("the reader's stream had " + std::to_string(came) + " words, not " +
                        std::to_string(bytes / word_bytes_));
    if (wrong)
        throw HostError("the reader's stream had " + std::to_string(wrong) + " wrong words");
}

// Transfers --------------------------------------------------------------------------------------

// Transfers of stock LitePCIe between buffers of the host and the streams of the card. It verifies every byte.
//
// Stock LitePCIe has no counters, so the clock of the model measures each transfer. The time starts when the card
// accepted the write that enables an engine with a filled table, or, if `count_table`, at the first write that fills
// the table. It ends at the last byte in memory (writer) or at the last completion that the card accepts (reader).
class StockRun {
  public:
    // Adds its regions to the driver's memory. Throws HostError if stock cannot move transfers of this length.
    StockRun(ModelDriver &driver, const RunOptions &options, bool count_table);
    // Does and measures the transfers of one iteration. Throws HostError for the first byte that is wrong.
    Iteration iterate();

  private:
    Iteration transfer(bool reads, bool writes);
    uint64_t fill_tables(bool reads, bool writes);
    uint64_t move(bool reads, bool writes);
    void landed(uint64_t address, size_t bytes);

    ModelDriver &driver_;
    RunOptions options_;
    bool count_table_;
    StockDma reader_, writer_;
    ReadCheck read_check_;
    WriteCheck write_check_;
    uint64_t source_, target_;  // host addresses
    uint64_t total_;            // bytes of a transfer in each direction
    uint64_t settle_;           // cycles without traffic after which a transfer has ended
    uint64_t landed_ = 0;       // cycle of the last write into memory
};

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

// Program ----------------------------------------------------------------------------------------

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
    line.choice("--address-bits", "address of the buffers: below (32) or above (64) 4 GiB (32)", o.run.address_bits,
                {32, 64});
    add_link_options(line, o.link);
    line.flag("--count-table", "also count the writes that fill the table", o.count_table);
    line.text("--json", "FILE", "write the results as JSON", o.json);
    add_model_options(line, o.model);
}

int run(const HostOptions &o) {
    CardOnLink card(make_card(), o.link);
    Arena memory;
    Model model(card, memory, o.model);
    ModelDriver driver(model, memory);
    driver.set_up({o.run.mps, o.run.mrrs});
    StockRun run(driver, o.run, o.count_table);
    Identity identity{};
    identity.target = "stock LitePCIe";
    RunReport report(conditions_of(model), identity, o.run);
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
