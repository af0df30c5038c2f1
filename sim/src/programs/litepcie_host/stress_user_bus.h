// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/stress_side.h"

namespace litepcie {

// The user's bus: stores and loads of any bytes of its RAM, and accesses to addresses without a slave between them.
class StressUserBus : public StressSide {
  public:
    StressUserBus(ModelDriver &driver, Random &random);

    void start(bool again) override;
    void feed(bool some) override;
    bool over() override { return !left_; }
    void release(bool function, bool cut) override;
    void restart() override { settle(); }
    void finish() override;
    void verify() override {}
    std::string state() override;

  private:
    // Bytes of the RAM that are used.
    static constexpr uint32_t kBytes = 0x400;
    static constexpr uint32_t kCopyBytes = 0x100;  // that a processor copies
    static constexpr unsigned kAccess = 64;

    void access();
    void hole();
    void settle();
    void compare(uint32_t at, unsigned bytes);
    void compare_copy();

    uint32_t ram_, hole_;  // offsets in BAR0
    std::vector<uint8_t> bytes_;
    bool again_ = false;
    unsigned left_ = 0;  // accesses of the clean run
    uint32_t errors_ = 0;
    // The last store, if no load has shown yet that it was done. A reset may lose it.
    uint32_t place_ = 0;
    std::vector<uint8_t> stored_;
    bool unsure_ = false;
};

// Offset in BAR0 of an address on the user's bus; 0 if the host does not reach it.
uint32_t user_offset(HostDriver &driver, uint32_t address);

}  // namespace litepcie
