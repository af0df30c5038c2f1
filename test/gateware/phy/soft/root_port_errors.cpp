// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What errors set in configuration space, what a function level reset keeps of it, and which messages tell of them.
// Arguments: SEED CASE. Prints "passed" or what failed.
#include "scan_host.h"

#include <map>
#include <string>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr uint64_t kBase = 0xfe000000, kElsewhere = 0xfd000000;
constexpr unsigned kCommand = 0x04, kPowerControl = 0x44, kDeviceControl = 0x68, kLinkControl = 0x70,
                   kLinkControl2 = 0x90;
constexpr unsigned kUncorrectable = 0x104, kUncorrectableMask = 0x108, kSeverity = 0x10c, kCorrectable = 0x110,
                   kCorrectableMask = 0x114;
// Device Status.
constexpr uint32_t kCorrected = 1u << 16, kNonFatal = 1u << 17, kFatal = 1u << 18, kRefused = 1u << 19;
// Bits of AER.
constexpr uint32_t kAdvisory = 1u << 13, kPoisoned = 1u << 12, kUnexpected = 1u << 16, kUnsupported = 1u << 20;
constexpr uint32_t kUnknownMessage = 0x33;

struct Failure {
    std::string what;
};

class Errors {
  public:
    Errors(uint64_t seed, const RootPortOptions &port)
        : host_({}, port, seed), requester_(host_.way(), 1, 20 * kMillisecond) {
        requester_.other = [this](const Tlp &tlp) { came(tlp); };
        if (!host_.train())
            throw Failure{"the link does not train"};
        scan::scan(requester_, kBase);
        // The scan asks for functions that there are not.
        clear();
    }

    // Advisory errors while they are masked, as after reset, and while they are not; fatal ones; posted requests.
    void requests() {
        for (uint32_t mask : {kAdvisory, 0u}) {
            write(kCorrectableMask, mask);
            const auto logged = [mask](uint32_t bit) { return mask ? 0 : bit; };
            read_elsewhere();
            expect("a read", kCorrected | kRefused, logged(kUnsupported), kAdvisory);
            requester_.config_read(5, 0);
            expect("function 5", kCorrected | kRefused, logged(kUnsupported), kAdvisory);
            poisoned_write();
            expect("a poisoned write", kCorrected, logged(kPoisoned), kAdvisory);
            completion();
            expect("a completion", kCorrected, logged(kUnexpected), kAdvisory);
            requester_.memory_write(kElsewhere, 1);
            expect("a write", kNonFatal | kRefused, kUnsupported, 0);
            message();
            expect("a message", kNonFatal | kRefused, kUnsupported, 0);
        }
        write(kSeverity, kUnsupported);
        read_elsewhere();
        expect("a fatal read", kFatal | kRefused, kUnsupported, 0);
        message();
        expect("a fatal message", kFatal | kRefused, kUnsupported, 0);
    }
    // Sticky registers stay, and those of the link (PCIe 2.1 6.6.2).
    void function_reset() {
        write(kSeverity, 0);
        write(kCorrectableMask, 0);
        write(kLinkControl, 0xc8);
        write(kLinkControl2, 3);
        read_elsewhere();
        settle();
        write(kDeviceControl, 0xa03f);  // All but MPS as it is after reset, and Function Level Reset.
        host_.run(kMillisecond / 10, [] { return false; });
        same("Device Control", read(kDeviceControl), 0x2830);
        same("Link Control", read(kLinkControl) & 0xffff, 0xc8);
        same("Link Control 2", read(kLinkControl2), 3);
        same("Uncorrectable Error Status", read(kUncorrectable), kUnsupported);
        same("Correctable Error Status", read(kCorrectable), kAdvisory);
        same("Correctable Error Mask", read(kCorrectableMask), 0);
        same("Uncorrectable Error Severity", read(kSeverity), 0);
    }

