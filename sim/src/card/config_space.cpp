// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/config_space.h"

#include <algorithm>
#include <cstring>

namespace litepcie {

namespace {

// Offsets of registers and capabilities (PCIe 4.0 7.5 to 7.8).
constexpr unsigned kCommand = 0x04, kStatus = 0x06, kBar0 = 0x10;
constexpr uint32_t kSerrEnable = 1u << 8;
constexpr uint32_t kParityResponse = 1u << 6;
// Bits of Status.
constexpr unsigned kDataParity = 8, kSignaledAbort = 11, kSignaledError = 14, kDetectedParity = 15;
constexpr unsigned kPowerManagement = 0x40, kMsi = 0x48, kExpress = 0x60, kMsix = 0xa0, kErrors = 0x100;
constexpr unsigned kErrorsBytes = 0x48;
// Bits of the AER registers that the card has: it does not detect the other errors.
constexpr uint32_t kDetectable = 0x0017d010;
constexpr unsigned kUncorrectableStatus = kErrors + 0x04, kUncorrectableMask = kErrors + 0x08;
constexpr unsigned kSeverity = kErrors + 0x0c, kCorrectableStatus = kErrors + 0x10, kCorrectableMask = kErrors + 0x14;
constexpr unsigned kErrorControl = kErrors + 0x18, kHeaderLog = kErrors + 0x1c;
constexpr uint32_t kFirstError = 0x1f;  // of the control register
constexpr unsigned kAdvisoryBit = 13;   // of Correctable Error Status and Mask
// Bits of Device Status.
constexpr unsigned kCorrectableDetected = 0, kNonFatalDetected = 1, kFatalDetected = 2, kUnsupportedDetected = 3;
constexpr unsigned kDeviceControl = kExpress + 0x08, kDeviceStatus = kExpress + 0x0a;
constexpr unsigned kDeviceCapabilities = kExpress + 0x04, kPowerLimitBit = 18;
constexpr uint32_t kPowerLimitMask = 0x3ffu << kPowerLimitBit;
constexpr uint32_t kFunctionReset = 1u << 15;
constexpr uint32_t kReportCorrectable = 1, kReportNonFatal = 2, kReportFatal = 4, kReportUnsupported = 8;
constexpr unsigned kLinkControl = kExpress + 0x10, kLinkControl2 = kExpress + 0x30;
constexpr uint32_t kRelaxedOrderingEnable = 1u << 4, kNoSnoopEnable = 1u << 11;
constexpr uint32_t kDeviceControlDefault = 2u << 12 | kNoSnoopEnable | kRelaxedOrderingEnable;  // MRRS 512
constexpr uint32_t kMpsMask = 7u << 5;
constexpr uint32_t kExtendedTagSupported = 1u << 5, kExtendedTagEnable = 1u << 8;
constexpr uint32_t kMsixEnable = 1u << 15, kMsixFunctionMask = 1u << 14;
constexpr uint32_t kDeviceControlWritable = 0x7fff;

unsigned code_of_size(unsigned bytes) {
    unsigned code = 0;
    while ((128u << code) < bytes)
        code++;
    return code;
}

}  // namespace

ConfigSpace::ConfigSpace(const CardInfo &card, unsigned mps_supported, bool extended_tag, bool msix)
    : bars_(card.bars), mps_code_(code_of_size(mps_supported)), extended_tag_supported_(extended_tag),
      msix_vectors_(msix ? card.msix_vectors : 0) {
    build_header(card);
    build_capabilities(card);
    initial_ = value_;
}

void ConfigSpace::set(unsigned offset, unsigned bytes, uint32_t value, uint32_t writable, uint32_t clears) {
    for (unsigned i = 0; i < bytes; i++) {
        value_[offset + i] = value >> 8 * i;
        writable_[offset + i] = writable >> 8 * i;
        clears_[offset + i] = clears >> 8 * i;
    }
}

void ConfigSpace::build_header(const CardInfo &card) {
    set(0x00, 2, card.vendor);
    set(0x02, 2, card.device);
    set(kCommand, 2, 0, 0x0546);         // memory, bus master, parity, SERR, INTx disable
    set(kStatus, 2, 0x0010, 0, 0xf900);  // capability list
    set(0x08, 4, card.class_code << 8);  // revision 0
    set(0x0c, 1, 0, 0xff);               // cache line size: can be written, has no effect
    for (unsigned n = 0; n < kBars; n++)
        if (card.bars[n])
            set(kBar0 + 4 * n, 4, 0, ~(card.bars[n] - 1));  // 32 bit, not prefetchable
    set(0x2c, 2, card.subsystem_vendor);
    set(0x2e, 2, card.subsystem_device);
    set(0x34, 1, kPowerManagement);
    set(0x3c, 1, 0, 0xff);  // interrupt line; no interrupt pin, as the card has MSI only
}

void ConfigSpace::build_capabilities(const CardInfo &card) {
    set(kPowerManagement, 4, (card.msi_vectors ? kMsi : kExpress) << 8 | 0x01 | 0x0003 << 16);
    set(kPowerManagement + 4, 4, 0x0008, 0x0003);  // D3hot resets nothing; power state
    if (card.msi_vectors) {
        set(kMsi, 2, kExpress << 8 | 0x05);
        // 64 bit, vectors asked for; enable, vectors granted.
        set(kMsi + 2, 2, 0x0080 | unsigned(__builtin_ctz(card.msi_vectors)) << 1,
            card.msi_vectors > 1 ? 0x0071 : 0x0001);
        set(kMsi + 4, 4, 0, 0xfffffffc);
        set(kMsi + 8, 4, 0, 0xffffffff);
        set(kMsi + 12, 2, 0, 0xffff);
    }

    const uint32_t link = card.lanes << 4 | card.gen;
    set(kExpress, 4, 0x00020010 | (msix_vectors_ ? kMsix << 8 : 0));                          // version 2, endpoint
    set(kDeviceCapabilities, 4, mps_code_ | 1u << 15 | unsigned(card.function_reset) << 28);  // role-based errors
    // A card without extended tags hardwires the enable bit to 0 (PCIe 4.0 7.5.3.4).
    if (extended_tag_supported_)
        value_[kDeviceCapabilities] |= kExtendedTagSupported;
    set(kDeviceControl, 2, kDeviceControlDefault,
        kDeviceControlWritable & ~(extended_tag_supported_ ? 0 : kExtendedTagEnable));
    set(kDeviceStatus, 2, 0, 0, 0x000f);
    set(kExpress + 0x0c, 4, link | 1u << 22);
    set(kLinkControl, 2, 0, 0x00c8);           // RCB, common clock, extended sync
    set(kExpress + 0x12, 2, link | 1u << 12);  // slot clock
    set(kExpress + 0x24, 4, 0x10);             // completion timeout can be disabled
    set(kExpress + 0x28, 2, 0, 0x0010);
    set(kExpress + 0x2c, 4, ((1u << card.gen) - 1) << 1);
    set(kLinkControl2, 2, card.gen, 0x000f);

    if (msix_vectors_) {  // the last capability
        set(kMsix, 2, 0x11);
        set(kMsix + 2, 2, msix_vectors_ - 1, kMsixEnable | kMsixFunctionMask);
        set(kMsix + 4, 4, card.msix_table);
        set(kMsix + 8, 4, card.msix_pending);
    }

    set(kErrors, 4, 0x00010001);  // Advanced Error Reporting, last
    set(kUncorrectableStatus, 4, 0, 0, kDetectable);
    set(kUncorrectableMask, 4, 0, kDetectable);
    set(kSeverity, 4, 0x00062030, kDetectable);
    set(kCorrectableStatus, 4, 0, 0, 0x0000f1c1);
    set(kCorrectableMask, 4, 1u << kAdvisoryBit, 0x0000f1c1);
}

void ConfigSpace::put(unsigned offset, uint32_t value) {
    for (unsigned i = 0; i < 4; i++)
        value_[offset + i] = uint8_t(value >> 8 * i);
}

uint32_t ConfigSpace::read(unsigned offset, unsigned bytes) const {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes && offset + i < kBytes; i++)
        value |= uint32_t(value_[offset + i]) << 8 * i;
    return value;
}

