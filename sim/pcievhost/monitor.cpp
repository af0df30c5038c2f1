// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "monitor.h"

#include <algorithm>

namespace judge {

namespace {

// Symbols of 4 ns. A SKP ordered set waits for the end of a packet (4.2.7.3).
constexpr unsigned kMaxPayload = 128, kLongestTlp = 1 + 2 + 16 + kMaxPayload + 4 + 4 + 1;
constexpr unsigned kSkpLeast = 1180, kSkpMost = 1538;
// Table 3-5, and the ACK itself: its limit is for the begin, and the monitor sees the end.
constexpr unsigned kAckMost = 237 + 8;
// 30 us, and half of that (2.6.1.2).
constexpr unsigned kUpdateMost = 11250;
// An ACK of the host counts after this time, in which the endpoint may begin a replay of what it covers.
constexpr unsigned kAckTravels = 300;
// For so long after its last training set, the endpoint may not be in L0 yet and miss an ACK. The model sends ACKs in
// Recovery.Idle.
constexpr unsigned kReturnToL0 = 64;
constexpr unsigned kSetSymbols = 4, kTrainingSymbols = 16;
constexpr unsigned kModulus = 4096, kHalf = 2048;

// Types of DLLPs (table 3-1); of flow control without the virtual channel, P, NP and Cpl in bits 5:4.
constexpr unsigned kAck = 0x00, kNak = 0x10, kInit1 = 0x40, kInit2 = 0xc0, kUpdate = 0x80;

unsigned ahead(unsigned a, unsigned b) { return (a - b) % kModulus; }

uint32_t crc(uint32_t value, uint32_t polynomial, const uint8_t *bytes, unsigned count) {
    for (unsigned bit = 0; bit < 8 * count; bit++)
        value = value >> 1 ^ ((value ^ bytes[bit / 8] >> bit % 8) & 1 ? polynomial : 0);
    return ~value;
}

}  // namespace

// The polynomials 0x100b and 0x04c11db7, whose bits are in the order of the wire here.
uint16_t crc16(const uint8_t *bytes, unsigned count) { return uint16_t(crc(0xffff, 0xd008, bytes, count)); }
uint32_t crc32(const uint8_t *bytes, unsigned count) { return crc(0xffffffff, 0xedb88320, bytes, count); }

// Eight steps of x^16 + x^5 + x^4 + x^3 + 1.
uint8_t Wire::advance() {
    uint8_t key = 0;
    for (unsigned bit = 0; bit < 8; bit++) {
        const bool top = lfsr_ >> 15;
        key |= top << bit;
        lfsr_ = uint16_t(lfsr_ << 1) ^ (top ? 0x39 : 0);
    }
    return key;
}

Place Wire::next(unsigned raw) {
    const bool open = (at_.in == Place::Set || at_.in == Place::Packet) && !at_.last;
    if (raw & kElectricalIdle) {
        at_ = Place();
        at_.cut = open;
        return at_;
    }
    const Place before = at_;
    const unsigned symbol = raw & 0x1ff;
    const uint8_t key = symbol == kSkp ? 0 : advance();
    if (symbol == kCom)
        lfsr_ = 0xffff;
    at_ = Place();
    at_.symbol = symbol;
    at_.key = symbol & kControl ? 0 : key;
    if (symbol == kCom || (!open && (symbol == kStp || symbol == kSdp))) {
        at_.in = symbol == kCom ? Place::Set : Place::Packet;
        at_.begin = symbol;
        at_.cut = open;
        at_.open = open ? before.in : Place::Idle;
        return at_;
    }
    if (!open) {
        at_.in = Place::Gap;
        at_.symbol ^= at_.key;
        at_.cut = symbol & kControl;
        return at_;
    }
    at_.in = before.in;
    at_.index = before.index + 1;
    at_.begin = before.begin;
    if (before.in == Place::Packet) {
        at_.symbol ^= at_.key;
        at_.last = symbol == kEnd || symbol == kEdb;
        at_.cut = symbol & kControl && !at_.last;
    } else if (at_.index == 1) {
        at_.begin = symbol;
        at_.training = !(symbol & kControl) || symbol == kPad;
        length_ = at_.training ? kTrainingSymbols : kSetSymbols;
        at_.cut = !at_.training && symbol != kSkp && symbol != kFts && symbol != kIdl;
    } else {
        at_.training = before.training;
        at_.last = at_.index + 1 == length_;
        at_.cut = at_.training ? symbol & kControl && !(at_.index == 2 && symbol == kPad) : symbol != at_.begin;
    }
    if (at_.training)
        at_.key = 0;  // the data of training sets are not scrambled
    Place now = at_;
    if (at_.cut)
        at_ = Place(), at_.in = Place::Gap;
    return now;
}

void Monitor::check(bool right, const char *rule) {
    if (!right && fault_.empty() && !loopback_)
        fault_ = rule;
}

void Monitor::step(unsigned up, unsigned down) {
    figures_.symbols++;
    const Place from_host = down_wire_.next(down);
    if (down & kDamaged)
        down_.bytes.clear(), down_.end = kDamaged;
    else if (collect(down_, from_host))
        received(down_);

    const Place place = up_wire_.next(up);
    if (place.in == Place::Idle) {
        first_skp_ = last_skp_ = skps_ = 0;
        updated_.fill(figures_.symbols);
        waiting_.clear();
    }
    // Only training, which is the way to Recovery, may end a packet early.
    const bool in_packet = place.cut && place.symbol == kCom && place.open == Place::Packet;
    check(!place.cut || in_packet, "a symbol that is not allowed in its place");
    check(!cut_ || place.training, "an ordered set inside of a packet");
    figures_.cut += cut_;
    cut_ = in_packet;
    check(place.in != Place::Gap || !place.symbol || was_idle_, "data between packets that are not logical idle");
    was_idle_ = place.in == Place::Idle || (was_idle_ && place.in == Place::Gap);
    if (place.in == Place::Set)
        set(place);
    else if (collect(up_, place))
        transmitted(up_);
    check(waiting_.empty() || figures_.symbols - waiting_.front().since <= kAckMost, "no ACK after 237 symbols");
    for (unsigned type = 0; type < 2 && active_ && finite_[type]; type++) {
        figures_.update_gap = std::max(figures_.update_gap, unsigned(figures_.symbols - updated_[type]));
        check(figures_.symbols - updated_[type] <= kUpdateMost, "no UpdateFC for 45 us");
    }
}

// True at the end of a packet.
bool Monitor::collect(Packet &packet, const Place &place) {
    if (place.in != Place::Packet)
        return false;
    if (place.index == 0)
        packet = {{}, 0, place.symbol == kStp};
    else if (!place.last)
        packet.bytes.push_back(uint8_t(place.symbol));
    const bool whole = packet.end != kDamaged;
    if (place.last && whole)
        packet.end = place.symbol;
    return place.last && whole;
}

void Monitor::set(const Place &place) {
    const uint64_t now = figures_.symbols;
    training_[place.index] = place.symbol == kPad ? 0xff : uint8_t(place.symbol);
    if (!place.last)
        return;
    if (place.begin == kSkp) {
        const unsigned gap = last_skp_ ? unsigned(now - last_skp_) : 0;
        figures_.skp_gap = std::max(figures_.skp_gap, gap);
        check(gap <= kSkpMost + kLongestTlp, "SKP ordered sets too far apart");
        first_skp_ = skps_++ ? first_skp_ : now;
        check((skps_ - 1) * uint64_t(kSkpLeast) <= now - first_skp_ + kLongestTlp, "too many SKP ordered sets");
        last_skp_ = now;
    }
    if (!place.training)
        return;
    const unsigned kind = training_[15];
    check(kind == kTs1 || kind == kTs2, "a training set that is neither TS1 nor TS2");
    check(std::count(training_.begin() + 6, training_.end(), kind) == 10, "a training set with mixed identifiers");
    check(training_[4] & 2, "a training set without the rate of 2.5 GT/s");
    (kind == kTs1 ? figures_.ts1 : figures_.ts2)++;
    // Only Detect, Polling and Configuration have sets without a link number, and the data link layer is down in them.
    if (training_[1] == 0xff)
        link_down();
    // The times begin again after the training.
    trained_ = now;
    updated_.fill(now);
    waiting_.clear();
}

void Monitor::link_down() {
    active_ = false;
    finite_ = {};
    next_ = host_next_ = 0;
    endpoint_ack_ = kModulus - 1;
    unanswered_.clear(), host_acks_.clear(), waiting_.clear();
}

void Monitor::transmitted(const Packet &packet) { packet.tlp ? transmitted_tlp(packet) : transmitted_dllp(packet); }

void Monitor::transmitted_tlp(const Packet &packet) {
    const std::vector<uint8_t> &bytes = packet.bytes;
    figures_.last_tlp = figures_.symbols;
    check(active_, "a TLP before the end of FC_INIT2");
    check(bytes.size() >= 18 && bytes.size() % 4 == 2, "a TLP that is no number of dwords");
    if (bytes.size() < 18)
        return;
    const uint32_t right = crc32(bytes.data(), unsigned(bytes.size() - 4));
    uint32_t lcrc = 0;
    for (unsigned n = 0; n < 4; n++)
        lcrc |= uint32_t(bytes[bytes.size() - 4 + n]) << 8 * n;
    check(lcrc == (packet.end == kEdb ? ~right : right), "a TLP with a wrong LCRC");
    check(bytes[0] < 16, "a TLP whose reserved bits are set before its sequence number");
    if (packet.end == kEdb)
        return;
    check_header(&bytes[2], unsigned(bytes.size() - 6));

    while (!host_acks_.empty() && figures_.symbols - host_acks_.front().since > kAckTravels) {
        while (!unanswered_.empty() && ahead(host_acks_.front().sequence, next_ - unsigned(unanswered_.size())) < kHalf)
            unanswered_.pop_front();
        host_acks_.pop_front();
    }
    const unsigned sequence = bytes[0] << 8 | bytes[1], back = ahead(next_, sequence);
    if (back == 0) {
        figures_.tlps++;
        next_ = (next_ + 1) % kModulus;
        unanswered_.push_back(bytes);
        check(unanswered_.size() < kHalf, "2048 TLPs without an ACK of the host");
        return;
    }
    figures_.replays++;
    check(back <= unanswered_.size(), "a TLP with a wrong sequence number");
    if (back <= unanswered_.size())
        check(unanswered_[unanswered_.size() - back] == bytes, "a replay that differs from the TLP");
}

// Length (2.2.2), and for requests to memory the boundary of 4 KiB (2.2.7).
void Monitor::check_header(const uint8_t *header, unsigned bytes) {
    const unsigned length = (header[2] & 3) << 8 | header[3], dwords = length ? length : 1024;
    const bool data = header[0] & 0x40, four = header[0] & 0x20;
    check(bytes == (four ? 16u : 12u) + (data ? 4 * dwords : 0) + (header[2] & 0x80 ? 4 : 0),
          "a TLP whose length is not that of its header");
    check(!data || 4 * dwords <= kMaxPayload, "a TLP with more data than MPS");
    if ((header[0] & 0x1f) == 0) {
        const unsigned low = (header[four ? 14 : 10] << 8 | header[four ? 15 : 11]) & 0xffc;
        check(low + 4 * dwords <= 4096, "a request that crosses 4 KiB");
        check(!four || header[8] || header[9] || header[10] || header[11], "a 64 bit address below 4 GiB");
    }
}

void Monitor::transmitted_dllp(const Packet &packet) {
    const uint8_t *bytes = packet.bytes.data();
    check(packet.bytes.size() == 6 && packet.end == kEnd, "a DLLP that is not 8 symbols");
    if (packet.bytes.size() != 6)
        return;
    check(crc16(bytes, 4) == (bytes[4] | bytes[5] << 8), "a DLLP with a wrong CRC");
    const unsigned type = bytes[0] & 0xc0 ? bytes[0] & 0xf0 : bytes[0], pool = (type >> 4) & 3;
    if (type == kAck || type == kNak) {
        acknowledged((bytes[2] & 15) << 8 | bytes[3], type == kAck);
        (type == kAck ? figures_.acks : figures_.naks)++;
        return;
    }
    const unsigned kind = type & 0xc0;
    if (kind != kInit1 && kind != kInit2 && kind != kUpdate)
        return;
    active_ |= kind != kInit1;
    figures_.init1 += type == kInit1;
    if (pool < 2) {
        const bool credits = (bytes[1] & 0x3f) << 2 | bytes[2] >> 6 || (bytes[2] & 15) << 8 | bytes[3];
        finite_[pool] = kind == kUpdate ? finite_[pool] : credits;
        updated_[pool] = figures_.symbols;
    }
}

// An ACK or NAK of the endpoint.
void Monitor::acknowledged(unsigned sequence, bool good) {
    check(ahead(host_next_ - 1, sequence) < kHalf,
          good ? "an ACK of a TLP that did not come" : "a NAK ahead of the TLPs");
    check(ahead(sequence, endpoint_ack_) < kHalf, "an ACK or NAK that goes back");
    check(good || sequence == ahead(host_next_, 1), "a NAK that is not of the last good TLP");
    endpoint_ack_ = sequence;
    while (!waiting_.empty() && ahead(sequence, waiting_.front().sequence) < kHalf) {
        figures_.ack_delay = std::max(figures_.ack_delay, unsigned(figures_.symbols - waiting_.front().since));
        waiting_.pop_front();
    }
}

void Monitor::received(const Packet &packet) {
    const std::vector<uint8_t> &bytes = packet.bytes;
    const unsigned tail = packet.tlp ? 4 : 2;
    uint32_t crc = 0;
    bool good = bytes.size() >= 4 + tail && packet.end == kEnd;
    for (unsigned n = 0; good && n < tail; n++)
        crc |= uint32_t(bytes[bytes.size() - tail + n]) << 8 * n;
    const unsigned covered = unsigned(bytes.size()) - tail;
    good = good && crc == (packet.tlp ? crc32(bytes.data(), covered) : crc16(bytes.data(), covered));
    if (!good)
        return;
    if (packet.tlp && (bytes[0] << 8 | bytes[1]) == int(host_next_)) {
        waiting_.push_back({host_next_, figures_.symbols});
        host_next_ = (host_next_ + 1) % kModulus;
    } else if (!packet.tlp && (bytes[0] == kAck || bytes[0] == kNak) && figures_.symbols - trained_ > kReturnToL0) {
        host_acks_.push_back({unsigned(bytes[2] & 15) << 8 | bytes[3], figures_.symbols});
    }
}

}  // namespace judge
