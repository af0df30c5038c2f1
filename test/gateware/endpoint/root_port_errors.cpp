// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What errors set in configuration space, and which messages tell of them. Arguments: SEED CASE. Prints "passed" or
// what failed. A host does what its card must refuse, and looks at what the card records of it.
#include "scan_host.h"

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr uint64_t kElsewhere = 0xfd000000;
constexpr uint64_t kUser = kBase + 0x80000;   // BAR0: where an access of the user's bus fails
constexpr uint64_t kTrigger = kBase + 0xffc;  // a write makes the card read 4 bytes of host memory
constexpr unsigned kUncorrectable = 0x104, kSeverity = 0x10c, kCorrectable = 0x110, kCorrectableMask = 0x114,
                   kErrorControl = 0x118, kHeaderLog = 0x11c;
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

void same(const std::string &what, uint32_t got, uint32_t wanted) {
    char text[64];
    snprintf(text, sizeof(text), ": 0x%x, not 0x%x", got, wanted);
    expect(got == wanted, what + text);
}

class ErringHost {
  public:
    ErringHost(uint64_t seed, const RootPortOptions &port)
        : host_({}, port, seed), requester_(way(), 1, 20 * kMillisecond) {
        requester_.other = [this](const Tlp &tlp) { came(tlp); };
        host_.train();
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
        ::expect(codes_ == wanted, what + ": messages " + codes_ + ", not " + wanted);
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
        ::expect(requester_.memory_read(address).status == CplStatus::Unsupported, "a read of nothing is answered");
    }
    void poisoned_config_write() {
        send({{0x44004001, 0xf, 0x01000004, 0}});
        Tlp tlp;
        bool answered = false;
        host_.run(kMillisecond, [&] { return answered = answered || host_.data_link().receive(tlp); });
        ::expect(answered && CplStatus(tlp.status()) == CplStatus::Unsupported, "a poisoned write is not refused");
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
        ::expect(!asked_.dw.empty(), "the card does not read");
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
        ::expect(tlp.dw == std::vector<uint32_t>{0x30000000, 0x01000000u | tlp.message_code(), 0, 0},
                 "not a message of an error: " + tlp.hex());
        codes_ += code;
    }

    Tlp asked_;
    std::string codes_;  // of messages since told()
};

class Errors : public ErringHost {
  public:
    using ErringHost::ErringHost;

