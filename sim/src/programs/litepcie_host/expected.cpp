// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/expected.h"

#include "programs/litepcie_host/host_driver.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

namespace litepcie {

// Bytes ---------------------------------------------------------------------------------------------------------------

void Expected::must(uint64_t offset, const uint8_t *data, size_t bytes) {
    may(offset, data, bytes);
    std::copy(data, data + bytes, sure_.begin() + offset);
    std::fill_n(open_.begin() + offset, bytes, false);
}

void Expected::may(uint64_t offset, const uint8_t *data, size_t bytes) {
    if (offset + bytes > other_.size())
        throw std::out_of_range(name_ + " has no byte " + std::to_string(offset + bytes - 1));
    std::copy(data, data + bytes, other_.begin() + offset);
}

void Expected::any(uint64_t offset, size_t bytes) { std::fill_n(open_.begin() + offset, bytes, true); }

void Expected::verify(const uint8_t *is) {
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < sure_.size(); i++)
        if (is[i] != sure_[i] && is[i] != other_[i] && !open_[i] && wrong++ == 0)
            first = i;
    if (wrong) {
        char text[160];
        snprintf(text, sizeof(text), "wrong data: byte 0x%zx of %s is 0x%02x, not 0x%02x", first, name_.c_str(),
                 is[first], sure_[first]);
        std::string message = text;
        if (other_[first] != sure_[first]) {
            snprintf(text, sizeof(text), " or 0x%02x", other_[first]);
            message += text;
        }
        throw HostError(message + "; " + std::to_string(wrong) + " bytes of it are wrong");
    }
    std::copy(is, is + sure_.size(), sure_.begin());
    other_ = sure_;
    open_.assign(open_.size(), false);
}

// Shadow --------------------------------------------------------------------------------------------------------------

Shadow::Cells Shadow::make_cells(uint64_t count) {
    Cells cells(static_cast<uint16_t *>(calloc(count, sizeof(uint16_t))), &free);
    if (!cells)
        throw std::bad_alloc();
    return cells;
}

Shadow::Shadow(Arena &arena, uint64_t endpoint_bytes)
    : arena_(arena), endpoint_bytes_(endpoint_bytes), endpoint_(make_cells(endpoint_bytes)) {}

void Shadow::watch(uint64_t address, uint64_t bytes) {
    regions_.emplace(address, Region{bytes, make_cells(bytes)});
    host_wrote(address, bytes);
}

uint16_t *Shadow::host(uint64_t address, uint64_t *left) {
    auto it = regions_.upper_bound(address);
    if (it == regions_.begin())
        return nullptr;
    --it;
    uint64_t offset = address - it->first;
    if (offset >= it->second.bytes)
        return nullptr;
    if (left)
        *left = it->second.bytes - offset;
    return &it->second.cells[offset];
}

void Shadow::host_wrote(uint64_t address, uint64_t bytes) {
    const uint8_t *memory = arena_.at(address, bytes);
    if (!memory)
        throw HostError("the address is outside host memory");
    // The range is inside one region of the arena, which is watched as a whole or not at all.
    uint64_t left = 0;
    uint16_t *cells = host(address, &left);
    for (uint64_t i = 0; cells && i < bytes && i < left; i++)
        cells[i] = kKnown | memory[i];
}

void Shadow::endpoint_wrote(uint64_t endpoint, const uint8_t *data, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes && endpoint + i < endpoint_bytes_; i++)
        endpoint_[endpoint + i] = kKnown | data[i];
}

void Shadow::forget_endpoint(uint64_t endpoint, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes && endpoint + i < endpoint_bytes_; i++)
        endpoint_[endpoint + i] = 0;
}

void Shadow::transferred(Direction direction, const Descriptor &d, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes && d.endpoint + i < endpoint_bytes_; i++) {
        uint16_t *cell = host(d.host + i);
        if (direction == Direction::Reader)
            endpoint_[d.endpoint + i] = cell ? *cell : 0;
        else if (cell)
            *cell = endpoint_[d.endpoint + i];
    }
}

void Shadow::uncertain(Direction direction, const Descriptor &d, uint64_t from) {
    for (uint64_t i = from; i < d.length && d.endpoint + i < endpoint_bytes_; i++) {
        uint16_t *cell = host(d.host + i);
        if (direction == Direction::Reader)
            endpoint_[d.endpoint + i] = 0;
        else if (cell)
            *cell = 0;
    }
}

uint64_t Shadow::verify() {
    uint64_t compared = 0;
    for (const auto &[address, region] : regions_) {
        const uint8_t *memory = arena_.at(address, region.bytes);
        for (uint64_t i = 0; i < region.bytes; i++) {
            const uint16_t must = region.cells[i];
            if (!must)
                continue;
            compared++;
            if (memory[i] == (must & 0xff))
                continue;
            char text[128];
            snprintf(text, sizeof(text), "data mismatch: host byte 0x%llx is 0x%02x, not 0x%02x",
                     (unsigned long long)(address + i), memory[i], must & 0xff);
            throw HostError(text);
        }
    }
    return compared;
}

}  // namespace litepcie
