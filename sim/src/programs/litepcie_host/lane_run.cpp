// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/lane_run.h"

#include "machine/lane_machine.h"
#include "programs/litepcie_host/run_report.h"

namespace litepcie::soft {

void run_transfers(const ModelOptions &host, const LaneSettings &settings, const RunOptions &options,
                   const std::string &json) {
    Arena memory;
    LaneMachine machine(memory, host, settings);
    HostDriver driver(machine, memory);
    driver.set_up({options.mps, options.mrrs});
    const Identity identity = driver.identify();
    RunConditions conditions;
    conditions.data_width = identity.data_width;
    conditions.clock_hz = identity.clock_hz;
    conditions.machine_hz = kLaneHz;
    conditions.completion_bytes = host.completion_bytes;
    conditions.latency_ns = host.latency_ns;
    conditions.update_fc = host.update_fc;
    RunReport report(conditions, identity, options);
    std::string failure;
    try {
        TransferRun run(driver, identity, options);
        for (uint64_t i = 0; i < options.iterations; i++)
            report.add(run.iterate());
        report.print();
    } catch (const HostError &error) {
        failure = error.what();
    }
    if (!host.stats.empty())
        machine.write_figures(host.stats, "");
    if (!json.empty())
        report.write_json(json, failure);
    if (!failure.empty())
        throw HostError(failure);
}

}  // namespace litepcie::soft