void ConfigSpace::read(unsigned offset, uint8_t *data, size_t bytes) const {
    memcpy(data, value_.data() + offset, bytes);
}

void ConfigSpace::write(unsigned offset, const uint8_t *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        unsigned at = offset + i;
        // D1 and D2 are not supported: a write of them changes nothing (PCI Power Management 1.2 3.2.4).
        if (at == kPowerManagement + 4 && (data[i] & 3) != 0 && (data[i] & 3) != 3)
            continue;
        value_[at] = (value_[at] & ~writable_[at]) | (data[i] & writable_[at]);
        value_[at] &= ~(data[i] & clears_[at]);
        // Function Level Reset reads as 0.
        if (at == kDeviceControl + 1 && data[i] & (kFunctionReset >> 8) && read(kDeviceCapabilities, 4) >> 28 & 1)
            function_reset_ = true;
    }
    release_log();
}

bool ConfigSpace::take_function_reset() {
    bool asked = function_reset_;
    function_reset_ = false;
    return asked;
}

void ConfigSpace::reset() {
    value_ = initial_;
    function_reset_ = false;
}

void ConfigSpace::hot_reset() {
    const auto before = value_;
    reset();
    std::copy_n(before.begin() + kErrors, kErrorsBytes, value_.begin() + kErrors);
}

