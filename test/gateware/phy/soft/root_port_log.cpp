// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// First Error Pointer and Header Log, errors of the link, and what resets keep of them.
#include "erring_host.h"

using namespace errors;

namespace {

class Log : public ErringHost {
  public:
    using ErringHost::ErringHost;

    // The first error stays until the host clears it (PCIe 2.1 6.2.4.2).
    void first() {
        write(kCorrectableMask, 0);
        read_elsewhere();
        const Tlp first = sent_;
        poisoned_write(kBase, 1);
        message();
        settle();
        same("three errors", read(kUncorrectable), kUnsupported | kPoisoned);
        expect_log("the first of three", kUnsupported, first);
        write(kUncorrectable, kPoisoned);
        expect_log("another one is cleared", kUnsupported, first);
        write(kUncorrectable, kUnsupported);
        expect_log("the first one is cleared", 0, {});
        // One that stays set leaves the log free.
        poisoned_write(kBase, 2);
        read_elsewhere();
        write(kUncorrectable, kPoisoned);
        same("one is left", read(kUncorrectable), kUnsupported);
        expect_log("one is left", 0, {});
        read_elsewhere(kElsewhere + 0x40);
        expect("once more", kCorrected | kNonFatal | kRefused, kUnsupported, kAdvisory, kDetectedParity);
        // Masked ones set their bit only.
        write(kUncorrectableMask, kUnsupported);
        read_elsewhere();
        same("masked", read(kUncorrectable), kUnsupported);
        expect_log("masked", 0, {});
        completion();
        const Tlp second = sent_;
        settle();
        same("after the masked one", read(kUncorrectable), kUnsupported | kUnexpected);
        expect_log("after the masked one", kUnexpected, second);
        write(kUncorrectableMask, 0);
        clear();
        // A header of four dwords, and one of three after it.
        Tlp wide = Tlp::memory_write(0, 0x123400005678, reinterpret_cast<const uint8_t *>("data"), 4);
        send(wide);
        expect("a wide write", kNonFatal | kRefused, kUnsupported, 0);
        requester_.memory_write(kElsewhere, 0x1234);
        expect("a write", kNonFatal | kRefused, kUnsupported, 0);
    }

    // What a reset of the link keeps, and a function level reset (PCIe 2.1 6.6.2, 7.4).
    void hot_reset() {
        const Tlp tlp = set_up();
        for (bool disable : {false, true}) {
            auto &training = host_.training();
            disable ? training.disable() : training.hot_reset();
            if (!host_.run(10 * kMillisecond, [&] { return !host_.data_link().up(); }))
                throw Failure{"the link does not end"};
            host_.run(kMillisecond, [] { return false; });
            if (disable)
                training.enable();
            if (!host_.train())
                throw Failure{"the link does not train again"};
            write(0, 0);
            same("Command", read(kCommand), 0x00100000);
            same("Device Control", read(kDeviceControl), 0x2810);
            same("Link Control", read(kLinkControl) & 0xffff, 0);
            same("Link Control 2", read(kLinkControl2), 1);
            sticky(tlp);
        }
        write(kUncorrectable, kUnsupported);
        expect_log("cleared", 0, {});
    }
    void function_reset() {
        const Tlp tlp = set_up();
        write(kDeviceControl, 0xa03f);  // All but MPS as it is after reset, and Function Level Reset.
        host_.run(kMillisecond / 10, [] { return false; });
        same("Device Control", read(kDeviceControl), 0x2830);
        same("Link Control", read(kLinkControl) & 0xffff, 0xc8);
        same("Link Control 2", read(kLinkControl2), 3);
        sticky(tlp);
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
        if (host_.data_link().counts().naks_received == 0)
            throw Failure{"the card takes more than it has room for"};
        expect("TLPs without credits", kFatal, kOverflow, 0, 0, {});
    }

    // Errors that the transaction layer finds.
    void layer() {
        for (uint32_t mask : {kAdvisory, 0u}) {
            write(kCorrectableMask, mask);
            const auto logged = [mask](uint32_t bit) { return mask ? 0 : bit; };
            completion();
            expect("a completion", kCorrected, logged(kUnexpected), kAdvisory);
            if (requester_.memory_read(kUser).status != CplStatus::Abort)
                throw Failure{"a read that fails is not aborted"};
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
    // All that is sticky gets a value that it has not after reset.
    Tlp set_up() {
        write(kSeverity, kPoisoned);
        write(kUncorrectableMask, kMalformed);
        write(kCorrectableMask, 0);
        write(kLinkControl, 0xc8);
        write(kLinkControl2, 3);
        read_elsewhere();
        const Tlp tlp = sent_;
        settle();
        return tlp;
    }
    void sticky(const Tlp &tlp) {
        same("Uncorrectable Error Status", read(kUncorrectable), kUnsupported);
        same("Correctable Error Status", read(kCorrectable), kAdvisory);
        same("Correctable Error Mask", read(kCorrectableMask), 0);
        same("Uncorrectable Error Mask", read(kUncorrectableMask), kMalformed);
        same("Uncorrectable Error Severity", read(kSeverity), kPoisoned | kUndetected);
        expect_log("after the reset", kUnsupported, tlp);
    }
    // Severity of what the card does not detect: Surprise Down, Flow Control Protocol Error.
    static constexpr uint32_t kUndetected = 1u << 5 | 1u << 13;
};

}  // namespace

void log_errors(uint64_t seed, const RootPortOptions &options, const std::string &name) {
    static const std::map<std::string, void (Log::*)()> kCases = {
        {"first", &Log::first}, {"hot-reset", &Log::hot_reset}, {"function-reset", &Log::function_reset},
        {"link", &Log::link},   {"overflow", &Log::overflow},   {"layer", &Log::layer},
    };
    const auto found = kCases.find(name);
    if (found == kCases.end())
        throw Failure{"there is no case " + name};
    RootPortOptions port = options;
    port.data_link.greedy = name == "overflow";
    (Log(seed, port).*found->second)();
}
