// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The root port's end of a lane: symbols, DLLPs, framed TLPs and their retry, credits, and when ACK and UpdateFC leave.
#include "lane/data_link.h"
#include "lane/framing.h"
#include "lane/root_port.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace litepcie;
using namespace litepcie::lane;

namespace {
// Of a link of another implementation, recorded from the first TS1 to configuration reads.
struct Counts {
    unsigned first = 0, second = 0, skips = 0, tlps = 0, dllps = 0, wrong = 0;
    unsigned blank = 0, half_numbered = 0, numbered = 0;
};

// `column` of x1-symbols.csv: 1 is host to card, 3 is card to host, both scrambled.
Counts receive(unsigned column) {
    const std::string here = __FILE__;
    std::ifstream file(here.substr(0, here.rfind("/sim/")) + "/gateware/endpoint/x1-symbols.csv");
    EXPECT_TRUE(file.is_open());
    Counts counts;
    Receiver receiver;
    std::string line, word;
    for (unsigned i = 0; i < 1 + 2; i++)  // the header, and two symbols before the first COM
        std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream words(line);
        for (unsigned i = 0; i <= column; i++)
            std::getline(words, word, ',');
        const Received what = receiver.take(Symbol(std::stoul(word, nullptr, 16)));
        counts.skips += what == Received::SkipSet;
        if (what == Received::TrainingSet) {
            const TrainingSet &set = receiver.training_set();
            (set.second ? counts.second : counts.first)++;
            (set.blank() ? counts.blank : set.lane == kPad ? counts.half_numbered : counts.numbered)++;
        } else if (what == Received::Packet) {
            unsigned sequence;
            Tlp tlp;
            Dllp dllp;
            if (receiver.packet().dllp)
                dllp.parse(receiver.packet()) ? counts.dllps++ : counts.wrong++;
            else if (take_apart(receiver.packet(), sequence, tlp) == Intact::Good && sequence == counts.tlps)
                counts.tlps++;
            else
                counts.wrong++;
        }
    }
    counts.wrong += receiver.damaged_sets + receiver.misplaced_symbols;
    return counts;
}

constexpr unsigned kSkip = 4;

// A data link layer whose partner initializes flow control, and acknowledges nothing.
class Sender {
  public:
    explicit Sender(const DataLinkOptions &options) : link_(options) {
        link_.advance(true, true);
        for (const auto kind : {Dllp::Init1, Dllp::Init2})
            for (unsigned i = 0; i < kTlpClasses; i++)
                link_.receive(Dllp::flow_control(kind, i, 0, 0).packet());
        while (!link_.up() || now < free_)
            step();
        dllps.clear();
    }

    // One symbol. A packet has as many as its bytes and the symbols around them.
    void step() {
        now++;
        link_.advance(true, true);
        if (now < free_)
            return;
        const Packet *packet = link_.next();
        if (!packet)
            return;
        free_ = now + packet->bytes.size() + 2;
        Dllp dllp;
        if (dllp.parse(*packet))
            dllps.push_back({now, dllp});
    }
    void run(unsigned symbols) {
        for (const uint64_t end = now + symbols; now < end;)
            step();
    }
    // A TLP comes whole in this symbol, and its room is free at once.
    void arrive(const Tlp &tlp) {
        link_.receive(framed(sequence_++, tlp));
        for (Tlp got; link_.receive(got);)
            link_.release(got);
    }
    void send(const Tlp &tlp) { link_.send(tlp); }
    bool room() const { return link_.room(TlpClass::Completion); }

    std::vector<std::pair<uint64_t, Dllp>> sent(bool acks) const {
        std::vector<std::pair<uint64_t, Dllp>> some;
        for (const auto &one : dllps)
            if (one.second.is_ack() == acks)
                some.push_back(one);
        return some;
    }

    std::vector<std::pair<uint64_t, Dllp>> dllps;
    uint64_t now = 0;

  private:
    DataLink link_;
    uint64_t free_ = 0;
    unsigned sequence_ = 0;
};

DataLinkOptions with(unsigned mps, UpdateFc policy = UpdateFc::Guideline, Credits credits = kRootPortCredits) {
    DataLinkOptions options;
    options.mps = mps;
    options.update_fc = policy;
    options.credits = credits;
    return options;
}

Tlp write(unsigned bytes) {
    static const uint8_t data[512] = {};
    return Tlp::memory_write(0, 0, data, bytes);
}

Tlp completion(unsigned bytes) {
    static const uint8_t data[512] = {};
    return Tlp::completion_data(0, 0, 0, bytes, 0, data, bytes / 4);
}

constexpr std::pair<unsigned, unsigned> kLimits[] = {{128, 237}, {256, 416}, {512, 559}};  // PCIe 2.1 table 3-5
}  // namespace

