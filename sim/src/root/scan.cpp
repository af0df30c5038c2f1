// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/scan.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace litepcie::scan {

// Requests ------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint32_t kConfigRead = 0x04000001, kConfigWrite = 0x44000001, kType1 = 1u << 24;
constexpr uint32_t kCompletion = 0x0a000000, kCompletionData = 0x4a000001;

std::string text(const char *format, unsigned one, unsigned other) {
    char line[128];
    snprintf(line, sizeof(line), format, one, other);
    return line;
}

}  // namespace

Requester::Answer Requester::config_read(unsigned function, unsigned offset, unsigned enables, bool type1) {
    Tlp tlp;
    tlp.dw = {kConfigRead | (type1 ? kType1 : 0), uint32_t(kId) << 16 | uint32_t(++tag_ & 31) << 8 | enables,
              uint32_t(bus_) << 24 | function << 16 | (offset & 0xffc)};
    return request(std::move(tlp));
}

Requester::Answer Requester::config_write(unsigned function, unsigned offset, uint32_t value, unsigned enables) {
    Tlp tlp;
    tlp.dw = {kConfigWrite, uint32_t(kId) << 16 | uint32_t(++tag_ & 31) << 8 | enables,
              uint32_t(bus_) << 24 | function << 16 | (offset & 0xffc), __builtin_bswap32(value)};
    return request(std::move(tlp));
}

Requester::Answer Requester::memory_read(uint64_t address) {
    return request(Tlp::memory_read(kId, ++tag_ & 31, address, 4));
}

void Requester::memory_write(uint64_t address, uint32_t value) {
    uint8_t data[4];
    for (unsigned i = 0; i < 4; i++)
        data[i] = uint8_t(value >> 8 * i);
    requests_++;
    way_.send(Tlp::memory_write(kId, address, data, 4));
}

Requester::Answer Requester::request(Tlp tlp) {
    requests_++;
    way_.send(tlp);
    Tlp got;
    for (uint64_t step = 0; step < patience_; step++) {
        if (!way_.step(got))
            continue;
        if (!got.is_completion()) {
            other(got);
            continue;
        }
        check(tlp, got);
        return {CplStatus(got.status()), got.dw.size() > 3 ? __builtin_bswap32(got.dw[3]) : 0};
    }
    throw ScanError("no completion for " + tlp.hex());
}

void Requester::check(const Tlp &request, const Tlp &got) const {
    const bool read = !request.has_data();
    const bool good = got.status() == unsigned(CplStatus::Success);
    const auto fail = [&](const std::string &what) {
        throw ScanError(what + " of the completion " + got.hex() + " for " + request.hex());
    };
    if (got.requester() != kId || got.tag() != request.tag())
        fail(text("requester %04x or tag %u", got.requester(), got.tag()));
    if ((got.dw[0] ^ request.dw[0]) & Tlp::kAnswered)
        fail("traffic class or attributes");
    if (got.dw.size() != (read && good ? 4u : 3u))
        fail("length");
    if ((got.dw[0] & ~Tlp::kAnswered) != (read && good ? kCompletionData : kCompletion))
        fail("format, field Length or a reserved bit");
    if (got.dw[1] >> 12 & 1 || got.dw[2] >> 7 & 1)
        fail("BCM or a reserved bit");
    if (got.byte_count() != (request.is_memory() ? request.enabled_bytes() : 4))
        fail(text("byte count %u, not %u,", got.byte_count(), request.is_memory() ? request.enabled_bytes() : 4));
    if (got.lower_address() != (request.is_memory() ? request.first_byte() & 0x7f : 0))
        fail("lower address");
    if (!request.is_memory() && got.completer() >> 3 != request.dw[2] >> 19)
        fail(text("completer %04x, not of bus and device %04x,", got.completer(), request.dw[2] >> 19));
    if (!good && got.status() != unsigned(CplStatus::Unsupported) && got.status() != unsigned(CplStatus::Abort))
        fail("status " + std::to_string(got.status()));
}

// Scan ----------------------------------------------------------------------------------------------------------------

