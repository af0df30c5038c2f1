// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/host_driver.h"

#include "litepcie_regs.h"

#include <cstdio>
#include <cstring>

namespace litepcie {

// Driver --------------------------------------------------------------------------------------------------------------

namespace {

// Offsets in configuration space, as config_space.cpp lays it out.
constexpr unsigned kCommand = 0x04, kBar0Register = 0x10, kMsi = 0x48, kDeviceCapabilities = 0x64,
                   kDeviceControl = 0x68, kLinkControl = 0x70;
constexpr uint32_t kRcb128 = 1u << 3;
constexpr uint32_t kExtendedTagSupported = 1u << 5, kExtendedTagEnable = 1u << 8;
constexpr uint32_t kAttributeEnables = 1u << 11 | 1u << 4;  // no snoop, relaxed ordering
constexpr uint32_t kFunctionReset = 1u << 15;
constexpr uint32_t kMsiAddress = 0xfee00000;

void config_write(Machine &machine, unsigned offset, uint32_t value, unsigned bytes) {
    uint8_t data[4];
    memcpy(data, &value, 4);
    machine.config_write(offset, data, bytes);
}

uint32_t config_read(Machine &machine, unsigned offset, unsigned bytes) {
    uint32_t value = 0;
    machine.config_read(offset, reinterpret_cast<uint8_t *>(&value), bytes);
    return value;
}

unsigned size_code(const char *what, unsigned bytes) {
    for (unsigned code = 0; code < 6; code++)
        if (128u << code == bytes)
            return code;
    throw HostError(std::string(what) + " of " + std::to_string(bytes) +
                    " bytes is not 128, 256, 512, 1024, 2048 or 4096");
}

std::string hex(uint32_t value) {
    char text[16];
    snprintf(text, sizeof(text), "0x%x", value);
    return text;
}

uint32_t field(uint32_t value, uint32_t mask) { return (value & mask) >> __builtin_ctz(mask); }

}  // namespace

void HostDriver::set_up(const HostSetup &setup) {
    config_write(machine_, kBar0Register, kBar0, 4);
    // Linux, too, enables extended tags wherever the card offers them.
    const bool extended_tag =
        setup.extended_tag && config_read(machine_, kDeviceCapabilities, 4) & kExtendedTagSupported;
    config_write(machine_, kDeviceControl,
                 size_code("MPS", setup.mps) << 5 | size_code("MRRS", setup.mrrs) << 12 |
                     (extended_tag ? kExtendedTagEnable : 0) | kAttributeEnables,
                 2);
    // Firmware tells the card the read completion boundary of the root port.
    config_write(machine_, kLinkControl, machine_.rcb() == 128 ? kRcb128 : 0, 2);
    config_write(machine_, kMsi + 4, kMsiAddress, 4);
    config_write(machine_, kMsi + 2, setup.msi ? 1 : 0, 2);
    config_write(machine_, kCommand, 2 | (setup.bus_master ? 4 : 0), 2);
    const unsigned most = 128u << (config_read(machine_, kDeviceCapabilities, 1) & 7);
    if (setup.mps > most)
        throw HostError("MPS of " + std::to_string(setup.mps) + " bytes is more than the card announces (" +
                        std::to_string(most) + ")");
}

void HostDriver::function_reset() {
    config_write(machine_, kDeviceControl, config_read(machine_, kDeviceControl, 2) | kFunctionReset, 2);
}

uint32_t HostDriver::read(uint32_t offset) {
    uint32_t value;
    if (!machine_.load(offset, reinterpret_cast<uint8_t *>(&value), sizeof(value)))
        throw HostError("the card did not answer a read of register " + hex(offset));
    return value;
}

void HostDriver::write(uint32_t offset, uint32_t value) {
    machine_.store(offset, reinterpret_cast<uint8_t *>(&value), sizeof(value));
}

void HostDriver::write(uint32_t offset, const uint32_t *values, unsigned count) {
    machine_.store(offset, reinterpret_cast<const uint8_t *>(values), count * sizeof(uint32_t));
}

void HostDriver::run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; i++)
        machine_.step();
}

bool HostDriver::run_until(const std::function<bool()> &done, uint64_t quiet_limit, uint64_t limit) {
    uint64_t tlps = 0, quiet_since = machine_.cycle();
    const uint64_t start = machine_.cycle();
    while (!done()) {
        machine_.step();
        uint64_t now = machine_.tlps();
        if (now != tlps) {
            tlps = now;
            quiet_since = machine_.cycle();
        }
        if (machine_.cycle() - quiet_since > quiet_limit || machine_.cycle() - start >= limit)
            return done();
    }
    return true;
}

void HostDriver::flush() {
    if (!run_until([this] { return machine_.stores_done(); }))
        throw HostError("the card no longer accepts writes of the host");
}

Identity HostDriver::identify() {
    uint32_t magic = read(LITEPCIE_MAGIC);
    if (magic != LITEPCIE_MAGIC_VALUE)
        throw HostError("the card is not a LitePCIe SoC: its magic register is " + hex(magic) + ", not " +
                        hex(LITEPCIE_MAGIC_VALUE));
    Identity id;
    id.version = read(LITEPCIE_VERSION);
    unsigned major = field(id.version, LITEPCIE_VERSION_MAJOR_MASK);
    if (major != LITEPCIE_VERSION_MAJOR)
        throw HostError("the gateware has major version " + std::to_string(major) +
                        ", but this program supports only " + std::to_string(LITEPCIE_VERSION_MAJOR));
    id.capabilities = read(LITEPCIE_CAPABILITIES);
    uint32_t geometry = read(LITEPCIE_GEOMETRY);
    id.channels = field(geometry, LITEPCIE_GEOMETRY_CHANNELS_MASK);
    id.data_width = 32 * field(geometry, LITEPCIE_GEOMETRY_WIDTH_MASK);
    id.ring_log2 = field(geometry, LITEPCIE_GEOMETRY_RING_LOG2_MASK);
    id.tags = field(geometry, LITEPCIE_GEOMETRY_TAGS_MASK) + 1;
    id.memory_size = read(LITEPCIE_MEMORY_SIZE_LO) | uint64_t(read(LITEPCIE_MEMORY_SIZE_HI)) << 32;
    id.window_offset = read(LITEPCIE_WINDOW_OFFSET);
    id.window_size = read(LITEPCIE_WINDOW_SIZE);
    id.clock_hz = read(LITEPCIE_CLOCK_HZ);
    uint32_t link = read(LITEPCIE_BUILT_LINK);
    id.gen = field(link, LITEPCIE_BUILT_LINK_GEN_MASK);
    id.lanes = field(link, LITEPCIE_BUILT_LINK_LANES_MASK);
    for (unsigned i = 0; i < LITEPCIE_TARGET_BYTES; i += 4) {
        uint32_t word = read(LITEPCIE_TARGET + i);
        for (unsigned b = 0; b < 4 && (word >> 8 * b & 0xff); b++)
            id.target += char(word >> 8 * b);
    }
    return id;
}

// Engine --------------------------------------------------------------------------------------------------------------

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
