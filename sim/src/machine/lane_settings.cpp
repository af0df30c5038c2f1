// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/lane_settings.h"

#include <memory>

namespace litepcie::soft {

namespace {

constexpr uint64_t kMost = 1000000000;
constexpr unsigned kLeastBetweenErrors = 100, kLeastBetweenFaults = 10;

std::string fault_names() {
    std::string names;
    for (unsigned i = 0; i < lane::kFaults; i++)
        names += (i ? ", " : "") + std::string(lane::name(lane::Fault(i)));
    return names;
}

// "NAME:N", or "all:N" for each fault. What is typed later counts.
void add_faults(const std::string &text, std::vector<std::pair<lane::Fault, unsigned>> &faults) {
    const size_t mark = text.find(':');
    const std::string name = text.substr(0, mark);
    const auto fault = lane::fault_of(name);
    if ((!fault && name != "all") || mark == std::string::npos)
        throw UsageError("--link-fault: '" + text + "' is not allowed; give NAME:N with one of " + fault_names() +
                         ", all");
    const auto every =
        unsigned(parse_number("--link-fault " + text, text.substr(mark + 1), kLeastBetweenFaults, kMost));
    for (unsigned i = 0; i < lane::kFaults; i++)
        if (name == "all" || lane::Fault(i) == *fault)
            faults.push_back({lane::Fault(i), every});
}

// Values as they are typed.
struct Typed {
    uint64_t drift = 0, errors_every = 0, delay = 0, lcrc_every = 0;
    bool slow = false, swapped = false;
};

}  // namespace

void add_lane_options(CommandLine &line, LaneSettings &o) {
    const auto typed = std::make_shared<Typed>();
    Typed &t = *typed;
    line.number("--drift", "PPM", "the host's clock is faster by so many millionths, at most 600 (0)", t.drift, 0, 600);
    line.flag("--slow", "the host's clock is slower by --drift, not faster", t.slow);
    line.flag("--absent", "the card finds no receiver, as in a slot without a host", o.wires.absent);
    line.flag("--silent", "the card finds a receiver that never sends", o.wires.silent);
    line.flag("--swapped", "the wires of the lane to the card are swapped", t.swapped);
    line.number("--delay", "CYCLES", "cycles of 8 ns that a symbol takes each way (0)", t.delay, 0, 1000);
    line.number("--errors-every", "N", "one damaged symbol in so many on average, each way; 0: none (0)",
                t.errors_every, 0, kMost);
    line.number("--lcrc-every", "N",
                "one TLP of so many on average arrives damaged, in each direction, and is replayed; 0: none (0)",
                t.lcrc_every, 0, kMost);
    static const std::string fault_help =
        "a fault in one of N packets of the root port, on average; repeatable: " + fault_names() + ", all";
    line.each("--link-fault", "NAME:N", fault_help.c_str(),
              [&o](const std::string &text) { add_faults(text, o.faults); });
    line.check([&o, typed] {
        const Typed &t = *typed;
        if (t.errors_every && t.errors_every < kLeastBetweenErrors)
            throw UsageError("--errors-every: with more than one error in 100 symbols no link lasts");
        if (t.lcrc_every && t.lcrc_every < kLeastBetweenFaults)
            throw UsageError("--lcrc-every: with more than one damaged TLP in 10 nothing gets through");
        o.wires.drift = t.slow ? -int(t.drift) : int(t.drift);
        o.wires.delay = unsigned(t.delay);
        o.wires.down_swapped = t.swapped;
        o.wires.down_errors_every = o.wires.up_errors_every = unsigned(t.errors_every);
        o.port.damage_every = unsigned(t.lcrc_every);
        if (t.lcrc_every)
            o.faults.push_back({lane::Fault::WrongLcrc, unsigned(t.lcrc_every)});
    });
}

}  // namespace litepcie::soft
