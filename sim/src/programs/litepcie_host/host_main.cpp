// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "common/program.h"
#include "machine/options.h"
#include "programs/litepcie_host/json.h"
#include "programs/litepcie_host/script.h"
#include "programs/litepcie_host/stress.h"
#include "programs/litepcie_host/transfer_run.h"

#include <cstdio>
#include <random>

using namespace litepcie;

namespace {

struct HostOptions {
    ModelOptions model;
    RunOptions run;
    LinkOptions link;
    StressOptions stress;
    unsigned store_bytes = 4;
    std::string script, json;
};

void add_options(CommandLine &line, HostOptions &o) {
    add_run_options(line, o.run, true);
    line.choice("--mps", "Max_Payload_Size, bytes (256)", o.run.mps, {128, 256, 512, 1024, 2048, 4096});
    line.choice("--store-bytes", "size of a store of the sequence pio; 64: as from a write-combining buffer (4)",
                o.store_bytes, {4, 64});
    add_link_options(line, o.link);
    line.text("--script", "FILE", "run the steps of a JSON file instead of a sequence", o.script);
    std::vector<std::string> events;
    for (const auto &[name, event] : kStressEvents)
        events.push_back(name);
    line.number("--stress", "SEEDS",
                "run random loads with wrong completions and resets instead of a sequence, from --seed on; --inject is "
                "for the clean run after each",
                o.stress.seeds, 1, 1000000);
    line.choice("--stress-event", "what interrupts every load (a random event for each)", o.stress.event, events);
    line.number("--stress-limit", "CYCLES",
                "cycles within which the engines must settle (60000 and four of the card's timeouts)", o.stress.limit,
                1, UINT32_MAX);
    line.each("--stress-fault", "FAULT%P", "fault of --inject during every load, or none (some at random); repeatable",
              [&o](const std::string &fault) {
                  try {
                      if (fault != "none")
                          FaultInjector().add(fault);
                  } catch (const std::invalid_argument &error) {
                      throw UsageError(std::string("--stress-fault: ") + error.what());
                  }
                  o.stress.load_faults.push_back(fault);
              });
    line.check([&o] {
        const StressOptions &stress = o.stress;
        if (!stress.seeds && (!stress.event.empty() || stress.limit || !stress.load_faults.empty()))
            throw UsageError("--stress-event, --stress-fault and --stress-limit need --stress SEEDS");
    });
    line.text("--json", "FILE", "write the results as JSON to FILE", o.json);
    add_model_options(line, o.model);
}

void run_sequence(ModelDriver &driver, const HostOptions &o) {
    driver.set_up({o.run.mps, o.run.mrrs});
    const Identity identity = driver.identify();
    if (!identity.channels)
        throw HostError("the card has no memory channels; use --script or --sequence pio");
    RunReport report(conditions_of(driver.model()), identity, o.run);
    std::string failure;
    try {
        TransferRun run(driver, identity, o.run);
        for (uint64_t i = 0; i < o.run.iterations; i++)
            report.add(run.iterate());
        report.print();
    } catch (const HostError &error) {
        failure = error.what();
    }
    if (!o.json.empty())
        report.write_json(o.json, failure);
    if (!failure.empty())
        throw HostError(failure);
}

struct PioOptions {
    uint64_t length = 4096;    // bytes, from the start of the window
    unsigned store_bytes = 4;  // size of a store: 4, or 64 like those of a write-combining buffer
};

struct PioFigures {
    uint64_t write_cycles = 0;  // from the first store until the card has accepted the last
    uint64_t read_cycles = 0;   // for loads of 4 bytes, each issued when the processor has the one before
};

// Writes and reads the memory window in BAR0 with a processor that takes no time itself, so the figures are the limits
// of card and link, and for loads also of the host, whose latency each of them takes. Throws HostError for the first
// byte that does not read back, or if the window is smaller than `length`.
PioFigures run_pio(ModelDriver &driver, const Identity &identity, const PioOptions &o) {
    if (o.length % o.store_bytes || o.length > identity.window_size)
        throw HostError("length of " + std::to_string(o.length) + " bytes is not whole stores of " +
                        std::to_string(o.store_bytes) + " bytes within the window of " +
                        std::to_string(identity.window_size) + " bytes");
    Model &model = driver.model();
    std::mt19937_64 random(1);
    std::vector<uint8_t> data(o.length), back(o.length);
    for (uint8_t &byte : data)
        byte = random() >> 32;

    PioFigures figures;
    uint64_t start = model.cycle();
    for (uint64_t i = 0; i < o.length; i += o.store_bytes)
        model.store(identity.window_offset + i, data.data() + i, o.store_bytes);
    driver.flush();
    figures.write_cycles = model.cycle() - start;

    // The processor waits for each load. On its way through the root complex, both ways together, it takes as long as a
    // read of the card.
    const uint64_t host = cycles_of(model.options().latency_ns, model.info().clock_hz);
    start = model.cycle();
    for (uint64_t i = 0; i < o.length; i += 4) {
        if (!model.load(identity.window_offset + i, back.data() + i, 4))
            throw HostError("the card did not answer a load of the window at " + std::to_string(i));
        driver.run(host);
    }
    figures.read_cycles = model.cycle() - start;
    for (uint64_t i = 0; i < o.length; i++)
        expect("window byte " + std::to_string(i), back[i], unsigned(data[i]));
    return figures;
}

// Prints the figures, and writes them as JSON unless `json` is empty.
void report_pio(const Model &model, const PioOptions &o, const PioFigures &figures, const std::string &json) {
    const CardInfo &card = model.info();
    const double write = double(o.length) * card.clock_hz / figures.write_cycles;
    const double read = double(o.length) * card.clock_hz / figures.read_cycles;
    printf("pio: %llu bytes, Gen%u x%u, %u bit at %.0f MHz: stores of %u bytes %.1f MB/s, loads of 4 bytes %.1f MB/s\n",
           (unsigned long long)o.length, card.gen, card.lanes, card.data_width, card.clock_hz / 1e6, o.store_bytes,
           write / 1e6, read / 1e6);
    if (!json.empty())
        write_json_file(json, {{"ok", true},
                               {"gen", card.gen},
                               {"lanes", card.lanes},
                               {"datapath_bits", card.data_width},
                               {"clock_hz", card.clock_hz},
                               {"sequence", "pio"},
                               {"length", o.length},
                               {"store_bytes", o.store_bytes},
                               {"write_bytes_per_second", write},
                               {"read_bytes_per_second", read}});
}

void run_window(ModelDriver &driver, const HostOptions &o) {
    driver.set_up({o.run.mps, o.run.mrrs});
    const PioOptions options = {o.run.length, o.store_bytes};
    report_pio(driver.model(), options, run_pio(driver, driver.identify(), options), o.json);
}

int run_stress(const HostOptions &o) {
    StressOptions stress = o.stress;
    stress.clean_faults = o.model.faults;
    return Stress(o.link, o.model, stress).run(o.json) ? 0 : kExitMismatch;
}

int run(const HostOptions &o) {
    CardOnLink card(make_card(), o.link);
    Arena memory;
    Model model(card, memory, o.model);
    ModelDriver driver(model, memory);
    std::string violation;
    std::exception_ptr error;
    model.busy_clock().start();
    try {
        if (!o.script.empty())
            Script(driver).run(o.script, o.json);
        else if (o.run.sequence == "pio")
            run_window(driver, o);
        else
            run_sequence(driver, o);
    } catch (const Violation &broken) {
        violation = broken.what();
        fprintf(stderr, "the card broke a rule of PCI Express at cycle %llu: %s\n", (unsigned long long)model.cycle(),
                broken.what());
    } catch (...) {
        error = std::current_exception();
    }
    model.busy_clock().stop();
    if (!o.model.stats.empty())
        model.write_figures(o.model.stats, violation);
    if (error)
        std::rethrow_exception(error);
    return violation.empty() ? 0 : kExitViolation;
}

}  // namespace

int main(int argc, char **argv) {
    const char *const name = "litepcie_host";
    try {
        CommandLine line(name, "drives the simulated card without QEMU, and verifies and measures the transfers");
        HostOptions options;
        add_options(line, options);
        if (!line.parse(argc, argv))
            return 0;
        return options.stress.seeds ? run_stress(options) : run(options);
    } catch (const UsageError &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitUsage;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitMismatch;
    }
}
