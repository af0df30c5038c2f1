// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/script.h"

#include "common/program.h"
#include "programs/litepcie_host/script_json.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

namespace litepcie {

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

}  // namespace litepcie
