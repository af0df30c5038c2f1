// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress.h"

#include "litepcie_regs.h"

#include <algorithm>

namespace litepcie {

// Case ----------------------------------------------------------------------------------------------------------------

const std::vector<std::pair<std::string, StressEvent>> kStressEvents = {
    {"nothing", StressEvent::Nothing},
    {"engine-reset", StressEvent::EngineReset},
    {"card-reset", StressEvent::CardReset},
    {"bus-master-off", StressEvent::BusMasterOff},
    {"function-reset", StressEvent::FunctionReset},
    {"hot-reset", StressEvent::HotReset},
    {"link-down", StressEvent::LinkDown},
};

namespace {

constexpr uint64_t kData[] = {0x10000000, 0x100000000}, kDataStep = 0x100000;  // host memory of the channels
constexpr uint64_t kStatus = 0x1000, kTables = 0x2000;  // offsets of status block and tables from the ring

constexpr uint64_t kLimit = 60000;  // cycles within which everything settles on a host without faults
constexpr uint64_t kStep = 32;      // cycles between two looks of the host at the status blocks

// A host without faults answers within this time even when all that the card may have in flight is on its way: framing
// and headers add up to half to short completions, and the link sends some TLPs twice.
uint32_t least_timeout_us(const CardInfo &card) {
    const unsigned bytes = std::max(card.completion_space.data, card.fabric_width / 8 * card.fabric_beats);
    const double all_us = 1e6 * bytes / raw_bytes_per_second({card.gen, card.lanes, card.clock_hz});
    return 16 + 4 * uint32_t(all_us);
}

}  // namespace

ModelOptions stress_model_options(uint64_t seed) {
    Random random(seed * 3 + 1);
    ModelOptions o;
    o.seed = seed;
    o.latency_ns = 100 + below(random, 2000);
    o.latency_jitter_ns = one_in(random, 2) ? below(random, 3000) : 0;
    o.rcb = any_of(random, {64u, 128u});
    o.reorder = one_in(random, 2);
    o.split_at_random = one_in(random, 2);
    o.lcrc_every = one_in(random, 8) ? 20 + below(random, 200) : 0;
    o.update_fc = any_of(random, {UpdateFc::Guideline, UpdateFc::Minimum});
    // Few buffers of the root port, which it keeps for a time: at least one write of the largest MPS.
    if (one_in(random, 4)) {
        o.credits = {{int64_t(1 + below(random, 8)), int64_t(1 + below(random, 8)), Credits::kInfinite},
                     {int64_t(32 + below(random, 32)), 64, Credits::kInfinite}};
        o.credit_return_ns = below(random, 400);
    }
    return o;
}

StressCase::StressCase(ModelDriver &driver, uint64_t seed, const StressOptions &options)
    : driver_(driver), options_(options), random_(seed), event_(below(random_, kStressEvents.size())) {
    if (!options.event.empty())
        event_ = std::find_if(kStressEvents.begin(), kStressEvents.end(),
                              [&](const auto &event) { return event.first == options.event; }) -
                 kStressEvents.begin();
    if (event_ == kStressEvents.size())
        throw std::invalid_argument("the event '" + options.event + "' does not exist");
    timeout_us_ = least_timeout_us(driver.model().info()) * any_of(random_, {1u, 2u, 5u});
    limit_ = options.limit ? options.limit : kLimit + 4 * timeout_us_ * driver.model().info().clock_hz / 1000000;
    setup_.mps = any_of(random_, {128u, 256u, 512u});
    setup_.mrrs = any_of(random_, {128u, 256u, 512u, 512u, 4096u});
    setup_.extended_tag = !one_in(random_, 4);
}

void StressCase::run() {
    prepare();
    load();
    strike();
    const bool read_first = one_in(random_, 2);
    driver_.model().faults().calm();
    for (const std::string &fault : options_.clean_faults)
        driver_.model().faults().add_next(fault);
    if (read_first)
        read_back();
    clean();
    read_back();
    phase_ = "end";
    verify();
    timeouts = driver_.read(LITEPCIE_ERROR_TIMEOUT);
    unexpected = driver_.read(LITEPCIE_ERROR_UNEXPECTED);
}

// Memory -------------------------------------------------------------------------------------------

uint8_t *StressCase::memory(uint64_t address, uint64_t bytes) {
    uint8_t *data = driver_.memory().at(address, bytes);
    if (!data)
        throw HostError("the address is outside host memory");
    return data;
}

void StressCase::add_memory() {
    const unsigned count = driver_.identify().channels;
    if (!count)
        throw HostError("the card has no memory channels; --stress needs one");
    for (uint64_t control : kControl)
        driver_.memory().add_region(control, 2 * count * kControlBytes);
    engines_.reserve(2 * count);
    for (unsigned c = 0; c < count; c++) {
        const uint64_t base = kData[below(random_, 2)] + c * kDataStep;
        driver_.memory().add_region(base, kDataBytes);
        const std::vector<uint8_t> data = random_bytes(random_, kDataBytes);
        std::copy(data.begin(), data.end(), memory(base, kDataBytes));
        const std::string name = " memory of channel " + std::to_string(c);
        channels_.push_back({Expected("the host" + name, data),
                             Expected("the endpoint" + name, std::vector<uint8_t>(kEndpointBytes)), base});
        for (Direction direction : {Direction::Reader, Direction::Writer})
            engines_.emplace_back(driver_, direction, c);
    }
}

// Where an engine works in the load, or `again` in the clean run.
EnginePlace StressCase::place(const StressEngine &engine, bool again) {
    const unsigned c = engine.channel(), d = unsigned(engine.direction());
    const uint64_t control = kControl[again] + (2 * c + d) * kControlBytes;
    EnginePlace place;
    place.layout = {control, unsigned(1 + below(random_, 6)), control + kStatus};
    place.host = channels_[c].base + (d ? kTarget : kSource) + (again ? kAgain : 0);
    place.tables = control + kTables;
    place.table_bytes = kControlBytes - kTables;
    place.endpoint = c * kEndpointBytes + (d ? kWriterArea : 0);
    return place;
}

void StressCase::refill(Channel &channel, uint64_t offset, uint64_t bytes) {
    const std::vector<uint8_t> data = random_bytes(random_, bytes);
    std::copy(data.begin(), data.end(), memory(channel.base + offset, bytes));
    channel.host.must(offset, data.data(), bytes);
}

// A transfer of the engine was done, or if not `sure` may be done.
void StressCase::transferred(StressEngine &engine, const Piece &piece, uint64_t bytes, bool sure) {
    Channel &channel = channels_[engine.channel()];
    const bool reads = engine.direction() == Direction::Reader;
    const uint64_t host = engine.place().host - channel.base;
    const uint8_t *data = reads ? channel.host.at(host + piece.from) : channel.endpoint.at(kWriterArea + piece.from);
    Expected &target = reads ? channel.endpoint : channel.host;
    const uint64_t at = reads ? piece.to : host + piece.to;
    if (sure)
        target.must(at, data, bytes);
    else if (reads && link_was_cut())
        target.any(at, bytes);
    else
        target.may(at, data, bytes);
}

void StressCase::verify() {
    for (Channel &channel : channels_)
        channel.host.verify(memory(channel.base, kDataBytes));
    if (control_.size())
        control_.verify(memory(kControl[0], control_.size()));
    for (const auto &side : sides_)
        side->verify();
}

// Phases -------------------------------------------------------------------------------------------

std::vector<StressEngine *> StressCase::all() {
    std::vector<StressEngine *> list;
    for (StressEngine &engine : engines_)
        list.push_back(&engine);
    return list;
}

// Feeds the engines, and the sides if asked for, until each is over.
void StressCase::settle(const std::vector<StressEngine *> &engines, bool with_sides) {
    const uint64_t end = driver_.model().cycle() + limit_;
    auto busy = [](StressEngine *engine) { return !engine->over(); };
    auto works = [](const auto &side) { return !side->over(); };
    while (std::any_of(engines.begin(), engines.end(), busy) ||
           (with_sides && std::any_of(sides_.begin(), sides_.end(), works))) {
        for (StressEngine *engine : engines)
            engine->feed(random_, false);
        if (with_sides)
            for (const auto &side : sides_)
                side->feed(false);
        driver_.run(kStep);
        if (driver_.model().cycle() > end)
            throw HostError("hang: an engine is neither complete nor stopped after " + std::to_string(limit_) +
                            " cycles");
    }
}

// Moves bytes between the whole endpoint memory of a channel and host memory.
void StressCase::move(StressEngine &engine, uint64_t host, uint64_t bytes) {
    EnginePlace where = place(engine, true);
    where.host = host;
    where.endpoint = engine.channel() * kEndpointBytes;
    engine.start(where, {{{{0, 0, uint32_t(bytes)}}, false, true}});
    settle({&engine}, false);
    if (!engine.complete())
        throw HostError(engine.name() + " stopped: " + reason_name(engine.report().reason));
}

void StressCase::prepare() {
    driver_.set_up(setup_);
    add_memory();
    driver_.write(LITEPCIE_TIMEOUT_US, timeout_us_);
    for (Channel &channel : channels_) {
        const unsigned c = &channel - channels_.data();
        move(engine(Direction::Reader, c), channel.base + kCopy, kEndpointBytes);
        channel.endpoint.must(0, channel.host.at(kCopy), kEndpointBytes);
    }
    sides_ = stress_sides(driver_, random_, channels_.size(), channels_.size() * kEndpointBytes);
}

void StressCase::add_faults() {
    FaultInjector &faults = driver_.model().faults();
    if (!one_in(random_, 4))
        faults.add("hold%" + std::to_string(any_of(random_, {5, 20, 60})));
    if (one_in(random_, 2))
        faults.add("requester%20");
    if (one_in(random_, 3))
        faults.add(any_of<const char *>(random_, {"drop%5", "late%10", "poison%5", "duplicate%5", "short%5", "ur%5"}));
    if (options_.load_faults.empty())
        return;
    faults.calm();
    for (const std::string &fault : options_.load_faults)
        if (fault != "none")
            faults.add(fault);
}

void StressCase::load() {
    phase_ = "load";
    add_faults();
    for (StressEngine &engine : engines_)
        engine.start(place(engine, false), random_slots(random_, kArea));
    for (const auto &side : sides_)
        side->start(false);
    const uint64_t end = driver_.model().cycle() + below(random_, one_in(random_, 2) ? 3000 : 15000);
    while (driver_.model().cycle() < end) {
        for (StressEngine &engine : engines_)
            if (!engine.over())
                engine.feed(random_, true);
        for (const auto &side : sides_)
            side->feed(true);
        driver_.run(1 + below(random_, 2 * kStep));
    }
}

void StressCase::clean() {
    phase_ = "clean run";
    const bool twin = !one_in(random_, 3);
    for (StressEngine &engine : engines_)
        engine.start(place(engine, true), twin ? twins_[&engine - engines_.data()] : random_slots(random_, kArea));
    for (const auto &side : sides_)
        side->start(true);
    settle(all(), true);
    for (StressEngine &engine : engines_) {
        if (!engine.complete())
            throw HostError(engine.name() + " stopped: " + reason_name(engine.report().reason));
        for (const Slot &slot : engine.slots())
            for (const Piece &piece : slot.pieces)
                transferred(engine, piece, piece.length, true);
    }
    for (const auto &side : sides_)
        side->finish();
    verify();
}

void StressCase::read_back() {
    phase_ = "reading back";
    for (Channel &channel : channels_) {
        move(engine(Direction::Writer, &channel - channels_.data()), channel.base + kCopy, kEndpointBytes);
        const uint8_t *copy = memory(channel.base + kCopy, kEndpointBytes);
        channel.endpoint.verify(copy);
        channel.host.must(kCopy, copy, kEndpointBytes);
    }
}

uint64_t StressCase::sides_compared() const {
    uint64_t bytes = 0;
    for (const auto &side : sides_)
        bytes += side->compared();
    return bytes;
}

std::string StressCase::state() {
    const Model &model = driver_.model();
    std::string text = "\n  link " + std::string(model.link_up() ? "up" : "down") + ", " +
                       std::to_string(model.card_requests()) + " requests of the card outstanding";
    for (StressEngine &engine : engines_)
        try {
            text += engine.state();
        } catch (const std::exception &error) {
            text += "\n  " + engine.name() + ": " + error.what();
        }
    for (const auto &side : sides_)
        try {
            text += side->state();
        } catch (const std::exception &error) {
            text += std::string("\n  ") + error.what();
        }
    return text;
}

// Event and Recovery --------------------------------------------------------------------------------------------------
// What interrupts the load of a StressCase, and the recovery from it.

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
