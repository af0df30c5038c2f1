// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "referee/tlp_checker.h"

#include <gtest/gtest.h>

#include <functional>

using namespace litepcie;

namespace {
constexpr uint16_t kId = 0x0100;
const CardLimits kLimits = {kId, 256, 512, false, true};
constexpr uint64_t kLater = 100000;

class TlpCheckerTest : public testing::Test {
  protected:
    TlpCheckerTest() { checker.set_limits(kLimits); }

    static Tlp write(uint64_t address, size_t bytes) {
        static const std::vector<uint8_t> data(8192);
        return Tlp::memory_write(kId, address, data.data(), bytes);
    }
    static Tlp read(uint64_t address, size_t bytes, uint8_t tag = 0) {
        return Tlp::memory_read(kId, tag, address, bytes);
    }

    void passes(const Tlp &tlp) { EXPECT_NO_THROW(checker.from_card(tlp, kLater)) << tlp.describe(); }
    void breaks(const char *rule, const Tlp &tlp) {
        try {
            checker.from_card(tlp, kLater);
            ADD_FAILURE() << "passed: " << tlp.describe();
        } catch (const Violation &violation) {
            EXPECT_NE(std::string(violation.what()).find(rule), std::string::npos) << violation.what();
            if (!tlp.dw.empty()) {
                EXPECT_NE(std::string(violation.what()).find(tlp.hex()), std::string::npos);
            }
        }
    }
    void breaks_if(const char *rule, Tlp tlp, const std::function<void(Tlp &)> &change) {
        change(tlp);
        breaks(rule, tlp);
    }

    TlpChecker checker;
};
}  // namespace

TEST_F(TlpCheckerTest, LegalTlpsPass) {
    passes(write(0x1000, 256));
    passes(write(0xffff, 1));
    passes(write(0x123456780001, 7));
    passes(read(0x1e00, 512, 0));
    passes(read(0x100000000, 1, 31));
    Tlp holes = write(0x1000, 1);
    holes.dw[1] |= 0x5;  // gaps between enabled bytes are legal in a single dword
    passes(holes);
    Tlp flush = read(0x1000, 4, 5);
    flush.dw[1] &= ~0xfu;  // a read with no byte enabled
    passes(flush);
}

// Rules: TXN.2.0#2; TXN.2.1#2; TXN.2.1#5; TXN.2.2#5; TXN.2.3#1
TEST_F(TlpCheckerTest, Shape) {
    breaks("ends in its header", [] {
        Tlp t;
        t.dw = {0x40000001, 0};
        return t;
    }());
    breaks_if("format and type", write(0x1000, 4), [](Tlp &t) { t.dw[0] |= 0x04000000; });
    breaks_if("reserved bits", write(0x1000, 4), [](Tlp &t) { t.dw[0] |= 1u << 23; });
    breaks_if("traffic class", write(0x1000, 4), [](Tlp &t) { t.dw[0] |= 1u << 20; });
    breaks_if("digest", write(0x1000, 4), [](Tlp &t) { t.dw[0] |= 1u << 15; });
    breaks_if("poison", write(0x1000, 4), [](Tlp &t) { t.poison(); });
    breaks_if("address type", write(0x1000, 4), [](Tlp &t) { t.dw[0] |= 1u << 10; });
    breaks_if("there are 2", write(0x1000, 4), [](Tlp &t) { t.dw.push_back(0); });
    breaks_if("there are 0", write(0x1000, 4), [](Tlp &t) { t.dw.pop_back(); });
    breaks_if("there are 1", read(0x1000, 4), [](Tlp &t) { t.dw.push_back(0); });
}

