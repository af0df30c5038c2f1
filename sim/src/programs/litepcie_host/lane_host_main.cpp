// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// litepcie_host of a card with the endpoint in gateware: trains the lane, finds the card, uses its registers.
#include "common/program.h"
#include "litepcie_regs.h"
#include "machine/lane_machine.h"
#include "programs/litepcie_host/lane_host.h"
#include "programs/litepcie_host/transfer_run.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <random>

using namespace litepcie;
using namespace litepcie::soft;

namespace {

constexpr uint64_t kMillisecond = kLaneHz / 1000;  // cycles
constexpr uint64_t kTrainingLimit = 200 * kMillisecond;

struct Access {
    uint32_t offset, value;
    bool write;
};

struct Options {
    LaneSettings lane;
    uint64_t registers = 1000, resets = 0, stops = 0;
    unsigned mps = 128;
    bool report_errors = false;
    std::string serial, json;
    ModelOptions host;
    RunOptions run;
    std::vector<Access> accesses;
};

Access access_of(const std::string &text, bool write) {
    const size_t mark = text.find('=');
    if (write != (mark != std::string::npos))
        throw UsageError(write ? "--write " + text + ": give OFFSET=VALUE" : "--read " + text + ": give OFFSET");
    const char *const option = write ? "--write" : "--read";
    const uint32_t offset = uint32_t(parse_number(option, text.substr(0, mark), 0, UINT32_MAX));
    if (offset % 4)
        throw UsageError(std::string(option) + " " + text + ": the offset is no multiple of 4");
    return {offset, write ? uint32_t(parse_number(option, text.substr(mark + 1), 0, UINT32_MAX)) : 0, write};
}

void add_options(CommandLine &line, Options &o) {
    line.choice("--mps", "Max_Payload_Size that the host allows, bytes (128)", o.mps, {128, 256, 512});
    add_lane_options(line, o.lane);
    o.run.sequence.clear();
    add_run_options(line, o.run, false);
    add_host_options(line, o.host);
    line.text("--json", "FILE", "with --sequence: write the results as JSON to FILE", o.json);
    line.number("--registers", "N", "random writes and reads of the scratch register (1000)", o.registers, 0,
                100000000);
    line.number("--resets", "N",
                "end the link so often with requests on their way, by a hot reset or by disabling it, and use the card "
                "again (0)",
                o.resets, 0, 100000);
    line.number("--stops", "N",
                "instead of all else: end bus mastering so often while a writer runs, and compare what it reports (0)",
                o.stops, 0, 1000000);
    line.flag("--report-errors", "let the card send messages of errors, and count them", o.report_errors);
    line.text("--serial", "PATH",
              "make PATH a serial port of the card, for litepcie_util link, after all else and until Ctrl-C", o.serial);
    line.check([&o] {
        o.run.mps = o.mps;
        if (o.run.sequence.empty() && !o.json.empty())
            throw UsageError("--json: give a --sequence, whose results these are");
        if (!o.run.sequence.empty() && (!o.serial.empty() || o.resets || o.report_errors || !o.accesses.empty()))
            throw UsageError("--sequence: not with --serial, --resets, --report-errors, --read or --write");
        if (o.stops &&
            (!o.run.sequence.empty() || !o.serial.empty() || o.resets || o.report_errors || !o.accesses.empty()))
            throw UsageError("--stops: not with --sequence, --serial, --resets, --report-errors, --read or --write");
        if ((o.lane.wires.absent || o.lane.wires.silent) && o.serial.empty())
            throw UsageError("--absent and --silent: such a link does not train; give --serial PATH to look at it");
    });
    line.each("--read", "OFFSET", "read a register of BAR0; repeatable, in order with --write",
              [&o](const std::string &text) { o.accesses.push_back(access_of(text, false)); });
    line.each("--write", "OFFSET=VALUE", "write a register of BAR0",
              [&o](const std::string &text) { o.accesses.push_back(access_of(text, true)); });
}

// What the card says of itself.
void identify(LaneHost &host) {
    const uint32_t magic = host.read(LITEPCIE_MAGIC), version = host.read(LITEPCIE_VERSION);
    if (magic != LITEPCIE_MAGIC_VALUE)
        throw scan::ScanError("the card is not a LitePCIe SoC: its magic register is wrong");
    std::string target;
    for (unsigned i = 0; i < LITEPCIE_TARGET_BYTES; i += 4) {
        const uint32_t word = host.read(LITEPCIE_TARGET + i);
        for (unsigned b = 0; b < 4 && (word >> 8 * b & 0xff); b++)
            target += char(word >> 8 * b);
    }
    printf("registers: %s, version %u.%u, %u bytes of memory, sys at %u Hz\n", target.c_str(),
           (version & LITEPCIE_VERSION_MAJOR_MASK) >> __builtin_ctz(LITEPCIE_VERSION_MAJOR_MASK),
           (version & LITEPCIE_VERSION_MINOR_MASK) >> __builtin_ctz(LITEPCIE_VERSION_MINOR_MASK),
           host.read(LITEPCIE_MEMORY_SIZE_LO), host.read(LITEPCIE_CLOCK_HZ));
}

// Returns how many reads of the scratch register were wrong.
unsigned use_scratch(LaneHost &host, uint64_t count, uint64_t seed) {
    std::minstd_rand random(seed);
    uint32_t value = 0;
    unsigned wrong = 0;
    host.write(LITEPCIE_SCRATCH, value);
    for (uint64_t i = 0; i < count; i++) {
        if (random() & 1)
            host.write(LITEPCIE_SCRATCH, value = random() << 8 ^ random());
        wrong += host.read(LITEPCIE_SCRATCH) != value;
    }
    return wrong;
}

// Ends the link in the middle of what it does, and uses the card again. Returns how many values were wrong.
unsigned end_links(LaneHost &host, const Options &o) {
    std::minstd_rand random(o.host.seed + 1);
    unsigned wrong = 0;
    for (uint64_t i = 0; i < o.resets; i++) {
        const bool disable = random() >> 8 & 1;
        const unsigned requests = random() >> 8 & 31, cycles = random() >> 8 & 1023;
        if (!host.reset_link(disable, requests, cycles, kTrainingLimit))
            throw scan::ScanError("the link does not end, or does not train again");
        host.scan(o.mps, o.report_errors);
        wrong += (host.read(LITEPCIE_MAGIC) != LITEPCIE_MAGIC_VALUE) + use_scratch(host, 10, random());
    }
    printf("resets: %" PRIu64 ", %u values wrong after them\n", o.resets, wrong);
    return wrong;
}

void print_counts(LaneHost &host) {
    const auto &[correctable, nonfatal, fatal] = host.errors().counts();
    if (correctable + nonfatal + fatal)
        printf("error messages: %" PRIu64 " correctable, %" PRIu64 " non-fatal, %" PRIu64 " fatal\n", correctable,
               nonfatal, fatal);
    const lane::DataLinkCounts &counts = host.port().data_link().counts();
    printf("link: %" PRIu64 " TLPs sent, %" PRIu64 " received, %" PRIu64 " replays, %" PRIu64 " NAKs sent, %" PRIu64
           " received, %" PRIu64 " bad TLPs, %" PRIu64 " bad DLLPs, %" PRIu64 " damaged symbols\n",
           counts.sent, counts.received, counts.replays, counts.naks_sent, counts.naks_received, counts.bad_tlps,
           counts.bad_dllps, host.injected());
}

// Trains the lane and uses the card. Returns how many values were wrong.
unsigned use_card(LaneHost &host, const Options &o) {
    if (!host.train(kTrainingLimit))
        throw scan::ScanError("the link does not train");
    const uint64_t trained = host.cycle();
    printf("%9.3f us  flow control is initialized\n", double(trained) * 1e6 / kLaneHz);
    printf("%s", scan::report(host.scan(o.mps, o.report_errors)).c_str());
    identify(host);
    unsigned wrong = use_scratch(host, o.registers, o.host.seed);
    printf("scratch register: %" PRIu64 " reads, %u wrong\n", o.registers, wrong);
    if (o.resets)
        wrong += end_links(host, o);
    for (const Access &access : o.accesses) {
        if (access.write)
            host.write(access.offset, access.value);
        printf("0x%05x %s 0x%08x\n", access.offset, access.write ? "written" : "reads as",
               access.write ? access.value : host.read(access.offset));
    }
    return wrong;
}

int run(const Options &o) {
    if (!o.run.sequence.empty()) {
        run_transfers(o.host, o.lane, o.run, o.json);
        return 0;
    }
    if (o.stops) {
        run_stops(o.host, o.lane, o.mps, o.stops);
        return 0;
    }
    StopSignals stop;
    std::optional<SerialPort> serial;
    if (!o.serial.empty())
        serial.emplace(o.serial);
    const auto began = std::chrono::steady_clock::now();
    LaneHost host(o.lane, o.host.seed);
    host.port().training().entered = [&](lane::LinkState state) {
        printf("%9.3f us  %s\n", double(host.cycle()) * 1e6 / kLaneHz, lane::info(state).name);
    };
    unsigned wrong = 0;
    if (!o.lane.wires.absent && !o.lane.wires.silent)
        wrong = use_card(host, o);
    if (serial) {
        printf("serial port: %s\n", o.serial.c_str());
        fflush(stdout);
        host.port().training().entered = [](lane::LinkState) {};
        host.serve(*serial, stop.fd());
    }
    print_counts(host);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    printf("%" PRIu64 " cycles of the lane in %.1f s: %.2f million per second\n", host.cycle(), seconds,
           double(host.cycle()) / seconds * 1e-6);
    return wrong ? kExitMismatch : stop.exit_status();
}

}  // namespace

int main(int argc, char **argv) {
    const char *const name = "litepcie_host";
    try {
        CommandLine line(name, "trains the lane to a simulated card with the endpoint in gateware, finds the card by "
                               "configuration requests, and uses its registers");
        Options options;
        add_options(line, options);
        if (!line.parse(argc, argv))
            return 0;
        return run(options);
    } catch (const UsageError &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitUsage;
    } catch (const std::exception &error) {
        fflush(stdout);
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitMismatch;
    }
}
