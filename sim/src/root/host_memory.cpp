// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/host_memory.h"

#include <cstring>
#include <stdexcept>

namespace litepcie {

void Arena::add_region(uint64_t address, size_t bytes) {
    if (!bytes || address + bytes < address)
        throw std::invalid_argument("region of host memory is empty or exceeds the address space");
    for (const Region &region : regions_)
        if (address < region.address + region.bytes.size() && region.address < address + bytes)
            throw std::invalid_argument("regions of host memory overlap");
    regions_.push_back({address, std::vector<uint8_t>(bytes)});
}

uint8_t *Arena::at(uint64_t address, size_t bytes) {
    for (Region &region : regions_) {
        uint64_t offset = address - region.address;
        if (address >= region.address && offset <= region.bytes.size() && bytes <= region.bytes.size() - offset)
            return region.bytes.data() + offset;
    }
    return nullptr;
}

bool Arena::read(uint64_t address, uint8_t *data, size_t bytes) {
    const uint8_t *source = at(address, bytes);
    if (!source)
        return false;
    memcpy(data, source, bytes);
    return true;
}

bool Arena::write(uint64_t address, const uint8_t *data, size_t bytes) {
    uint8_t *target = at(address, bytes);
    if (!target)
        return false;
    memcpy(target, data, bytes);
    if (on_card_write)
        on_card_write(address, bytes);
    return true;
}

}  // namespace litepcie
