// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The whole model around the test endpoint of fixture/litepcie_soc_sim.v.
#include "litepcie_regs.h"
#include "programs/litepcie_host/host_driver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

using namespace litepcie;

namespace {
// Registers of the test endpoint.
enum Register { kAddressLow = 0x40, kAddressHigh = 0x44, kDwords = 0x48, kTag = 0x4c, kCommand = 0x50, kData = 0x80 };
enum Command { kWrite = 1, kRead = 2, kInterrupt = 3, kSilent = 4, kBreakStream = 5 };

// The card on a link of one lane, which is always slower than the card.
class SlowLink : public Card {
  public:
    explicit SlowLink(Card &card) : card_(card), info_(card.info()) { info_.gen = info_.lanes = 1; }
    const CardInfo &info() const override { return info_; }
    void settle(CardInputs &inputs, CardOutputs &outputs) override { card_.settle(inputs, outputs); }
    void edge() override { card_.edge(); }

  private:
    Card &card_;
    CardInfo info_;
};

// It goes on to send although its link is down.
class Babbler : public SlowLink {
  public:
    using SlowLink::SlowLink;
    void settle(CardInputs &inputs, CardOutputs &outputs) override {
        SlowLink::settle(inputs, outputs);
        if (!inputs.link_up && !inputs.reset)
            outputs.tx_valid[0] = outputs.tx[0].first = true;
    }
};

class ModelTest : public testing::Test {
  protected:
    ModelTest() : card(make_card()) {
        memory.add_region(0x10000000, 0x10000);
        memory.add_region(0x100000000, 0x10000);
    }
    void start() { start(*card); }
    void start(Card &with) {
        model = std::make_unique<Model>(with, memory, options);
        driver = std::make_unique<HostDriver>(*model, memory);
        driver->set_up({});
    }
    void command(unsigned code, uint64_t address, unsigned dwords, unsigned tag = 0) {
        driver->write(kAddressLow, address);
        driver->write(kAddressHigh, address >> 32);
        driver->write(kDwords, dwords);
        driver->write(kTag, tag);
        driver->write(kCommand, code);
    }
    void run_until_idle() {
        while (model->busy())
            model->step();
    }
    // The rule that ends it, if any.
    static std::string broken(const std::function<void()> &run) {
        try {
            run();
        } catch (const Violation &rule) {
            return rule.what();
        }
        return "";
    }
    std::string violation(unsigned code, uint64_t address, unsigned dwords) {
        return broken([&] {
            command(code, address, dwords);
            run_until_idle();
        });
    }

    // Whether `found` is this rule, or empty as `rule` is.
    static void expect_rule(const std::string &rule, const std::string &found) {
        EXPECT_TRUE(rule.empty() ? found.empty() : found.find(rule) != std::string::npos) << rule << ": " << found;
    }

    ModelOptions options;
    Arena memory;
    std::unique_ptr<Card> card;
    std::unique_ptr<Model> model;
    std::unique_ptr<HostDriver> driver;
};
}  // namespace

TEST_F(ModelTest, NothingMovesInD3hot) {
    options.latency_ns = 20000;
    start();
    const auto power_state = [this](uint8_t d) { model->config_write(0x44, &d, 1); };
    const auto detected = [this] { return model->config().read(0x6a, 2); };  // Device Status
    power_state(3);
    uint8_t data[4];
    EXPECT_EQ(detected(), 0u);
    EXPECT_FALSE(model->load(LITEPCIE_MAGIC, data, 4));
    EXPECT_EQ(data[0], 0xff);
    EXPECT_EQ(detected(), 9u);  // correctable, unsupported request
    driver->write(LITEPCIE_SCRATCH, 7);
    EXPECT_EQ(detected(), 0xbu);  // and non-fatal
    power_state(0);
    EXPECT_EQ(driver->read(LITEPCIE_SCRATCH), 0u);
    // The test endpoint sends an MSI when its read ends, whatever its state is.
    command(kRead, 0x10000000, 1);
    driver->flush();
    driver->run(100);
    power_state(3);
    expect_rule("MSI while bus mastering is off", broken([&] { driver->run(4000); }));
}