// Rules: TXN.2.1#4; TXN.2.2#6; TXN.2.4#1; TXN.2.6#1; TXN.2.6#2; TXN.2.6#3; 2.2.7
TEST_F(TlpCheckerTest, Requests) {
    breaks("MPS", write(0x1000, 260));
    breaks("MRRS", read(0x1000, 516));
    breaks("MRRS", read(0x1001, 512));  // the unaligned start needs one dword more
    breaks("4 KiB", write(0x1f80, 256));
    breaks_if("four-dword header", write(0x1000, 4), [](Tlp &t) {
        t.dw[0] |= 1u << 29;
        t.dw.insert(t.dw.begin() + 2, 0);
    });
    breaks_if("low address bits", write(0x1000, 4), [](Tlp &t) { t.dw[2] |= 1; });
    breaks_if("requester", write(0x1000, 4), [](Tlp &t) { t.dw[1] ^= 1u << 16; });
    breaks_if("one-dword", write(0x1000, 4), [](Tlp &t) { t.dw[1] |= 0x10; });
    breaks_if("are 0", write(0x1000, 8), [](Tlp &t) { t.dw[1] &= ~0xf0u; });
    breaks_if("are 0", write(0x1000, 8), [](Tlp &t) { t.dw[1] &= ~0x0fu; });
    breaks_if("hole", write(0x1000, 12), [](Tlp &t) { t.dw[1] = (t.dw[1] & ~0xfu) | 0x7; });
    breaks_if("hole", write(0x1000, 12), [](Tlp &t) { t.dw[1] = (t.dw[1] & ~0xf0u) | 0xe0; });
    passes([] {
        Tlp t = write(0x1000, 8);
        t.dw[1] = (t.dw[1] & ~0xffu) | 0x5a;
        return t;
    }());  // an aligned quadword may have gaps
    breaks_if("hole", write(0x1004, 8), [](Tlp &t) { t.dw[1] = (t.dw[1] & ~0xffu) | 0x5a; });
}

// Rules: TXN.2.7#1; TXN.2.7#2
TEST_F(TlpCheckerTest, Tags) {
    passes(read(0x1000, 4, 3));
    passes(read(0x1000, 4, 4));
    EXPECT_EQ(checker.card_requests(), 2u);
    breaks("used again", read(0x1000, 4, 3));
    checker.card_request_done(3);
    passes(read(0x1000, 4, 3));
    breaks("above 31", read(0x1000, 4, 32));
    checker.set_limits({kId, 256, 512, true, true});
    passes(read(0x1000, 4, 255));
    checker.card_request_abandoned(255, 0);
    passes(read(0x1000, 4, 255));
}

TEST_F(TlpCheckerTest, TagWaitsForItsLateCompletions) {
    checker.set_quarantine(1000);
    for (bool answered : {true, false}) {
        checker.reset();
        checker.from_card(read(0x1000, 4, 3), 50);
        checker.card_request_abandoned(3, 100);
        if (answered)
            checker.card_request_answered_late(3);
        else
            EXPECT_THROW(checker.from_card(read(0x1000, 4, 3), 1099), Violation);
        EXPECT_NO_THROW(checker.from_card(read(0x1000, 4, 3), answered ? 200 : 1100));
    }
}

// While the host writes them, the old limits and the new ones may be obeyed, but not a mixture of both.
TEST_F(TlpCheckerTest, LimitsChangeWithTheCompletionOfTheWrite) {
    checker.change_limits({kId, 128, 1024, false, true});
    passes(write(0x1000, 256));
    passes(read(0x1000, 1024, 1));
    breaks("MPS", write(0x1000, 512));
    breaks("MRRS", read(0x1000, 2048, 2));
    checker.set_limits({kId, 128, 1024, false, true});
    passes(write(0x1000, 128));
    breaks("MPS", write(0x1000, 256));
    checker.change_limits({kId, 128, 1024, false, false});
    passes(write(0x1000, 4));
    checker.set_limits({kId, 128, 1024, false, false});
    breaks("bus mastering is off", write(0x1000, 4));
}

// Rules: TXN.2.21#3; TXN.2.21#8
TEST_F(TlpCheckerTest, CompletionsOfTheCard) {
    const std::vector<uint8_t> data(512);
    auto completion = [&](uint8_t tag, unsigned count, unsigned lower, unsigned dwords) {
        return Tlp::completion_data(kId, 0, tag, count, lower, data.data(), dwords);
    };
    breaks("no outstanding", completion(1, 4, 0, 1));
    checker.host_read(Tlp::memory_read(0, 1, 0xe0000042, 5));
    breaks("byte count should be 5", completion(1, 4, 0x42, 2));
    breaks("lower address should be 66", completion(1, 5, 0x40, 2));
    breaks("longer", completion(1, 5, 0x42, 3));
    breaks("split", completion(1, 5, 0x42, 1));
    breaks_if("completer", completion(1, 5, 0x42, 2), [](Tlp &t) { t.dw[1] ^= 1u << 16; });
    breaks_if("BCM", completion(1, 5, 0x42, 2), [](Tlp &t) { t.dw[1] |= 1u << 12; });
    breaks_if("before the lower address", completion(1, 5, 0x42, 2), [](Tlp &t) { t.dw[2] |= 1u << 7; });
    breaks_if("of a completion without data", Tlp::completion(kId, 0, 1, CplStatus::Unsupported, 5, 0x42),
              [](Tlp &t) { t.dw[0] |= 1; });
    passes(completion(1, 5, 0x42, 2));
    breaks("no outstanding", completion(1, 5, 0x42, 2));
    // Completions that are split at a multiple of 128.
    checker.host_read(Tlp::memory_read(0, 2, 0xe0000040, 128));
    passes(completion(2, 128, 0x40, 16));
    passes(completion(2, 64, 0x00, 16));
    // A completion with an error ends the request and carries no data.
    checker.host_read(Tlp::memory_read(0, 3, 0xe0000000, 4));
    breaks_if("carries data", completion(3, 4, 0, 1), [](Tlp &t) { t.dw[1] |= 1u << 13; });
    breaks("no data", Tlp::completion(kId, 0, 3, CplStatus::Success, 4, 0));
    passes(Tlp::completion(kId, 0, 3, CplStatus::Unsupported, 4, 0));
    EXPECT_THROW(checker.from_card(Tlp::completion(kId, 0, 3, CplStatus::Unsupported, 4, 0), kLater), Violation);
}

