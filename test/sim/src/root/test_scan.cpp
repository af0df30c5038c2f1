// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/config_space.h"
#include "root/scan.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

using namespace litepcie;
using namespace litepcie::scan;

namespace {
// A card behind the configuration space of the simulated hard block. What a scan finds is in test/sim/test_lane.py.
struct Answering {
    CardInfo info = [] {
        CardInfo card{};
        card.gen = card.lanes = 1;
        card.vendor = 0x1204, card.device = 0x1ce5, card.subsystem_vendor = 0x1234, card.subsystem_device = 0x1ce0;
        card.class_code = 0x058000, card.bars[0] = 2 << 20;
        return card;
    }();
    ConfigSpace space{info, 256};
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
        answer = configure(tlp);
        tamper(*answer);
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

TEST(Scan, SaysWhatIsWrong) {
    Answering right, silent;
    EXPECT_EQ(failure(right), "");
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
