// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace litepcie {

// The card's configuration space of 4 KiB, as the hard block of an FPGA implements it: type 0 header, power management,
// MSI (64 bit address), PCI Express endpoint, MSI-X if the card has it, and Advanced Error Reporting.
class ConfigSpace {
  public:
    static constexpr size_t kBytes = 4096;

    // An error that the card reports; the value is its bit in the AER registers (PCIe 4.0 7.8.4.2).
    enum class Error {
        DataLinkProtocol = 4,
        Poisoned = 12,
        CompletionTimeout = 14,
        CompleterAbort = 15,
        UnexpectedCompletion = 16,
        ReceiverOverflow = 17,
        MalformedTlp = 18,
        UnsupportedRequest = 20
    };
    // The TLP of an error: a request that has a completion, one that has none, or a completion.
    enum class Cause { NonPosted, Posted, Completion };
    // The header of a TLP as Header Log has it: its first byte in the upper bits of a dword. 0 where there is none.
    using Header = std::array<uint32_t, 4>;

    // An error that the link made good; the value is its bit in Correctable Error Status (7.8.4.5).
    enum class LinkError { Receiver = 0, BadTlp = 6, BadDllp = 7, Rollover = 8, ReplayTimer = 12 };

    // `mps_supported`: 128 to 4096 bytes. `extended_tag`: the card offers extended tags, and the host can enable them.
    // `msix`: the card offers MSI-X if it has it.
    ConfigSpace(const CardInfo &card, unsigned mps_supported, bool extended_tag = true, bool msix = true);

    uint32_t read(unsigned offset, unsigned bytes) const;
    // Reads or writes any range of bytes within 4 KiB.
    void read(unsigned offset, uint8_t *data, size_t bytes) const;
    void write(unsigned offset, const uint8_t *data, size_t bytes);

    // Whether the host wrote Function Level Reset since the last call.
    bool take_function_reset();
    // Restores the values after power-on.
    void reset();
    // As reset(), but what is sticky stays: AER (PCIe 4.0 7.4). The same if the link goes down.
    void hot_reset();
    // As hot_reset(), but what belongs to the link stays (PCIe 4.0 6.6.2): the power limit, MPS, Link Control, Target
    // Link Speed.
    void function_reset();
    // What an error makes a function send that sends messages; the value is the code of this one (PCIe 4.0 2.2.8.3).
    enum class Message { None = 0, Correctable = 0x30, NonFatal = 0x31, Fatal = 0x33 };

    // Sets the bits of an error (PCIe 4.0 6.2.5, figure 6-2), and logs it if there is no older one. Unless its severity
    // is fatal, it is advisory (6.2.3.2.4), but for errors of the link, and for a posted request, which has no
    // completion to tell of it.
    Message report(Error error, Cause cause = Cause::Completion, const Header &header = {});
    Message report(LinkError error);
    // Takes Set_Slot_Power_Limit: the value in bits 7:0, its scale in bits 9:8 (PCIe 4.0 6.9).
    void take_power_limit(unsigned limit);

    // Outside of D0 the function refuses memory requests and sends none (PCIe 4.0 5.3.1); its state stays.
    bool powered() const;
    bool memory_enabled() const;
    bool bus_master() const;
    unsigned mps() const;       // bytes
    unsigned mrrs() const;      // bytes
    bool extended_tag() const;  // enabled by the host
    bool relaxed_ordering() const;
    bool no_snoop() const;
    bool rcb_128() const;  // completions end at multiples of 128 bytes, else of 64
    bool msi_enabled() const;
    unsigned msi_vectors() const;  // granted by the host
    uint64_t msi_address() const;
    uint32_t msi_data() const;
    unsigned msix_vectors() const { return msix_vectors_; }
    bool msix_enabled() const;
    bool msix_function_masked() const;
    uint32_t bar(unsigned n) const;
    // The BAR that an address is in; kBars if it is in none.
    unsigned bar_of(uint64_t address) const;

  private:
    void set_status(Error error, Cause cause);
    void log(Error error, const Header &header);
    void release_log();
    void put(unsigned offset, uint32_t value);
    void set_bit(unsigned offset, unsigned bit) { value_[offset + bit / 8] |= 1u << bit % 8; }
    void set(unsigned offset, unsigned bytes, uint32_t value, uint32_t writable = 0, uint32_t write_one_clears = 0);
    void build_header(const CardInfo &card);
    void build_capabilities(const CardInfo &card);

    std::array<uint8_t, kBytes> value_{}, initial_{}, writable_{}, clears_{};
    std::array<uint32_t, kBars> bars_;  // their sizes
    unsigned mps_code_;                 // the largest MPS, as encoded in Device Capabilities
    bool extended_tag_supported_;
    unsigned msix_vectors_;
    bool function_reset_ = false;
};

}  // namespace litepcie
