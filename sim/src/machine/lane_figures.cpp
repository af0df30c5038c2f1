// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "common/program.h"
#include "machine/lane_machine.h"

#include <nlohmann/json.hpp>

namespace litepcie::soft {

namespace {

using Json = nlohmann::ordered_json;

Json by_type(const std::map<std::string, TrafficCounts::Count> &tlps) {
    Json all = Json::object();
    for (const auto &[name, count] : tlps)
        all[name] = {{"tlps", count.tlps}, {"payload_bytes", count.payload_bytes}, {"wire_bytes", count.wire_bytes}};
    return all;
}

}  // namespace

// The names are those of the model's figures where both have them.
void LaneMachine::write_figures(const std::string &path, const std::string &violation) const {
    const SoftCardInfo &card = card_->info();
    const lane::DataLinkCounts &counts = link().counts();
    const double busy = busy_clock().wall_seconds(), processor = busy_clock().processor_seconds();
    Json states = Json::array();
    for (const auto &[cycle, state] : states_)
        states.push_back({{"microseconds", double(cycle) * 1e6 / kLaneHz}, {"state", lane::info(state).name}});
    Json stats = {
        {"board",
         {{"gen", 1},
          {"lanes", 1},
          {"data_width", card.data_width},
          {"clock_hz", card.clock_hz},
          {"lane_hz", kLaneHz},
          {"tags", card.tags}}},
        {"host", options_.host},
        {"mps", control_.mps()},
        {"mrrs", control_.mrrs()},
        {"cycles", cycle_},
        {"simulated_seconds", double(cycle_) / kLaneHz},
        {"trained_seconds", double(figures_.trained_cycle) / kLaneHz},
        {"busy_wall_seconds", busy},
        {"busy_processor_seconds", processor},
        {"cycles_per_second", busy > 0 ? cycle_ / busy : 0.0},
        {"cycles_per_processor_second", processor > 0 ? cycle_ / processor : 0.0},
        {"to_host", {{"tlps", by_type(traffic_.to_host)}, {"naks", counts.naks_sent}}},
        {"to_card", {{"tlps", by_type(traffic_.to_card)}, {"naks", counts.naks_received}, {"replays", counts.replays}}},
        {"lane",
         {{"acks", counts.acks},
          {"updates", counts.updates},
          {"acks_received", counts.acks_received},
          {"updates_received", counts.updates_received},
          {"late_updates", counts.late_updates},
          {"timeouts", counts.timeouts},
          {"bad_tlps", counts.bad_tlps},
          {"bad_dllps", counts.bad_dllps},
          {"nullified", counts.nullified},
          {"duplicates", counts.duplicates},
          {"sleep_requests", counts.sleep_requests},
          {"sleep_acks", counts.sleep_acks},
          {"protocol_errors", counts.protocol_errors},
          {"damaged_symbols", lane_.injected()},
          {"damaged_tlps", lane_.port().damaged()},
          {"faults", lane_.port().injected()},
          {"downs", figures_.downs}}},
        {"ltssm", states},
        {"error_messages",
         {{"correctable", errors_.counts()[0]}, {"nonfatal", errors_.counts()[1]}, {"fatal", errors_.counts()[2]}}},
        {"config_requests", figures_.config_requests},
        {"card_read_bytes", completer_.counts().read_bytes},
        {"card_written_bytes", completer_.counts().written_bytes},
        {"interrupts", figures_.interrupts},
        {"interrupts_while_disabled", figures_.masked_interrupts},
        {"faults_injected", faults_.injected()},
        {"iommu_misses", completer_.iommu().misses()},
        {"unmapped_reads", completer_.counts().unmapped_reads},
        {"unmapped_writes", completer_.counts().unmapped_writes},
        {"host_read_timeouts", figures_.load_timeouts},
        {"violations", violation.empty() ? 0 : 1},
    };
    if (!violation.empty())
        stats["violation"] = violation;
    write_text_file(path, stats.dump(2) + "\n");
}

}  // namespace litepcie::soft