namespace {

// Offsets and bits of PCIe 2.1 7.5 and 7.8.
constexpr unsigned kCommand = 0x04, kRevision = 0x08, kHeader = 0x0c, kBar0 = 0x10, kSubsystem = 0x2c, kPointer = 0x34;
constexpr unsigned kBars = 6, kExtended = 0x100, kFunctions = 8;
constexpr uint32_t kMemory = 1 << 1, kBusMaster = 1 << 2, kHasCapabilities = 1 << 20;
constexpr unsigned kExpress = 0x10, kDeviceCapabilities = 0x04, kDeviceControl = 0x08, kLinkStatus = 0x10;
constexpr uint32_t kNobody = 0xffffffff;

uint32_t read(Requester &requester, unsigned offset) {
    const auto answer = requester.config_read(0, offset);
    if (answer.status != CplStatus::Success)
        throw ScanError("the card refuses to read configuration dword " + std::to_string(offset / 4));
    return answer.value;
}

void write(Requester &requester, unsigned offset, uint32_t value, unsigned enables = 15) {
    if (requester.config_write(0, offset, value, enables).status != CplStatus::Success)
        throw ScanError("the card refuses to write configuration dword " + std::to_string(offset / 4));
}

void find_identity(Requester &requester, Function &card) {
    const uint32_t identity = read(requester, 0);
    if (identity == kNobody || identity == 0)
        throw ScanError("there is no card: vendor and device read as all ones or zeros");
    card.vendor = uint16_t(identity), card.device = uint16_t(identity >> 16);
    card.revision = uint8_t(read(requester, kRevision)), card.class_code = read(requester, kRevision) >> 8;
    const uint32_t subsystem = read(requester, kSubsystem);
    card.subsystem_vendor = uint16_t(subsystem), card.subsystem_device = uint16_t(subsystem >> 16);
    if (read(requester, kHeader) >> 16 & 0x7f)
        throw ScanError("the header is not of type 0");
    for (unsigned function = 1; function < kFunctions; function++)
        card.other_functions += requester.config_read(function, 0).status == CplStatus::Success;
}

void find_capabilities(Requester &requester, Function &card) {
    unsigned next = read(requester, kCommand) & kHasCapabilities ? read(requester, kPointer) & 0xfc : 0;
    for (unsigned count = 0; next; count++) {
        if (next < 0x40 || count == 48)
            throw ScanError("the list of capabilities leads nowhere");
        const uint32_t header = read(requester, next);
        card.capabilities.push_back({header & 0xff, 0, next});
        next = header >> 8 & 0xfc;
    }
    next = kExtended;
    for (unsigned count = 0; next; count++) {
        if (next < kExtended || count == 960)
            throw ScanError("the list of extended capabilities leads nowhere");
        const uint32_t header = read(requester, next);
        if (header == 0 && next == kExtended)
            break;
        card.extended.push_back({header & 0xffff, header >> 16 & 15, next});
        next = header >> 20 & 0xffc;
    }
}

// The size of a BAR from the bits that can be written.
Bar size_bar(Requester &requester, unsigned number) {
    const unsigned offset = kBar0 + 4 * number;
    write(requester, offset, kNobody);
    const uint32_t low = read(requester, offset);
    Bar bar{number, !(low & 1), (low & 7) == 4, (low & 9) == 8, 0, 0};
    uint64_t mask = low & (bar.memory ? ~15u : ~3u);
    if (mask && bar.wide) {
        write(requester, offset + 4, kNobody);
        mask |= uint64_t(read(requester, offset + 4)) << 32;
    } else if (mask) {
        mask |= 0xffffffff00000000;
    }
    bar.size = ~mask + 1;
    if (bar.size & (bar.size - 1))
        throw ScanError("the size of BAR" + std::to_string(number) + " is no power of two");
    return bar;
}

void place_bars(Requester &requester, Function &card, uint64_t base) {
    for (unsigned number = 0; number < kBars; number++) {
        Bar bar = size_bar(requester, number);
        number += bar.wide;
        if (!bar.size)
            continue;
        base = (base + bar.size - 1) & ~(bar.size - 1);
        bar.address = base;
        base += bar.size;
        write(requester, kBar0 + 4 * bar.number, uint32_t(bar.address));
        if (bar.wide)
            write(requester, kBar0 + 4 * bar.number + 4, uint32_t(bar.address >> 32));
        if ((read(requester, kBar0 + 4 * bar.number) & ~15u) != uint32_t(bar.address))
            throw ScanError("BAR" + std::to_string(bar.number) + " does not keep its address");
        card.bars.push_back(bar);
    }
}

void set_up_link(Requester &requester, Function &card, unsigned mps_of_host) {
    const Capability *express = card.find(kExpress);
    if (!express)
        throw ScanError("there is no PCI Express capability");
    const uint32_t status = read(requester, express->offset + kLinkStatus) >> 16;
    card.speed = status & 15, card.width = status >> 4 & 63;
    card.mps_supported = 128u << (read(requester, express->offset + kDeviceCapabilities) & 7);
    card.mps = std::min(card.mps_supported, mps_of_host);
    const uint32_t control = read(requester, express->offset + kDeviceControl) & 0xffff & ~(7u << 5);
    write(requester, express->offset + kDeviceControl, control | uint32_t(__builtin_ctz(card.mps / 128)) << 5, 3);
}

void add(std::string &text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void add(std::string &text, const char *format, ...) {
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    text += line;
}

}  // namespace

const Capability *Function::find(unsigned id) const {
    for (const Capability &capability : capabilities)
        if (capability.id == id)
            return &capability;
    return nullptr;
}

Function scan(Requester &requester, uint64_t base, unsigned mps_of_host) {
    Function card;
    // The card takes its bus and device from the first write (PCIe 2.1 2.2.6.2).
    write(requester, 0, 0, 0);
    find_identity(requester, card);
    find_capabilities(requester, card);
    place_bars(requester, card, base);
    set_up_link(requester, card, mps_of_host);
    write(requester, kCommand, (read(requester, kCommand) & 0xffff) | kMemory | kBusMaster, 3);
    return card;
}

std::string report(const Function &card) {
    std::string text;
    add(text, "%04x:%04x, subsystem %04x:%04x, class %06x, revision %02x\n", card.vendor, card.device,
        card.subsystem_vendor, card.subsystem_device, card.class_code, card.revision);
    if (card.other_functions)
        add(text, "%u more functions\n", card.other_functions);
    for (const Bar &bar : card.bars)
        add(text, "BAR%u: %s, %u bit%s, %llu KiB at %08llx\n", bar.number, bar.memory ? "memory" : "I/O",
            bar.wide ? 64 : 32, bar.prefetchable ? ", prefetchable" : "", (unsigned long long)bar.size >> 10,
            (unsigned long long)bar.address);
    for (const Capability &capability : card.capabilities)
        add(text, "[%02x] capability %02x\n", capability.offset, capability.id);
    for (const Capability &capability : card.extended)
        add(text, "[%03x] extended capability %04x, version %u\n", capability.offset, capability.id,
            capability.version);
    add(text, "link: speed %u, x%u; MPS %u of %u\n", card.speed, card.width, card.mps, card.mps_supported);
    return text;
}

}  // namespace litepcie::scan
