// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What pcievhost's model does with the card, a line for each case.
#include "host.h"
#include "litepcie_regs.h"
#include "soc.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "ltssm.h"
}

namespace judge {

namespace {

constexpr unsigned kIdentity = CONFIG_PCIE_DEVICE_ID << 16 | CONFIG_PCIE_VENDOR_ID;
constexpr uint32_t kWindow = kBar0 + CONFIG_PCIE_BAR0_SIZE / 2, kWindowBytes = 4096;
constexpr unsigned kRcb = 64, kControl = 4, kD3hot = 3;  // of power management

// A shadow of the first bytes of the card's memory: random writes, and reads of what was written.
void transfers(unsigned count, bool one_completion = false) {
    static std::mt19937 random(1);
    Bytes shadow(kWindowBytes);
    for (unsigned at = 0; at < kWindowBytes; at += 64)
        write(kWindow + at, Bytes(shadow.begin() + at, shadow.begin() + at + 64));
    for (unsigned n = 0; n < count; n++) {
        const unsigned most = 1 + random() % 64, at = random() % (kWindowBytes - most);
        const unsigned bytes = one_completion ? std::min(most, kRcb - at % kRcb) : most;
        if (random() % 2) {
            for (unsigned byte = 0; byte < bytes; byte++)
                shadow[at + byte] = uint8_t(random());
            write(kWindow + at, Bytes(shadow.begin() + at, shadow.begin() + at + bytes));
        } else {
            expect(read(kWindow + at, bytes) == Bytes(shadow.begin() + at, shadow.begin() + at + bytes),
                   "a read of the card's memory gives wrong bytes");
        }
    }
}

void registers(unsigned count) {
    for (unsigned n = 1; n <= count; n++) {
        write_dword(kBar0 + LITEPCIE_SCRATCH, n * 0x9e3779b9);
        expect(read_dword(kBar0 + LITEPCIE_SCRATCH) == n * 0x9e3779b9, "the scratch register is wrong");
    }
}

void up() {
    train();
    flow_control();
    set_up();
}

void configuration() {
    train();
    flow_control();
    for (unsigned offset = 0; offset < 4096; offset += 4)
        config_read(offset);
    expect(config_read(0) == kIdentity, "the vendor or the device is another");
    config_write(0x10, ~0u);
    expect(config_read(0x10) == -uint32_t(CONFIG_PCIE_BAR0_SIZE), "BAR0 has another size");
    set_up();
    expect(config_read(0x10) == kBar0, "BAR0 does not hold its address");
    expect((config_read(capability(0x10) + 16) >> 16 & 0x3ff) == 0x11, "Link Status is not 2.5 GT/s, x1");
    registers(1);
}

void put(uint32_t address, std::initializer_list<uint32_t> dwords) {
    for (const uint32_t dword : dwords)
        for (unsigned byte = 0; byte < 4; byte++)
            WriteRamByte(address++, dword >> 8 * byte & 0xff, 0);
}

// Memory of the host to the card and back, a descriptor at a time: the model acknowledges nothing while it answers, so
// more reads would outlast the card's replay timer. It also refuses a read that ends at a multiple of 4 KiB.
void dma() {
    constexpr uint32_t kRing = 0x10000, kStatus = 0x20080, kFrom = 0x40040, kTo = 0x50040, kCard = 64;
    constexpr uint32_t kBytes = 500, kDescriptors = 6, kRingLog2 = 3;
    up();
    for (unsigned n = 0; n < kBytes * kDescriptors; n++)
        WriteRamByte(kFrom + n, (n * 7 + (n >> 8)) & 0xff, 0), WriteRamByte(kTo + n, 0, 0);
    for (const bool reads : {true, false}) {
        const uint32_t engine = kBar0 + (reads ? LITEPCIE_READER_BASE(0) : LITEPCIE_WRITER_BASE(0));
        put(kStatus, {0, 0, 0, 0});
        write_dword(engine + LITEPCIE_ENGINE_RING_LO, kRing);
        write_dword(engine + LITEPCIE_ENGINE_RING_LOG2, kRingLog2);
        write_dword(engine + LITEPCIE_ENGINE_STATUS_ADDRESS_LO, kStatus);
        write_dword(engine + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
        for (unsigned n = 0; n < kDescriptors; n++) {
            put(kRing + n * LITEPCIE_DESCRIPTOR_BYTES,
                {kBytes | LITEPCIE_DESCRIPTOR_INTERRUPT, kCard + n * kBytes, (reads ? kFrom : kTo) + n * kBytes, 0});
            put(kMessage, {0});
            write_dword(engine + LITEPCIE_ENGINE_DOORBELL, n + 1);
            while ((ReadRamByte(kMessage, 0) | ReadRamByte(kMessage + 1, 0) << 8) != kMessageData)
                idle(1);
            expect(ReadRamByte(kStatus, 0) == n + 1, "the interrupt came before the status block");
            expect(!ReadRamByte(kStatus + 4 * LITEPCIE_STATUS_REASON, 0), "the engine stopped");
        }
    }
    for (unsigned n = 0; n < kBytes * kDescriptors; n++)
        expect(ReadRamByte(kTo + n, 0) == ReadRamByte(kFrom + n, 0), "a byte that went both ways is wrong");
}

void recoveries() {
    up();
    for (unsigned n = 0; n < 20; n++) {
        transfers(5);
        settle();
        write(kWindow, {1, 2, 3, 4});
        idle(1 + 8 * n);  // so that training meets the ACK and the UpdateFC in another place each time
        recover();
    }
    transfers(20);
}

// The model takes a second completion before the repetition of the first.
void damaged() {
    up();
    for (unsigned n = 0; n < 20; n++) {
        transfers(15, true);
        settle();  // an ACK that was lost last is the reason of a replay
    }
    expect(lane->damaged() >= 20 && seen().naks + seen().replays > 0, "what was damaged had no effect");
}

void sleeps() {
    up();
    const unsigned power = capability(0x01);
    for (unsigned n = 0; n < 4; n++) {
        config_write(power + kControl, kD3hot);
        enter_l1();
        recover();
        expect((config_read(power + kControl) & 3) == kD3hot, "the card left D3hot by itself");
        config_write(power + kControl, 0);
        set_up();
        registers(5);
    }
}

void hot_reset() {
    up();
    registers(5);
    settle();
    recover(true);
    train();
    flow_control();
    expect(config_read(0x10) == 0, "BAR0 outlives a hot reset");
    set_up();
    transfers(20);
}

void disabled() {
    train(ENABLE_DISABLE);
    flow_control();
    set_up();
    registers(5);
}

// What the card returns is the model's.
void loopback() {
    lane->loopback(true);
    train(ENABLE_LOOPBACK);
    lane->loopback(false);
    expect(lane->echo() >= 0, "the card does not return what the host sends");
    flow_control();
    set_up();
    registers(5);
}

// As a port for PCIe 4.0 and later begins, and DLLPs that the card need not know between transfers.
void features() {
    constexpr int kFeature = 0x02, kFeatures = 250, kScaledFlowControl = 1;
    train();
    for (int n = 0; n < kFeatures; n++)
        SendFC(kFeature, 0, 0, kScaledFlowControl, false, 0);
    flow_control();
    set_up();
    for (unsigned n = 0; n < 10; n++) {
        // Reserved, NOP, vendor; power management that nobody asked for; credits of other virtual channels.
        for (const int type : {0x02, 0x07, 0x15, 0x31, 0x30, 0x20, 0x21, 0x23, 0x24})
            SendPM(type, false, 0);
        for (const int type : {0x82, 0x97, 0x42, 0xd3, 0xa1})
            SendFC(type, 0, 1, 1, false, 0);
        transfers(10);
    }
}

void infinite() {
    train(0, true);
    flow_control();
    set_up();
    transfers(100);
}

void refused() {
    up();
    for (unsigned n = 0; n < 10; n++)
        read(kBar0 - 4096 * (n + 1), 4, CPL_UNSUPPORTED);
    registers(5);
}

void used() {
    up();
    transfers(300);
}

struct Case {
    const char *name;
    void (*run)();
    LaneOptions options;  // shifted, rates, damaged requests, ACKs and completions
};

const Case kCases[] = {{"training and memory, aligned", used, {}},
                       {"training and memory, shifted by a symbol", used, {true}},
                       {"rates of a Gen3 host", used, {false, 0x0e}},
                       {"rates of a Gen4 host", used, {false, 0x1e}},
                       {"rates of a Gen5 host that asks for a speed change", used, {false, 0xbe}},
                       {"configuration space", configuration, {}},
                       {"requests outside of BAR0", refused, {}},
                       {"DMA in both directions, and MSI", dma, {}},
                       {"20 Recoveries", recoveries, {true}},
                       {"damaged TLPs of the host", damaged, {false, -1, 4}},
                       {"damaged ACKs of the host", damaged, {false, -1, 0, 4}},
                       {"damaged completions", damaged, {false, -1, 0, 0, 4}},
                       {"D3hot and L1, four times", sleeps, {true}},
                       {"hot reset", hot_reset, {}},
                       {"Disabled", disabled, {}},
                       {"Loopback", loopback, {}},
                       {"DL_Feature and unknown DLLPs", features, {}},
                       {"infinite credits", infinite, {}}};

// In a process of its own: the model keeps its state in global variables, and ends the process when it fails.
bool run(const Case &which) {
    printf("%-50s ", which.name);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const auto begin = std::chrono::steady_clock::now();
        Lane its(which.options);
        lane = &its;
        which.run();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        printf("pass %7llu symbols %5.0f us %4.1f s; %u TS1, %u TS2, %u TLPs, %u replays, %u NAKs, %u cut; at most %u "
               "symbols to a SKP, %u to an ACK, %u to an UpdateFC; %u damaged\n",
               (unsigned long long)seen().symbols, double(seen().symbols) * 0.004, seconds.count(), seen().ts1,
               seen().ts2, seen().tlps, seen().replays, seen().naks, seen().cut, seen().skp_gap, seen().ack_delay,
               seen().update_gap, its.damaged());
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("FAIL: signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return status == 0;
}

}  // namespace

}  // namespace judge

int main(int argc, char **argv) {
    unsigned good = 0, ran = 0;
    for (const judge::Case &which : judge::kCases)
        if (argc < 2 || strstr(which.name, argv[1]))
            ran++, good += judge::run(which);
    printf("%u of %u cases passed\n", good, ran);
    return good == ran && ran ? 0 : 1;
}