// No time of grace begins with the completion of the write. The test endpoint knows nothing of the limits.
TEST_F(ModelTest, LimitsAreInForceWhenTheirWriteIsComplete) {
    const auto write = [this](unsigned offset, uint16_t value) {
        model->config_write(offset, reinterpret_cast<const uint8_t *>(&value), sizeof(value));
    };
    start();
    write(0x68, 2 << 12);  // MPS 128
    expect_rule("exceeds MPS 128", violation(kWrite, 0x10000000, 64));
    options.latency_ns = 2000;
    for (const auto &[offset, value, rule] : std::vector<std::tuple<unsigned, uint16_t, const char *>>{
             {0x4a, 0x0080, "MSI while the host does not enable MSI"}, {0x04, 2, "MSI while bus mastering is off"}}) {
        start();
        command(kRead, 0x10000000, 1);  // its MSI follows later
        driver->flush();
        driver->run(50);
        write(offset, value);
        const uint64_t complete = model->cycle();
        expect_rule(rule, broken([&] { driver->run(1000); }));
        EXPECT_LT(model->cycle() - complete, 400u);
    }
}

// The completion of the configuration write comes after the writes that the card sent before it.
TEST_F(ModelTest, WriteBeforeBusMasterGoesOffArrives) {
    SlowLink slow(*card);
    start(slow);
    driver->write(kData, 0x01234567);
    command(kWrite, 0x10000000, 64);
    driver->flush();
    driver->run(100);
    EXPECT_EQ(*memory.at(0x10000000, 1), 0);
    const uint8_t off[2] = {2, 0};
    model->config_write(4, off, 2);
    EXPECT_EQ(*memory.at(0x10000000, 1), 0x67);
    EXPECT_EQ(model->figures().requests_without_bus_master, 1u);
}

TEST_F(ModelTest, BrokenStreamEndsTheRun) {
    SlowLink slow(*card);
    start(slow);
    expect_rule("valid was deasserted", violation(kBreakStream, 0x10000000, 64));
}

