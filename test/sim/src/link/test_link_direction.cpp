// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/link_direction.h"
#include "link/theory.h"

#include <gtest/gtest.h>

using namespace litepcie;

namespace {

constexpr Credits kUnlimited = {{Credits::kInfinite, Credits::kInfinite, Credits::kInfinite},
                                {Credits::kInfinite, Credits::kInfinite, Credits::kInfinite}};

// Both directions, with a card that always has a TLP ready and a host that answers at once.
class SaturatedLink {
  public:
    SaturatedLink(const LinkShape &shape, unsigned mps, unsigned mrrs, unsigned header,
                  UpdateFc policy = UpdateFc::Guideline)
        : mps_(mps), mrrs_(mrrs), header_(header), to_host_(shape, mps, kRootPortCredits, {policy}),
          to_card_(shape, mps, card_credits(mps), {policy}) {}

    bool writes = false, reads = false, host_writes = false;
    uint64_t written = 0, read = 0;

    void run(uint64_t cycles) {
        for (uint64_t i = 0; i < cycles; i++) {
            to_host_.advance(to_card_);
            to_card_.advance(to_host_);
            while (to_host_.free_this_cycle() && (writes || wants_request()))
                send_to_host();
            while (to_card_.free_this_cycle() && (owed_ || host_writes))
                send_to_card();
        }
    }

  private:
    bool wants_request() const { return reads && owed_ < 16 * mrrs_; }

    void send_to_host() {
        to_host_.count_tlp();
        to_card_.want_ack();
        to_card_.want_update();
        if (wants_request()) {
            use_credit(TlpClass::NonPosted, 0);
            to_host_.send_bytes(kFramingBytes + header_);
            owed_ += mrrs_;
        } else {
            use_credit(TlpClass::Posted, mps_ / 16);
            to_host_.send_bytes(kFramingBytes + header_ + mps_);
            written += mps_;
        }
    }

    void use_credit(TlpClass tlp_class, unsigned data) {
        EXPECT_TRUE(to_host_.has_credit(tlp_class, data));
        to_host_.take_credit(tlp_class, data);
        to_host_.return_credit(tlp_class, data);
    }

    void send_to_card() {
        to_card_.count_tlp();
        to_host_.want_ack();
        to_host_.want_update();
        to_card_.send_bytes(kFramingBytes + 12 + mps_);
        if (owed_) {
            owed_ -= mps_;
            read += mps_;
        }
    }

    unsigned mps_, mrrs_, header_;
    uint64_t owed_ = 0;
    LinkDirection to_host_, to_card_;
};

struct Row {
    unsigned gen, lanes, mps;
    uint64_t clock_hz;
    double write, read, both;
};
const Row kRows[] = {
    {1, 1, 128, 125000000, 196, 201, 188},    {1, 4, 128, 125000000, 794, 815, 764},
    {2, 4, 128, 125000000, 1626, 1669, 1564}, {2, 4, 256, 125000000, 1781, 1806, 1707},
    {2, 8, 256, 250000000, 3601, 3654, 3453}, {3, 8, 256, 250000000, 7112, 7215, 6820},
    {2, 4, 256, 133333333, 1781, 1806, 1707},
};
constexpr uint64_t kCycles = 400000;

double mbs(uint64_t bytes, const Row &row) { return bytes / (kCycles / double(row.clock_hz)) / 1e6; }

}  // namespace

// The simulated rates against the published formula with N lanes. The formula always subtracts DLLPs at their highest
// rate. In the model only traffic of the other direction causes DLLPs, so reads alone may be faster.
TEST(LinkDirection, PacesLikeTheTestVectors) {
    for (const Row &row : kRows) {
        LinkShape shape{row.gen, row.lanes, row.clock_hz};
        SaturatedLink writes(shape, row.mps, 512, 16);
        writes.writes = writes.host_writes = true;
        writes.run(kCycles);
        EXPECT_NEAR(mbs(writes.written, row), row.write, row.write * 0.004) << "gen " << row.gen << " x" << row.lanes;
        SaturatedLink reads(shape, row.mps, 512, 16);
        reads.reads = true;
        reads.run(kCycles);
        EXPECT_GE(mbs(reads.read, row), row.read * 0.996) << "gen " << row.gen << " x" << row.lanes;
        SaturatedLink both(shape, row.mps, 512, 16);
        both.reads = both.writes = true;
        both.run(kCycles);
        double mean = (mbs(both.read, row) + mbs(both.written, row)) / 2;
        EXPECT_NEAR(mbs(both.read, row), row.read, row.read * 0.004) << "gen " << row.gen << " x" << row.lanes;
        EXPECT_NEAR(mbs(both.written, row), row.both, row.both * 0.005) << "gen " << row.gen << " x" << row.lanes;
        EXPECT_GE(mean, row.both * 0.996);
    }
}

