// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/card_transmit.h"

#include <algorithm>

namespace litepcie {

CardTransmit::CardTransmit(const CardInfo &card, LinkDirection &link, ReplayQueue<CardItem> &wire)
    : beat_bytes_(card.data_width / 8), link_(link), wire_(wire) {
    static const char *const kNames[] = {"stream of requests to the PHY", "stream of completions to the PHY"};
    for (unsigned i = 0; i < card.channels(); i++) {
        const char *name = card.split ? kNames[i] : "stream to the PHY";
        channels_.push_back({StreamChecker(card.data_width / 32, name, card.little_endian),
                             BlockSide(card, card.block_width / 8, kCrossingBeats)});
    }
}

void CardTransmit::wait_for_credit(uint64_t cycle, Channel &channel) {
    if (!link_.has_credit(channel.tlp_class, channel.data)) {
        link_.count_credit_wait();
        return;
    }
    link_.take_credit(channel.tlp_class, channel.data);
    channel.credit_wait = false;
    if (!channel.stream.inside())
        end(cycle, channel);  // its last beat was accepted before
}

void CardTransmit::drive(uint64_t cycle, CardInputs &inputs) {
    const bool room = !wire_.replaying() && link_.backlog_within(kBeats * beat_bytes_);
    for (size_t i = 0; i < channels_.size(); i++) {
        if (channels_[i].credit_wait && !wire_.replaying())
            wait_for_credit(cycle, channels_[i]);
        channels_[i].block.clock();
        inputs.tx_ready[i] = room && !channels_[i].credit_wait && channels_[i].block.ready();
    }
    inputs.msi_ready = room && !requests().open() && link_.has_credit(TlpClass::Posted, 1);
}

void CardTransmit::begin(Channel &channel) {
    const Tlp &tlp = channel.stream.tlp();
    const bool of_completions = &channel != &requests();
    if (channels_.size() > 1 && tlp.is_completion() != of_completions)
        throw Violation(
            of_completions ? "request on the stream of completions" : "completion on the stream of requests", tlp);
    channel.tlp_class = tlp.credit_class();
    channel.data = tlp.data_credits();
    if (!link_.holds(channel.tlp_class, channel.data))
        throw Violation("TLP needs more credits than the root port has at all", tlp);
    channel.credit_wait = !link_.has_credit(channel.tlp_class, channel.data);
    if (!channel.credit_wait)
        link_.take_credit(channel.tlp_class, channel.data);
}

void CardTransmit::take_beat(uint64_t cycle, Channel &channel, const Beat &beat) {
    const bool first = !channel.stream.inside();
    const bool last = channel.stream.take(beat);
    const unsigned bytes = 4 * channel.stream.dwords_of(beat);
    channel.block.take(bytes);
    if (first)
        link_.begin_tlp(channel.stream.tlp().announced_wire_bytes());
    link_.send_bytes(bytes + (first ? kFramingBytes : 0));
    if (first)
        begin(channel);
    if (last && on_accept)
        channel.discarded = !on_accept(channel.stream.tlp());
    if (last && !channel.credit_wait)
        end(cycle, channel);
}

void CardTransmit::end(uint64_t cycle, Channel &channel) {
    CardItem item{channel.stream.tlp(), false, 0, channel.discarded};
    const unsigned bytes = item.tlp.wire_bytes();
    link_.count_tlp();
    if (&channel != &requests()) {
        const bool posted_unfinished = requests().open() && requests().tlp_class == TlpClass::Posted;
        if (posted_unfinished)
            held_.push_back(std::move(item));
        else
            wire_.push(std::move(item), bytes, cycle);
        return;
    }
    wire_.push(std::move(item), bytes, cycle);
    for (const CardItem &held : held_)
        wire_.push(held, held.tlp.wire_bytes(), cycle);
    held_.clear();
}

void CardTransmit::take_interrupt(uint64_t cycle, uint8_t vector, unsigned bytes) {
    if (on_interrupt)
        on_interrupt(vector);
    link_.take_credit(TlpClass::Posted, 1);
    link_.begin_tlp(bytes);
    link_.send_bytes(bytes);
    link_.count_tlp();
    wire_.push({Tlp{}, true, vector}, bytes, cycle);
}

void CardTransmit::observe(StreamChecker &stream, bool valid, bool ready, const Beat &beat) {
    try {
        stream.observe(valid, ready, beat);
    } catch (const Violation &broken) {
        on_broken(broken);
        stream.resume(valid, ready, beat);
    }
}

void CardTransmit::clock(uint64_t cycle, const CardInputs &inputs, const CardOutputs &outputs,
                         unsigned interrupt_bytes) {
    // An MSI comes after the TLPs accepted at earlier edges, and before those accepted at this edge.
    if (outputs.msi_valid && inputs.msi_ready)
        take_interrupt(cycle, outputs.msi_vector, interrupt_bytes);
    for (size_t i = 0; i < channels_.size(); i++) {
        observe(channels_[i].stream, outputs.tx_valid[i], inputs.tx_ready[i], outputs.tx[i]);
        if (outputs.tx_valid[i] && inputs.tx_ready[i])
            take_beat(cycle, channels_[i], outputs.tx[i]);
    }
}

bool CardTransmit::between_tlps() const {
    return std::none_of(channels_.begin(), channels_.end(),
                        [](const Channel &c) { return c.stream.inside() && !c.credit_wait; });
}

bool CardTransmit::idle() const {
    return held_.empty() && std::none_of(channels_.begin(), channels_.end(), [](const Channel &c) { return c.open(); });
}

void CardTransmit::reset() {
    for (Channel &channel : channels_) {
        if (channel.stream.inside() && !channel.credit_wait)
            link_.return_credit(channel.tlp_class, channel.data);
        channel.stream.reset();
        channel.credit_wait = false;
    }
    for (const CardItem &item : held_)
        link_.return_credit(item.credit_class(), item.data_credits());
    held_.clear();
}

}  // namespace litepcie
