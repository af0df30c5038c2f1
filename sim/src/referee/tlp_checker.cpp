// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "referee/tlp_checker.h"

#include <algorithm>
#include <cstdio>

namespace litepcie {

// Rules ---------------------------------------------------------------------------------------------------------------

namespace {

constexpr unsigned kEndpointRcb = 128;
constexpr uint32_t kReservedDw0 = 1u << 23 | 1u << 19 | 1u << 18 | 1u << 17 | 1u << 16;

bool contiguous(unsigned be) {
    while (be && !(be & 1))
        be >>= 1;
    return (be & (be + 1)) == 0;
}

// First and last byte enables, PCIe 4.0 2.2.5.
void check_byte_enables(const Tlp &tlp) {
    unsigned first = tlp.first_be(), last = tlp.last_be();
    if (tlp.length() == 1) {
        if (last)
            throw Violation("last byte enables of a one-dword request are not 0", tlp);
        return;
    }
    if (!first || !last)
        throw Violation("first or last byte enables of a longer request are 0", tlp);
    bool quadword = tlp.length() == 2 && tlp.address() % 8 == 0;
    if (quadword)
        return;
    if (!(first & 8) || !(last & 1) || !contiguous(first) || !contiguous(last))
        throw Violation("byte enables leave a hole", tlp);
}

}  // namespace

void TlpChecker::check_shape(const Tlp &tlp) const {
    if (tlp.dw.size() < 3 || tlp.dw.size() < tlp.header_dwords())
        throw Violation("TLP ends in its header", tlp);
    if (!tlp.is_memory() && !(tlp.is_completion() && (tlp.fmt() == 0 || tlp.fmt() == 2)))
        throw Violation("format and type are not of a memory request or a completion", tlp);
    // A completion has the traffic class and the attributes of its request, which check_completion() compares.
    if (tlp.dw[0] & kReservedDw0 & ~(tlp.is_completion() ? Tlp::kAnswered : 0))
        throw Violation("reserved bits of the first dword are set", tlp);
    if (tlp.traffic_class() && !tlp.is_completion())
        throw Violation("traffic class is not 0", tlp);
    if (tlp.digest())
        throw Violation("digest bit is set, but the card offers no ECRC", tlp);
    if (tlp.address_type())
        throw Violation("address type is not 0", tlp);
    if (tlp.poisoned())
        throw Violation("card poisons its data", tlp);
    if (tlp.is_completion() && !tlp.has_data() && tlp.dw[0] & 0x3ff)
        throw Violation("length field of a completion without data is not 0", tlp);
    unsigned expected = tlp.has_data() ? tlp.length() : 0;
    if (tlp.payload_dwords() != expected)
        throw Violation("length field says " + std::to_string(expected) + " dwords of payload, there are " +
                            std::to_string(tlp.payload_dwords()),
                        tlp);
}

void TlpChecker::check_request(const Tlp &tlp, const CardLimits &limits) const {
    unsigned bytes = 4 * tlp.length();
    if (!limits.bus_master)
        throw UnseenViolation("request while bus mastering is off", tlp);
    if (tlp.relaxed_ordering() && !limits.relaxed_ordering)
        throw UnseenViolation("relaxed ordering attribute, which the host does not enable", tlp);
    if (tlp.no_snoop() && !limits.no_snoop)
        throw UnseenViolation("no snoop attribute, which the host does not enable", tlp);
    if (tlp.requester() != limits.id)
        throw UnseenViolation("requester ID is not the card's", tlp);
    if (tlp.has_data() && bytes > limits.mps)
        throw Violation("payload exceeds MPS " + std::to_string(limits.mps), tlp);
    if (!tlp.has_data() && bytes > limits.mrrs)
        throw UnseenViolation("read request exceeds MRRS " + std::to_string(limits.mrrs), tlp);
    if (!tlp.has_data() && !limits.extended_tag && tlp.tag() >= 32)
        throw UnseenViolation("tag above 31 without extended tags", tlp);
    if (!tlp.has_data() && tlp.tag() >= limits.tags)
        throw UnseenViolation("tag is not one of the " + std::to_string(limits.tags) + " that the card says it has",
                              tlp);
}

bool TlpChecker::keeps(const Tlp &tlp, const CardLimits &limits) const {
    try {
        check_request(tlp, limits);
        return true;
    } catch (const Violation &) {
        return false;
    }
}

void TlpChecker::check_tag(const Tlp &tlp, uint64_t cycle) {
    Tag &tag = card_tags_[tlp.tag()];
    if (tag == Tag::InUse)
        throw UnseenViolation("tag of an outstanding request is used again", tlp);
    if (tag == Tag::Abandoned && cycle - abandoned_at_[tlp.tag()] < quarantine_)
        throw UnseenViolation("tag is used again although late completions of its request may still come", tlp);
    tag = Tag::InUse;
}

void TlpChecker::card_request_abandoned(uint8_t tag, uint64_t cycle) {
    card_tags_[tag] = Tag::Abandoned;
    abandoned_at_[tag] = cycle;
}

void TlpChecker::card_request_answered_late(uint8_t tag) {
    if (card_tags_[tag] == Tag::Abandoned)
        card_tags_[tag] = Tag::Free;
}

void TlpChecker::check_completion(const Tlp &tlp) {
    if (tlp.completer() != limits_.id)
        throw Violation("completer ID is not the card's", tlp);
    if (tlp.dw[1] >> 12 & 1)
        throw Violation("BCM bit is set", tlp);
    if (tlp.dw[2] >> 7 & 1)
        throw Violation("reserved bit before the lower address is set", tlp);
    HostRead &read = host_reads_[tlp.tag()];
    if (!read.outstanding || tlp.requester() != 0)
        throw Violation("completion answers no outstanding request of the host", tlp);
    if ((tlp.dw[0] & Tlp::kAnswered) != read.attributes)
        throw Violation("traffic class and attributes of a completion are not those of its request", tlp);
    unsigned status = tlp.status();
    if (status != unsigned(CplStatus::Success)) {
        if (tlp.has_data())
            throw Violation("completion with an error status carries data", tlp);
        if (status != unsigned(CplStatus::Unsupported) && status != unsigned(CplStatus::Abort))
            throw Violation("completion status is not one that a memory read can have", tlp);
        read.outstanding = false;
        return;
    }
    if (!tlp.has_data())
        throw Violation("successful completion of a memory read has no data", tlp);
    if (4 * tlp.length() > std::max(limits_.mps, coming_ ? coming_->mps : 0))
        throw Violation("completion exceeds MPS", tlp);
    if (tlp.byte_count() != read.bytes)
        throw Violation("byte count should be " + std::to_string(read.bytes), tlp);
    if (tlp.lower_address() != (read.address & 0x7f))
        throw Violation("lower address should be " + std::to_string(read.address & 0x7f), tlp);
    unsigned lead = read.address & 3;
    unsigned carried = std::min(4 * tlp.length() - lead, read.bytes);
    if (tlp.length() > (lead + read.bytes + 3) / 4)
        throw Violation("completion is longer than the request", tlp);
    if (carried < read.bytes && (read.address + carried) % kEndpointRcb)
        throw Violation("split completion does not end at a multiple of 128", tlp);
    read.address += carried;
    read.bytes -= carried;
    read.outstanding = read.bytes != 0;
}

void TlpChecker::from_card(const Tlp &tlp, uint64_t cycle) {
    check_shape(tlp);
    if (tlp.is_completion()) {
        check_completion(tlp);
        return;
    }
    if (tlp.header_dwords() == 4 && !(tlp.address() >> 32))
        throw Violation("four-dword header for an address below 4 GiB", tlp);
    if ((tlp.dw.at(tlp.header_dwords() - 1) & 3) != 0)
        throw Violation("reserved low address bits are set", tlp);
    if ((tlp.address() & 0xfff) + 4 * tlp.length() > 4096)
        throw Violation("request crosses a 4 KiB boundary", tlp);
    check_byte_enables(tlp);
    try {
        check_request(tlp, limits_);
    } catch (const Violation &) {
        if (!coming_ || !keeps(tlp, *coming_))
            throw;
    }
    if (!tlp.has_data())
        check_tag(tlp, cycle);
    if (is_message(tlp) && !either(&CardLimits::msix))
        throw Violation("write to the address of interrupts while MSI-X is off or the function is masked", tlp);
}

bool TlpChecker::is_message(const Tlp &tlp) {
    return tlp.is_memory_write() && tlp.address() >> 20 == kInterruptAddress >> 20;
}

void TlpChecker::interrupt_from_card() const {
    if (!either(&CardLimits::bus_master))
        throw Violation("MSI while bus mastering is off");
    if (!either(&CardLimits::msi))
        throw Violation("MSI while the host does not enable MSI");
}

unsigned TlpChecker::card_requests() const { return std::count(card_tags_.begin(), card_tags_.end(), Tag::InUse); }

void TlpChecker::host_read(const Tlp &tlp) {
    host_reads_[tlp.tag()] = {true, tlp.first_byte(), tlp.enabled_bytes(), tlp.dw[0] & Tlp::kAnswered};
}

void TlpChecker::reset() {
    card_tags_.fill(Tag::Free);
    host_reads_.fill({});
}

// Counts --------------------------------------------------------------------------------------------------------------

void BrokenRules::add(uint64_t cycle, const Violation &broken) {
    if (!counted_)
        throw;
    total_++;
    const bool known = rules_.count(broken.rule());
    if (!known && rules_.size() == kMost)
        return;
    Count &count = rules_[broken.rule()];
    if (!count.times++) {
        count.cycle = cycle;
        count.first = broken.what();
        fprintf(stderr, "the card broke a rule of PCI Express at cycle %llu: %s\n", (unsigned long long)cycle,
                broken.what());
    }
}

std::string BrokenRules::list() const {
    std::string text;
    for (const auto &[rule, count] : rules_)
        text += "broken rule: " + rule + ": " + std::to_string(count.times) + " times, first at cycle " +
                std::to_string(count.cycle) + "\n";
    return text;
}

}  // namespace litepcie
