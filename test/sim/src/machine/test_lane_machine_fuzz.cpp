// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The host at the other end of a lane, whose card sends damaged and hostile symbols, and then becomes a correct one.
#include "lane/hostile_partner.h"
#include "machine/lane_machine.h"

#include <gtest/gtest.h>

#include <set>

using namespace litepcie;
using namespace litepcie::soft;
using lane::HostilePartner;

namespace {
constexpr uint32_t kBar0 = 0xe0000000, kMsiAddress = 0xfee00000;
constexpr unsigned kExpress = 0x40, kMsi = 0x80, kPower = 0xc0;

// A card that has capabilities, and in BAR0 at each offset a dword that tells it.
class FuzzCard : public SoftCard {
  public:
    explicit FuzzCard(uint64_t seed) : partner(seed) { reset(); }

    const SoftCardInfo &info() const override {
        static constexpr SoftCardInfo kInfo = {kLaneHz, 0x1234, 0x1ce0, 0, 0, 1 << 20, 64, 32, 115200, 1, 1};
        return kInfo;
    }
    Uart &serial() override { return uart_; }
    void reset() {
        partner.reset();
        space_.fill(0);
        space_[0x34 / 4] = kExpress;
        space_[kExpress / 4] = 0x10 | kMsi << 8;
        space_[kMsi / 4] = 0x05 | kPower << 8;
        space_[kPower / 4] = 0x01;
    }
    void clock(lane::SerDesLane &lane) override {
        lane::SerDesOutputs outputs;
        outputs.tx_idle = 0;
        for (unsigned n = 0; n < 2; n++) {
            const unsigned data = inputs_.rx_data >> 8 * n & 0xff, k = inputs_.rx_k >> n & 1;
            const lane::Symbol symbol = partner.step(inputs_.rx_valid ? data | k << 8 : unsigned(lane::kSilence));
            outputs.tx_data |= (symbol & 0xff) << 8 * n;
            outputs.tx_k |= (symbol >> 8 & 1) << n;
            outputs.tx_idle |= (symbol == lane::kSilence) << n;
        }
        lane.clock(outputs, inputs_);
        for (Tlp tlp; partner.link.receive(tlp); partner.link.release(tlp))
            answer(tlp);
    }
    static uint32_t at(uint64_t offset) { return uint32_t(offset) ^ 0x5a5a1234; }

    HostilePartner partner;

  private:
    void answer(const Tlp &tlp) {
        if (tlp.type() == 4 && tlp.has_data()) {
            uint32_t mask = 0;
            for (unsigned i = 0; i < 4; i++)
                mask |= tlp.first_be() >> i & 1 ? 0xffu << 8 * i : 0;
            const unsigned place = (tlp.dw[2] & 0xffc) / 4 % space_.size();
            const bool header = place * 4 == kExpress || place * 4 == kMsi || place * 4 == kPower || place * 4 == 0x34;
            space_[place] ^= (space_[place] ^ __builtin_bswap32(tlp.dw[3])) & mask & (header ? 0xffff0000 : ~0u);
            complete(Tlp::completion(tlp.dw[2] >> 16, tlp.requester(), tlp.tag(), CplStatus::Success, 4, 0), tlp);
        } else if (tlp.type() == 4) {
            const uint32_t value = space_[(tlp.dw[2] & 0xffc) / 4 % space_.size()];
            complete(Tlp::completion_data(tlp.dw[2] >> 16, tlp.requester(), tlp.tag(), 4, 0,
                                          reinterpret_cast<const uint8_t *>(&value), 1),
                     tlp);
        } else if (tlp.is_memory_read()) {
            std::vector<uint32_t> data(tlp.length());
            for (size_t i = 0; i < data.size(); i++)
                data[i] = at(tlp.address() + 4 * i - kBar0);
            complete(Tlp::completion_data(0x100, tlp.requester(), tlp.tag(), tlp.enabled_bytes(),
                                          tlp.first_byte() & 0x7f, reinterpret_cast<const uint8_t *>(data.data()),
                                          tlp.length()),
                     tlp);
        }
    }
    void complete(Tlp completion, const Tlp &request) {
        completion.answer(request);
        partner.link.send(std::move(completion));
    }

    Uart uart_{1000};
    lane::SerDesInputs inputs_;
    std::array<uint32_t, 64> space_;
};

uint64_t next_seed = fuzz_seed();
FuzzCard *card = nullptr;  // of the machine that was built last

void set(LaneMachine &machine, unsigned offset, uint32_t value) {
    machine.config_write(offset, reinterpret_cast<const uint8_t *>(&value), 4);
}

void set_up(LaneMachine &machine) {
    set(machine, 0x10, kBar0);
    set(machine, kMsi + 4, kMsiAddress);
    set(machine, kMsi, 1u << 16 | 0x05 | kPower << 8);
    set(machine, kExpress + 8, 0x501f);
    set(machine, 0x04, 0x106);
}

bool works(LaneMachine &machine) {
    set_up(machine);
    uint32_t got = 0;
    return machine.load(0x120, reinterpret_cast<uint8_t *>(&got), 4) && got == FuzzCard::at(0x120);
}

// What a host does while the card rages. A load may take 10 ms, after which the host gives up.
void storm(LaneMachine &machine, RandomTlps &random) {
    card->partner.hostile = true;
    for (unsigned left = 500 + random.below(6000); left; left--) {
        machine.step();
        uint8_t data[64] = {};
        if (random.one_in(1000))
            machine.load(4 * random.below(64), data, 4 * (1 + random.below(16)));
        if (random.one_in(1000))
            machine.store(4 * random.below(64), data, 4 * (1 + random.below(16)));
        if (random.one_in(2000))
            machine.config_read(random.below(256), data, 4);
        if (random.one_in(4000))
            set(machine, kExpress + 8, 0x501f);
    }
    card->reset();
    for (unsigned left = 200; left; left--)
        machine.step();
}
}  // namespace

namespace litepcie::soft {

std::unique_ptr<SoftCard> make_soft_card() {
    auto made = std::make_unique<FuzzCard>(next_seed++);
    card = made.get();
    return made;
}

}  // namespace litepcie::soft

// A rule that is broken ends the machine. Else a reset of the bus makes the card work again.
TEST(LaneMachineFuzz, EndsWithARuleOrWorksAgain) {
    RandomTlps random(fuzz_seed());
    EndlessMemory memory;
    std::set<std::string> rules;
    unsigned again = 0;
    for (unsigned n = fuzz_tlps(4000) / 80; n; n--) {
        ModelOptions options;
        options.trace = "/dev/null";
        options.seed = random.below(1000);
        options.reorder = options.split_at_random = random.one_in(2);
        LaneSettings settings;
        settings.wires.up_errors_every = random.one_in(2) ? 2000 : 0;
        LaneMachine machine(memory, options, settings);
        ASSERT_TRUE(works(machine)) << n;
        try {
            storm(machine, random);
        } catch (const Violation &violation) {
            const std::string what = violation.what();
            rules.insert(what.substr(0, what.find_first_of("0123456789\n")));
            continue;
        }
        machine.reset_bus();
        ASSERT_TRUE(works(machine)) << n;
        again++;
    }
    EXPECT_TRUE(fuzz_tlps(4000) < 4000 || again >= 5) << again;
    EXPECT_TRUE(fuzz_tlps(4000) < 4000 || rules.size() >= 8) << rules.size() << ' ' << again;
}