TEST(RecordedLink, IsReceived) {
    for (const auto &[column, dllps] : {std::pair{1, 49u}, std::pair{3, 62u}}) {
        const Counts counts = receive(column);
        EXPECT_EQ(counts.wrong, 0u);
        EXPECT_EQ(counts.tlps, 13u);
        EXPECT_EQ(counts.dllps, dllps);
        EXPECT_EQ(counts.first, 17u + 3 + 5);
        EXPECT_EQ(counts.second, 17u + 18);
        EXPECT_EQ(counts.blank, 17u + 17);
        EXPECT_EQ(counts.half_numbered, 3u);
        EXPECT_EQ(counts.numbered, 5u + 18);
        EXPECT_EQ(counts.skips, 2u);
    }
}

// SKP sets come every 1180 to 1538 symbols of training, and by the length of a set more at most.
TEST(RootPort, SkipIntervals) {
    RootPortOptions options;
    options.training.quiet_since = 3000000;
    RootPort port(options, 1);
    uint64_t last = 0;
    Symbol before = 0;
    for (uint64_t now = 0; now < 100000; now++) {
        const Symbol symbol = port.step(kSilence);
        if (before == kCom && symbol == kSkp) {
            if (last) {
                EXPECT_GE(now - last, Transmitter::kShortestInterval - TrainingSet::kSymbols);
                EXPECT_LE(now - last, Transmitter::kLongestInterval + TrainingSet::kSymbols);
            }
            last = now;
        }
        before = symbol;
    }
    EXPECT_GT(port.transmitter().skip_sets, 60u);
}

TEST(DataLink, AcknowledgesOnAnIdleLinkAtTheLimit) {
    for (const auto &[mps, limit] : kLimits) {
        Sender sender(with(mps));
        const uint64_t came = sender.now;
        for (unsigned i = 0; i < 10; i++) {
            sender.arrive(write(4));
            sender.run(20);
        }
        sender.run(limit);
        const auto acks = sender.sent(true);
        ASSERT_EQ(acks.size(), 1u);
        EXPECT_EQ(acks[0].second.sequence(), 9u);
        EXPECT_LE(acks[0].first - came, limit);
        EXPECT_GE(acks[0].first - came, limit - kSkip);
    }
}

// At any distance of the TLPs that come, while those that leave fill the link. If both ways have a TLP in the same
// time, each may get an ACK of its own: the next place between TLPs would be too late. With 512 bytes it always is.
TEST(DataLink, TlpsShareAcksUpToTheLimit) {
    for (const auto &[mps, limit] : {kLimits[0], kLimits[1]}) {
        size_t sent = 0, all = 0;
        for (unsigned gap = mps + 24; gap < mps + 60; gap++) {
            Sender sender(with(mps));
            std::vector<uint64_t> came;
            for (const uint64_t end = sender.now + 200 * gap; sender.now < end; sender.step()) {
                if (sender.room())
                    sender.send(completion(mps));
                if (sender.now % gap == 0)
                    came.push_back(sender.now), sender.arrive(write(mps));
            }
            size_t oldest = 0;
            for (const auto &[at, ack] : sender.sent(true)) {
                EXPECT_LE(at - came[oldest], limit) << "MPS " << mps << ", a TLP every " << gap << " symbols";
                oldest = ack.sequence() + 1;
                sent++;
            }
            all += came.size();
        }
        EXPECT_LT(sent, all * 9 / 10) << "MPS " << mps;
    }
}

// The first one at once, and then one for all that was freed in the time of the guideline.
TEST(DataLink, UpdatesByTheGuidelineHaveADistance) {
    for (const auto &[mps, limit] : kLimits) {
        Sender sender(with(mps));
        sender.run(2000);
        const uint64_t began = sender.now;
        for (unsigned i = 0; i < 2 * limit + 100; i += 20) {
            sender.arrive(write(16));
            sender.run(20);
        }
        const auto updates = sender.sent(false);
        ASSERT_EQ(updates.size(), 3u);
        EXPECT_LE(updates[0].first - began, 2u);
        for (unsigned i = 1; i < 3; i++) {
            EXPECT_GE(updates[i].first - updates[i - 1].first, limit);
            EXPECT_LE(updates[i].first - updates[i - 1].first, limit + 20 + 8);
        }
    }
}

// Half of 256 units are eight TLPs of 256 bytes.
TEST(DataLink, FewestUpdatesWaitForHalfOfTheRoom) {
    Sender sender(with(256, UpdateFc::Minimum));
    for (unsigned i = 0; i < 24; i++) {
        sender.arrive(write(256));
        sender.run(20);
    }
    const auto updates = sender.sent(false);
    ASSERT_EQ(updates.size(), 3u);
    EXPECT_EQ(updates[2].second.data(), 256u + 24 * 16);
}

TEST(DataLink, UpdatesAtOnceIfTheCreditsAreScarce) {
    for (const auto policy : {UpdateFc::Guideline, UpdateFc::Minimum}) {
        Sender sender(with(256, policy, {{8, 1, Credits::kInfinite}, {16, 1, Credits::kInfinite}}));
        const uint64_t came = sender.now;
        sender.arrive(write(256));
        sender.run(2);
        const auto updates = sender.sent(false);
        ASSERT_EQ(updates.size(), 1u);
        EXPECT_LE(updates[0].first - came, 2u);
    }
}

