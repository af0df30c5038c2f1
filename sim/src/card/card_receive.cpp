// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/card_receive.h"

#include "link/tlp_checker.h"

#include <algorithm>
#include <cstring>

namespace litepcie {

namespace {

// A header takes 16 bytes of the buffer.
unsigned buffer_bytes(const HostTlp &tlp) {
    return tlp.tlp.is_completion() && !tlp.stray ? 16 + kCreditBytes * tlp.tlp.data_credits() : 0;
}

}  // namespace

CardReceive::CardReceive(const CardInfo &card, LinkDirection &link, LinkDirection &back)
    : dwords_(card.data_width / 32), little_endian_(card.little_endian), completion_buffer_(card.completion_buffer),
      link_(link), back_(back), channels_(card.channels()) {}

void CardReceive::arrive(HostTlp arrived) {
    Channel &channel = channels_[arrived.tlp.is_completion() ? channels_.size() - 1 : 0];
    channel.waiting.push_back({std::move(arrived), posted_arrived_});
    const HostTlp &tlp = channel.waiting.back().tlp;
    posted_arrived_ += tlp.tlp.is_memory_write();
    back_.want_ack();
    completion_bytes_ += buffer_bytes(tlp);
    completion_peak_ = std::max(completion_peak_, completion_bytes_);
    if (completion_bytes_ > completion_buffer_)
        throw Violation("completions overflow the PHY's receive buffer of " + std::to_string(completion_buffer_) +
                            " bytes: the card requested more data than it can accept",
                        tlp.tlp);
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
        rx.valid = !channel.waiting.empty() && (i == 0 || channel.waiting.front().posted_before <= posted_taken_);
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
    if (channel.position == 0 && on_begin)
        on_begin(front);
    channel.position += dwords_;
    if (channel.position < front.tlp.dw.size())
        return;
    channel.position = 0;
    posted_taken_ += front.tlp.is_memory_write();
    release(front);
    back_.want_update();
    if (on_end)
        on_end(front);
    channel.waiting.pop_front();
}

void CardReceive::release(const HostTlp &tlp) {
    completion_bytes_ -= buffer_bytes(tlp);
    link_.return_credit(tlp.tlp.credit_class(), tlp.tlp.data_credits());
}

bool CardReceive::empty() const {
    return std::all_of(channels_.begin(), channels_.end(), [](const Channel &c) { return c.waiting.empty(); });
}

void CardReceive::reset() {
    for (Channel &channel : channels_) {
        for (const Waiting &waiting : channel.waiting)
            release(waiting.tlp);
        channel = Channel{};
    }
    posted_arrived_ = posted_taken_ = 0;
}

}  // namespace litepcie
