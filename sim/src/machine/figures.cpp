// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The figures of a run: simulated time, speed of the simulation, traffic and utilisation of the link in each
// direction, upper bounds of the link, and errors.
#include "common/program.h"
#include "link/link_rate.h"
#include "machine/lane_machine.h"
#include "machine/model.h"

#include <nlohmann/json.hpp>

namespace litepcie {

namespace {

using Json = nlohmann::ordered_json;

Json by_type(const std::map<std::string, TrafficCounts::Count> &tlps) {
    Json all = Json::object();
    for (const auto &[name, count] : tlps)
        all[name] = {{"tlps", count.tlps}, {"payload_bytes", count.payload_bytes}, {"wire_bytes", count.wire_bytes}};
    return all;
}

Json direction(const LinkDirection &link, const std::map<std::string, TrafficCounts::Count> &tlps, double link_bytes) {
    DirectionCounts counts = link.counts();
    double used = counts.tlp_bytes + double(kDllpBytes) * counts.dllps;
    return {{"tlps", by_type(tlps)},
            {"wire_bytes", counts.tlp_bytes},
            {"dllps", counts.dllps},
            {"naks", counts.naks},
            {"replayed_tlps", counts.replayed_tlps},
            {"skip_sets", counts.skips},
            {"credit_wait_cycles", counts.credit_wait_cycles},
            {"utilisation", link_bytes > 0 ? used / link_bytes : 0.0}};
}

Json bounds(const Model &model) {
    BoundParameters p;
    p.shape = {model.info().gen, model.info().lanes, model.info().clock_hz};
    p.data_width = model.info().data_width;
    p.block_width = model.info().block_width;
    p.block_clock_hz = model.info().block_clock_hz;
    p.straddle = model.info().straddle();
    p.mps = model.config().mps();
    p.mrrs = model.config().mrrs();
    p.completion_bytes = model.options().completion_bytes;
    p.update_fc = model.options().update_fc;
    Json all = Json::object();
    const struct {
        const char *name;
        Traffic traffic;
    } kinds[] = {{"read", Traffic::Read}, {"write", Traffic::Write}, {"read_and_write", Traffic::Both}};
    for (unsigned header : {12, 16})
        for (const auto &kind : kinds) {
            p.header_bytes = header;
            p.traffic = kind.traffic;
            Rates rates = link_bound(p);
            Json &entry = all[header == 12 ? "below_4_gib" : "above_4_gib"][kind.name];
            if (kind.traffic != Traffic::Write)
                entry["read_bytes_per_second"] = rates.read;
            if (kind.traffic != Traffic::Read)
                entry["write_bytes_per_second"] = rates.write;
        }
    return all;
}

}  // namespace

void Model::write_figures(const std::string &path, const std::string &violation) const {
    const Model &model = *this;
    const CardInfo &card = model.info();
    const Model::Figures &figures = model.figures();
    const double simulated = double(model.cycle()) / card.clock_hz;
    const double busy = model.busy_clock().wall_seconds(), processor = model.busy_clock().processor_seconds();
    const double link_bytes = raw_bytes_per_second({card.gen, card.lanes, card.clock_hz}) * simulated;
    Json stats = {
        {"board",
         {{"gen", card.gen},
          {"lanes", card.lanes},
          {"data_width", card.data_width},
          {"clock_hz", card.clock_hz},
          {"split", card.split},
          {"little_endian", card.little_endian},
          {"tags", card.tags}}},
        {"host", model.options().host},
        {"mps", model.config().mps()},
        {"mrrs", model.config().mrrs()},
        {"cycles", model.cycle()},
        {"simulated_seconds", simulated},
        {"busy_wall_seconds", busy},
        {"busy_processor_seconds", processor},
        {"cycles_per_second", busy > 0 ? model.cycle() / busy : 0.0},
        {"cycles_per_processor_second", processor > 0 ? model.cycle() / processor : 0.0},
        {"to_host", direction(model.to_host(), model.traffic().to_host, link_bytes)},
        {"to_card", direction(model.to_card(), model.traffic().to_card, link_bytes)},
        {"bound", bounds(model)},
        {"card_read_bytes", model.completer_counts().read_bytes},
        {"card_written_bytes", model.completer_counts().written_bytes},
        {"completion_buffer_peak",
         {{"completions", model.completion_peak().headers}, {"data_bytes", model.completion_peak().data}}},
        {"interrupts", counts_.interrupts},
        {"interrupts_while_disabled", counts_.masked_interrupts},
        {"faults_injected", faults_.injected()},
        {"iommu_misses", model.iommu_misses()},
        {"unmapped_reads", model.completer_counts().unmapped_reads},
        {"unmapped_writes", model.completer_counts().unmapped_writes},
        {"requests_without_bus_master", figures.requests_without_bus_master},
        {"host_read_timeouts", counts_.load_timeouts},
        {"violations", broken_.total() + !violation.empty()},
    };
    for (const auto &[rule, count] : broken_.rules())
        stats["broken_rules"][rule] = {{"times", count.times}, {"first_cycle", count.cycle}, {"first", count.first}};
    if (!violation.empty())
        stats["violation"] = violation;
    write_text_file(path, stats.dump(2) + "\n");
}

}  // namespace litepcie

namespace litepcie::soft {

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
        {"interrupts", counts_.interrupts},
        {"interrupts_while_disabled", counts_.masked_interrupts},
        {"faults_injected", faults_.injected()},
        {"iommu_misses", completer_.iommu().misses()},
        {"unmapped_reads", completer_.counts().unmapped_reads},
        {"unmapped_writes", completer_.counts().unmapped_writes},
        {"host_read_timeouts", counts_.load_timeouts},
        {"violations", violation.empty() ? 0 : 1},
    };
    if (!violation.empty())
        stats["violation"] = violation;
    write_text_file(path, stats.dump(2) + "\n");
}

}  // namespace litepcie::soft
