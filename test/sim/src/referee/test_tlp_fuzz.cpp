// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Damaged and random TLPs of the card against the rules.
#include "referee/tlp_checker.h"
#include "tlp/random_tlps.h"

#include <gtest/gtest.h>

#include <set>

using namespace litepcie;

namespace {
// The first line of a Violation without its numbers. The last line has the dwords of the TLP.
std::string rule_of(const Violation &violation, const Tlp &tlp) {
    const std::string text = violation.what();
    EXPECT_EQ(text.substr(text.rfind('\n') + 3), tlp.hex());
    std::string rule;
    for (char c : text.substr(0, text.find('\n')))
        if (c < '0' || c > '9')
            rule += c;
    return rule;
}
}  // namespace

// Each TLP is refused with the name of a rule, or its fields say all that it has.
TEST(TlpFuzz, RefusedByARuleOrUnderstood) {
    RandomTlps random(fuzz_seed());
    std::set<std::string> rules;
    unsigned understood[3] = {};
    for (unsigned i = 0, end = fuzz_tlps(20000); i < end; i++) {
        TlpChecker checker;
        CardLimits limits;
        limits.id = RandomTlps::kCard;
        limits.mps = 128u << random.below(6);
        limits.mrrs = 128u << random.below(6);
        limits.extended_tag = random.one_in(2);
        limits.bus_master = !random.one_in(16);
        limits.msi = random.one_in(2);
        limits.msix = random.one_in(2);
        limits.relaxed_ordering = random.one_in(2);
        limits.no_snoop = random.one_in(2);
        limits.tags = random.one_in(2) ? 256 : 16;
        checker.set_limits(limits);
        Tlp read = Tlp::memory_read(RandomTlps::kHost, uint8_t(random.below(32)), 0xe0000000 + random.below(3968),
                                    1 + random.below(128));
        if (random.one_in(4))
            read.dw[0] |= random.edge() & Tlp::kAnswered;
        checker.host_read(read);
        const Tlp tlp = random.any(read);
        try {
            checker.from_card(tlp, 10000);
        } catch (const Violation &violation) {
            rules.insert(rule_of(violation, tlp));
            continue;
        }
        EXPECT_EQ(rebuilt(tlp).hex(), tlp.hex()) << "TLP " << i;
        understood[size_t(tlp.credit_class())]++;
        ASSERT_LT(tlp.describe().size(), 200u);
    }
    for (const unsigned count : understood)
        EXPECT_GT(count, 0u);
    EXPECT_GE(rules.size(), 28u);
}
