// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace litepcie {

// The card's configuration space, 4 KiB, as the hard block of an FPGA keeps it: type 0 header, power management, MSI
// (one vector, 64 bit), PCI Express endpoint, and Advanced Error Reporting.
class ConfigSpace {
  public:
    static constexpr size_t kBytes = 4096;

    // `mps_supported`: 128 to 4096 bytes. Without `extended_tag` the card has no tags above 31: the host cannot enable
    // them.
    ConfigSpace(const CardInfo &card, unsigned mps_supported, bool extended_tag = true);

    uint32_t read(unsigned offset, unsigned bytes) const;
    // Any range within 4 KiB, byte by byte.
    void read(unsigned offset, uint8_t *data, size_t bytes) const;
    void write(unsigned offset, const uint8_t *data, size_t bytes);

    // True once after Function Level Reset was written.
    bool take_function_reset();
    // Values after power-on.
    void reset();
    // As reset(), but Device Control keeps MPS: PCIe 4.0 6.6.2.
    void function_reset();

    bool memory_enabled() const;
    bool bus_master() const;
    unsigned mps() const;       // bytes
    unsigned mrrs() const;      // bytes
    bool extended_tag() const;  // enabled
    bool msi_enabled() const;
    uint64_t msi_address() const;
    uint32_t msi_data() const;
    uint32_t bar0() const;
    uint32_t bar0_size() const { return bar0_size_; }

  private:
    void set(unsigned offset, unsigned bytes, uint32_t value, uint32_t writable = 0, uint32_t write_one_clears = 0);
    void build_header(const CardInfo &card);
    void build_capabilities(const CardInfo &card);

    std::array<uint8_t, kBytes> value_{}, initial_{}, writable_{}, clears_{};
    uint32_t bar0_size_;
    unsigned mps_code_;  // MPS supported, as encoded in Device Capabilities
    bool extended_tag_supported_;
    bool function_reset_ = false;
};

}  // namespace litepcie
