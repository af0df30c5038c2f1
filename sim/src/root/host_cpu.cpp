// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/host_cpu.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace litepcie {

namespace {

constexpr uint16_t kHostId = 0;

}  // namespace

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
