// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/root_complex.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace litepcie {

// Faults --------------------------------------------------------------------------------------------------------------

namespace {

const std::map<std::string, Fault> kNames = {
    {"ur", Fault::Unsupported},      {"ca", Fault::Abort},    {"poison", Fault::Poison},       {"drop", Fault::Drop},
    {"short", Fault::Short},         {"late", Fault::Late},   {"duplicate", Fault::Duplicate}, {"hold", Fault::Hold},
    {"requester", Fault::Requester}, {"wrong", Fault::Wrong},
};

}  // namespace

void FaultInjector::parse(const std::string &text, uint64_t base) {
    const size_t at = text.find_first_of("@%");
    const std::string digits = at == std::string::npos ? "" : text.substr(at + 1);
    const auto name = kNames.find(text.substr(0, at));
    const bool number =
        !digits.empty() && digits.size() <= 18 && digits.find_first_not_of("0123456789") == std::string::npos;
    const uint64_t count = number ? std::stoull(digits) : 0;
    const bool share = number && text[at] == '%';
    if (name == kNames.end() || count == 0 || (share && count > 1000))
        throw std::invalid_argument("'" + text +
                                    "' is not FAULT@N or FAULT%P with FAULT ur, ca, poison, drop, short, duplicate, "
                                    "late, hold, requester or wrong, N from 1, and P from 1 to 1000");
    if (share)
        at_random_.emplace_back(name->second, count);
    else
        faults_[base + count] = name->second;
}

void FaultInjector::add(const std::string &text) { parse(text, 0); }

void FaultInjector::add_next(const std::string &text) { parse(text, completions_); }

Fault FaultInjector::next() {
    completions_++;
    const auto fault = faults_.find(completions_);
    if (fault != faults_.end()) {
        const Fault kind = fault->second;
        faults_.erase(fault);
        injected_++;
        return kind;
    }
    for (const auto &[kind, share] : at_random_)
        if (random_() % 1000 < share) {
            injected_++;
            return kind;
        }
    return Fault::None;
}

// IOMMU ---------------------------------------------------------------------------------------------------------------

uint64_t Iommu::translate(uint64_t address, uint64_t cycle) {
    if (!options_.entries)
        return cycle;
    const uint64_t page = address >> kPageBits, directory = address >> kDirectoryBits;
    if (auto found = pages_.find(page); found != pages_.end()) {
        recent_.splice(recent_.begin(), recent_, found->second.place);
        return std::max(cycle, found->second.known);
    }
    misses_++;
    const double begin = std::max(double(cycle), next_walk_);
    next_walk_ = begin + options_.interval_cycles + (directory != directory_ ? options_.directory_cycles : 0);
    directory_ = directory;
    if (pages_.size() == options_.entries) {
        pages_.erase(recent_.back());
        recent_.pop_back();
    }
    recent_.push_front(page);
    const uint64_t known = std::lround(begin + options_.walk_cycles);
    pages_[page] = {recent_.begin(), known};
    return known;
}

void Iommu::clear() {
    recent_.clear();
    pages_.clear();
    next_walk_ = 0;
    directory_ = UINT64_MAX;
}

// Latency -------------------------------------------------------------------------------------------------------------

double latency_ns(const std::vector<Quantile> &quantiles, double share) {
    if (share <= quantiles.front().share)
        return quantiles.front().ns;
    for (size_t i = 1; i < quantiles.size(); i++) {
        const Quantile &below = quantiles[i - 1], &above = quantiles[i];
        if (share <= above.share)
            return below.ns + (above.ns - below.ns) * (share - below.share) / (above.share - below.share);
    }
    return quantiles.back().ns;
}

// Completer -----------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t kCompletionsAhead = 4;  // most completions in the root port's queue, where none can overtake
constexpr uint8_t kNotRequested = 0xee;  // value of the bytes of a completion that were not requested
constexpr uint16_t kHostId = 0;

// The completion as it were for another function of the card, with all bits of the data inverted.
HostTlp misdirected(Tlp tlp) {
    tlp.dw[2] ^= 1u << 16;
    for (size_t i = tlp.header_dwords(); i < tlp.dw.size(); i++)
        tlp.dw[i] = ~tlp.dw[i];
    return {std::move(tlp), false, false, true};
}

}  // namespace

Completer::Completer(HostMemory &memory, FaultInjector &faults, const CompleterOptions &options, Report unmapped)
    : memory_(memory), faults_(faults), options_(options), unmapped_(std::move(unmapped)), random_(options.seed),
      iommu_(options.iommu) {}

void Completer::write(const Tlp &tlp) {
    std::vector<uint8_t> data(4 * tlp.length());
    tlp.payload_bytes(data.data());
    unsigned lead = tlp.first_byte() - tlp.address();
    unsigned bytes = tlp.enabled_bytes();
    if (!tlp.first_be())
        return;  // no byte is enabled
    const bool holes = tlp.length() <= 2 && unsigned(__builtin_popcount(tlp.first_be() | tlp.last_be() << 4)) != bytes;
    bool mapped = true;
    if (!holes) {
        mapped = memory_.write(tlp.first_byte(), data.data() + lead, bytes);
    } else {
        unsigned be = tlp.first_be() | tlp.last_be() << 4;
        for (unsigned i = 0; i < 4 * tlp.length(); i++)
            if (be >> i & 1)
                mapped &= memory_.write(tlp.address() + i, data.data() + i, 1);
    }
    if (mapped) {
        counts_.written_bytes += bytes;
        return;
    }
    counts_.unmapped_writes++;
    unmapped_(tlp);
}

