// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "common/program.h"
#include "machine/lane_machine.h"
#include "machine/options.h"

#include <gtest/gtest.h>

using namespace litepcie;

namespace {
template <typename Options>
void parse(Options &options, void (*add)(CommandLine &, Options &), std::vector<std::string> words) {
    CommandLine line("test", "");
    add(line, options);
    std::vector<char *> argv = {const_cast<char *>("test")};
    for (std::string &word : words)
        argv.push_back(word.data());
    line.parse(argv.size(), argv.data());
}

ModelOptions parse(std::vector<std::string> words) {
    ModelOptions options;
    parse(options, add_model_options, std::move(words));
    return options;
}

std::string error_of(std::vector<std::string> words) {
    try {
        parse(std::move(words));
    } catch (const UsageError &error) {
        return error.what();
    }
    return "";
}
}  // namespace

TEST(CommandLine, Values) {
    ModelOptions o = parse(
        {"--rcb", "128", "--latency-ns=4000", "--reorder", "--inject", "ur@1", "--inject", "drop@7", "--seed", "0x10"});
    EXPECT_EQ(o.rcb, 128u);
    EXPECT_EQ(o.latency_ns, 4000u);
    EXPECT_EQ(o.seed, 16u);
    EXPECT_TRUE(o.reorder);
    EXPECT_EQ(o.faults, (std::vector<std::string>{"ur@1", "drop@7"}));
}

TEST(CommandLine, AHostIsAPreset) {
    for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{
             {"--host", "chipset", "--completion-bytes", "128"}, {"--completion-bytes", "128", "--host", "chipset"}}) {
        ModelOptions o = parse(words);
        EXPECT_EQ(o.host, "chipset");
        EXPECT_EQ(o.completion_bytes, 128u);
        EXPECT_EQ(o.credits.header[0], 16);
        EXPECT_EQ(o.credit_return_ns, 400u);
    }
    EXPECT_EQ(error_of({"--host", "mine"}).find("--host: 'mine' is not allowed; allowed: ideal, broadwell"), 0u);
}

TEST(CommandLine, Credits) {
    ModelOptions o = parse({"--credits", "16,80,18"});
    EXPECT_EQ(o.credits.header[0], 16);
    EXPECT_EQ(o.credits.data[0], 80);
    EXPECT_EQ(o.credits.header[1], 18);
    for (const char *wrong : {"", "1", "0,80,18", "16,7,18", "128,80,18", "16,80,18,1", "a,b,c"})
        EXPECT_NE(error_of({"--credits", wrong}).find("as in 64,256,64"), std::string::npos) << wrong;
}

TEST(CommandLine, SaysWhatIsAllowed) {
    EXPECT_EQ(error_of({"--rcb", "63"}), "--rcb: '63' is not allowed; allowed: 64, 128");
    EXPECT_EQ(error_of({"--completion-bytes", "32"}), "--completion-bytes: '32' is not allowed; allowed: 0, 64, 128");
    EXPECT_EQ(error_of({"--latency-ns", "-5"}), "--latency-ns: '-5' is not a number from 0 to 1000000000");
    EXPECT_NE(error_of({"--latency-ns", "12ns"}), "");
    EXPECT_NE(error_of({"--latency-ns", "99999999999"}), "");
    EXPECT_NE(error_of({"--latency-ns", ""}), "");
    EXPECT_EQ(error_of({"--rcb"}), "--rcb needs a value: 64, 128");
    EXPECT_EQ(error_of({"--reorder=1"}), "--reorder takes no value");
    EXPECT_EQ(error_of({"--nothing"}), "unknown option '--nothing'; --help lists all options");
    EXPECT_NE(error_of({"--inject", "bang@1"}).find("FAULT ur, ca, poison"), std::string::npos);
}

TEST(LaneSettings, AllFaultsButThoseThatAreNamedLater) {
    soft::LaneSettings settings;
    parse(settings, soft::add_lane_options,
          {"--lcrc-every", "500", "--link-fault", "all:700", "--link-fault", "wrong-ack:100"});
    std::map<lane::Fault, unsigned> every;  // as a root port is armed with them
    for (const auto &[fault, n] : settings.faults)
        every[fault] = n;
    ASSERT_EQ(every.size(), lane::kFaults);
    for (const auto &[fault, n] : every)
        EXPECT_EQ(n, fault == lane::Fault::WrongLcrc  ? 500u
                     : fault == lane::Fault::WrongAck ? 100u
                                                      : 700u)
            << name(fault);
}
