// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/dma_engine.h"

#include "litepcie_regs.h"

#include <cstdio>
#include <cstring>

namespace litepcie {

EngineCounters EngineCounters::operator-(const EngineCounters &b) const {
    return {active - b.active,
            bytes - b.bytes,
            descriptors - b.descriptors,
            tlps - b.tlps,
            wait_descriptor - b.wait_descriptor,
            wait_tag - b.wait_tag,
            wait_link - b.wait_link,
            wait_data - b.wait_data};
}

// In DIRECT0, the reserved bits of a descriptor hold its count modulo 32.
constexpr unsigned kDirectTagShift = 26;
constexpr uint32_t kDirectTagMask = 31u << kDirectTagShift;

const char *reason_name(unsigned reason) {
    static const char *const names[] = {
        "NONE",       "UNSUPPORTED_REQUEST", "COMPLETER_ABORT", "POISONED",    "TIMEOUT",
        "BAD_LENGTH", "ZERO_LENGTH",         "MEMORY_RANGE",    "BAD_LINK",    "DOORBELL",
        "BAD_RING",   "BUS_MASTER",          "RESERVED",        "MEMORY_ERROR"};
    return reason < sizeof(names) / sizeof(names[0]) ? names[reason] : "unknown";
}

DmaEngine::DmaEngine(HostDriver &driver, Direction direction, unsigned channel)
    : driver_(driver), direction_(direction),
      base_(direction == Direction::Reader ? LITEPCIE_READER_BASE(channel) : LITEPCIE_WRITER_BASE(channel)) {}

void DmaEngine::reset() {
    write(LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_RESET);
    for (unsigned tries = 0; read(LITEPCIE_ENGINE_CONTROL) & LITEPCIE_ENGINE_CONTROL_RESET; tries++) {
        if (tries == 10000)
            throw HostError(std::string(name()) + ": the reset does not complete");
        driver_.run(100);
    }
    posted_ = rung_ = 0;
}

void DmaEngine::configure(const Layout &layout) {
    layout_ = layout;
    reset();
    status_ = driver_.memory().at(layout.status, LITEPCIE_STATUS_BYTES);
    if (status_)
        memset(status_, 0, LITEPCIE_STATUS_BYTES);
    write(LITEPCIE_ENGINE_RING_LO, layout.ring);
    write(LITEPCIE_ENGINE_RING_HI, layout.ring >> 32);
    write(LITEPCIE_ENGINE_RING_LOG2, layout.ring_log2);
    write(LITEPCIE_ENGINE_STATUS_ADDRESS_LO, layout.status);
    write(LITEPCIE_ENGINE_STATUS_ADDRESS_HI, layout.status >> 32);
    write(LITEPCIE_ENGINE_MODERATION, layout.moderation);
    write(LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    driver_.flush();
}

void DmaEngine::put(uint64_t address, const Descriptor &d) {
    uint8_t *slot = driver_.memory().at(address, LITEPCIE_DESCRIPTOR_BYTES);
    if (!slot)
        throw HostError("the descriptor is outside host memory");
    const uint32_t words[4] = {(d.length & LITEPCIE_DESCRIPTOR_LENGTH_MASK) |
                                   (d.interrupt ? LITEPCIE_DESCRIPTOR_INTERRUPT : 0) |
                                   (d.last ? LITEPCIE_DESCRIPTOR_LAST : 0) | (d.link ? LITEPCIE_DESCRIPTOR_LINK : 0),
                               d.endpoint, uint32_t(d.host), uint32_t(d.host >> 32)};
    memcpy(slot, words, sizeof(words));
}

void DmaEngine::add(const Descriptor &descriptor) {
    uint32_t slot = posted_++ & ((1u << layout_.ring_log2) - 1);
    put(layout_.ring + uint64_t(slot) * LITEPCIE_DESCRIPTOR_BYTES, descriptor);
}

void DmaEngine::write_table(uint64_t address, const std::vector<Descriptor> &table) {
    for (size_t i = 0; i < table.size(); i++)
        put(address + i * LITEPCIE_DESCRIPTOR_BYTES, table[i]);
}

void DmaEngine::doorbell() {
    const bool direct = direct_ && posted_ != rung_ && report().completed == rung_;
    if (direct) {
        const uint32_t slot = rung_ & ((1u << layout_.ring_log2) - 1);
        uint32_t words[5];
        memcpy(words, driver_.memory().at(layout_.ring + uint64_t(slot) * LITEPCIE_DESCRIPTOR_BYTES, 16), 16);
        words[0] |= rung_ << kDirectTagShift & kDirectTagMask;
        words[4] = posted_;
        driver_.write(base_ + LITEPCIE_ENGINE_DIRECT0, words, 5);
    } else {
        write(LITEPCIE_ENGINE_DOORBELL, posted_);
    }
    rung_ = posted_;
}

EngineReport DmaEngine::report() const {
    uint32_t words[4];
    if (!status_)
        throw HostError("the status block is outside host memory");
    memcpy(words, status_, sizeof(words));
    return {words[LITEPCIE_STATUS_COMPLETED], words[LITEPCIE_STATUS_REASON] & 0xff, words[LITEPCIE_STATUS_REASON] >> 8,
            words[LITEPCIE_STATUS_BYTES_LO] | uint64_t(words[LITEPCIE_STATUS_BYTES_HI]) << 32};
}

bool DmaEngine::settled() const {
    EngineReport now = report();
    return now.completed == posted_ || now.reason != LITEPCIE_REASON_NONE;
}

EngineReport DmaEngine::wait() {
    if (!driver_.run_until([this] { return settled(); })) {
        EngineReport now = report();
        char text[256];
        snprintf(text, sizeof(text),
                 "%s does not finish: reported %u of %u, reason %s; registers: status 0x%x, doorbell %u, completed %u, "
                 "stopped bytes %u",
                 name(), now.completed, posted_, reason_name(now.reason), read(LITEPCIE_ENGINE_STATUS),
                 read(LITEPCIE_ENGINE_DOORBELL), read(LITEPCIE_ENGINE_COMPLETED), read(LITEPCIE_ENGINE_STOPPED_BYTES));
        throw HostError(text);
    }
    return report();
}

EngineCounters DmaEngine::counters() {
    EngineCounters c;
    c.active = read64(LITEPCIE_ENGINE_ACTIVE_LO);
    c.bytes = read64(LITEPCIE_ENGINE_BYTES_LO);
    c.descriptors = read(LITEPCIE_ENGINE_DESCRIPTORS);
    c.tlps = read(LITEPCIE_ENGINE_TLPS);
    c.wait_descriptor = read(LITEPCIE_ENGINE_WAIT_DESCRIPTOR);
    c.wait_tag = read(LITEPCIE_ENGINE_WAIT_TAG);
    c.wait_link = read(LITEPCIE_ENGINE_WAIT_LINK);
    c.wait_data = read(LITEPCIE_ENGINE_WAIT_DATA);
    return c;
}

}  // namespace litepcie