// The test endpoint sends the data, the status block and the MSI of an engine in any order.
TEST_F(ModelTest, NothingOvertakesTheDataThatItReports) {
    constexpr uint64_t kRing = 0x10000000, kBlock = 0x10001000, kHostData = 0x10002000;
    constexpr unsigned kWriter = LITEPCIE_WRITER_BASE(0);
    const uint32_t descriptor[4] = {8 | LITEPCIE_DESCRIPTOR_INTERRUPT, 0, kHostData, 0};
    memcpy(memory.at(kRing, sizeof(descriptor)), descriptor, sizeof(descriptor));
    const auto ends_with = [&](const std::string &order) {
        start();
        driver->write(kWriter + LITEPCIE_ENGINE_RING_LO, kRing);
        driver->write(kWriter + LITEPCIE_ENGINE_RING_LOG2, 4);
        driver->write(kWriter + LITEPCIE_ENGINE_STATUS_ADDRESS_LO, kBlock);
        driver->write(kWriter + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
        driver->write(kWriter + LITEPCIE_ENGINE_DOORBELL, 1);
        for (unsigned dword = 0; dword < 4; dword++)
            driver->write(kData + 4 * dword, dword == LITEPCIE_STATUS_BYTES_LO ? 8 : dword == 0);
        std::string rule;
        for (char next : order)
            if (rule.empty())
                rule = next == 'i' ? violation(kInterrupt, 0, 0)
                                   : violation(kWrite, next == 'd' ? kHostData : kBlock, next == 'd' ? 2 : 4);
        return rule;
    };
    EXPECT_EQ(ends_with("dsi"), "");
    expect_rule("status block reports 8 bytes, of which only 0", ends_with("sdi"));
    expect_rule("comes before the status block", ends_with("dis"));
}

TEST_F(ModelTest, ReadThatIsNeverAnsweredEndsTheRun) {
    start();
    driver->write(kCommand, kSilent);
    driver->run(100);
    uint8_t data[4] = {};
    expect_rule("is not answered within 10000 us", broken([&] { model->load(0, data, 4); }));
    EXPECT_EQ(model->counts().load_timeouts, 1u);
    model->reset();
    driver->set_up({});
    EXPECT_EQ(driver->read(LITEPCIE_MAGIC), uint32_t(LITEPCIE_MAGIC_VALUE));
}

TEST_F(ModelTest, NoTlpBeginsWhileTheLinkIsDown) {
    Babbler babbler(*card);
    for (bool long_enough : {false, true}) {
        start(babbler);
        driver->run(100);
        model->link_down(Model::kDownCycles + 2 * long_enough);
        expect_rule(long_enough ? "while the link is down" : "", broken([&] { driver->run(2 * Model::kDownCycles); }));
    }
}

TEST_F(ModelTest, FunctionLevelResetThatDoesNotEnd) {
    start();
    driver->write(kCommand, kSilent);
    driver->run(100);
    const uint8_t reset[2] = {0, 0x80};
    expect_rule("longer than 100 ms", broken([&] { model->config_write(0x68, reset, 2); }));
}

TEST_F(ModelTest, LinkThatGoesDownLosesWhatIsInFlight) {
    start();
    driver->write(LITEPCIE_SCRATCH, 5);
    command(kRead, 0x10000000, 128);
    driver->run(40);
    model->link_down(300);
    uint8_t data[4] = {};
    EXPECT_FALSE(model->load(LITEPCIE_SCRATCH, data, 4));
    EXPECT_EQ(data[0], 0xff);
    for (int i = 0; i < 300; i++) {
        EXPECT_FALSE(model->link_up());
        model->step();
    }
    EXPECT_TRUE(model->link_up());
    EXPECT_FALSE(model->config().bus_master());
    driver->set_up({});
    driver->run(2000);
    EXPECT_EQ(model->counts().interrupts, 0u);      // no completion of before comes
    EXPECT_EQ(driver->read(LITEPCIE_SCRATCH), 5u);  // the card was not reset
}

TEST_F(ModelTest, ClockStopsAndTimersKeepItGoing) {
    start();
    driver->read(LITEPCIE_SCRATCH);
    uint64_t begin = model->cycle();
    run_until_idle();
    EXPECT_NEAR(double(model->cycle() - begin), double(IdleRule::kLingerCycles), 100);
    // The longest interrupt moderation that the host set: 2000 us = 250000 cycles.
    driver->write(LITEPCIE_READER_BASE(0) + LITEPCIE_ENGINE_MODERATION, 2000u << 16);
    begin = model->cycle();
    run_until_idle();
    EXPECT_NEAR(double(model->cycle() - begin), 250000.0 + IdleRule::kLingerCycles, 200);
    // After a request that is not answered, or not to its end, the clock runs for the card's completion timeout.
    for (const char *fault : {"drop@1", "short@1"}) {
        model->reset();
        driver->set_up({});
        driver->write(LITEPCIE_TIMEOUT_US, 1000);
        model->faults().add_next(fault);
        command(kRead, 0x10000000, 2);
        driver->flush();
        begin = model->cycle();
        run_until_idle();
        EXPECT_GE(model->cycle() - begin, 125000 * 17 / 16 + IdleRule::kLingerCycles) << fault;
    }
}

// A card at 62.5 MHz counts 63 cycles per microsecond, and ends a request up to one sixteenth after its timeout.
TEST(IdleRule, WaitsForTimersAsTheCardCountsThem) {
    IdleRule rule(62500000, 100);
    rule.activity(1000);
    EXPECT_FALSE(rule.may_stop(1099));
    EXPECT_TRUE(rule.may_stop(1100));
    rule.host_writes(LITEPCIE_WRITER_BASE(1) + LITEPCIE_ENGINE_FLUSH_US, 200);
    rule.activity(2000);
    EXPECT_FALSE(rule.may_stop(2000 + 200 * 63 + 99));
    EXPECT_TRUE(rule.may_stop(2000 + 200 * 63 + 100));
    rule.reset();
    rule.unanswered(50000);
    const uint64_t end = 50000 + IdleRule::kDefaultTimeoutUs * 63 * 17 / 16 + 100;
    EXPECT_FALSE(rule.may_stop(end - 1));
    EXPECT_TRUE(rule.may_stop(end));
    rule.host_writes(LITEPCIE_INTERRUPT_ARM, 2);
    EXPECT_FALSE(rule.may_stop(end));
    rule.host_writes(LITEPCIE_INTERRUPT_DISARM, 2);
    EXPECT_TRUE(rule.may_stop(end));
}
