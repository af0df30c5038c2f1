// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/flow_control.h"

namespace litepcie {

void FlowControl::take(TlpClass tlp_class, unsigned data) {
    size_t i = size_t(tlp_class);
    available_.header[i] -= 1;
    available_.data[i] -= data;
}

void FlowControl::free(TlpClass tlp_class, unsigned data) {
    size_t i = size_t(tlp_class);
    freed_.header[i] += 1;
    freed_.data[i] += data;
}

Credits FlowControl::announce(size_t i) {
    Credits announced{};
    announced.header[i] = freed_.header[i];
    announced.data[i] = freed_.data[i];
    announced_.header[i] += freed_.header[i];
    announced_.data[i] += freed_.data[i];
    freed_.header[i] = freed_.data[i] = 0;
    return announced;
}

Credits FlowControl::announce() {
    const Credits announced = freed_;
    for (size_t i = 0; i < kTlpClasses; i++)
        announce(i);
    return announced;
}

void FlowControl::grant(const Credits &announced) {
    for (size_t i = 0; i < kTlpClasses; i++) {
        available_.header[i] += announced.header[i];
        available_.data[i] += announced.data[i];
        announced_.header[i] -= announced.header[i];
        announced_.data[i] -= announced.data[i];
    }
}

void FlowControl::grant_all() {
    announce();
    grant(Credits(announced_));
}

bool FlowControl::must_update(size_t i, unsigned mps) const {
    if (!freed_.header[i])
        return false;
    const bool carries_data = TlpClass(i) != TlpClass::NonPosted;
    const bool half = 2 * freed_.header[i] >= advertised_.header[i] || 2 * freed_.data[i] >= advertised_.data[i];
    // As the receiver sees it: the transmitter has, or will have, what was announced.
    const bool too_few = available_.header[i] + announced_.header[i] < 1 ||
                         (carries_data && available_.data[i] + announced_.data[i] < mps / kCreditBytes);
    return half || too_few;
}

}  // namespace litepcie
