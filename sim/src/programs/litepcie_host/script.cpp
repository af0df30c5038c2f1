// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/script.h"

#include "common/program.h"
#include "litepcie_regs.h"
#include "programs/litepcie_host/json.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

namespace litepcie {

// Steps ---------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kData[] = {0x10000000, 0x100000000}, kDataBytes = 4 << 20;
constexpr uint64_t kControl[] = {0x00100000, 0x1f0000000}, kControlBytes = 1 << 20;

HostSetup read_setup(const nlohmann::json &script) {
    HostSetup setup;
    if (!script.contains("setup"))
        return setup;
    const auto &given = script.at("setup");
    setup.mps = number(given, "mps", setup.mps);
    setup.mrrs = number(given, "mrrs", setup.mrrs);
    setup.extended_tag = given.value("extended_tag", setup.extended_tag);
    setup.bus_master = given.value("bus_master", setup.bus_master);
    setup.msi = given.value("msi", setup.msi);
    return setup;
}

}  // namespace

Script::Script(ModelDriver &driver) : driver_(driver) {}
Script::~Script() = default;

void Script::run(const std::string &path, const std::string &json) {
    std::ifstream file(path);
    if (!file)
        throw UsageError("--script: cannot read " + path);
    Json script = Json::parse(file, nullptr, false);
    if (script.is_discarded() || !script.contains("steps") || !script.at("steps").is_array())
        throw UsageError("--script: " + path + " is not JSON with a list \"steps\"");
    Json results = Json::array();
    std::string failure;
    size_t number = 0;
    try {
        setup_ = read_setup(script);
        driver_.set_up(setup_);
        identity_ = driver_.identify();
        shadow_ = std::make_unique<Shadow>(driver_.memory(), identity_.memory_size);
        for (int high = 0; high < 2; high++) {
            driver_.memory().add_region(kData[high], kDataBytes);
            driver_.memory().add_region(kControl[high], kControlBytes);
            shadow_->watch(kData[high], kDataBytes);
        }
        for (const Json &one : script.at("steps")) {
            Json result = {{"step", number}};
            step(one, result);
            result["cycle"] = driver_.model().cycle();
            results.push_back(result);
            number++;
        }
    } catch (const HostError &error) {
        failure = error.what();
    } catch (const nlohmann::json::exception &error) {
        throw UsageError("--script: step " + std::to_string(number) + ": " + error.what());
    }
    if (!failure.empty())
        failure = "step " + std::to_string(number) + ": " + failure;
    if (!json.empty())
        write_json_file(json, {{"ok", failure.empty()}, {"failure", failure}, {"steps", results}});
    if (!failure.empty())
        throw HostError(failure);
}

void Script::step(const Json &step, Json &result) {
    const std::string what = step.at("do");
    result["do"] = what;
    if (what == "run") {
        driver_.run(number(step, "cycles"));
    } else if (what == "verify") {
        result["compared"] = shadow_->verify();
    } else if (what == "inject") {
        driver_.model().faults().add_next(step.at("fault"));
    } else if (what == "reset_card") {
        driver_.model().reset();
        set_up_again();
    } else if (what == "function_reset") {
        driver_.function_reset();
        set_up_again();
    } else if (what == "link_down") {
        driver_.model().link_down(number(step, "cycles"));
        driver_.run(number(step, "cycles") + 1000);
        set_up_again();
    } else if (what == "wait_interrupts") {
        const uint64_t count = number(step, "count");
        const uint64_t limit = number(step, "cycles", HostDriver::kQuietLimit);
        driver_.run_until([&] { return driver_.interrupts() >= count; }, limit, limit);
        result["interrupts"] = driver_.interrupts();
        expect("interrupts", driver_.interrupts(), count);
    } else if (step.contains("engine")) {
        engine_step(what, step, result);
    } else if (!register_step(what, step, result)) {
        memory_step(what, step, result);
    }
}

// After a reset of the card or the function. Transfers that it ended have written part of the endpoint memory.
void Script::set_up_again() {
    driver_.set_up(setup_);
    for (auto &[name, engine] : engines_)
        engine.posted.clear(), engine.applied = 0;
    shadow_->forget_endpoint(0, identity_.memory_size);
}

bool Script::register_step(const std::string &what, const Json &step, Json &result) {
    if (what == "write_register") {
        driver_.write(number(step, "offset"), number(step, "value"));
        driver_.flush();
    } else if (what == "read_register") {
        uint32_t value = driver_.read(number(step, "offset"));
        result["value"] = value;
        if (step.contains("expect"))
            expect("register", value & number(step, "mask", UINT32_MAX), number(step, "expect"));
    } else if (what == "config_write") {
        const uint32_t value = number(step, "value");
        driver_.model().config_write(number(step, "offset"), reinterpret_cast<const uint8_t *>(&value),
                                     number(step, "bytes"));
    } else if (what == "config_read") {
        const uint32_t value = driver_.model().config().read(number(step, "offset"), number(step, "bytes"));
        result["value"] = value;
        expect("configuration space", value & number(step, "mask", UINT32_MAX), number(step, "expect"));
    } else {
        return false;
    }
    return true;
}

void Script::memory_step(const std::string &what, const Json &step, Json &result) {
    if (what == "fill") {
        const uint64_t address = number(step, "address"), bytes = number(step, "bytes");
        uint8_t *memory = driver_.memory().at(address, bytes);
        if (!memory)
            throw HostError("fill: the address is outside host memory");
        std::mt19937_64 random(number(step, "seed", 1));
        if (step.contains("value"))
            memset(memory, number(step, "value"), bytes);
        else
            std::generate(memory, memory + bytes, [&random] { return random() >> 32; });
        shadow_->host_wrote(address, bytes);
    } else if (what == "peek") {
        const uint64_t bytes = number(step, "bytes");
        const uint8_t *memory = driver_.memory().at(number(step, "address"), bytes);
        if (!memory)
            throw HostError("peek: the address is outside host memory");
        result["hex"] = to_hex({memory, memory + bytes});
        if (step.contains("expect"))
            expect("host memory", to_hex({memory, memory + bytes}), step.at("expect").get<std::string>());
    } else if (what == "store") {
        const std::vector<uint8_t> data = from_hex(step.at("hex"));
        const uint64_t offset = number(step, "offset");
        driver_.model().store(offset, data.data(), data.size());
        driver_.flush();
        if (offset >= identity_.window_offset)
            shadow_->endpoint_wrote(offset - identity_.window_offset, data.data(), data.size());
    } else if (what == "load") {
        const uint64_t offset = number(step, "offset");
        std::vector<uint8_t> data(number(step, "bytes"));
        const bool answered = driver_.model().load(offset, data.data(), data.size());
        result["hex"] = to_hex(data);
        expect("load refused", !answered, step.value("fails", false));
        if (step.contains("expect"))
            expect("loaded", to_hex(data), step.at("expect").get<std::string>());
        for (uint64_t i = 0; answered && offset >= identity_.window_offset && i < data.size(); i++) {
            int must = shadow_->endpoint(offset - identity_.window_offset + i);
            if (must >= 0)
                expect("endpoint byte " + std::to_string(offset - identity_.window_offset + i), data[i],
                       unsigned(must));
        }
    } else {
        throw UsageError("--script: unknown step '" + what + "'");
    }
}

// Steps with an Engine ------------------------------------------------------------------------------------------------
// The steps of a script that name an engine.

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
