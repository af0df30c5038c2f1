// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/stream_checker.h"

#include "referee/tlp_checker.h"

namespace litepcie {

void StreamChecker::fail(const char *rule, const Beat &beat) const {
    Tlp seen = tlp_;
    if (!inside_)
        seen.dw.clear();
    seen.dw.insert(seen.dw.end(), beat.dat, beat.dat + dwords_);
    throw Violation(std::string(name_) + ": " + rule, seen);
}

void StreamChecker::observe(bool valid, bool ready, const Beat &beat) {
    if (held_) {
        if (!valid)
            fail("valid was deasserted before the beat was accepted", shown_);
        bool same = beat.be == shown_.be && beat.first == shown_.first && beat.last == shown_.last;
        for (unsigned i = 0; i < dwords_; i++)  // bytes that are not enabled may have any value
            same &= beat.dat[i] == shown_.dat[i] || !(beat.be >> 4 * i & 0xf);
        if (!same)
            fail("beat changed before it was accepted", beat);
    }
    resume(valid, ready, beat);
}

void StreamChecker::resume(bool valid, bool ready, const Beat &beat) {
    held_ = valid && !ready;
    if (held_)
        shown_ = beat;
}

unsigned StreamChecker::dwords_of(const Beat &beat) const {
    const uint64_t all = ~uint64_t(0) >> (64 - 4 * dwords_);
    if (beat.be == all)
        return dwords_;
    if (!beat.last)
        fail("bytes are not enabled before the end of the TLP", beat);
    for (unsigned n = 1; n < dwords_; n++)
        if (beat.be == all >> 4 * (dwords_ - n))
            return n;
    fail("byte enables of the last beat are not whole dwords from the lowest", beat);
}

bool StreamChecker::take(const Beat &beat) {
    if (beat.first == inside_)
        fail(inside_ ? "first is set inside a TLP" : "first is not set at the start of a TLP", beat);
    if (!inside_)
        tlp_.dw.clear();
    unsigned n = dwords_of(beat);
    tlp_.dw.insert(tlp_.dw.end(), beat.dat, beat.dat + n);
    inside_ = !beat.last;
    if (beat.last && little_endian_)
        for (size_t i = tlp_.header_dwords(); i < tlp_.dw.size(); i++)
            tlp_.dw[i] = __builtin_bswap32(tlp_.dw[i]);
    if (tlp_.dw.size() > 4 + 1024)
        fail("TLP is longer than the longest possible", beat);
    return beat.last;
}

void StreamChecker::reset() {
    inside_ = held_ = false;
    tlp_.dw.clear();
}

}  // namespace litepcie
