// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/host_side.h"

#include "litepcie_regs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace litepcie {

// Idle Rule -----------------------------------------------------------------------------------------------------------

void IdleRule::host_writes(uint64_t offset, uint32_t value) {
    if (offset == LITEPCIE_TIMEOUT_US) {
        timeout_us_ = value;
        return;
    }
    if (offset == LITEPCIE_INTERRUPT_ARM)
        armed_ |= value;
    if (offset == LITEPCIE_INTERRUPT_DISARM)
        armed_ &= ~value;
    const bool engine = offset >= LITEPCIE_READER_BASE(0) && offset < LITEPCIE_READER_BASE(256);
    const uint64_t stride = LITEPCIE_WRITER_BASE(0) - LITEPCIE_READER_BASE(0);
    if (engine && offset % stride == LITEPCIE_ENGINE_MODERATION) {
        uint64_t us = (value & LITEPCIE_ENGINE_MODERATION_US_MASK) >> 16;
        linger_ = std::max(linger_, least_ + cycles(us));
    }
    if (engine && offset % stride == LITEPCIE_ENGINE_FLUSH_US)
        linger_ = std::max(linger_, least_ + cycles(value & 0xffff));
}

void IdleRule::reset() {
    linger_ = least_;
    timeout_us_ = kDefaultTimeoutUs;
    armed_ = 0;
}

// Host Side -----------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kReportsWithoutIommu = 10;

}  // namespace

HostSide::HostSide(HostMemory &memory, const ModelOptions &options, uint64_t clock_hz, uint64_t linger,
                   unsigned channels, unsigned streams)
    : options_(options), faults_(options.seed), order_(memory, channels, streams),
      completer_(memory, faults_, completer_options(options, clock_hz), [this](const Tlp &tlp) { unmapped(tlp); }),
      idle_(clock_hz, linger), trace_(options.trace, clock_hz), capture_(options.pcap, clock_hz) {
    for (const std::string &fault : options.faults)
        faults_.add(fault);
    checker_.set_quarantine(options.quarantine_us * clock_hz / 1000000);
}

void HostSide::serve() {
    completer_.advance(cycle_, egress_);
    if (completer_.has_abandoned()) {
        for (uint8_t tag : completer_.take_abandoned())
            checker_.card_request_abandoned(tag, cycle_);
        idle_.unanswered(cycle_);
    }
    if (completer_.take_shortened())
        idle_.unanswered(cycle_);
}

void HostSide::completes(const HostTlp &tlp) {
    if (!tlp.tlp.is_completion() || !tlp.ends_request)
        return;
    if (tlp.late)
        checker_.card_request_answered_late(tlp.tlp.tag());
    else
        checker_.card_request_done(tlp.tlp.tag());
}

unsigned HostSide::store_at(uint64_t bar0, uint64_t offset, const uint8_t *data, size_t bytes, bool own) {
    for (size_t i = 0; own && i + 4 <= bytes; i += 4) {
        uint32_t value;
        memcpy(&value, data + i, 4);
        idle_.host_writes(offset + i, value);
        order_.host_writes(offset + i, value);
    }
    idle_.activity(cycle_);
    completer_.set_timeout_cycles(idle_.timeout_cycles());
    return cpu_.write(bar0 + offset, data, bytes, egress_);
}

bool HostSide::load_at(uint64_t address, uint8_t *data, size_t bytes) {
    Tlp request;
    const uint8_t tag = cpu_.read(address, bytes, cycle_, egress_, &request);
    checker_.host_read(request);
    while (cpu_.state(tag) == HostCpu::State::Waiting)
        step();
    const bool answered = cpu_.state(tag) == HostCpu::State::Done;
    cpu_.take(tag, data, bytes);
    return answered;
}

void HostSide::lose_all() {
    egress_.clear();
    completer_.clear();
    cpu_.fail_all();
    checker_.reset();
    forget_registers();
    idle_.activity(cycle_);
}

void HostSide::forget_registers() {
    order_.reset();
    idle_.reset();
    completer_.set_timeout_cycles(idle_.timeout_cycles());
}

void HostSide::set_mps(unsigned mps) {
    completer_.set_mps(mps);
    cpu_.set_mps(mps);
}

void HostSide::unmapped(const Tlp &tlp) {
    counts_.unmapped++;
    if (options_.iommu || counts_.unmapped <= kReportsWithoutIommu)
        fprintf(stderr, "access outside a live mapping: address 0x%llx, %u bytes: %s\n",
                (unsigned long long)tlp.first_byte(), tlp.enabled_bytes(), tlp.describe().c_str());
}

}  // namespace litepcie