void ConfigSpace::function_reset() {
    const auto before = value_;
    const auto keep = [&](unsigned offset, unsigned bytes) {
        std::copy_n(before.begin() + offset, bytes, value_.begin() + offset);
    };
    const uint32_t mps = read(kDeviceControl, 2) & kMpsMask;
    hot_reset();
    value_[kDeviceControl] |= mps;
    keep(kDeviceCapabilities, 4);
    keep(kLinkControl, 2);
    keep(kLinkControl2, 2);
}

ConfigSpace::Message ConfigSpace::report(Error error, Cause cause, const Header &header) {
    const uint32_t bit = 1u << unsigned(error), control = read(kDeviceControl, 2);
    const bool unsupported = error == Error::UnsupportedRequest, told = !unsupported || control & kReportUnsupported;
    const bool fatal = read(kSeverity, 4) & bit;
    const bool of_link =
        error == Error::DataLinkProtocol || error == Error::ReceiverOverflow || error == Error::MalformedTlp;
    set_status(error, cause);
    if (fatal || of_link || cause == Cause::Posted) {
        set_bit(kDeviceStatus, fatal ? kFatalDetected : kNonFatalDetected);
        log(error, header);
        const bool serr = read(kCommand, 2) & kSerrEnable;
        if (read(kUncorrectableMask, 4) & bit ||
            !(serr || (told && control & (fatal ? kReportFatal : kReportNonFatal))))
            return Message::None;
        if (serr)
            set_bit(kStatus, kSignaledError);
        return fatal ? Message::Fatal : Message::NonFatal;
    }
    set_bit(kDeviceStatus, kCorrectableDetected);
    set_bit(kCorrectableStatus, kAdvisoryBit);
    if (read(kCorrectableMask, 4) >> kAdvisoryBit & 1)
        return Message::None;
    log(error, header);
    return told && control & kReportCorrectable ? Message::Correctable : Message::None;
}

// What is no matter of severity: Status, and Unsupported Request Detected (PCIe 4.0 7.5.1.1.4).
void ConfigSpace::set_status(Error error, Cause cause) {
    if (error == Error::UnsupportedRequest)
        set_bit(kDeviceStatus, kUnsupportedDetected);
    if (error == Error::CompleterAbort)
        set_bit(kStatus, kSignaledAbort);
    if (error != Error::Poisoned)
        return;
    set_bit(kStatus, kDetectedParity);
    if (cause == Cause::Completion && read(kCommand, 2) & kParityResponse)
        set_bit(kStatus, kDataParity);
}

