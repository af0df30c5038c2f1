// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A host by the interface of pcievhost's model. The model calls VWrite and VRead for each symbol, which a Verilog
// simulator answers otherwise.
#include "host.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <unistd.h>

extern "C" {
#include "ltssm.h"
}

namespace judge {

Lane *lane = nullptr;

namespace {

constexpr int kNode = 0, kLink = 0x5a, kNFts = 32;
constexpr unsigned kRequester = 0x0008, kCard = 0x0100;  // bus 1, device 0, function 0
constexpr unsigned kQuiet = 1500, kTraining = 8, kAfterFirst = 16, kInitFcSet = 24, kPolling = 1024;
// A TLP that the host did not acknowledge comes again before.
constexpr uint64_t kReplayed = 1500;

std::vector<Bytes> completions;
unsigned enter_l1_dllps = 0, tag = 0;
bool numbered = false;  // the card, by a write to its configuration space

void received(pPkt_t packet, int status, void *) {
    const PktData_t *data = packet->data;
    if (packet->seq == DLLP_SEQ_ID) {
        enter_l1_dllps += data[1] == DL_PM_ENTER_L1;
    } else if (status == PKT_STATUS_GOOD) {
        Bytes bytes;
        for (unsigned n = 3; data[n] != END; n++)
            bytes.push_back(uint8_t(data[n]));
        bytes.resize(bytes.size() - 4);
        if (bytes[0] == TL_CPL || bytes[0] == TL_CPLD)
            completions.push_back(bytes);
    }
    DISCARD_PACKET(packet);
}

unsigned count(int kind) {
    uint32_t counts[MAX_LINK_WIDTH];
    ReadEventCount(kind, counts, kNode);
    return counts[0];
}

std::vector<PktData_t> symbols(const Bytes &data) { return {data.begin(), data.end()}; }

}  // namespace

void expect(bool right, const std::string &what) {
    if (right)
        return;
    printf("FAIL: %s, at symbol %llu\n", what.c_str(), (unsigned long long)seen().symbols);
    fflush(stdout);
    _exit(1);
}

void train(int tests, bool infinite_credits) {
    lane->host_idle(true);
    InitialisePcie(received, nullptr, kNode);
    const std::pair<config_t, int> settings[] = {{CONFIG_LTSSM_LINKNUM, kLink},
                                                 {CONFIG_LTSSM_N_FTS, kNFts},
                                                 {CONFIG_LTSSM_DETECT_QUIET_TO, int(kQuiet)},
                                                 {CONFIG_LTSSM_FORCE_TESTS, tests}};
    for (const auto &[option, value] : settings)
        ConfigurePcieLtssm(option, value, kNode);
    if (infinite_credits)
        for (const config_t pool : {CONFIG_POST_HDR_CR, CONFIG_POST_DATA_CR, CONFIG_NONPOST_HDR_CR,
                                    CONFIG_NONPOST_DATA_CR, CONFIG_CPL_HDR_CR, CONFIG_CPL_DATA_CR})
            ConfigurePcie(pool, 0, kNode);
    // The card may begin first, and its InitFC1 would take the model past its own.
    ConfigurePcie(CONFIG_DISABLE_FC, 0, kNode);
    const unsigned before = seen().ts1;
    InitLink(1, kNode);
    expect(seen().ts1 - before >= kPolling, "fewer TS1 than Polling.Active has");
    numbered = false;
}

// The model leaves FC_INIT2 only if it sees the last InitFC1 and the first InitFC2 of the card whole. It does when its
// own first InitFC1 crosses one of the card.
void flow_control() {
    const unsigned &begun = seen().init1;
    const auto next = [&] {
        for (const unsigned before = begun; begun == before;)
            idle(1);
    };
    next();
    idle(kInitFcSet);
    ConfigurePcie(CONFIG_ENABLE_FC, 0, kNode);
    next();
    InitFc(kNode);
}

void idle(unsigned count) { SendIdle(int(count), kNode); }

void settle() {
    while (seen().symbols - seen().last_tlp < kReplayed)
        idle(1);
}

// PCIe 2.1 4.2.6.4 and 4.2.6.11.
void recover(bool hot_reset) {
    const auto send = [](int kind, int control) { SendTs(kind, 0, kLink, kNFts, control, false, kNode); };
    ResetEventCount(TS1_ID, kNode);
    ResetEventCount(TS2_ID, kNode);
    while (count(TS1_ID) + count(TS2_ID) < kTraining)
        send(TS1_ID, 0);
    ResetEventCount(TS2_ID, kNode);
    for (unsigned sent = 0; sent < kAfterFirst || count(TS2_ID) < kTraining; sent += count(TS2_ID) > 0)
        send(TS2_ID, 0);
    if (hot_reset) {
        TS_t last;
        do {
            send(TS1_ID, TS_CNTL_HOT_RESET);
            last = GetTS(0, kNode);
        } while (!(last.control & TS_CNTL_HOT_RESET));
        lane->host_idle(true);
        while (!lane->card_idle())
            idle(1);
        return;
    }
    ResetEventCount(0, kNode);
    for (unsigned sent = 0; sent < kAfterFirst || count(0) < kTraining; sent += count(0) > 0)
        idle(1);
}

// The model uses tags below 255.
static int new_tag() { return int(tag = tag % 254 + 1); }

void enter_l1() {
    for (enter_l1_dllps = 0; !enter_l1_dllps;)
        idle(1);
    for (ResetEventCount(IDL, kNode); !count(IDL);)
        SendPM(DL_PM_REQ_ACK, false, kNode);
    SendOs(IDL, kNode);
    lane->host_idle(true);
    idle(5000);
    expect(lane->card_idle(), "the card's lane is not idle in L1");
    lane->host_idle(false);
}

// Completions of the request with `tag` (PCIe 2.1 2.2.9 and 2.3.1.1).
static Bytes complete(unsigned bytes, unsigned lower_address, unsigned status, bool config) {
    Bytes data;
    for (unsigned left = bytes; left;) {
        while (completions.empty())
            idle(1);
        const Bytes tlp = completions.front();
        completions.erase(completions.begin());
        if (tlp[10] != tag)  // a replay that the model takes again
            continue;
        const unsigned dwords = (tlp[2] & 3) << 8 | tlp[3], left_now = (tlp[6] & 15) << 8 | tlp[7];
        const bool with_data = tlp[0] == TL_CPLD;
        expect(tlp[6] >> 5 == int(status), "a completion with status " + std::to_string(tlp[6] >> 5));
        expect((tlp[8] << 8 | tlp[9]) == int(kRequester), "a completion with another requester");
        // The card learns its number from the first write (2.2.6.2).
        expect((tlp[4] << 8 | tlp[5]) == int(numbered ? kCard : 0), "a completion of another function");
        expect(left_now == left, "a completion with a wrong byte count");
        if (!with_data)
            return {};
        const unsigned first = lower_address & 3, given = std::min(left, 4 * dwords - first);
        expect(tlp.size() == 12 + 4 * dwords, "a completion with a wrong length");
        expect(config || (tlp[11] & 0x7f) == (lower_address & 0x7f), "a completion with a wrong lower address");
        // Only at a multiple of 64 may a completion end before the last byte.
        expect(given == left || (lower_address + given) % 64 == 0, "a completion that ends inside of an RCB");
        data.insert(data.end(), tlp.begin() + 12 + first, tlp.begin() + 12 + first + given);
        left -= given, lower_address += given;
    }
    return data;
}

uint32_t config_read(unsigned offset) {
    CfgReadDigest(kCard << 16 | offset, 4, new_tag(), kRequester, false, false, kNode);
    const Bytes data = complete(4, 0, CPL_SUCCESS, true);
    return data[0] | data[1] << 8 | data[2] << 16 | uint32_t(data[3]) << 24;
}

void config_write(unsigned offset, uint32_t value) {
    const PktData_t data[4] = {PktData_t(value & 0xff), PktData_t(value >> 8 & 0xff), PktData_t(value >> 16 & 0xff),
                               PktData_t(value >> 24)};
    CfgWriteDigest(kCard << 16 | offset, data, 4, new_tag(), kRequester, false, false, kNode);
    numbered = true;
    complete(4, 0, CPL_SUCCESS, true);
}

unsigned capability(unsigned id) {
    for (unsigned at = config_read(0x34) & 0xfc; at;) {
        const uint32_t header = config_read(at);
        if ((header & 0xff) == id)
            return at;
        at = header >> 8 & 0xfc;
    }
    expect(false, "no capability " + std::to_string(id));
    return 0;
}

void set_up() {
    config_write(0x10, kBar0);
    const unsigned express = capability(0x10), message = capability(0x05);
    config_write(express + 8, 0);
    config_write(message + 4, kMessage);
    config_write(message + 8, 0);
    config_write(message + 12, kMessageData);
    config_write(message, 1 << 16);
    config_write(0x04, 6);
}

Bytes read(uint32_t address, unsigned bytes, unsigned status) {
    MemReadDigest(address, int(bytes), new_tag(), kRequester, false, false, kNode);
    return complete(bytes, address, status, false);
}

void write(uint32_t address, const Bytes &data) {
    MemWriteDigest(address, symbols(data).data(), int(data.size()), 0, kRequester, false, false, kNode);
}

uint32_t read_dword(uint32_t address) {
    const Bytes data = read(address, 4);
    return data[0] | data[1] << 8 | data[2] << 16 | uint32_t(data[3]) << 24;
}

void write_dword(uint32_t address, uint32_t value) {
    write(address, {uint8_t(value), uint8_t(value >> 8), uint8_t(value >> 16), uint8_t(value >> 24)});
}

}  // namespace judge

using judge::lane;

extern "C" int model_says(const char *format, ...) {
    char text[512];
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    if (const char *error = strstr(text, "***Error"))
        judge::expect(false, "the model says: " + std::string(error).substr(0, strcspn(error, "\n")));
    return length;
}

extern "C" int VWrite(unsigned address, unsigned data, int, unsigned) {
    judge::expect(address < PVH_STOP, "the model gave up");
    if (address == LINK_STATE)
        lane->host_idle(data & 1);
    if (address != LINKADDR0)
        return 0;
    const int came = int(lane->exchange(data));
    judge::expect(lane->monitor().fault().empty(), lane->monitor().fault());
    judge::expect(judge::seen().symbols < lane->options.most_symbols, "no end");
    return came;
}

extern "C" int VRead(unsigned address, unsigned *data, int, unsigned) {
    *data = address == LINK_STATE ? 0xfffe | lane->card_idle() : address == LANESADDR || address == DISABLE_8B10B;
    return 0;
}