    // A message for each error that the host wants to hear of. SERR# Enable stands for two of the enables.
    void messages() {
        const auto each = [this](const std::string &cor, const std::string &nonfatal, const std::string &fatal) {
            write(kCorrectableMask, 0);
            read_elsewhere();
            told("a read", cor);
            requester_.memory_write(kElsewhere, 1);
            told("a write", nonfatal);
            write(kSeverity, kUnsupported);
            read_elsewhere();
            told("a fatal read", fatal);
            message();
            told("a fatal message", fatal);
            write(kSeverity, 0);
            write(kCorrectableMask, kAdvisory);
            read_elsewhere();
            told("a masked read", "");
        };
        each("", "", "");
        write(kDeviceControl, 0x2817);  // Not of unsupported requests.
        each("", "", "");
        write(kDeviceControl, 0x281f);
        each("30 ", "31 ", "33 ");
        write(kUncorrectableMask, kUnsupported);
        requester_.memory_write(kElsewhere, 1);
        told("a masked write", "");
        write(kUncorrectableMask, 0);
        write(kDeviceControl, 0x2810);
        same("Status", read(kCommand) >> 30 & 1, 0);
        write(kCommand, 0x106);
        each("", "31 ", "33 ");
        same("Status", read(kCommand) >> 30 & 1, 1);
        // Bus mastering has no say.
        write(kCommand, 0x102);
        requester_.memory_write(kElsewhere, 1);
        told("a write without bus mastering", "31 ");
    }
    // Errors by TLPs are told in D3hot, out of a link that sleeps.
    void asleep() {
        write(kCorrectableMask, 0);
        write(kDeviceControl, 0x281f);
        write(kPowerControl, 3);
        for (unsigned i = 0; i < 3; i++) {
            const auto sleeps = [this] { return host_.training().state() == LinkState::L1 && host_.silent(); };
            if (!host_.run(kMillisecond, sleeps))
                throw Failure{"the link does not sleep"};
            requester_.memory_write(kBase, 1);
            settle(kMillisecond);
            told("a write in D3hot", "31 ");
        }
        write(kPowerControl, 0);
        settle();
        told("D0", "");
    }

  private:
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
    void came(const Tlp &tlp) {
        char code[4];
        snprintf(code, sizeof(code), "%02x ", tlp.message_code());
        if (tlp.dw != std::vector<uint32_t>{0x30000000, 0x01000000u | tlp.message_code(), 0, 0})
            throw Failure{"not a message of an error: " + tlp.hex()};
        codes_ += code;
    }
    void told(const std::string &what, const std::string &wanted) {
        settle();
        if (codes_ != wanted)
            throw Failure{what + ": messages " + codes_ + ", not " + wanted};
        codes_.clear();
    }
    void clear() {
        settle();
        write(kDeviceControl, read(kDeviceControl));
        write(kUncorrectable, ~0u);
        write(kCorrectable, ~0u);
    }
    static void same(const std::string &what, uint32_t got, uint32_t wanted) {
        char text[64];
        snprintf(text, sizeof(text), ": 0x%x, not 0x%x", got, wanted);
        if (got != wanted)
            throw Failure{what + text};
    }
    void expect(const std::string &what, uint32_t device, uint32_t uncorrectable, uint32_t correctable) {
        settle();
        same(what + ": Device Status", read(kDeviceControl) & 0xf0000, device);
        same(what + ": Uncorrectable Error Status", read(kUncorrectable), uncorrectable);
        same(what + ": Correctable Error Status", read(kCorrectable), correctable);
        clear();
    }
    void read_elsewhere() {
        if (requester_.memory_read(kElsewhere).status != CplStatus::Unsupported)
            throw Failure{"a read of nothing is answered"};
    }
    void poisoned_write() {
        Tlp tlp;
        tlp.dw = {0x44004001, 0xf, 0x01000004, 0};
        host_.data_link().send(tlp);
        bool answered = false;
        host_.run(kMillisecond, [&] { return answered = answered || host_.data_link().receive(tlp); });
        if (!answered || CplStatus(tlp.status()) != CplStatus::Unsupported)
            throw Failure{"a poisoned write is not refused"};
        host_.data_link().release(tlp);
    }
    void completion() { host_.data_link().send(Tlp::completion(0, 0x100, 7, CplStatus::Success, 4, 0)); }
    void message() {
        Tlp tlp = Tlp::message(0, Tlp::Local, Tlp::PmeTurnOff);
        tlp.dw[1] = (tlp.dw[1] & ~0xffu) | kUnknownMessage;
        host_.data_link().send(tlp);
    }

    Host host_;
    scan::Requester requester_;
    std::string codes_;  // of messages since told()
};

}  // namespace

int erring(int argc, char **argv) {
    static const std::map<std::string, void (Errors::*)()> kCases = {
        {"requests", &Errors::requests},
        {"function-reset", &Errors::function_reset},
        {"messages", &Errors::messages},
        {"asleep", &Errors::asleep},
    };
    const auto found = argc == 3 ? kCases.find(argv[2]) : kCases.end();
    if (found == kCases.end())
        return 2;
    RootPortOptions port;
    port.training.quiet_since = 3000000 - 1000;
    try {
        Errors errors(uint64_t(atoi(argv[1])), port);
        (errors.*found->second)();
    } catch (const Failure &failure) {
        printf("%s\n", failure.what.c_str());
        return 1;
    } catch (const scan::ScanError &error) {
        printf("%s\n", error.what());
        return 1;
    }
    printf("passed\n");
    return 0;
}