// Sets the bit of an uncorrectable error. First Error Pointer is 0 while the log is free (PCIe 4.0 6.2.4.2).
void ConfigSpace::log(Error error, const Header &header) {
    set_bit(kUncorrectableStatus, unsigned(error));
    if (read(kErrorControl, 4) & kFirstError || read(kUncorrectableMask, 4) >> unsigned(error) & 1)
        return;
    put(kErrorControl, unsigned(error));
    const bool has_none =
        error == Error::DataLinkProtocol || error == Error::CompletionTimeout || error == Error::ReceiverOverflow;
    const bool four_dwords = header[0] >> 29 & 1;
    for (unsigned i = 0; i < header.size(); i++)
        put(kHeaderLog + 4 * i, has_none || (i == 3 && !four_dwords) ? 0 : header[i]);
}

// The host has cleared a bit of Uncorrectable Error Status: that of the logged error?
void ConfigSpace::release_log() {
    const uint32_t first = read(kErrorControl, 4) & kFirstError;
    if (!first || read(kUncorrectableStatus, 4) >> first & 1)
        return;
    for (unsigned at = kErrorControl; at < kErrors + kErrorsBytes; at += 4)
        put(at, 0);
}

ConfigSpace::Message ConfigSpace::report(LinkError error) {
    set_bit(kDeviceStatus, kCorrectableDetected);
    set_bit(kCorrectableStatus, unsigned(error));
    const bool masked = read(kCorrectableMask, 4) >> unsigned(error) & 1;
    return !masked && read(kDeviceControl, 2) & kReportCorrectable ? Message::Correctable : Message::None;
}

void ConfigSpace::take_power_limit(unsigned limit) {
    const uint32_t value = read(kDeviceCapabilities, 4) & ~kPowerLimitMask;
    put(kDeviceCapabilities, value | (limit << kPowerLimitBit & kPowerLimitMask));
}

bool ConfigSpace::powered() const { return !(read(kPowerManagement + 4, 2) & 3); }
bool ConfigSpace::memory_enabled() const { return powered() && read(kCommand, 2) & 2; }
bool ConfigSpace::bus_master() const { return powered() && read(kCommand, 2) & 4; }

unsigned ConfigSpace::mps() const {
    unsigned code = (read(kDeviceControl, 2) & kMpsMask) >> 5;
    return 128u << std::min(code, mps_code_);
}

unsigned ConfigSpace::mrrs() const { return 128u << std::min(read(kDeviceControl, 2) >> 12 & 7, 5u); }
bool ConfigSpace::extended_tag() const { return read(kDeviceControl, 2) & kExtendedTagEnable; }
bool ConfigSpace::relaxed_ordering() const { return read(kDeviceControl, 2) & kRelaxedOrderingEnable; }
bool ConfigSpace::no_snoop() const { return read(kDeviceControl, 2) & kNoSnoopEnable; }
bool ConfigSpace::rcb_128() const { return read(kLinkControl, 2) & 1u << 3; }
bool ConfigSpace::msi_enabled() const { return read(kMsi + 2, 2) & 1; }
unsigned ConfigSpace::msi_vectors() const { return 1u << (read(kMsi + 2, 2) >> 4 & 7); }
bool ConfigSpace::msix_enabled() const { return msix_vectors_ && read(kMsix + 2, 2) & kMsixEnable; }
bool ConfigSpace::msix_function_masked() const { return read(kMsix + 2, 2) & kMsixFunctionMask; }
uint64_t ConfigSpace::msi_address() const { return uint64_t(read(kMsi + 8, 4)) << 32 | read(kMsi + 4, 4); }
uint32_t ConfigSpace::msi_data() const { return read(kMsi + 12, 2); }
uint32_t ConfigSpace::bar(unsigned n) const { return read(kBar0 + 4 * n, 4); }

unsigned ConfigSpace::bar_of(uint64_t address) const {
    unsigned n = 0;
    while (n < kBars && (!bars_[n] || address - bar(n) >= bars_[n]))
        n++;
    return n;
}

}  // namespace litepcie
