// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/retry_buffer.h"

#include "lane/crc.h"

namespace litepcie::lane {

Packet framed(unsigned sequence, const Tlp &tlp) {
    Packet packet;
    packet.bytes.reserve(6 + 4 * tlp.dw.size());
    packet.bytes = {uint8_t(sequence >> 8 & 15), uint8_t(sequence)};
    for (const uint32_t dword : tlp.dw)
        for (int shift = 24; shift >= 0; shift -= 8)
            packet.bytes.push_back(uint8_t(dword >> shift));
    const uint32_t crc = Lcrc::of(packet.bytes.data(), packet.bytes.size());
    for (int shift = 0; shift < 32; shift += 8)
        packet.bytes.push_back(uint8_t(crc >> shift));
    return packet;
}

Intact take_apart(const Packet &packet, unsigned &sequence, Tlp &tlp) {
    const auto &bytes = packet.bytes;
    if (packet.damaged || bytes.size() < 2 + 12 + 4 || bytes.size() % 4 != 2)
        return Intact::Bad;
    const size_t end = bytes.size() - 4;
    const uint32_t crc = Lcrc::of(bytes.data(), end);
    const uint32_t got = bytes[end] | bytes[end + 1] << 8 | bytes[end + 2] << 16 | uint32_t(bytes[end + 3]) << 24;
    if (packet.nullified)
        return got == ~crc ? Intact::Nullified : Intact::Bad;
    if (got != crc)
        return Intact::Bad;
    sequence = (bytes[0] << 8 | bytes[1]) & 0xfff;
    tlp.dw.clear();
    for (size_t i = 2; i < end; i += 4)
        tlp.dw.push_back(uint32_t(bytes[i]) << 24 | bytes[i + 1] << 16 | bytes[i + 2] << 8 | bytes[i + 3]);
    return Intact::Good;
}

const Packet &RetryBuffer::add(const Tlp &tlp) {
    sent_.push_back(framed(next_, tlp));
    next_ = (next_ + 1) % kNumbers;
    again_ = sent_.size();
    return sent_.back();
}

int RetryBuffer::acknowledge(unsigned sequence) {
    const unsigned acknowledged = (next_ - 1 - unsigned(sent_.size())) % kNumbers;
    const unsigned ahead = (sequence - acknowledged) % kNumbers;
    if (ahead > sent_.size())
        return -1;
    sent_.erase(sent_.begin(), sent_.begin() + ahead);
    again_ = again_ > ahead ? again_ - ahead : 0;
    return int(ahead);
}

}  // namespace litepcie::lane