// On which three other implementations agree.
TEST(Dllp, Vectors) {
    const struct {
        uint32_t dword;
        uint8_t crc[2];
    } vectors[] = {{0x40080080, {0xf3, 0x5a}}, {0xc0080080, {0x89, 0x25}}, {0x80084088, {0xd0, 0xa9}},
                   {0x00000000, {0xb3, 0x62}}, {0x00000fff, {0x25, 0xa8}}, {0x10000123, {0x09, 0xe2}},
                   {0x20000000, {0x65, 0xad}}, {0x800c4402, {0x82, 0x96}}};
    for (const auto &vector : vectors) {
        const Packet packet = Dllp{vector.dword}.packet();
        EXPECT_EQ(packet.bytes[4], vector.crc[0]);
        EXPECT_EQ(packet.bytes[5], vector.crc[1]);
        Dllp dllp;
        ASSERT_TRUE(dllp.parse(packet));
        EXPECT_EQ(dllp.dword, vector.dword);
    }
    EXPECT_EQ(Dllp::flow_control(Dllp::Init1, 0, 0x20, 0x80).dword, 0x40080080u);
    EXPECT_EQ(Dllp::flow_control(Dllp::Update, 1, 0x21, 2).dword, 0x90084002u);
}

TEST(Dllp, DamagedOnesAreRefused) {
    const Packet good = Dllp::ack(0x123).packet();
    for (unsigned bit = 0; bit < 48; bit++) {
        Packet packet = good;
        packet.bytes[bit / 8] ^= 1 << bit % 8;
        Dllp dllp;
        EXPECT_FALSE(dllp.parse(packet));
    }
}

TEST(Framed, Vectors) {
    Tlp read;
    read.dw = {0x04000001, 0x0000000f, 0x01000000};
    Packet packet = framed(0, read);
    EXPECT_EQ(std::vector<uint8_t>(packet.bytes.end() - 4, packet.bytes.end()),
              (std::vector<uint8_t>{0x4f, 0xa6, 0x2a, 0xff}));
    Tlp write;
    write.dw = {0x40000001, 0x0000000f, 0xa0100000, 0x67c66973};
    packet = framed(0x14, write);
    EXPECT_EQ(std::vector<uint8_t>(packet.bytes.end() - 4, packet.bytes.end()),
              (std::vector<uint8_t>{0x33, 0x3f, 0x60, 0xac}));

    unsigned sequence;
    Tlp tlp;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Good);
    EXPECT_EQ(sequence, 0x14u);
    EXPECT_EQ(tlp.dw, write.dw);
    packet.nullified = true;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Bad);
    for (size_t i = packet.bytes.size() - 4; i < packet.bytes.size(); i++)
        packet.bytes[i] ^= 0xff;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Nullified);
    packet.nullified = false;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Bad);
}

// Three times through all sequence numbers.
TEST(RetryBuffer, NumbersWrap) {
    Tlp tlp;
    tlp.dw = {0, 0, 0};
    RetryBuffer buffer;
    for (unsigned i = 0; i < 3 * 4096; i++) {
        const Packet &packet = buffer.add(tlp);
        EXPECT_EQ(unsigned(packet.bytes[0] << 8 | packet.bytes[1]), i % 4096);
        EXPECT_EQ(buffer.acknowledge((i + 1) % 4096), -1);
        if (i % 5 == 4) {
            EXPECT_EQ(buffer.acknowledge((i - 2) % 4096), 3);
            buffer.replay();
            EXPECT_EQ(buffer.next_replayed().bytes[1], uint8_t(i - 1));
            EXPECT_EQ(buffer.acknowledge(i % 4096), 2);
            EXPECT_FALSE(buffer.replaying());
            EXPECT_EQ(buffer.acknowledge(i % 4096), 0);  // again
        }
    }
}

TEST(CreditLimits, CountModulo) {
    CreditLimits limits;
    EXPECT_FALSE(limits.recorded());
    limits.record(0, 2, 8), limits.record(1, 1, 1), limits.record(2, 0, 0);
    EXPECT_TRUE(limits.recorded());
    uint8_t data[64] = {};
    const Tlp write = Tlp::memory_write(0, 0, data, 64), completion = Tlp::completion_data(0, 0, 0, 4, 0, data, 1);
    for (unsigned i = 0; i < 5000; i++) {
        ASSERT_TRUE(limits.allow(write));
        limits.consume(write);
        limits.consume(write);
        ASSERT_FALSE(limits.allow(write));
        limits.update(0, (2 * i + 4) & 0xff, (8 * i + 16) & 0xfff);
        ASSERT_TRUE(limits.allow(completion));  // infinite
        limits.consume(completion);
    }
}
