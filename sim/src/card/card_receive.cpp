// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/card_receive.h"

#include "referee/tlp_checker.h"

#include <algorithm>
#include <cstring>

namespace litepcie {

namespace {

// Stray completions are the host's fault and take no room.
bool counts(const HostTlp &tlp) { return tlp.tlp.is_completion() && !tlp.stray; }

}  // namespace

CardReceive::CardReceive(const CardInfo &card, LinkDirection &link, LinkDirection &back)
    : dwords_(card.data_width / 32), little_endian_(card.little_endian), space_(card.completion_space),
      fabric_bytes_(card.fabric_width / 8), fabric_space_(card.fabric_beats), link_(link), back_(back) {
    for (unsigned i = 0; i < card.channels(); i++)
        channels_.emplace_back(BlockSide(card, i == 1 && card.straddle() ? 16 : card.block_width / 8, 0));
}

void CardReceive::arrive(HostTlp arrived) {
    Channel &channel = channels_[arrived.tlp.is_completion() ? channels_.size() - 1 : 0];
    channel.waiting.push_back({std::move(arrived), posted_arrived_});
    const HostTlp &tlp = channel.waiting.back().tlp;
    posted_arrived_ += tlp.tlp.is_memory_write();
    back_.want_ack();
    if (!counts(tlp))
        return;
    held_.headers++;
    held_.data += kCreditBytes * tlp.tlp.data_credits();
    peak_ = {std::max(peak_.headers, held_.headers), std::max(peak_.data, held_.data)};
    if (held_.headers > space_.headers || held_.data > space_.data)
        throw Violation("completions overflow the hard block's buffer of " + std::to_string(space_.headers) +
                            " completions and " + std::to_string(space_.data) +
                            " bytes: the card requested more than it can accept",
                        tlp.tlp);
}

unsigned CardReceive::beat_bytes(const Channel &channel) const {
    return 4 * std::min<size_t>(dwords_, channel.waiting.front().tlp.tlp.dw.size() - channel.position);
}

unsigned CardReceive::fabric_beats(const HostTlp &tlp) const {
    return counts(tlp) ? (4 * tlp.tlp.dw.size() + fabric_bytes_ - 1) / fabric_bytes_ : 0;
}

void CardReceive::fill_fabric(Channel &channel) {
    while (channel.in_fabric < channel.waiting.size() && channel.block.ready() &&
           may_pass(channel.waiting[channel.in_fabric])) {
        const HostTlp &tlp = channel.waiting[channel.in_fabric++].tlp;
        channel.block.take(4 * tlp.tlp.dw.size());
        release(tlp);
        fabric_held_ += fabric_beats(tlp);
        if (fabric_held_ > fabric_space_)
            throw Violation("completions overflow the buffer in the fabric of " + std::to_string(fabric_space_) +
                                " beats: the hard block has to wait for it",
                            tlp.tlp);
    }
}

bool CardReceive::may_pass(const Waiting &waiting) const {
    return waiting.posted_before <= posted_taken_ || waiting.tlp.tlp.relaxed_ordering();
}

void CardReceive::show_beat(const Channel &channel, RxInput &rx) const {
    const Tlp &tlp = channel.waiting.front().tlp.tlp;
    const size_t at = channel.position;
    const size_t n = std::min<size_t>(dwords_, tlp.dw.size() - at);
    memcpy(rx.beat.dat, tlp.dw.data() + at, 4 * n);
    memset(rx.beat.dat + n, 0, 4 * (dwords_ - n));
    if (little_endian_)
        for (size_t i = tlp.header_dwords() > at ? tlp.header_dwords() - at : 0; i < n; i++)
            rx.beat.dat[i] = __builtin_bswap32(rx.beat.dat[i]);
    rx.beat.be = ~uint64_t(0) >> (64 - 4 * n);
    rx.beat.first = at == 0;
    rx.beat.last = at + n == tlp.dw.size();
    rx.changed = true;
}

void CardReceive::drive(CardInputs &inputs) {
    for (size_t i = 0; i < channels_.size(); i++) {
        Channel &channel = channels_[i];
        RxInput &rx = inputs.rx[i];
        channel.block.clock();
        if (i == 1 && fabric_space_) {
            fill_fabric(channel);
            rx.valid = channel.in_fabric > 0;
        } else {
            rx.valid =
                !channel.waiting.empty() && (i == 0 || may_pass(channel.waiting.front())) && channel.block.ready();
        }
        if (!rx.valid || channel.shown)
            continue;
        show_beat(channel, rx);
        channel.shown = true;
    }
}

void CardReceive::clock(const CardInputs &inputs, const CardOutputs &outputs) {
    for (size_t i = 0; i < channels_.size(); i++)
        if (inputs.rx[i].valid && outputs.rx_ready[i])
            beat_taken(channels_[i]);
}

void CardReceive::beat_taken(Channel &channel) {
    const HostTlp &front = channel.waiting.front().tlp;
    channel.shown = false;
    if (!channel.in_fabric)
        channel.block.take(beat_bytes(channel));
    if (channel.position == 0 && on_begin)
        on_begin(front);
    channel.position += dwords_;
    if (channel.position < front.tlp.dw.size())
        return;
    channel.position = 0;
    posted_taken_ += front.tlp.is_memory_write();
    if (channel.in_fabric) {
        channel.in_fabric--;
        fabric_held_ -= fabric_beats(front);
    } else {
        release(front);
    }
    back_.want_update();
    if (on_end)
        on_end(front);
    channel.waiting.pop_front();
}

void CardReceive::release(const HostTlp &tlp) {
    if (counts(tlp)) {
        held_.headers--;
        held_.data -= kCreditBytes * tlp.tlp.data_credits();
    }
    link_.return_credit(tlp.tlp.credit_class(), tlp.tlp.data_credits());
}

bool CardReceive::empty() const {
    return std::all_of(channels_.begin(), channels_.end(), [](const Channel &c) { return c.waiting.empty(); });
}

void CardReceive::reset() {
    for (Channel &channel : channels_) {
        for (size_t i = channel.in_fabric; i < channel.waiting.size(); i++)
            release(channel.waiting[i].tlp);
        channel = Channel(channel.block);
    }
    posted_arrived_ = posted_taken_ = 0;
    fabric_held_ = 0;
}

}  // namespace litepcie
