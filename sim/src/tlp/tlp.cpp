// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "tlp/tlp.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace litepcie {

namespace {

uint32_t big_endian(const uint8_t *p) {
    return uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 | p[3];
}

void append_payload(Tlp &tlp, const uint8_t *data, unsigned dwords) {
    for (unsigned i = 0; i < dwords; i++)
        tlp.dw.push_back(big_endian(data + 4 * i));
}

// Header of a memory request for `bytes` bytes at `address`: length and byte enables of PCIe 4.0 2.2.5.
Tlp memory_request(bool write, uint16_t requester, uint8_t tag, uint64_t address, size_t bytes) {
    unsigned offset = address & 3;
    unsigned dwords = (offset + bytes + 3) / 4;
    unsigned first_be = 0xf << offset & 0xf;
    unsigned last_be = 0xf >> (4 * dwords - offset - bytes);
    if (dwords == 1) {
        first_be &= last_be;
        last_be = 0;
    }
    bool wide = address >> 32;
    unsigned fmt = (wide ? 1 : 0) | (write ? 2 : 0);
    Tlp tlp;
    tlp.dw.reserve(4 + (write ? dwords : 0));
    tlp.dw.push_back(fmt << 29 | (dwords & 0x3ff));
    tlp.dw.push_back(uint32_t(requester) << 16 | uint32_t(tag) << 8 | last_be << 4 | first_be);
    if (wide)
        tlp.dw.push_back(address >> 32);
    tlp.dw.push_back(uint32_t(address) & ~3u);
    return tlp;
}

unsigned lowest_bit(unsigned be) { return be ? __builtin_ctz(be) : 0; }

unsigned highest_bit(unsigned be) { return be ? 31 - __builtin_clz(be) : 0; }

}  // namespace

Tlp Tlp::memory_write(uint16_t requester, uint64_t address, const uint8_t *data, size_t bytes) {
    Tlp tlp = memory_request(true, requester, 0, address, bytes);
    unsigned offset = address & 3;
    std::vector<uint8_t> padded(4 * tlp.length(), 0);
    for (size_t i = 0; i < bytes; i++)
        padded[offset + i] = data[i];
    append_payload(tlp, padded.data(), tlp.length());
    return tlp;
}

Tlp Tlp::memory_read(uint16_t requester, uint8_t tag, uint64_t address, size_t bytes) {
    return memory_request(false, requester, tag, address, bytes);
}

Tlp Tlp::completion(uint16_t completer, uint16_t requester, uint8_t tag, CplStatus status, unsigned byte_count,
                    unsigned lower_address) {
    Tlp tlp;
    tlp.dw = {0x0au << 24, uint32_t(completer) << 16 | uint32_t(status) << 13 | (byte_count & 0xfff),
              uint32_t(requester) << 16 | uint32_t(tag) << 8 | (lower_address & 0x7f)};
    return tlp;
}

Tlp Tlp::completion_data(uint16_t completer, uint16_t requester, uint8_t tag, unsigned byte_count,
                         unsigned lower_address, const uint8_t *data, unsigned dwords) {
    Tlp tlp = completion(completer, requester, tag, CplStatus::Success, byte_count, lower_address);
    tlp.dw[0] = 0x4au << 24 | (dwords & 0x3ff);
    tlp.dw.reserve(3 + dwords);
    append_payload(tlp, data, dwords);
    return tlp;
}

Tlp Tlp::message(uint16_t requester, Routing routing, Message code) {
    Tlp tlp;
    tlp.dw = {0x30000000 | uint32_t(routing) << 24, uint32_t(requester) << 16 | code, 0, 0};
    return tlp;
}

Tlp Tlp::slot_power_limit(uint16_t requester, unsigned limit) {
    Tlp tlp = message(requester, Local, SlotPowerLimit);
    tlp.dw[0] |= 0x40000001;
    tlp.dw.push_back(__builtin_bswap32(limit));
    return tlp;
}

TlpClass Tlp::credit_class() const {
    if (is_completion())
        return TlpClass::Completion;
    return is_memory_write() || is_message() ? TlpClass::Posted : TlpClass::NonPosted;
}

uint64_t Tlp::address() const {
    if (header_dwords() == 4)
        return uint64_t(dw[2]) << 32 | (dw[3] & ~3u);
    return dw[2] & ~3u;
}

uint64_t Tlp::first_byte() const { return address() + lowest_bit(first_be()); }

unsigned Tlp::enabled_bytes() const {
    unsigned last = length() == 1 ? first_be() : last_be();
    return 4 * (length() - 1) + highest_bit(last) + 1 - lowest_bit(first_be());
}

void Tlp::payload_bytes(uint8_t *out) const {
    for (size_t i = header_dwords(); i < dw.size(); i++) {
        *out++ = dw[i] >> 24;
        *out++ = dw[i] >> 16;
        *out++ = dw[i] >> 8;
        *out++ = dw[i];
    }
}

const char *Tlp::name() const {
    static const char *const memory[] = {"MRd32", "MRd64", "MWr32", "MWr64"};
    if (is_memory())
        return memory[fmt()];
    if (is_completion())
        return fmt() == 0 ? "Cpl" : fmt() == 2 ? "CplD" : "Cpl?";
    if (is_message())
        return has_data() ? "MsgD" : "Msg";
    return "unknown";
}

std::string Tlp::describe() const {
    if (dw.size() < 3 || dw.size() < header_dwords())
        return "cut off in its header (" + std::to_string(dw.size()) + " dwords)";
    char text[256];
    if (is_completion()) {
        snprintf(text, sizeof(text),
                 "%s length %u completer %04x status %u byte count %u requester %04x tag %u lower address 0x%02x%s",
                 name(), has_data() ? length() : 0, completer(), status(), byte_count(), requester(), tag(),
                 lower_address(), poisoned() ? " poisoned" : "");
    } else {
        snprintf(text, sizeof(text), "%s length %u requester %04x tag %u address 0x%llx be %x/%x%s", name(), length(),
                 requester(), tag(), (unsigned long long)address(), first_be(), last_be(),
                 poisoned() ? " poisoned" : "");
    }
    return text;
}

std::string Tlp::hex() const {
    std::string text;
    char word[16];
    for (size_t i = 0; i < dw.size(); i++) {
        snprintf(word, sizeof(word), "%s%08x", i ? " " : "", dw[i]);
        text += word;
    }
    return text;
}

// Trace ---------------------------------------------------------------------------------------------------------------

Trace::Trace(const std::string &path, uint64_t clock_hz) : ns_per_cycle_(1e9 / clock_hz) {
    if (path.empty())
        return;
    file_.reset(fopen(path.c_str(), "w"));
    if (!file_)
        throw std::runtime_error("cannot write trace " + path + ": " + strerror(errno));
    setvbuf(file_.get(), nullptr, _IOLBF, 0);
}

void Trace::tlp(uint64_t cycle, char direction, const Tlp &tlp) {
    if (file_)
        event(cycle, direction, tlp.describe());
}

void Trace::event(uint64_t cycle, char direction, const std::string &text) {
    if (file_)
        fprintf(file_.get(), "%llu %.1f %c %s\n", (unsigned long long)cycle, cycle * ns_per_cycle_, direction,
                text.c_str());
}

}  // namespace litepcie