void Completer::receive(const Tlp &tlp, uint64_t cycle) {
    if (tlp.is_memory_write()) {
        write(tlp);
        return;
    }
    queue_.push_back({tlp, cycle});
    serve_queue(cycle);
}

void Completer::serve_queue(uint64_t cycle) {
    for (; !queue_.empty() && (!options_.outstanding || served() < options_.outstanding); queue_.pop_front())
        serve(queue_.front().request, queue_.front().arrival, cycle);
}

void Completer::serve(const Tlp &tlp, uint64_t arrival, uint64_t cycle) {
    const uint64_t when = due(iommu_.translate(tlp.first_byte(), cycle));
    // The card's timer runs from sending the request to receiving the last completion, so a first completion after half
    // of the timeout may already be too late.
    const bool late = when - arrival >= timeout_cycles_ / 2;
    if (late)
        abandoned_.push_back(tlp.tag());
    Read read{tlp, tlp.first_byte(), tlp.enabled_bytes(), late};
    if (!memory_.at_once(read.address, read.bytes))
        read.fetch = memory_.fetch(read.address, read.bytes);
    waiting_.emplace(when, std::move(read));
}

uint64_t Completer::memory_ready(uint64_t cycle) const {
    const uint64_t period = options_.stall_period_cycles, phase = cycle % period;
    return phase + options_.stall_cycles >= period ? cycle + period - phase : cycle;
}

uint64_t Completer::latency() {
    if (!options_.latencies.empty()) {
        const double share = 100 * std::uniform_real_distribution<>()(random_);
        return std::lround(latency_ns(options_.latencies, share) * options_.cycles_per_ns);
    }
    return options_.latency_cycles + (options_.jitter_cycles ? random_() % (options_.jitter_cycles + 1) : 0);
}

// The cycle at which a request whose address is known at `cycle` gets its first completion.
uint64_t Completer::due(uint64_t cycle) {
    uint64_t due = cycle + latency();
    if (options_.outlier_cycles && ++requests_ % options_.outlier_every == 0)
        due += options_.outlier_cycles;
    due = memory_ready(due);
    if (!options_.reorder)
        due = std::max(due, last_due_);
    last_due_ = due;
    return due;
}

unsigned Completer::piece_bytes(const Read &read) {
    const uint64_t each = options_.completion_bytes, rcb = options_.rcb;
    uint64_t end = each ? (read.address & ~(each - 1)) + each : (read.address + mps_) & ~(rcb - 1);
    if (options_.split_at_random) {
        const uint64_t first = (read.address & ~(rcb - 1)) + rcb;
        end = first + rcb * (random_() % ((end - first) / rcb + 1));
    }
    return std::min<uint64_t>(read.bytes, end - read.address);
}

void Completer::postpone(Read read, uint64_t due) {
    abandoned_.push_back(read.request.tag());
    read.abandoned = true;
    read.postponed = true;
    postponed_++;
    waiting_.emplace(due, std::move(read));
}

void Completer::refuse(const Read &read, CplStatus status, Egress &egress) {
    Tlp completion =
        Tlp::completion(kHostId, read.request.requester(), read.request.tag(), status, read.bytes, read.address & 0x7f);
    completion.answer(read.request);
    egress.push({completion, true, read.abandoned});
}

bool Completer::bytes_of(const Read &read, uint8_t *data, unsigned bytes) {
    if (!read.fetch)
        return memory_.read(read.address, data, bytes);
    if (read.fetch->ok)
        memcpy(data, read.fetch->data.data() + (read.address - read.fetch->address), bytes);
    return read.fetch->ok;
}

