// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/phy.h"

#include "referee/tlp_checker.h"

#include <algorithm>
#include <cstring>

namespace litepcie {

// Stream Checker ------------------------------------------------------------------------------------------------------

void StreamChecker::fail(const char *rule, const Beat &beat) const {
    Tlp seen = tlp_;
    if (!inside_)
        seen.dw.clear();
    seen.dw.insert(seen.dw.end(), beat.dat, beat.dat + dwords_);
    throw Violation(std::string(name_) + ": " + rule, seen);
}

void StreamChecker::observe(bool valid, bool ready, const Beat &beat) {
    if (held_) {
        if (!valid)
            fail("valid was deasserted before the beat was accepted", shown_);
        bool same = beat.be == shown_.be && beat.first == shown_.first && beat.last == shown_.last;
        for (unsigned i = 0; i < dwords_; i++)  // bytes that are not enabled may have any value
            same &= beat.dat[i] == shown_.dat[i] || !(beat.be >> 4 * i & 0xf);
        if (!same)
            fail("beat changed before it was accepted", beat);
    }
    resume(valid, ready, beat);
}

void StreamChecker::resume(bool valid, bool ready, const Beat &beat) {
    held_ = valid && !ready;
    if (held_)
        shown_ = beat;
}

unsigned StreamChecker::dwords_of(const Beat &beat) const {
    const uint64_t all = ~uint64_t(0) >> (64 - 4 * dwords_);
    if (beat.be == all)
        return dwords_;
    if (!beat.last)
        fail("bytes are not enabled before the end of the TLP", beat);
    for (unsigned n = 1; n < dwords_; n++)
        if (beat.be == all >> 4 * (dwords_ - n))
            return n;
    fail("byte enables of the last beat are not whole dwords from the lowest", beat);
}

bool StreamChecker::take(const Beat &beat) {
    if (beat.first == inside_)
        fail(inside_ ? "first is set inside a TLP" : "first is not set at the start of a TLP", beat);
    if (!inside_)
        tlp_.dw.clear();
    unsigned n = dwords_of(beat);
    tlp_.dw.insert(tlp_.dw.end(), beat.dat, beat.dat + n);
    inside_ = !beat.last;
    if (beat.last && little_endian_)
        for (size_t i = tlp_.header_dwords(); i < tlp_.dw.size(); i++)
            tlp_.dw[i] = __builtin_bswap32(tlp_.dw[i]);
    if (tlp_.dw.size() > 4 + 1024)
        fail("TLP is longer than the longest possible", beat);
    return beat.last;
}

void StreamChecker::reset() {
    inside_ = held_ = false;
    tlp_.dw.clear();
}

// Transmit Side -------------------------------------------------------------------------------------------------------

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

// Receive Side --------------------------------------------------------------------------------------------------------

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
    if (at == 0 && bar_of && !tlp.is_completion())
        rx.bar = uint8_t(bar_of(tlp));
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

// PHY -----------------------------------------------------------------------------------------------------------------

namespace {

LinkShape shape(const CardInfo &info) { return {info.gen, info.lanes, info.clock_hz}; }

}  // namespace

Phy::Phy(const CardInfo &info, const Credits &root_port, const Credits &card, const PhyPolicy &policy)
    : to_host_(shape(info), 128, root_port, policy.link), to_card_(shape(info), 128, card, policy.link),
      credit_return_cycles_(policy.credit_return_cycles), card_wire_(to_host_, to_card_, policy.lcrc_every),
      host_wire_(to_card_, to_host_, policy.lcrc_every), transmit_(info, to_host_, card_wire_),
      receive_(info, to_card_, to_host_) {}

void Phy::set_mps(unsigned mps) {
    to_host_.set_mps(mps);
    to_card_.set_mps(mps);
}

void Phy::advance(uint64_t cycle) {
    free(cycle);
    to_host_.advance(to_card_);
    to_card_.advance(to_host_);
    if (host_wire_.replay_pending())
        host_wire_.replay(cycle, true);
    if (card_wire_.replay_pending())
        card_wire_.replay(cycle, transmit_.between_tlps());
}

bool Phy::take(uint64_t cycle, CardItem &item) {
    if (!card_wire_.receive(cycle, item))
        return false;
    to_card_.want_ack();
    const bool addressed = !item.interrupt && !item.discarded && !item.tlp.is_completion();
    const uint64_t known = kept_until && addressed ? kept_until(item.tlp) : cycle;
    occupied_[size_t(item.credit_class())].push_back({known + credit_return_cycles_, item.data_credits()});
    return true;
}

void Phy::free(uint64_t cycle) {
    free(cycle, TlpClass::Posted, 0);
    free(cycle, TlpClass::NonPosted, reads_waiting ? reads_waiting() : 0);
    free(cycle, TlpClass::Completion, 0);
}

// Frees the buffers of a class, but not of the last `kept` TLPs.
void Phy::free(uint64_t cycle, TlpClass tlp_class, size_t kept) {
    std::deque<Occupied> &buffers = occupied_[size_t(tlp_class)];
    for (; buffers.size() > kept && buffers.front().until <= cycle; buffers.pop_front()) {
        to_host_.return_credit(tlp_class, buffers.front().data);
        to_card_.want_update();
    }
}

bool Phy::occupied() const {
    return std::any_of(occupied_.begin(), occupied_.end(), [](const auto &buffers) { return !buffers.empty(); });
}

void Phy::start(const Tlp &tlp) {
    to_card_.take_credit(tlp.credit_class(), tlp.data_credits());
    to_card_.begin_tlp(tlp.wire_bytes());
    to_card_.send_bytes(tlp.wire_bytes());
    to_card_.count_tlp();
}

void Phy::arrive(uint64_t cycle) {
    while (host_wire_.receive(cycle, arrived_))
        receive_.arrive(std::move(arrived_));
}

void Phy::drive(uint64_t cycle, CardInputs &inputs) {
    if (host_wire_.arrived(cycle))
        arrive(cycle);
    transmit_.drive(cycle, inputs);
    receive_.drive(inputs);
}

void Phy::clock(uint64_t cycle, const CardInputs &inputs, const CardOutputs &outputs, unsigned interrupt_bytes) {
    transmit_.clock(cycle, inputs, outputs, interrupt_bytes);
    receive_.clock(inputs, outputs);
}

void Phy::reset() {
    for (TlpClass tlp_class : {TlpClass::Posted, TlpClass::NonPosted, TlpClass::Completion})
        free(UINT64_MAX, tlp_class, 0);
    to_host_.lose_updates();
    to_card_.lose_updates();
    // The credits of dropped TLPs return, as in a real reset the link is trained and initialises its credits again.
    card_wire_.clear(
        [this](const CardItem &item) { to_host_.return_credit(item.credit_class(), item.data_credits()); });
    host_wire_.clear(
        [this](const HostTlp &tlp) { to_card_.return_credit(tlp.tlp.credit_class(), tlp.tlp.data_credits()); });
    transmit_.reset();
    receive_.reset();
    to_host_.grant_returned();
    to_card_.grant_returned();
}

}  // namespace litepcie
