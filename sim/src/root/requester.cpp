// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/requester.h"

#include <cstdio>

namespace litepcie::scan {

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

}  // namespace litepcie::scan
