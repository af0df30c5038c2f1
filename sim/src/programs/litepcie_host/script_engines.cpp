// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The steps of a script that name an engine.
#include "common/program.h"
#include "litepcie_regs.h"
#include "programs/litepcie_host/script.h"
#include "programs/litepcie_host/script_json.h"

#include <algorithm>

namespace litepcie {

namespace {

constexpr uint64_t kRing[] = {0x00100000, 0x00110000}, kStatus[] = {0x00120000, 0x00120040};
// Default addresses for the engines of channels above 0: the first ring, bytes for each engine, offset of its status.
constexpr uint64_t kMore = 0x001c0000, kMoreBytes = 0x5000, kMoreStatus = 0x4000;
constexpr uint32_t kStoppedBytesUnknown = 0;

}  // namespace

Script::Engine &Script::engine(const Json &step) {
    const std::string name = step.at("engine"), kind = name.substr(0, 6), digits = name.substr(kind.size());
    const unsigned channel = digits.empty() ? 0 : digits[0] - '0';
    if ((kind != "reader" && kind != "writer") || (digits != "" && (digits < "1" || digits > "6" || digits[1])))
        throw UsageError("--script: engine '" + name +
                         "' does not exist; allowed: reader, writer, reader1 to reader6, writer1 to writer6");
    Engine &e = engines_[name];
    if (!e.dma) {
        const Direction direction = kind == "reader" ? Direction::Reader : Direction::Writer;
        e = {std::make_unique<DmaEngine>(driver_, direction, channel), direction, channel, {}, 0};
    }
    return e;
}

void Script::engine_step(const std::string &what, const Json &step, Json &result) {
    Engine &e = engine(step);
    if (what == "configure") {
        configure(e, step);
    } else if (what == "post") {
        post(e, step.at("descriptors"));
    } else if (what == "doorbell") {
        if (step.contains("value"))
            e.dma->write(LITEPCIE_ENGINE_DOORBELL, number(step, "value"));
        else
            e.dma->doorbell();
        driver_.flush();
    } else if (what == "wait") {
        wait(e, step, result);
    } else if (what == "transfer") {
        post(e, step.at("descriptors"));
        e.dma->doorbell();
        wait(e, step, result);
    } else if (what == "reset_engine") {
        e.dma->reset();
        e.posted.clear();
        e.applied = 0;
    } else {
        throw UsageError("--script: unknown step '" + what + "'");
    }
}

void Script::configure(Engine &e, const Json &step) {
    const int i = int(e.direction);
    const uint64_t more = kMore + kMoreBytes * (2 * (e.channel - 1) + i);
    const uint64_t ring = e.channel ? more : kRing[i], status = e.channel ? more + kMoreStatus : kStatus[i];
    uint64_t us = number(step, "moderation_us", 0), count = number(step, "moderation_count", 0);
    e.dma->configure({number(step, "ring", ring), unsigned(number(step, "ring_log2", 6)),
                      number(step, "status", status), uint32_t(us << 16 | count)});
    e.posted.clear();
    e.applied = 0;
}

// Makes the descriptor for one item, and appends the transfers that it leads to, in order.
Descriptor Script::describe(Engine &e, const Json &item, std::vector<Descriptor> &transfers) {
    Descriptor d;
    d.interrupt = item.value("interrupt", false);
    if (!item.contains("table")) {
        d.host = number(item, "host", 0);
        d.endpoint = number(item, "endpoint", 0);
        d.length = number(item, "length");
        d.last = item.value("last", false);
        transfers.push_back(d);
        return d;
    }
    std::vector<Descriptor> table;
    for (const Json &inner : item.at("table"))
        table.push_back(describe(e, inner, transfers));
    d.host = number(item, "at");
    d.link = true;
    d.length = number(item, "count", table.size());
    e.dma->write_table(d.host, table);
    shadow_->host_wrote(d.host, table.size() * LITEPCIE_DESCRIPTOR_BYTES);
    return d;
}

void Script::post(Engine &e, const Json &list) {
    for (size_t i = 0; i < list.size(); i++) {
        std::vector<Descriptor> transfers;
        Descriptor d = describe(e, list[i], transfers);
        d.interrupt |= i + 1 == list.size() && !list[i].contains("interrupt");
        e.dma->add(d);
        e.posted.push_back(transfers);
    }
}

void Script::wait(Engine &e, const Json &step, Json &result) {
    EngineReport report = e.dma->wait();
    EngineCounters counters = e.dma->counters();
    result["completed"] = report.completed;
    result["reason"] = reason_name(report.reason);
    result["stopped_bytes"] = report.stopped_bytes;
    result["bytes"] = report.bytes;
    result["interrupts"] = driver_.interrupts();
    result["active_cycles"] = counters.active;
    result["tlps"] = counters.tlps;
    expect("reason", std::string(reason_name(report.reason)), step.value("reason", std::string("NONE")));
    if (step.contains("completed") || report.reason == LITEPCIE_REASON_NONE)
        expect("completed", report.completed, number(step, "completed", e.dma->posted()));
    if (step.contains("stopped_bytes"))
        expect("stopped bytes", report.stopped_bytes, number(step, "stopped_bytes"));
    if (step.contains("interrupts"))
        expect("interrupts", driver_.interrupts(), number(step, "interrupts"));
    follow(e, report);
}

// Updates the shadow with the transfers that an engine reports.
void Script::follow(Engine &e, const EngineReport &report) {
    if (e.channel >= identity_.channels) {
        for (; e.applied < e.posted.size(); e.applied++)
            for (const Descriptor &d : e.posted[e.applied])
                if (e.direction == Direction::Writer)
                    shadow_->uncertain(e.direction, d, 0);
        return;
    }
    const bool stopped = report.reason != LITEPCIE_REASON_NONE;
    for (; e.applied < e.posted.size() && e.applied < report.completed; e.applied++)
        for (const Descriptor &d : e.posted[e.applied])
            shadow_->transferred(e.direction, d, d.length);
    if (!stopped)
        return;
    // The descriptor that failed transferred its first stopped_bytes. In a table, it is not known which one failed.
    for (size_t i = e.applied; i < e.posted.size(); i++)
        for (const Descriptor &d : e.posted[i]) {
            const bool failed = i == e.applied && e.posted[i].size() == 1;
            const uint64_t landed = failed ? std::min(report.stopped_bytes, d.length) : kStoppedBytesUnknown;
            shadow_->transferred(e.direction, d, landed);
            shadow_->uncertain(e.direction, d, landed);
        }
    e.applied = e.posted.size();
}

}  // namespace litepcie
