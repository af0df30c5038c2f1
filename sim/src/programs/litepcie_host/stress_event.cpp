// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What interrupts the load of a StressCase, and the recovery from it.
#include "litepcie_regs.h"
#include "programs/litepcie_host/stress_case.h"

#include <algorithm>

namespace litepcie {

namespace {

// Configuration space, as config_space.cpp lays it out.
constexpr unsigned kCommand = 0x04, kDeviceControl = 0x68;
constexpr unsigned kMemoryEnable = 2, kBusMaster = 4, kFunctionReset = 0x8000;

constexpr uint64_t kInFlight = 1000;  // cycles in which all TLPs that the card has sent reach the host
constexpr uint64_t kRestart = 10000;  // least cycles from the end of a reset over the link to an access of the host

void config_write(Model &model, unsigned offset, uint16_t value) {
    model.config_write(offset, reinterpret_cast<const uint8_t *>(&value), sizeof(value));
}

}  // namespace

void StressCase::command(unsigned value) { config_write(driver_.model(), kCommand, value); }

void StressCase::strike() {
    phase_ = "event";
    const StressEvent event = kStressEvents[event_].second;
    std::vector<StressEngine *> rest = all();
    if (event == StressEvent::EngineReset) {
        rest.clear();
        for (StressEngine &engine : engines_)
            if (one_in(random_, 2))
                engine.dma().reset();
            else
                rest.push_back(&engine);
        for (const auto &side : sides_)
            side->reset_engines(false);
    } else if (event == StressEvent::CardReset) {
        rest.clear();
        driver_.write(LITEPCIE_CONTROL, LITEPCIE_CONTROL_RESET);
        const uint64_t end = driver_.model().cycle() + limit_;
        while (driver_.read(LITEPCIE_CONTROL) & LITEPCIE_CONTROL_RESET)
            if (driver_.model().cycle() > end)
                throw HostError("hang: the reset of all engines does not complete");
        for (const auto &side : sides_)
            side->reset_engines(true);
    } else if (event == StressEvent::BusMasterOff) {
        command(kMemoryEnable);
        driver_.run(below(random_, 3000));
        command(kMemoryEnable | kBusMaster);
    } else if (event != StressEvent::Nothing) {
        reset_function(event);
        return;
    }
    phase_ = "engines settle after the event";
    settle(rest, true);
    for (StressEngine &engine : engines_)
        engine.dma().reset();
    release(false);
}

void StressCase::reset_function(StressEvent event) {
    Model &model = driver_.model();
    if (event == StressEvent::HotReset || one_in(random_, 2)) {
        command(0);
        driver_.run(below(random_, 300));
    }
    if (event == StressEvent::FunctionReset)
        config_write(model, kDeviceControl, kFunctionReset);
    else
        model.link_down(50 + below(random_, 3000));
    while (!model.link_up())
        model.step();
    driver_.run(event == StressEvent::FunctionReset ? kInFlight + below(random_, 1000) : kRestart);
    release(true);
    phase_ = "restart after the event";
    driver_.set_up(setup_);
    driver_.run(below(random_, 1000));
    for (StressEngine &engine : engines_)
        expect_off(engine.dma(), engine.name());
    driver_.write(LITEPCIE_TIMEOUT_US, timeout_us_);
    for (const auto &side : sides_)
        side->restart();
}

// Records what an engine may have transferred.
void StressCase::account(StressEngine &engine) {
    const EngineReport report = engine.report();
    if (report.completed > engine.posted())
        throw HostError(engine.name() + " reports " + std::to_string(report.completed) + " descriptors complete of " +
                        std::to_string(engine.posted()));
    for (size_t i = 0; i < engine.posted(); i++) {
        const Slot &slot = engine.slots()[i];
        for (const Piece &piece : slot.pieces)
            transferred(engine, piece, piece.length, i < report.completed);
        if (i == report.completed && report.reason != LITEPCIE_REASON_NONE && !slot.table)
            transferred(engine, slot.pieces[0], std::min(report.stopped_bytes, slot.pieces[0].length), true);
    }
}

// All engines are off: checks what the load did, and uses its memory for other data. A late write of the card is then
// a wrong byte.
void StressCase::release(bool function) {
    phase_ = "check of the load";
    for (StressEngine &engine : engines_) {
        account(engine);
        twins_.push_back(engine.slots());
        engine.retire();
    }
    for (const auto &side : sides_)
        side->release(function, link_was_cut());
    verify();
    for (Channel &channel : channels_)
        refill(channel, 0, kLoadBytes);
    const uint64_t bytes = engines_.size() * kControlBytes;
    const std::vector<uint8_t> data = random_bytes(random_, bytes);
    std::copy(data.begin(), data.end(), memory(kControl[0], bytes));
    control_ = Expected("rings and tables of the load", data);
}

}  // namespace litepcie