    // Advisory errors while they are masked, as after reset, and while they are not; fatal ones; posted requests.
    void requests() {
        for (uint32_t mask : {kAdvisory, 0u}) {
            write(kCorrectableMask, mask);
            const auto logged = [mask](uint32_t bit) { return mask ? 0 : bit; };
            read_elsewhere();
            expect("a read", kCorrected | kRefused, logged(kUnsupported), kAdvisory);
            requester_.config_read(5, 0);
            expect("function 5", kCorrected | kRefused, logged(kUnsupported), kAdvisory);
            poisoned_config_write();
            expect("a poisoned write", kCorrected, logged(kPoisoned), kAdvisory, kDetectedParity);
            poisoned_write(kBase, 1);
            expect("a poisoned write of memory", kNonFatal, kPoisoned, 0, kDetectedParity);
            poisoned_write(kElsewhere, 1);
            expect("a poisoned write elsewhere", kNonFatal | kRefused, kUnsupported, 0);
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
    // The data of a poisoned TLP is not used (PCIe 2.1 2.7.2.2). Parity Error Response matters for completions only.
    void poisoned() {
        write(kCorrectableMask, 0);
        for (uint32_t response : {0u, 1u << 6}) {
            write(kCommand, 6 | response);
            requester_.memory_write(kBase, 0x600dcafe);
            poisoned_write(kBase, 0xbad);
            expect("a poisoned write", kNonFatal, kPoisoned, 0, kDetectedParity);
            same("the register", requester_.memory_read(kBase).value, 0x600dcafe);
            const Tlp request = make_card_read();
            Tlp tlp = Tlp::completion_data(0, request.requester(), request.tag(), 4, 0, zeros_, 1);
            tlp.poison();
            send(tlp);
            expect("a poisoned completion", kCorrected, kPoisoned, kAdvisory,
                   kDetectedParity | (response ? kDataParity : 0));
        }
        Tlp limit = Tlp::slot_power_limit(0, 0x55);
        const uint32_t before = read(kDeviceControl - 4);
        limit.poison();
        send(limit);
        expect("a poisoned message", kNonFatal, kPoisoned, 0, kDetectedParity);
        same("Device Capabilities", read(kDeviceControl - 4), before);
    }
    // Errors by TLPs are told in D3hot, out of a link that sleeps.
    void asleep() {
        write(kCorrectableMask, 0);
        write(kDeviceControl, 0x281f);
        write(kPowerControl, 3);
        for (unsigned i = 0; i < 3; i++) {
            const auto sleeps = [this] { return host_.training().state() == LinkState::L1 && host_.silent(); };
            ::expect(host_.run(kMillisecond, sleeps), "the link does not sleep");
            requester_.memory_write(kBase, 1);
            settle(kMillisecond);
            told("a write in D3hot", "31 ");
        }
        write(kPowerControl, 0);
        settle();
        told("D0", "");
    }

    // Hot Reset and Disable reset the registers, and keep what is sticky (test_config_space.py compares all of them).
    void hot_reset() {
        write(kCorrectableMask, 0);
        read_elsewhere();
        const Tlp tlp = sent_;
        settle();
        for (bool disable : {false, true}) {
            auto &training = host_.training();
            disable ? training.disable() : training.hot_reset();
            host_.wait_for_end();
            host_.run(kMillisecond, [] { return false; });
            if (disable)
                training.enable();
            host_.train();
            write(0, 0);
            same("Command", read(kCommand), 0x00100000);
            same("Uncorrectable Error Status", read(kUncorrectable), kUnsupported);
            same("Correctable Error Mask", read(kCorrectableMask), 0);
            expect_log("after the reset", kUnsupported, tlp);
        }
    }
    // Errors that the data link layer finds. The link goes on.
    void link() {
        for (uint32_t severity : {0u, kMalformed | kProtocol}) {
            write(kSeverity, severity);
            const uint32_t device = severity ? kFatal : kNonFatal;
            write(kDeviceControl, 0x2817);
            send({{0x40000002, 0xff, uint32_t(kBase), 0x11223344}});
            told("a TLP that is too short", severity ? "33 " : "31 ");
            write(kDeviceControl, 0x2810 | 0xf0000);
            expect_log("a TLP that is too short", kMalformed, {{0x40000002, 0xff, uint32_t(kBase), 0}});
            clear();
            Tlp wide{{0x60000001, 0xf, 0x12345678, uint32_t(kBase), 0x11223344, 0x55667788}};
            send(wide);
            expect("a TLP that is too long", device, kMalformed, 0);
            host_.faults().arm(Fault::WrongAck, 1);
            requester_.memory_write(kBase, 1);
            settle();
            host_.faults().arm(Fault::WrongAck, 0);
            expect("an ACK of nothing", device, kProtocol, 0, 0, {});
        }
        same("a register", requester_.memory_read(kBase).value, 1);
    }
    // A port that ignores credits fills the buffer with reads, which take longer than they take to come.
    void overflow() {
        ignores_completions_ = true;
        for (unsigned i = 0; i < 900; i++)
            host_.data_link().send(Tlp::memory_read(0, uint8_t(i), kBase, 256));
        settle(4 * kMillisecond);
        ::expect(host_.data_link().counts().naks_received > 0, "the card takes more than it has room for");
        expect("TLPs without credits", kFatal, kOverflow, 0, 0, {});
    }
    // Errors that the transaction layer finds.
    void layer() {
        for (uint32_t mask : {kAdvisory, 0u}) {
            write(kCorrectableMask, mask);
            const auto logged = [mask](uint32_t bit) { return mask ? 0 : bit; };
            completion();
            expect("a completion", kCorrected, logged(kUnexpected), kAdvisory);
            ::expect(requester_.memory_read(kUser).status == CplStatus::Abort, "a read that fails is not aborted");
            expect("a read that fails", kCorrected, logged(kAborted), kAdvisory, kSignaledAbort);
            make_card_read();
            settle(2 * kMillisecond);
            expect("a read without an answer", kCorrected, logged(kTimeout), kAdvisory, 0, {});
        }
        write(kSeverity, kTimeout | kAborted | kUnexpected);
        completion();
        expect("a fatal completion", kFatal, kUnexpected, 0);
        requester_.memory_read(kUser);
        expect("a fatal abort", kFatal, kAborted, 0, kSignaledAbort);
        // Two at once: the header of the first one is logged.
        const Tlp one = Tlp::completion(0, 0x100, 9, CplStatus::Success, 4, 0);
        host_.data_link().send(one);
        for (unsigned i = 0; i < 4; i++)
            host_.data_link().send(Tlp::completion(0, 0x100, 7, CplStatus::Success, 8, 0));
        expect("completions", kFatal, kUnexpected, 0, 0, one);
    }

  private:
    static constexpr uint8_t zeros_[4] = {};
};

}  // namespace

int erring(int argc, char **argv) {
    static const std::map<std::string, void (Errors::*)()> kCases = {
        {"requests", &Errors::requests},   {"poisoned", &Errors::poisoned}, {"asleep", &Errors::asleep},
        {"hot-reset", &Errors::hot_reset}, {"link", &Errors::link},         {"overflow", &Errors::overflow},
        {"layer", &Errors::layer},
    };
    const auto found = argc == 3 ? kCases.find(argv[2]) : kCases.end();
    if (found == kCases.end())
        return 2;
    RootPortOptions port = soon();
    port.data_link.greedy = found->first == "overflow";
    return checked([&] {
        (Errors(uint64_t(atoi(argv[1])), port).*found->second)();
        printf("passed\n");
    });
}
