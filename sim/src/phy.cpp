// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "phy.h"

#include "tlp_checker.h"

#include <algorithm>
#include <cstring>

namespace litepcie {

namespace {

unsigned buffer_bytes(const Tlp &tlp) { return 16 + 16 * tlp.data_credits(); }

}  // namespace

Phy::Phy(const BoardInfo &board, const Credits &root_port, const Credits &card)
    : dwords_(board.data_width / 32), completion_buffer_(board.completion_buffer),
      to_host_({board.gen, board.lanes, board.clock_hz}, 128, root_port),
      to_card_({board.gen, board.lanes, board.clock_hz}, 128, card), stream_(dwords_) {}

void Phy::set_mps(unsigned mps) {
    to_host_.set_mps(mps);
    to_card_.set_mps(mps);
}

void Phy::advance() {
    if (to_host_.advance())
        to_card_.grant_returned();
    if (to_card_.advance())
        to_host_.grant_returned();
}

bool Phy::receive(uint64_t cycle, CardItem &item) {
    if (to_host_queue_.empty() || to_host_queue_.front().arrival > cycle)
        return false;
    item = std::move(to_host_queue_.front());
    to_host_queue_.pop_front();
    to_card_.want_ack();
    to_card_.want_update();
    if (item.interrupt)
        to_host_.return_credit(TlpClass::Posted, 1);
    else
        to_host_.return_credit(item.tlp.credit_class(), item.tlp.data_credits());
    return true;
}

void Phy::start(const HostTlp &tlp) {
    to_card_.take_credit(tlp.tlp.credit_class(), tlp.tlp.data_credits());
    to_card_.send_bytes(tlp.tlp.wire_bytes());
    to_card_.count_tlp();
}

void Phy::arrive(uint64_t cycle) {
    while (!flying_.empty() && flying_.front().arrival <= cycle) {
        received_.push_back(std::move(flying_.front().tlp));
        flying_.pop_front();
        const Tlp &tlp = received_.back().tlp;
        to_host_.want_ack();
        if (!tlp.is_completion())
            continue;
        to_host_.want_update();
        completion_bytes_ += buffer_bytes(tlp);
        completion_peak_ = std::max(completion_peak_, completion_bytes_);
        if (completion_bytes_ > completion_buffer_)
            throw Violation("completions overflow the PHY's receive buffer of " + std::to_string(completion_buffer_) +
                                " bytes: the card asked for more than it takes",
                            tlp);
    }
}

void Phy::show_beat(BoardInputs &inputs) {
    const Tlp &tlp = received_.front().tlp;
    size_t n = std::min<size_t>(dwords_, tlp.dw.size() - position_);
    Beat &beat = inputs.rx;
    memcpy(beat.dat, tlp.dw.data() + position_, 4 * n);
    memset(beat.dat + n, 0, 4 * (dwords_ - n));
    beat.be = ~uint64_t(0) >> (64 - 4 * n);
    beat.first = position_ == 0;
    beat.last = position_ + n == tlp.dw.size();
    inputs.rx_changed = true;
    shown_ = true;
}

void Phy::drive(uint64_t cycle, BoardInputs &inputs) {
    arrive(cycle);
    if (credit_wait_) {
        if (to_host_.has_credit(wait_class_, wait_data_)) {
            to_host_.take_credit(wait_class_, wait_data_);
            credit_wait_ = false;
            if (!stream_.inside())
                queue_tlp(cycle);  // it was taken whole
        } else {
            to_host_.count_credit_wait();
        }
    }
    const bool room = !credit_wait_ && to_host_.backlog_within(kTransmitBeats * 4 * dwords_);
    inputs.tx_ready = room;
    inputs.msi_ready = room && !stream_.inside() && to_host_.has_credit(TlpClass::Posted, 1);
    inputs.rx_valid = !received_.empty();
    if (inputs.rx_valid && !shown_)
        show_beat(inputs);
}

void Phy::queue_tlp(uint64_t cycle) {
    to_host_.count_tlp();
    to_host_queue_.push_back({stream_.tlp(), false, 0, cycle + to_host_.cycles_to_drain()});
}

void Phy::take_beat(uint64_t cycle, const Beat &beat) {
    const bool first = !stream_.inside();
    const bool last = stream_.take(beat);
    to_host_.send_bytes(4 * stream_.dwords_of(beat) + (first ? kFramingBytes : 0));
    if (first) {
        wait_class_ = stream_.tlp().credit_class();
        wait_data_ = stream_.tlp().data_credits();
        credit_wait_ = !to_host_.has_credit(wait_class_, wait_data_);
        if (!credit_wait_)
            to_host_.take_credit(wait_class_, wait_data_);
    }
    if (last && on_accept)
        on_accept(stream_.tlp());
    if (last && !credit_wait_)
        queue_tlp(cycle);
}

// The card took the beat shown; true if it was the last of its TLP.
bool Phy::beat_taken() {
    HostTlp &front = received_.front();
    shown_ = false;
    if (position_ == 0 && on_begin)
        on_begin(front);
    position_ += dwords_;
    if (position_ < front.tlp.dw.size())
        return false;
    if (front.tlp.is_completion())
        completion_bytes_ -= buffer_bytes(front.tlp);
    else
        to_host_.want_update();
    to_card_.return_credit(front.tlp.credit_class(), front.tlp.data_credits());
    taken_ = std::move(front);
    received_.pop_front();
    position_ = 0;
    return true;
}

bool Phy::clock(uint64_t cycle, const BoardInputs &inputs, const BoardOutputs &outputs, unsigned interrupt_bytes) {
    stream_.observe(outputs.tx_valid, inputs.tx_ready, outputs.tx);
    if (outputs.tx_valid && inputs.tx_ready)
        take_beat(cycle, outputs.tx);
    if (outputs.msi_valid && inputs.msi_ready) {
        // Behind every TLP taken before: a TLP that begins at this edge comes behind it.
        to_host_.take_credit(TlpClass::Posted, 1);
        to_host_.send_bytes(interrupt_bytes);
        to_host_.count_tlp();
        to_host_queue_.push_back({Tlp{}, true, outputs.msi_vector, cycle + to_host_.cycles_to_drain()});
    }
    return inputs.rx_valid && outputs.rx_ready && beat_taken();
}

void Phy::reset() {
    // Credits of what is lost come back: link training starts anew in a real reset.
    for (const CardItem &item : to_host_queue_)
        to_host_.return_credit(item.interrupt ? TlpClass::Posted : item.tlp.credit_class(),
                               item.interrupt ? 1 : item.tlp.data_credits());
    if (stream_.inside() && !credit_wait_)
        to_host_.return_credit(wait_class_, wait_data_);
    for (const Flying &flying : flying_)
        to_card_.return_credit(flying.tlp.tlp.credit_class(), flying.tlp.tlp.data_credits());
    for (const HostTlp &tlp : received_)
        to_card_.return_credit(tlp.tlp.credit_class(), tlp.tlp.data_credits());
    to_host_.grant_returned();
    to_card_.grant_returned();
    to_host_queue_.clear();
    flying_.clear();
    received_.clear();
    stream_.reset();
    credit_wait_ = shown_ = false;
    position_ = 0;
    completion_bytes_ = 0;
}

}  // namespace litepcie
