// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/phy.h"

#include <algorithm>

namespace litepcie {

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
