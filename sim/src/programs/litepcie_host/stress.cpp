// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress.h"

#include "programs/litepcie_host/json.h"

#include <cstdio>

namespace litepcie {

namespace {

constexpr uint64_t kQuarantineUs = 64000000;  // the longest completion timeout that a device may have (PCIe 4.0 2.8)

}  // namespace

void Stress::run_seed(uint64_t seed) {
    CardOnLink card(make_card(), link_);
    Arena memory;
    ModelOptions options = stress_model_options(seed);
    options.trace = model_.trace;
    options.pcap = model_.pcap;
    options.quarantine_us = model_.quarantine_us ? model_.quarantine_us : kQuarantineUs;
    Model model(card, memory, options);
    ModelDriver driver(model, memory);
    StressCase one(driver, seed, options_);
    std::string failure;
    try {
        one.run();
    } catch (const Violation &broken) {
        failure = std::string("the card broke a rule of PCI Express: ") + broken.what();
    } catch (const HostError &error) {
        failure = error.what();
        failure += one.state();
    }
    totals_.seeds++;
    totals_.cycles += model.cycle();
    totals_.faults += model.faults().injected();
    totals_.timeouts += one.timeouts;
    totals_.unexpected += one.unexpected;
    totals_.bytes += model.completer_counts().read_bytes + model.completer_counts().written_bytes;
    totals_.side_bytes += one.sides_compared();
    totals_.events[one.event_name()]++;
    if (failure.empty())
        return;
    fprintf(stderr, "seed %llu, event %s, %s, cycle %llu: %s\n", (unsigned long long)seed, one.event_name().c_str(),
            one.phase().c_str(), (unsigned long long)model.cycle(), failure.c_str());
    failures_.push_back({seed, one.event_name(), one.phase(), failure});
}

bool Stress::run(const std::string &json) {
    for (uint64_t i = 0; i < options_.seeds; i++)
        run_seed(model_.seed + i);
    printf("%llu of %llu random loads passed\n", (unsigned long long)(totals_.seeds - failures_.size()),
           (unsigned long long)totals_.seeds);
    if (json.empty())
        return failures_.empty();
    nlohmann::json failures = nlohmann::json::array();
    for (const Failure &f : failures_)
        failures.push_back({{"seed", f.seed}, {"event", f.event}, {"phase", f.phase}, {"message", f.message}});
    write_json_file(json, {{"ok", failures_.empty()},
                           {"seeds", totals_.seeds},
                           {"events", totals_.events},
                           {"cycles", totals_.cycles},
                           {"faults", totals_.faults},
                           {"timeouts", totals_.timeouts},
                           {"unexpected_completions", totals_.unexpected},
                           {"bytes", totals_.bytes},
                           {"side_bytes", totals_.side_bytes},
                           {"failures", failures}});
    return failures_.empty();
}

}  // namespace litepcie
