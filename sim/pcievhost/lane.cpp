// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane.h"

#include "Vlitepcie_soc_sim.h"
#include "soc.h"

#include <verilated.h>

#include <algorithm>

namespace judge {

namespace {

constexpr unsigned kMegahertz = 1000000, kLaneMegahertz = 125, kSysMegahertz = CONFIG_CLOCK_FREQUENCY / kMegahertz;
constexpr unsigned kResetCycles = 8, kDetectCycles = 500, kKept = 1024, kCompared = 900;
constexpr unsigned kNak = 0x10;

unsigned taken(std::deque<unsigned> &queue) {
    const unsigned symbol = queue.front();
    queue.pop_front();
    return symbol;
}

}  // namespace

Lane::Lane(const LaneOptions &options) : options(options), card_(std::make_unique<Vlitepcie_soc_sim>()) {
    card_->sys_rst = card_->pcie_rst = card_->serial_rx = 1;
    card_->serdes_rx_idle = 1;
    for (unsigned cycle = 0; cycle < kResetCycles; cycle++) {
        edge(card_->sys_clk);
        edge(card_->pcie_clk);
    }
    card_->sys_rst = card_->pcie_rst = 0;
    card_->serdes_ready = 1;
    if (options.shifted)
        to_card_.push_back(kElectricalIdle);
    from_card_.assign(2, kElectricalIdle);
}

Lane::~Lane() { card_->final(); }

void Lane::edge(uint8_t &clock) {
    clock = 0;
    card_->eval();
    clock = 1;
    card_->eval();
}

// A cycle of the lane's clock, which is two symbols.
void Lane::clock(unsigned first, unsigned second) {
    for (time_ += kSysMegahertz; time_ >= kLaneMegahertz; time_ -= kLaneMegahertz)
        edge(card_->sys_clk);
    for (unsigned half = 0; half < 2; half++)
        from_card_.push_back(card_->serdes_tx_idle >> half & 1 ? kElectricalIdle
                                                               : (card_->serdes_tx_data >> 8 * half & 0xff) |
                                                                     (card_->serdes_tx_k >> half & 1 ? kControl : 0));
    if (card_->serdes_detect)
        detecting_ = kDetectCycles, detected_ = false;
    else if (detecting_ && --detecting_ == 0)
        detected_ = true;
    card_->serdes_detect_done = card_->serdes_detect_present = detected_;
    card_->serdes_rx_data = uint16_t((first & 0xff) | (second & 0xff) << 8);
    card_->serdes_rx_k = uint8_t((first & kControl ? 1 : 0) | (second & kControl ? 2 : 0));
    // A lane that ends in the middle of a word leaves a second symbol without meaning.
    card_->serdes_rx_error = uint8_t((first & kDamaged ? 1 : 0) | (second & (kDamaged | kElectricalIdle) ? 2 : 0));
    card_->serdes_rx_valid = !(first & kElectricalIdle);
    card_->serdes_rx_idle = second & kElectricalIdle ? 1 : 0;
    edge(card_->pcie_clk);
}

unsigned Lane::exchange(unsigned symbol) {
    to_card_.push_back(host_idle_ ? kElectricalIdle : down(symbol));
    const unsigned on_lane = to_card_.back();
    if (to_card_.size() >= 2) {
        const unsigned first = taken(to_card_);
        clock(first, taken(to_card_));
    }
    const unsigned came = taken(from_card_);
    card_idle_ = came & kElectricalIdle;
    monitor_.step(came, on_lane);
    sent_.push_back(on_lane), came_.push_back(came);
    if (sent_.size() > kKept)
        sent_.pop_front(), came_.pop_front();
    return came & kElectricalIdle ? 0 : up(came) & 0x1ff;  // logical idle; the model takes no flags
}

unsigned Lane::down(unsigned symbol) {
    const Place place = down_.wire.next(symbol);
    if (place.training && place.index == 4 && options.rates >= 0)
        return unsigned(options.rates);
    symbol = renumber(down_, place, symbol);
    if (place.in == Place::Packet && place.begin == kSdp && place.index == 3 && down_.dllp[1] == 0 &&
        options.damage_acks && random_() % options.damage_acks == 0)
        return damage(symbol);
    return damage_tlp(down_, place, symbol, options.damage_requests);
}

unsigned Lane::up(unsigned symbol) {
    const Place place = up_.wire.next(symbol);
    if (place.open == Place::Packet)
        return kEnd;
    symbol = renumber(up_, place, symbol);
    return damage_tlp(up_, place, symbol, options.damage_completions);
}

// A NAK gets another number, and the CRC of that.
unsigned Lane::renumber(Direction &direction, const Place &place, unsigned symbol) {
    if (place.in != Place::Packet || place.begin != kSdp || place.index < 1 || place.index > 6)
        return symbol;
    uint8_t &byte = direction.dllp[place.index];
    byte = uint8_t(place.symbol);
    if (direction.dllp[1] != kNak)
        return symbol;
    // The number is in the last two of four bytes. damage_tlp() sees to it that the lower one is not 0.
    if (&direction == &down_ && place.index == 4)
        byte--;
    if (&direction == &up_ && (place.index == 3 || place.index == 4))
        byte = place.index == 3 ? 0x0f : 0xff;
    if (place.index > 4)
        byte = uint8_t(crc16(&direction.dllp[1], 4) >> 8 * (place.index - 5));
    return byte ^ place.key;
}

// The model sends nothing again by itself, so neither a repetition nor the begin or the number of a TLP is damaged:
// there would be no NAK. It looks for the LCRC where the first dword of the header says, and finds no damage to that.
unsigned Lane::damage_tlp(Direction &direction, const Place &place, unsigned symbol, unsigned every) {
    constexpr unsigned kHeader = 3, kDword = 4, kSymbols = 16;  // after the sequence number, in the shortest TLP
    const unsigned first = &direction == &up_ ? kDword : 0;
    if (place.in != Place::Packet || place.begin != kStp)
        return symbol;
    if (place.index == 0)
        direction.hit = 0;
    if (place.index == 1 || place.index == 2)
        direction.sequence = direction.sequence << 8 | place.symbol;
    if (place.index == 2) {
        direction.sequence &= 0xfff;
        if (direction.sequence < direction.next || !every)
            return symbol;
        direction.next = direction.sequence + 1;
        if (direction.sequence & 0xff && random_() % every == 0)
            direction.hit = kHeader + first + random_() % (kSymbols - first);
    }
    return direction.hit && place.index == direction.hit ? damage(symbol) : symbol;
}

// Another byte; of half of the symbols the receiver knows it. The model has no such mark.
unsigned Lane::damage(unsigned symbol) {
    damaged_++;
    return (symbol ^ (1 + random_() % 255)) | (random_() % 2 ? kDamaged : 0);
}

// The host's lane ends after it has looped its symbols for a while.
void Lane::host_idle(bool idle) {
    if (loopback_ && idle && !host_idle_)
        for (unsigned delay = 0; echo_ < 0 && delay + kCompared <= sent_.size(); delay++)
            if (std::equal(came_.end() - kCompared, came_.end(), sent_.end() - kCompared - delay))
                echo_ = int(delay);
    host_idle_ = idle;
}

}  // namespace judge
