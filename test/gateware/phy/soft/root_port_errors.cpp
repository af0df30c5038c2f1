// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What errors set in configuration space, and which messages tell of them. Arguments: SEED CASE. Prints "passed" or
// what failed.
#include "erring_host.h"

using namespace errors;

namespace {

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
    static constexpr uint8_t zeros_[4] = {};
};

}  // namespace

int erring(int argc, char **argv) {
    static const std::map<std::string, void (Errors::*)()> kCases = {
        {"requests", &Errors::requests},
        {"poisoned", &Errors::poisoned},
        {"messages", &Errors::messages},
        {"asleep", &Errors::asleep},
    };
    if (argc != 3)
        return 2;
    const uint64_t seed = uint64_t(atoi(argv[1]));
    const auto found = kCases.find(argv[2]);
    RootPortOptions port;
    port.training.quiet_since = 3000000 - 1000;
    try {
        if (found == kCases.end())
            log_errors(seed, port, argv[2]);
        else
            (Errors(seed, port).*found->second)();
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