// link_bound() equals the simulated rates for every generation, width, payload, header and policy.
TEST(LinkDirection, ReachesItsBound) {
    constexpr uint64_t kClock = 250000000;
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (unsigned gen : {1, 2, 3})
            for (unsigned lanes : {1, 2, 4, 8, 16})
                for (unsigned mps : {128, 256, 512})
                    for (unsigned header : {12, 16})
                        for (Traffic traffic : {Traffic::Write, Traffic::Read, Traffic::Both}) {
                            BoundParameters p;
                            p.shape = {gen, lanes, kClock};
                            p.data_width = 1024;  // so that only the link limits
                            p.mps = mps;
                            p.header_bytes = header;
                            p.traffic = traffic;
                            p.update_fc = policy;
                            SaturatedLink link(p.shape, mps, p.mrrs, header, policy);
                            link.reads = traffic != Traffic::Write;
                            link.writes = traffic != Traffic::Read;
                            const uint64_t cycles =
                                lanes <= 2 ? kCycles : kCycles / 4;  // long enough for the last TLP not to matter
                            link.run(cycles);
                            const Rates bound = link_bound(p);
                            const double seconds = cycles / double(kClock);
                            SCOPED_TRACE(testing::Message()
                                         << "gen " << gen << " x" << lanes << " MPS " << mps << " header " << header
                                         << " traffic " << int(traffic) << " policy " << int(policy));
                            EXPECT_NEAR(link.read / seconds, bound.read, bound.read * 0.002);
                            EXPECT_NEAR(link.written / seconds, bound.write, bound.write * 0.002);
                        }
}

// MPS 256 at Gen1 x1: 416 symbols, one in a cycle of 250 MHz. A SKP ordered set of four may be before the ACK.
TEST(LinkDirection, AcksBeforeATlp) {
    LinkPolicy policy;
    policy.acks = AckPolicy::BeforeTlp;
    const auto acks = [&policy](unsigned waited, unsigned tlp) {
        LinkDirection link({1, 1, 250000000}, 256, kUnlimited, policy), back = link;
        link.want_ack();
        for (unsigned i = 0; i < waited; i++)
            link.advance(back);
        link.want_ack();  // a second TLP, which it answers too
        if (tlp)
            link.begin_tlp(tlp);
        return link.counts().dllps;
    };
    EXPECT_EQ(acks(416 - 4 - 276, 276), 0u);
    EXPECT_EQ(acks(416 - 4 - 276 + 1, 276), 1u);
    EXPECT_EQ(acks(416 - 4 - 20, 20), 0u);
    EXPECT_EQ(acks(416 - 4 - 20 + 1, 20), 1u);
    EXPECT_EQ(acks(416 - 4, 0), 0u);
    EXPECT_EQ(acks(416 - 4 + 1, 0), 1u);
}

// A class with infinite credits has no UpdateFC, and the others have one each.
TEST(LinkDirection, UpdatesPerType) {
    constexpr Credits kSome = {{64, 64, Credits::kInfinite}, {256, 64, Credits::kInfinite}};
    for (const auto &[policy, updates] : {std::pair{UpdateFc::PerType, 2u}, std::pair{UpdateFc::Guideline, 1u}}) {
        LinkDirection to_host({1, 1, 250000000}, 256, kSome, {policy}), to_card = to_host;
        for (int i = 0; i < 500; i++)
            to_card.advance(to_host);
        for (TlpClass tlp_class : {TlpClass::Posted, TlpClass::NonPosted, TlpClass::Completion}) {
            to_host.take_credit(tlp_class, 1);
            to_host.return_credit(tlp_class, 1);
            to_card.want_update();
        }
        to_card.advance(to_host);
        EXPECT_EQ(to_card.counts().dllps, updates);
        for (int i = 0; i < 416; i++)
            to_card.advance(to_host);
        EXPECT_EQ(to_card.counts().dllps, updates) << "nothing more was freed";
    }
}