// Rules: TXN.2.21#19
TEST_F(TlpCheckerTest, CompletionsHaveTheAttributesOfTheirRequest) {
    constexpr uint32_t kAll = 5u << 20 | 1u << 18 | 3u << 12;
    const std::vector<uint8_t> data(4);
    Tlp completion = Tlp::completion_data(kId, 0, 1, 4, 0, data.data(), 1);
    for (uint32_t asked : {0u, kAll}) {
        Tlp request = Tlp::memory_read(0, 1, 0xe0000000, 4);
        request.dw[0] |= asked;
        checker.host_read(request);
        for (uint32_t wrong : {1u << 22, 1u << 18, 1u << 13, 1u << 12})
            breaks_if("not those of its request", completion, [&](Tlp &t) { t.dw[0] |= asked ^ wrong; });
        Tlp right = completion;
        right.dw[0] |= asked;
        passes(right);
    }
}

// Rules: TXN.2.21#7
TEST_F(TlpCheckerTest, CompletionStatusIsOneOfAMemoryRead) {
    for (unsigned status : {2u, 3u, 5u, 6u, 7u}) {
        checker.host_read(Tlp::memory_read(0, 3, 0xe0000000, 4));
        breaks_if("not one that a memory read can have", Tlp::completion(kId, 0, 3, CplStatus::Success, 4, 0),
                  [&](Tlp &t) { t.dw[1] |= status << 13; });
    }
    passes(Tlp::completion(kId, 0, 3, CplStatus::Abort, 4, 0));
}

TEST_F(TlpCheckerTest, CompletionsHoldMpsBytesAtMost) {
    const std::vector<uint8_t> data(512);
    const Tlp whole = Tlp::completion_data(kId, 0, 1, 512, 0, data.data(), 128);
    const Tlp half = Tlp::completion_data(kId, 0, 1, 512, 0, data.data(), 64);
    checker.host_read(Tlp::memory_read(0, 1, 0xe0000000, 512));
    breaks("completion exceeds MPS", whole);
    passes(half);
    checker.host_read(Tlp::memory_read(0, 1, 0xe0000000, 512));
    checker.change_limits({kId, 128, 512, false, true});
    passes(half);
    checker.host_read(Tlp::memory_read(0, 1, 0xe0000000, 512));
    checker.set_limits({kId, 128, 512, false, true});
    breaks("completion exceeds MPS", half);
}

TEST_F(TlpCheckerTest, TagsAreThoseThatTheCardSaysItHas) {
    CardLimits limits = kLimits;
    limits.extended_tag = true;
    limits.tags = 64;
    checker.set_limits(limits);
    passes(read(0x1000, 4, 63));
    breaks("not one of the 64", read(0x1000, 4, 64));
}