bool Completer::complete(Read &read, uint64_t cycle, Egress &egress) {
    unsigned bytes = piece_bytes(read);
    unsigned count = read.bytes;
    Fault fault = faults_.next();
    switch (fault) {
    case Fault::Unsupported: refuse(read, CplStatus::Unsupported, egress); return true;
    case Fault::Abort: refuse(read, CplStatus::Abort, egress); return true;
    case Fault::Drop: abandoned_.push_back(read.request.tag()); return true;
    case Fault::Late: postpone(read, cycle + 2 * timeout_cycles_); return true;
    case Fault::Hold: postpone(read, cycle + random_() % (4 * timeout_cycles_)); return true;
    case Fault::Short:
        shortened_ = true;
        bytes = count = bytes > 4 ? bytes - 4 : bytes > 1 ? bytes - 1 : 1;
        if (count == read.bytes)
            count = 2;  // a read of one byte cannot be shortened, so its byte count is wrong instead
        break;
    default: break;
    }
    unsigned lead = read.address & 3;
    unsigned dwords = (lead + bytes + 3) / 4;
    uint8_t data[4096 + 8];
    memset(data, kNotRequested, 4 * dwords);
    if (!bytes_of(read, data + lead, bytes)) {
        counts_.unmapped_reads++;
        unmapped_(read.request);
        refuse(read, CplStatus::Unsupported, egress);
        return true;
    }
    counts_.read_bytes += bytes;
    if (fault == Fault::Wrong)
        data[lead + random_() % bytes] ^= 1u << random_() % 8;
    HostTlp completion;
    completion.tlp = Tlp::completion_data(kHostId, read.request.requester(), read.request.tag(), count,
                                          read.address & 0x7f, data, dwords);
    completion.tlp.answer(read.request);
    const bool over = bytes == read.bytes || fault == Fault::Short;
    completion.ends_request = over;
    completion.late = read.abandoned;
    if (fault == Fault::Poison)
        completion.tlp.poison();
    if (fault == Fault::Requester)
        egress.push(misdirected(completion.tlp));
    egress.push(completion);
    if (fault == Fault::Duplicate)
        egress.push({completion.tlp, false, false, true});
    read.address += bytes;
    read.bytes -= bytes;
    return over;
}

void Completer::advance(uint64_t cycle, Egress &egress) {
    while (!waiting_.empty() && waiting_.begin()->first <= cycle) {
        active_.push_back(std::move(waiting_.begin()->second));
        waiting_.erase(waiting_.begin());
    }
    while (!active_.empty() && egress.completions() < kCompletionsAhead) {
        size_t chosen = options_.reorder ? random_() % active_.size() : 0;
        if (!here(active_[chosen]))
            break;
        if (complete(active_[chosen], cycle, egress)) {
            postponed_ -= active_[chosen].postponed;
            active_.erase(active_.begin() + chosen);
        }
    }
    if (!queue_.empty())
        serve_queue(cycle);
}

void Completer::clear() {
    queue_.clear();
    postponed_ = 0;
    waiting_.clear();
    active_.clear();
    abandoned_.clear();
    shortened_ = false;
    last_due_ = 0;
    iommu_.clear();
}

// Processor -----------------------------------------------------------------------------------------------------------

unsigned HostCpu::write(uint64_t address, const uint8_t *data, size_t bytes, Egress &egress) {
    unsigned tlps = 0;
    while (bytes) {
        size_t page = 4096 - (address & 0xfff);
        size_t payload = mps_ - (address & 3);  // whole dwords count
        size_t now = std::min({bytes, page, payload});
        egress.push({Tlp::memory_write(kHostId, address, data, now), false});
        address += now;
        data += now;
        bytes -= now;
        tlps++;
    }
    return tlps;
}

uint8_t HostCpu::read(uint64_t address, size_t bytes, uint64_t cycle, Egress &egress, Tlp *request) {
    if (!bytes || bytes > sizeof(Load::data) || (address & 0xfff) + bytes > 4096)
        throw std::invalid_argument("load of " + std::to_string(bytes) + " bytes is not 1 to 128 within 4 KiB");
    for (size_t tries = 0; tries < loads_.size(); tries++) {
        uint8_t tag = next_tag_++ % loads_.size();
        Load &load = loads_[tag];
        if (load.state != State::Idle)
            continue;
        load.state = State::Waiting;
        load.received = 0;
        load.bytes = bytes;
        load.issued = cycle;
        waiting_++;
        Tlp tlp = Tlp::memory_read(kHostId, tag, address, bytes);
        if (request)
            *request = tlp;
        egress.push({tlp, false});
        return tag;
    }
    throw std::runtime_error("all 32 tags of the host are in use");
}

void HostCpu::take(uint8_t tag, uint8_t *data, size_t bytes) {
    Load &load = loads_[tag];
    if (load.state == State::Done)
        memcpy(data, load.data, bytes);
    else
        memset(data, 0xff, bytes);
    load.state = State::Idle;
}

void HostCpu::complete(const Tlp &tlp) {
    Load &load = loads_[tlp.tag()];
    if (tlp.status() != unsigned(CplStatus::Success)) {
        load.state = State::Failed;
        waiting_--;
        return;
    }
    std::vector<uint8_t> payload(4 * tlp.payload_dwords());
    tlp.payload_bytes(payload.data());
    unsigned lead = tlp.lower_address() & 3;
    unsigned bytes = std::min<unsigned>(payload.size() - lead, load.bytes - load.received);
    memcpy(load.data + load.received, payload.data() + lead, bytes);
    load.received += bytes;
    if (load.received == load.bytes) {
        load.state = State::Done;
        waiting_--;
    }
}

int HostCpu::expire(uint64_t cycle, uint64_t timeout_cycles) {
    for (size_t tag = 0; waiting_ && tag < loads_.size(); tag++) {
        Load &load = loads_[tag];
        if (load.state == State::Waiting && cycle - load.issued > timeout_cycles) {
            load.state = State::Failed;
            waiting_--;
            return tag;
        }
    }
    return -1;
}

void HostCpu::fail_all() {
    for (Load &load : loads_)
        if (load.state == State::Waiting)
            load.state = State::Failed;
    waiting_ = 0;
}

}  // namespace litepcie