// 375 blocks of 130 bits at 8 GT/s take 6093.75 ns: 1523.4 cycles of 250 MHz. The SKP ordered set has 132 bytes at x8,
// which take 4.2 cycles.
TEST(LinkDirection, SkipSetsOfGen3) {
    LinkDirection link({3, 8, 250000000}, 256, kUnlimited);
    LinkDirection back = link;
    for (int i = 0; i < 1523; i++)
        link.advance(back);
    EXPECT_EQ(link.counts().skips, 0u);
    link.advance(back);
    EXPECT_EQ(link.counts().skips, 1u);
    EXPECT_EQ(link.cycles_to_arrival(), 5u);
    for (int i = 0; i < 1000; i++)
        link.advance(back);
    EXPECT_EQ(link.counts().skips, 1u);
}

// A credit that is returned while 276 bytes wait for the wire arrives after these and its own eight: 284 bytes at 16 in
// a cycle, and the time of flight.
TEST(LinkDirection, UpdateFcTravels) {
    for (UpdateFc update_fc : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (uint64_t flight : {0, 25}) {
            constexpr Credits kOne = {{1, 1, 1}, {16, 1, 1}};
            const LinkShape shape{2, 4, 125000000};
            LinkDirection to_host(shape, 256, kOne, {update_fc, flight}), to_card = to_host;
            to_host.take_credit(TlpClass::Posted, 16);
            to_host.return_credit(TlpClass::Posted, 16);
            to_card.want_update();
            to_card.send_bytes(276 + 16);  // the first cycle sends 16 of them
            unsigned cycles = 0;
            while (!to_host.has_credit(TlpClass::Posted, 16) && cycles < 1000) {
                to_host.advance(to_card);
                to_card.advance(to_host);
                cycles++;
            }
            EXPECT_EQ(cycles, 1 + 18 + flight);
            EXPECT_EQ(to_card.counts().dllps, 1u);
            EXPECT_EQ(to_card.cycles_to_arrival(), flight);
        }
}

// An UpdateFC that a reset loses announces nothing, but its credits are not lost.
TEST(LinkDirection, CreditsOfALostUpdateFc) {
    constexpr Credits kOne = {{1, 1, 1}, {16, 1, 1}};
    LinkDirection to_host({2, 4, 125000000}, 256, kOne, {UpdateFc::Guideline, 50}), to_card = to_host;
    to_host.take_credit(TlpClass::Posted, 16);
    to_host.return_credit(TlpClass::Posted, 16);
    to_card.want_update();
    to_card.advance(to_host);
    EXPECT_FALSE(to_card.quiet());
    to_card.lose_updates();
    to_host.grant_returned();
    EXPECT_TRUE(to_host.has_credit(TlpClass::Posted, 16));
    for (int i = 0; i < 100; i++)
        to_card.advance(to_host);
    to_host.take_credit(TlpClass::Posted, 16);
    EXPECT_FALSE(to_host.has_credit(TlpClass::Posted, 0));  // nothing was granted twice
}

TEST(LinkDirection, ArrivalIsTheLastByte) {
    LinkDirection link({2, 4, 125000000}, 256, kUnlimited);  // 16 bytes per cycle
    LinkDirection back = link;
    link.send_bytes(276);
    EXPECT_EQ(link.cycles_to_arrival(), 18u);
    for (int i = 0; i < 17; i++) {
        EXPECT_FALSE(link.quiet());
        link.advance(back);
    }
    EXPECT_TRUE(link.free_this_cycle());
    link.advance(back);
    EXPECT_TRUE(link.quiet());
}
