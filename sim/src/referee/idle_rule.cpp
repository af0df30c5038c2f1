// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "referee/idle_rule.h"

#include "litepcie_regs.h"

#include <algorithm>

namespace litepcie {

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

}  // namespace litepcie
