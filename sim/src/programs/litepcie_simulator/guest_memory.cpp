// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/guest_memory.h"

#include <algorithm>
#include <cerrno>

namespace litepcie {

int GuestMemory::map(uint64_t address, uint64_t bytes, Fd file, uint64_t offset, bool readable, bool writable) {
    if (!bytes || address + (bytes - 1) < address)
        return EINVAL;
    auto next = mappings_.lower_bound(address);
    if (next != mappings_.end() && next->first - address < bytes)
        return EEXIST;
    if (next != mappings_.begin()) {
        auto before = std::prev(next);
        if (address - before->first < before->second.bytes)
            return EEXIST;
    }
    if (mappings_.size() >= kMostMappings)
        return ENOSPC;
    Mapping mapping{bytes, SharedMemory(), readable, writable, !file};
    if (file)
        if (int error = mapping.memory.map(file, offset, bytes, readable, writable))
            return error;
    last_ = mappings_.emplace(address, std::move(mapping)).first;
    return 0;
}

int GuestMemory::unmap(uint64_t address, uint64_t bytes) {
    if (!bytes || address + (bytes - 1) < address)
        return EINVAL;
    const uint64_t last = address + (bytes - 1);
    auto begin = mappings_.lower_bound(address);
    if (begin != mappings_.begin() && address - std::prev(begin)->first < std::prev(begin)->second.bytes)
        return EINVAL;
    auto end = mappings_.upper_bound(last);
    if (begin != end && std::prev(end)->first + (std::prev(end)->second.bytes - 1) > last)
        return EINVAL;
    mappings_.erase(begin, end);
    last_ = mappings_.end();
    return 0;
}

void GuestMemory::unmap_all() {
    mappings_.clear();
    last_ = mappings_.end();
}

GuestMemory::Map::iterator GuestMemory::find(uint64_t address) {
    if (last_ != mappings_.end() && address >= last_->first && address - last_->first < last_->second.bytes)
        return last_;
    auto it = mappings_.upper_bound(address);
    if (it == mappings_.begin())
        return mappings_.end();
    --it;
    if (address - it->first >= it->second.bytes)
        return mappings_.end();
    return last_ = it;
}

bool GuestMemory::covered(uint64_t address, size_t bytes, bool write) {
    while (bytes) {
        auto it = find(address);
        if (it == mappings_.end() || !(write ? it->second.writable : it->second.readable))
            return false;
        if (it->second.by_message ? !client_ : !it->second.memory)
            return false;
        size_t here = std::min<uint64_t>(bytes, it->second.bytes - (address - it->first));
        address += here;
        bytes -= here;
    }
    return true;
}

template <typename Move> bool GuestMemory::access(uint64_t address, size_t bytes, bool write, Move move) {
    if (!covered(address, bytes, write))
        return false;
    while (bytes) {
        auto it = find(address);
        uint64_t offset = address - it->first;
        size_t here = std::min<uint64_t>(bytes, it->second.bytes - offset);
        if (!move(it->second.by_message ? nullptr : &it->second.memory, address, offset, here))
            return false;
        address += here;
        bytes -= here;
    }
    return true;
}

bool GuestMemory::read(uint64_t address, uint8_t *data, size_t bytes) {
    return access(address, bytes, false, [&](SharedMemory *memory, uint64_t at, uint64_t offset, size_t n) {
        data += n;
        return memory ? memory->read(offset, data - n, n) : client_->read(at, data - n, n);
    });
}

bool GuestMemory::at_once(uint64_t address, size_t bytes) {
    for (size_t here; bytes; address += here, bytes -= here) {
        const auto it = find(address);
        if (it == mappings_.end())
            return true;  // the read fails at once
        if (it->second.by_message)
            return false;
        here = std::min<uint64_t>(bytes, it->second.bytes - (address - it->first));
    }
    return true;
}

std::shared_ptr<Fetch> GuestMemory::fetch(uint64_t address, size_t bytes) {
    const auto fetch = std::make_shared<Fetch>(Fetch{address, std::vector<uint8_t>(bytes)});
    fetch->ok = access(address, bytes, false,
                       [&](SharedMemory *memory, uint64_t at, uint64_t offset, size_t n) {
                           if (memory)
                               return memory->read(offset, fetch->data.data() + (at - address), n);
                           client_->fetch_part(fetch, at, n);
                           return true;
                       }) &&
                fetch->ok;
    return fetch;
}

bool GuestMemory::write(uint64_t address, const uint8_t *data, size_t bytes) {
    return access(address, bytes, true, [&](SharedMemory *memory, uint64_t at, uint64_t offset, size_t n) {
        data += n;
        return memory ? memory->write(offset, data - n, n) : client_->write(at, data - n, n);
    });
}

}  // namespace litepcie
