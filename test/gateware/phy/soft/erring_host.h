// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A host that does what its card must refuse, and looks at what the card records of it.
#pragma once

#include "scan_host.h"

#include <map>
#include <string>

namespace errors {

using namespace litepcie;
using namespace litepcie::lane;

constexpr uint64_t kBase = 0xfe000000, kElsewhere = 0xfd000000;
constexpr uint64_t kUser = kBase + 0x80000;   // BAR0: where an access of the user's bus fails
constexpr uint64_t kTrigger = kBase + 0xffc;  // a write makes the card read 4 bytes of host memory
constexpr unsigned kCommand = 0x04, kPowerControl = 0x44, kDeviceControl = 0x68, kLinkControl = 0x70,
                   kLinkControl2 = 0x90;
constexpr unsigned kUncorrectable = 0x104, kUncorrectableMask = 0x108, kSeverity = 0x10c, kCorrectable = 0x110,
                   kCorrectableMask = 0x114, kErrorControl = 0x118, kHeaderLog = 0x11c;
// Status.
constexpr uint32_t kDataParity = 1u << 24, kSignaledAbort = 1u << 27, kSignaledError = 1u << 30,
                   kDetectedParity = 1u << 31;
// Device Status.
constexpr uint32_t kCorrected = 1u << 16, kNonFatal = 1u << 17, kFatal = 1u << 18, kRefused = 1u << 19;
// Bits of AER.
constexpr uint32_t kAdvisory = 1u << 13, kProtocol = 1u << 4, kPoisoned = 1u << 12, kTimeout = 1u << 14,
                   kAborted = 1u << 15, kUnexpected = 1u << 16, kOverflow = 1u << 17, kMalformed = 1u << 18,
                   kUnsupported = 1u << 20;
constexpr uint32_t kUnknownMessage = 0x33;

struct Failure {
    std::string what;
};

inline void same(const std::string &what, uint32_t got, uint32_t wanted) {
    char text[64];
    snprintf(text, sizeof(text), ": 0x%x, not 0x%x", got, wanted);
    if (got != wanted)
        throw Failure{what + text};
}

class ErringHost {
  public:
    ErringHost(uint64_t seed, const RootPortOptions &port)
        : host_({}, port, seed), requester_(way(), 1, 20 * kMillisecond) {
        requester_.other = [this](const Tlp &tlp) { came(tlp); };
        if (!host_.train())
            throw Failure{"the link does not train"};
        scan::scan(requester_, kBase);
        // The scan asks for functions that there are not.
        clear();
    }

  protected:
    uint32_t read(unsigned offset) { return requester_.config_read(0, offset).value; }
    void write(unsigned offset, uint32_t value) { requester_.config_write(0, offset, value); }
    // The transaction layer reports behind the completion.
    void settle(uint64_t cycles = 1000) {
        Tlp tlp;
        host_.run(cycles, [&] {
            while (host_.data_link().receive(tlp))
                host_.data_link().release(tlp), came(tlp);
            return false;
        });
    }
    void told(const std::string &what, const std::string &wanted) {
        settle();
        if (codes_ != wanted)
            throw Failure{what + ": messages " + codes_ + ", not " + wanted};
        codes_.clear();
    }
    void clear() {
        settle();
        write(kCommand, read(kCommand));
        write(kDeviceControl, read(kDeviceControl));
        write(kUncorrectable, ~0u);
        write(kCorrectable, ~0u);
        expect_log("nothing", 0, {});
    }
    // First Error Pointer is the number of the bit, and Header Log has the header of the TLP, if any.
    void expect_log(const std::string &what, uint32_t bit, const Tlp &tlp) {
        same(what + ": First Error Pointer", read(kErrorControl), bit ? unsigned(__builtin_ctz(bit)) : 0);
        const unsigned dwords = bit && !tlp.dw.empty() ? tlp.header_dwords() : 0;
        for (unsigned i = 0; i < 4; i++)
            same(what + ": Header Log " + std::to_string(i), read(kHeaderLog + 4 * i), i < dwords ? tlp.dw[i] : 0);
    }
    // What the last TLP to the card, or none, has set; cleared then.
    void expect(const std::string &what, uint32_t device, uint32_t uncorrectable, uint32_t correctable,
                uint32_t status = 0) {
        expect(what, device, uncorrectable, correctable, status, sent_);
    }
    void expect(const std::string &what, uint32_t device, uint32_t uncorrectable, uint32_t correctable, uint32_t status,
                const Tlp &blamed) {
        const Tlp tlp = blamed;
        settle();
        same(what + ": Device Status", read(kDeviceControl) & 0xf0000, device);
        same(what + ": Status", read(kCommand) & 0xf9000000, status);
        same(what + ": Uncorrectable Error Status", read(kUncorrectable), uncorrectable);
        same(what + ": Correctable Error Status", read(kCorrectable), correctable);
        expect_log(what, uncorrectable, tlp);
        clear();
    }

    void send(const Tlp &tlp) {
        sent_ = tlp;
        host_.data_link().send(tlp);
    }
    void read_elsewhere(uint64_t address = kElsewhere) {
        if (requester_.memory_read(address).status != CplStatus::Unsupported)
            throw Failure{"a read of nothing is answered"};
    }
    void poisoned_config_write() {
        send({{0x44004001, 0xf, 0x01000004, 0}});
        Tlp tlp;
        bool answered = false;
        host_.run(kMillisecond, [&] { return answered = answered || host_.data_link().receive(tlp); });
        if (!answered || CplStatus(tlp.status()) != CplStatus::Unsupported)
            throw Failure{"a poisoned write is not refused"};
        host_.data_link().release(tlp);
    }
    void poisoned_write(uint64_t address, uint32_t value) {
        send({{0x40004001, 0xf, uint32_t(address), value}});
        settle();
    }
    void completion() { send(Tlp::completion(0, 0x100, 7, CplStatus::Success, 4, 0)); }
    void message() {
        Tlp tlp = Tlp::message(0, Tlp::Local, Tlp::PmeTurnOff);
        tlp.dw[1] = (tlp.dw[1] & ~0xffu) | kUnknownMessage;
        send(tlp);
    }
    // The card reads host memory. Returns its request.
    Tlp make_card_read() {
        asked_ = {};
        requester_.memory_write(kTrigger, 0);
        settle(3000);
        if (asked_.dw.empty())
            throw Failure{"the card does not read"};
        return asked_;
    }

    Host host_;
    scan::Requester requester_;
    Tlp sent_;  // the last one to the card
    bool ignores_completions_ = false;

  private:
    scan::Way way() {
        scan::Way way = host_.way();
        way.send = [this, to_card = way.send](Tlp tlp) {
            sent_ = tlp;
            to_card(std::move(tlp));
        };
        return way;
    }
    void came(const Tlp &tlp) {
        if (tlp.is_memory_read())
            asked_ = tlp;
        if (tlp.is_memory_read() || (ignores_completions_ && tlp.is_completion()))
            return;
        char code[4];
        snprintf(code, sizeof(code), "%02x ", tlp.message_code());
        if (tlp.dw != std::vector<uint32_t>{0x30000000, 0x01000000u | tlp.message_code(), 0, 0})
            throw Failure{"not a message of an error: " + tlp.hex()};
        codes_ += code;
    }

    Tlp asked_;
    std::string codes_;  // of messages since told()
};

}  // namespace errors

// root_port_log.cpp: the cases of the log.
void log_errors(uint64_t seed, const litepcie::lane::RootPortOptions &port, const std::string &name);
