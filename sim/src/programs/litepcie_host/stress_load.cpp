// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress_load.h"

#include "litepcie_regs.h"

#include <algorithm>

namespace litepcie {

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kLongestTable = 12;

uint32_t random_length(Random &random) {
    switch (below(random, 6)) {
    case 0: return 1 + below(random, 16);
    case 1: return 1 + below(random, 300);
    case 2: return any_of(random, {63u, 64u, 65u, 128u, 256u, 511u, 512u, 513u, 1024u, 4095u, 4096u, 4097u});
    case 3: return 512 * (1 + below(random, 16));
    default: return 1 + below(random, 5000);
    }
}

// An offset that leaves room for `length` bytes: anywhere, at the start of a page, or shortly before its end.
uint64_t random_offset(Random &random, uint64_t area_bytes, uint32_t length) {
    const uint64_t last = area_bytes - length, page = below(random, last + 1) & ~(kPage - 1);
    switch (below(random, 3)) {
    case 0: return page;
    case 1: return std::min(last, page + kPage - 1 - below(random, 20));
    default: return below(random, last + 1);
    }
}

}  // namespace

std::vector<Slot> random_slots(Random &random, uint64_t area_bytes) {
    std::vector<Piece> pieces;
    const uint64_t end = area_bytes >> below(random, 3);
    const bool aligned = one_in(random, 4);
    for (uint64_t at = 0; at < end;) {
        at += aligned ? -at % 512 : below(random, 2) * below(random, 70);
        const uint32_t length = std::min<uint64_t>(random_length(random), area_bytes - std::min(at, area_bytes));
        if (!length)
            break;
        pieces.push_back({aligned ? random_offset(random, area_bytes, length) & ~uint64_t(511)
                                  : random_offset(random, area_bytes, length),
                          at, length});
        at += length;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    std::vector<Slot> slots;
    for (size_t i = 0; i < pieces.size();) {
        Slot slot;
        slot.table = one_in(random, 5);
        slot.interrupt = one_in(random, 4);
        const size_t count = std::min(pieces.size() - i, slot.table ? 1 + below(random, kLongestTable) : 1);
        slot.pieces.assign(pieces.begin() + i, pieces.begin() + i + count);
        slots.push_back(slot);
        i += count;
    }
    return slots;
}

void StressEngine::start(const EnginePlace &place, std::vector<Slot> slots) {
    place_ = place;
    slots_ = std::move(slots);
    posted_ = 0;
    retired_ = false;
    next_table_ = place.tables;
    dma_.configure(place.layout);
}

Descriptor StressEngine::descriptor(const Piece &piece) const {
    const bool reads = direction_ == Direction::Reader;
    Descriptor d;
    d.host = place_.host + (reads ? piece.from : piece.to);
    d.endpoint = place_.endpoint + (reads ? piece.to : piece.from);
    d.length = piece.length;
    d.last = piece.last;
    return d;
}

void StressEngine::post(const Slot &slot) {
    std::vector<Descriptor> table;
    for (const Piece &piece : slot.pieces)
        table.push_back(descriptor(piece));
    Descriptor d = table.front();
    if (slot.table) {
        const uint64_t bytes = table.size() * LITEPCIE_DESCRIPTOR_BYTES;
        if (next_table_ + bytes > place_.tables + place_.table_bytes)
            throw HostError("the tables of " + name() + " do not fit");
        dma_.write_table(next_table_, table);
        d = {next_table_, 0, uint32_t(table.size()), false, true};
        next_table_ += bytes;
    }
    d.interrupt = slot.interrupt;
    dma_.add(d);
    posted_++;
}

void StressEngine::feed(Random &random, bool some) {
    const size_t before = posted_, size = size_t(1) << place_.layout.ring_log2;
    if (report().completed > posted_)
        throw HostError(name() + " reports " + std::to_string(report().completed) + " descriptors complete of " +
                        std::to_string(posted_));
    while (posted_ < slots_.size() && posted_ - report().completed < size && !(some && one_in(random, 3)))
        post(slots_[posted_]);
    if (posted_ != before)
        dma_.doorbell();
}

bool StressEngine::complete() const { return report().completed == slots_.size(); }

bool StressEngine::over() const { return complete() || report().reason != LITEPCIE_REASON_NONE; }

std::string StressEngine::state() {
    const EngineReport now = retired_ ? EngineReport{} : report();
    char text[256];
    snprintf(
        text, sizeof(text),
        "\n  %s: %zu of %zu slots posted, %u reported, reason %s%s; registers: control 0x%x, status 0x%x, doorbell "
        "%u, completed %u",
        name().c_str(), posted_, slots_.size(), now.completed, reason_name(now.reason),
        retired_ ? " (status block no longer in use)" : "", dma_.read(LITEPCIE_ENGINE_CONTROL),
        dma_.read(LITEPCIE_ENGINE_STATUS), dma_.read(LITEPCIE_ENGINE_DOORBELL), dma_.read(LITEPCIE_ENGINE_COMPLETED));
    return text;
}

}  // namespace litepcie
