// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Damaged and random answers to the requests of a host that scans for a card.
#include "link/random_tlps.h"
#include "scan/requester.h"

#include <gtest/gtest.h>

using namespace litepcie;
using namespace litepcie::scan;

// An answer is taken only if it is the completion of the request, in every bit.
TEST(RequesterFuzz, TakesNoOtherCompletion) {
    RandomTlps random(fuzz_seed());
    Tlp request, right, given;
    unsigned taken = 0, refused = 0;
    Requester requester({[&](Tlp tlp) { request = std::move(tlp); },
                         [&](Tlp &tlp) {
                             const bool read = !request.has_data(), memory = request.is_memory();
                             const uint8_t data[4] = {1, 2, 3, 4};
                             const unsigned lower = memory ? request.first_byte() & 0x7f : 0;
                             right = read ? Tlp::completion_data(0x0100, 0, request.tag(), 4, lower, data, 1)
                                          : Tlp::completion(0x0100, 0, request.tag(), CplStatus::Success, 4, 0);
                             given = right;
                             if (random.one_in(8))
                                 given = random.any(Tlp::memory_read(0, request.tag(), 0x1000, 4));
                             else if (!random.one_in(8))
                                 random.damage(given);
                             if (given.dw.size() < 3)  // the data link layer drops it
                                 return false;
                             tlp = given;
                             return true;
                         }},
                        1, 50);
    for (unsigned i = 0, end = fuzz_tlps(20000); i < end; i++) {
        try {
            const auto answer = i % 3 == 0   ? requester.config_read(0, i % 4096)
                                : i % 3 == 1 ? requester.config_write(0, i % 4096, i)
                                             : requester.memory_read(0xfe000000 + 4 * (i % 4096));
            taken++;
            if (answer.status == CplStatus::Success) {
                // A configuration request may reach any function of the card, and a memory request any card.
                right.dw[1] ^= (right.dw[1] ^ given.dw[1]) & (request.is_memory() ? 0xffff0000 : 0x00070000);
                if (!request.has_data())
                    right.dw[3] = given.dw.back();
                EXPECT_EQ(given.hex(), right.hex()) << "for " << request.hex();
            } else {
                EXPECT_EQ(given.dw.size(), 3u);
            }
        } catch (const ScanError &error) {
            EXPECT_NE(std::string(error.what()).find(request.hex()), std::string::npos);
            refused++;
        }
    }
    EXPECT_GT(taken, 0u);
    EXPECT_GT(refused, 0u);
}
