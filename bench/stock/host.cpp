// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Drives stock LitePCIe with the same model of link and host as litepcie_host, and the same options and report.
#include "card/card_on_link.h"
#include "common/command_line.h"
#include "model/model_options.h"
#include "run/run_report.h"
#include "stock_run.h"

#include <cstdio>

using namespace litepcie;

namespace {

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
