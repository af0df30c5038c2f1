// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "tlp/capture.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace litepcie {

// Blocks and options of pcapng (draft-ietf-opsawg-pcapng, sections 3.5, 4.1 to 4.3).
namespace {

constexpr uint32_t kSectionHeader = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6;
constexpr uint32_t kByteOrder = 0x1a2b3c4d, kVersion = 1, kUnknown = 0xffffffff;
constexpr uint32_t kEndOfOptions = 0, kTimeResolution = 9 | 1 << 16, kFlags = 2 | 4 << 16;
constexpr uint32_t kNanoseconds = 9;
constexpr uint32_t kInbound = 1, kOutbound = 2;
constexpr uint64_t kSecond = 1000000000;  // ns

}  // namespace

Capture::Capture(const std::string &path, uint64_t clock_hz) : path_(path), clock_hz_(clock_hz) {
    if (path.empty())
        return;
    file_.reset(fopen(path.c_str(), "w"));
    if (!file_)
        throw std::runtime_error("cannot write capture " + path + ": " + strerror(errno));
    setvbuf(file_.get(), nullptr, _IONBF, 0);
    for (const uint32_t value : {kSectionHeader, 28u, kByteOrder, kVersion, kUnknown, kUnknown, 28u})
        put(value);
    for (const uint32_t value :
         {kInterface, 32u, uint32_t(kLinkType), 0u, kTimeResolution, kNanoseconds, kEndOfOptions, 32u})
        put(value);
    write();
}

void Capture::tlp(uint64_t cycle, char direction, const Tlp &tlp) {
    if (!file_)
        return;
    const uint64_t ns = cycle / clock_hz_ * kSecond + cycle % clock_hz_ * kSecond / clock_hz_;
    const uint32_t bytes = uint32_t(4 * tlp.dw.size()), block = 44 + bytes;
    for (const uint32_t value : {kEnhancedPacket, block, 0u, uint32_t(ns >> 32), uint32_t(ns), bytes, bytes})
        put(value);
    for (const uint32_t dw : tlp.dw)
        put(__builtin_bswap32(dw));
    for (const uint32_t value : {kFlags, direction == '>' ? kOutbound : kInbound, kEndOfOptions, block})
        put(value);
    write();
}

void Capture::put(uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8)
        block_.push_back(uint8_t(value >> shift));
}

void Capture::write() {
    if (fwrite(block_.data(), 1, block_.size(), file_.get()) != block_.size())
        throw std::runtime_error("cannot write capture " + path_ + ": " + strerror(errno));
    block_.clear();
}

}  // namespace litepcie