// Rules: TXN.2.8#1; TXN.2.9#1
TEST_F(TlpCheckerTest, AttributesAreTheHostsToAllow) {
    constexpr unsigned kRelaxedOrdering = 1u << 13, kNoSnoop = 1u << 12;
    for (Tlp tlp : {write(0x1000, 64), read(0x1000, 64)}) {
        breaks_if("relaxed ordering", tlp, [](Tlp &t) { t.dw[0] |= kRelaxedOrdering; });
        breaks_if("no snoop", tlp, [](Tlp &t) { t.dw[0] |= kNoSnoop; });
    }
    CardLimits limits = kLimits;
    limits.relaxed_ordering = limits.no_snoop = true;
    checker.set_limits(limits);
    Tlp both = write(0x1000, 64);
    both.dw[0] |= kRelaxedOrdering | kNoSnoop;
    passes(both);
    checker.change_limits(kLimits);
    passes(both);  // built before the card saw the change
    checker.set_limits(kLimits);
    breaks("relaxed ordering", both);
}

TEST_F(TlpCheckerTest, InterruptsAreTheHostsToAllow) {
    for (bool CardLimits::*one : {&CardLimits::bus_master, &CardLimits::msi}) {
        CardLimits limits = kLimits;
        EXPECT_NO_THROW(checker.interrupt_from_card());
        limits.*one = false;
        checker.change_limits(limits);
        EXPECT_NO_THROW(checker.interrupt_from_card());
        checker.set_limits(limits);
        EXPECT_THROW(checker.interrupt_from_card(), Violation);
        checker.change_limits(kLimits);
        EXPECT_NO_THROW(checker.interrupt_from_card());
        checker.set_limits(kLimits);
    }
}

TEST_F(TlpCheckerTest, MessagesOfMsixAreTheHostsToAllow) {
    const Tlp message = write(kInterruptAddress + 0x10, 4);
    EXPECT_TRUE(TlpChecker::is_message(message));
    EXPECT_FALSE(TlpChecker::is_message(write(kInterruptAddress - 4, 4)));
    EXPECT_FALSE(TlpChecker::is_message(write(kInterruptAddress | 1ull << 32, 4)));
    breaks("MSI-X is off", message);
    CardLimits limits = kLimits;
    limits.msix = true;
    checker.set_limits(limits);
    passes(message);
    checker.change_limits(kLimits);
    passes(message);  // sent before the card saw the change
    checker.set_limits(kLimits);
    breaks("MSI-X is off", message);
}

// Header dwords as in the specification.
TEST(Tlp, WriteBelow4GiB) {
    const uint8_t data[] = {0x11, 0x22, 0x33, 0x44, 0x55};
    Tlp tlp = Tlp::memory_write(0x0100, 0x1003, data, 5);
    EXPECT_EQ(tlp.dw, (std::vector<uint32_t>{0x40000002, 0x010000f8, 0x00001000, 0x00000011, 0x22334455}));
    EXPECT_STREQ(tlp.name(), "MWr32");
    EXPECT_EQ(tlp.first_byte(), 0x1003u);
    EXPECT_EQ(tlp.enabled_bytes(), 5u);
    EXPECT_EQ(tlp.wire_bytes(), 8u + 12 + 8);
    EXPECT_EQ(tlp.credit_class(), TlpClass::Posted);
    EXPECT_EQ(tlp.data_credits(), 1u);
}

TEST(Tlp, ReadAbove4GiB) {
    Tlp tlp = Tlp::memory_read(0x0100, 7, 0x123456781, 1);
    EXPECT_EQ(tlp.dw, (std::vector<uint32_t>{0x20000001, 0x01000702, 0x1, 0x23456780}));
    EXPECT_STREQ(tlp.name(), "MRd64");
    EXPECT_EQ(tlp.first_byte(), 0x123456781u);
    EXPECT_EQ(tlp.enabled_bytes(), 1u);
    EXPECT_EQ(tlp.credit_class(), TlpClass::NonPosted);
}

TEST(Tlp, CompletionWithData) {
    const uint8_t data[] = {1, 2, 3, 4};
    Tlp tlp = Tlp::completion_data(0, 0x0100, 0x42, 4096, 0x7c, data, 1);
    EXPECT_EQ(tlp.dw, (std::vector<uint32_t>{0x4a000001, 0x00000000, 0x0100427c, 0x01020304}));
    EXPECT_EQ(tlp.byte_count(), 4096u);
    EXPECT_EQ(tlp.tag(), 0x42);
    EXPECT_EQ(tlp.requester(), 0x0100);
    EXPECT_EQ(tlp.credit_class(), TlpClass::Completion);
}

TEST(Tlp, DescribesWhatIsCutOff) {
    Tlp tlp;
    tlp.dw = {0x40000001, 0};
    EXPECT_NE(tlp.describe().find("cut off"), std::string::npos);
    EXPECT_EQ(tlp.hex(), "40000001 00000000");
}
