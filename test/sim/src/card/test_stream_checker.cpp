// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/stream_checker.h"
#include "link/tlp_checker.h"

#include <gtest/gtest.h>

using namespace litepcie;

namespace {

Beat beat(uint32_t value, uint64_t be, bool first, bool last) {
    Beat b{};
    b.dat[0] = value;
    b.be = be;
    b.first = first;
    b.last = last;
    return b;
}

}  // namespace

TEST(StreamChecker, PutsBeatsTogether) {
    StreamChecker stream(4);
    EXPECT_FALSE(stream.take(beat(1, 0xffff, true, false)));
    EXPECT_TRUE(stream.inside());
    EXPECT_TRUE(stream.take(beat(2, 0x00ff, false, true)));
    EXPECT_FALSE(stream.inside());
    EXPECT_EQ(stream.tlp().dw, (std::vector<uint32_t>{1, 0, 0, 0, 2, 0}));
    EXPECT_TRUE(stream.take(beat(3, 0x0fff, true, true)));
    EXPECT_EQ(stream.tlp().dw.size(), 3u);
}

TEST(StreamChecker, FirstAndByteEnables) {
    StreamChecker stream(4);
    EXPECT_THROW(stream.take(beat(1, 0xffff, false, false)), Violation);
    EXPECT_THROW(stream.take(beat(1, 0x0fff, true, false)), Violation);  // a gap before the end
    EXPECT_THROW(stream.take(beat(1, 0xf0ff, true, true)), Violation);
    EXPECT_THROW(stream.take(beat(1, 0x0000, true, true)), Violation);
    EXPECT_THROW(stream.take(beat(1, 0x0003, true, true)), Violation);
    stream.take(beat(1, 0xffff, true, false));
    EXPECT_THROW(stream.take(beat(1, 0xffff, true, false)), Violation);
    for (unsigned dwords : {2u, 8u, 16u})
        EXPECT_EQ(StreamChecker(dwords).dwords_of(beat(0, ~uint64_t(0) >> (64 - 4 * dwords), true, false)), dwords);
}

TEST(StreamChecker, TlpWithoutAnEnd) {
    StreamChecker stream(4);
    stream.take(beat(1, 0xffff, true, false));
    for (unsigned beats = 2; beats <= (4 + 1024) / 4; beats++)  // the longest header and payload
        stream.take(beat(1, 0xffff, false, false));
    try {
        stream.take(beat(1, 0xffff, false, false));
        ADD_FAILURE() << "a TLP of more than 1028 dwords";
    } catch (const Violation &rule) {
        EXPECT_NE(std::string(rule.what()).find("longer than the longest possible"), std::string::npos) << rule.what();
    }
}

TEST(StreamChecker, HoldsUntilTaken) {
    StreamChecker stream(4);
    stream.observe(true, false, beat(1, 0xffff, true, false));
    stream.observe(true, false, beat(1, 0xffff, true, false));
    stream.observe(true, true, beat(1, 0xffff, true, false));
    stream.observe(false, true, beat(0, 0, false, false));
    stream.observe(true, false, beat(2, 0xffff, true, false));
    EXPECT_THROW(stream.observe(false, false, beat(2, 0xffff, true, false)), Violation);
    stream.reset();
    stream.observe(true, false, beat(2, 0xffff, true, false));
    EXPECT_THROW(stream.observe(true, true, beat(3, 0xffff, true, false)), Violation);
}

TEST(StreamChecker, WhatIsNotEnabledMayChange) {
    StreamChecker stream(4);
    Beat last = beat(1, 0x0fff, true, true);
    stream.observe(true, false, last);
    last.dat[3] = 5;
    EXPECT_NO_THROW(stream.observe(true, false, last));
    last.dat[2] = 5;
    EXPECT_THROW(stream.observe(true, true, last), Violation);
}
