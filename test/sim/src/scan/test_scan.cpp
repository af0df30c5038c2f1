// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "host/config_space.h"
#include "scan/scan.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>

using namespace litepcie;
using namespace litepcie::scan;

namespace {

// A card behind the configuration space of the simulated hard block, with registers that keep what is written.
struct Answering {
    CardInfo info = [] {
        CardInfo card{};
        card.gen = card.lanes = 1;
        card.vendor = 0x1204, card.device = 0x1ce5, card.subsystem_vendor = 0x1234, card.subsystem_device = 0x1ce0;
        card.class_code = 0x058000, card.bar0_size = 2 << 20;
        return card;
    }();
    ConfigSpace space{info, 256};
    std::map<uint64_t, uint32_t> memory;
    std::optional<Tlp> answer;
    std::function<void(Tlp &)> tamper = [](Tlp &) {};
    unsigned silent_after = 100000;
    uint16_t id = 0;

    Way way() {
        return {[this](const Tlp &tlp) { take(tlp); },
                [this](Tlp &tlp) {
                    if (!answer)
                        return false;
                    tlp = *answer;
                    answer.reset();
                    return true;
                }};
    }

    void take(const Tlp &tlp) {
        if (silent_after-- == 0)
            return;
        if (tlp.is_memory_write())
            memory[tlp.address()] = tlp.dw[3];
        else
            answer = tlp.is_memory() ? read_memory(tlp) : configure(tlp);
        if (answer)
            tamper(*answer);
    }
    Tlp read_memory(const Tlp &tlp) {
        Tlp completion = Tlp::completion(id, tlp.requester(), tlp.tag(), CplStatus::Success, 4, tlp.address() & 0x7f);
        const bool ours = space.memory_enabled() && (tlp.address() & ~uint64_t(space.bar0_size() - 1)) == space.bar0();
        if (!ours) {
            completion.dw[1] |= unsigned(CplStatus::Unsupported) << 13;
            return completion;
        }
        completion.dw[0] = 0x4a000001;
        completion.dw.push_back(memory[tlp.address()]);
        return completion;
    }
    Tlp configure(const Tlp &tlp) {
        const unsigned offset = tlp.dw[2] & 0xffc;
        if (tlp.has_data())
            id = uint16_t(tlp.dw[2] >> 16);
        const bool ours = tlp.type() == 4 && !(tlp.dw[2] >> 16 & 7);
        Tlp completion = Tlp::completion(id & ~7, tlp.requester(), tlp.tag(),
                                         ours ? CplStatus::Success : CplStatus::Unsupported, 4, 0);
        if (ours && tlp.has_data()) {
            const uint32_t value = __builtin_bswap32(tlp.dw[3]);
            for (unsigned i = 0; i < 4; i++) {
                const uint8_t byte = uint8_t(value >> 8 * i);
                if (tlp.first_be() >> i & 1)
                    space.write(offset + i, &byte, 1);
            }
        } else if (ours) {
            completion.dw[0] = 0x4a000001;
            completion.dw.push_back(__builtin_bswap32(space.read(offset, 4)));
        }
        return completion;
    }
};

std::string failure(Answering &card) {
    Requester requester(card.way(), 1, 1000);
    try {
        scan::scan(requester, 0xfe000000);
    } catch (const ScanError &error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST(Scan, FindsWhatTheConfigurationSpaceHas) {
    Answering answering;
    Requester requester(answering.way(), 1, 1000);
    const Function card = scan::scan(requester, 0xfe100000, 128);
    EXPECT_EQ(report(card), "1204:1ce5, subsystem 1234:1ce0, class 058000, revision 00\n"
                            "BAR0: memory, 32 bit, 2048 KiB at fe200000\n"
                            "[40] capability 01\n[48] capability 05\n[60] capability 10\n"
                            "[100] extended capability 0001, version 1\n"
                            "link: speed 1, x1; MPS 128 of 256\n");
    EXPECT_EQ(answering.id, 0x0100);
    EXPECT_TRUE(answering.space.memory_enabled());
    EXPECT_TRUE(answering.space.bus_master());
    EXPECT_EQ(answering.space.bar0(), 0xfe200000u);
    requester.memory_write(0xfe200040, 0x12345678);
    EXPECT_EQ(requester.memory_read(0xfe200040).value, 0x12345678u);
    EXPECT_EQ(requester.memory_read(0xfe400000).status, CplStatus::Unsupported);
    EXPECT_EQ(requester.config_read(0, 0, 15, true).status, CplStatus::Unsupported);
}

TEST(Scan, SetsTheMpsOfTheHost) {
    Answering answering;
    Requester requester(answering.way(), 1, 1000);
    EXPECT_EQ(scan::scan(requester, 0xfe000000, 512).mps, 256u);
    EXPECT_EQ(answering.space.mps(), 256u);
}

TEST(Scan, SaysWhatIsWrong) {
    Answering silent;
    silent.silent_after = 5;
    EXPECT_NE(failure(silent).find("no completion for 04000001"), std::string::npos);

    const struct {
        const char *text;
        std::function<void(Tlp &)> tamper;
    } cases[] = {{"requester", [](Tlp &tlp) { tlp.dw[2] ^= 1 << 8; }},
                 {"requester", [](Tlp &tlp) { tlp.dw[2] ^= 1 << 20; }},
                 {"byte count", [](Tlp &tlp) { tlp.dw[1] ^= 12; }},
                 {"completer", [](Tlp &tlp) { tlp.dw[1] ^= 1 << 24; }},
                 {"attributes", [](Tlp &tlp) { tlp.dw[0] ^= 1 << 12; }},
                 {"lower address", [](Tlp &tlp) { tlp.dw[2] ^= 4; }},
                 {"length", [](Tlp &tlp) { tlp.dw.push_back(0); }},
                 {"refuses to write", [](Tlp &tlp) { tlp.dw[1] |= 1 << 13; }},
                 {"there is no card", [](Tlp &tlp) { tlp.dw.back() = tlp.dw.size() > 3 ? ~0u : tlp.dw.back(); }}};
    for (const auto &one : cases) {
        Answering card;
        card.tamper = one.tamper;
        EXPECT_NE(failure(card).find(one.text), std::string::npos) << one.text << ": " << failure(card);
    }
}
