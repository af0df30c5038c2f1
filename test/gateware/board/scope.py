#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A SoC with probes in Verilator, and a 128-bit host on its PHY that LiteScope's own driver can use.

The host answers each read of its memory with one completion, takes writes at random, and reaches registers with
TLPs to BAR0. It also records the ``watched`` signals in every cycle: the probes must have seen the same. A serial
port reads registers as litex_server does.
"""

import subprocess

from migen import *

from litex.gen import *

from litex.build.generic_platform import GenericPlatform, Pins, Subsignal

from litepcie_soc.board.probes import BAUDRATE, add_probes
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.soc.soc import LitePCIeSoC

from test.gateware.verilate import verilate

WIDTH   = 128
CLOCK   = 125e6
LATENCY = 150   # Cycles from a read to its completion: more than the tags of a reader can hide.

# SoC ----------------------------------------------------------------------------------------------


class ScopeSoC(LitePCIeSoC):
    """A SoC like that of a target, with ports instead of pins. `watched(soc)` maps names to expressions to record."""
    def __init__(self, depth, watched):
        io = [("sys_clk", 0, Pins(1)), ("sys_rst", 0, Pins(1)),
            ("serial", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1)))]
        platform = GenericPlatform("none", io + sim_phy_io(WIDTH), name="top")
        LitePCIeSoC.__init__(self, platform, CLOCK)
        self.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst")),
        ]
        self.pcie_phy = SimPHY(WIDTH,
            pads      = {name: platform.request(name) for name, *_ in sim_phy_io(WIDTH)},
            bar0_size = BAR0_SIZE,
        )
        self.add_litepcie(self.pcie_phy, target="probes", gen=2, lanes=4, memory_size=1 << 16, user_bus=True)
        add_probes(self, depth, bridge="serial")

        # # #

        self.watched = watched(self)
        platform.add_extension([("watched", 0, Pins(len(self.watched)))])
        self.comb += platform.request("watched").eq(Cat(*self.watched.values()))

# Host ---------------------------------------------------------------------------------------------

MAIN = r"""
#include "Vtop.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <deque>
#include <vector>

using Beat = std::vector<uint32_t>;                  // Up to four dwords; the last of its TLP.
struct Waiting { uint64_t due; std::vector<Beat> beats; };

static Vtop top;
static uint64_t now;
static uint32_t noise = 1;
static std::vector<uint32_t> memory(1 << 16);        // Memory of the host, in dwords from address 0.
static std::deque<std::vector<Beat>> to_card;        // TLPs on their way; beats of the first one go.
static std::deque<Waiting> later;                    // Completions, by when they are due.
static std::vector<uint32_t> from_card;              // The TLP that is arriving.
static uint32_t answer;
static bool answered;
static std::FILE *trace;

static uint32_t swap(uint32_t value) { return __builtin_bswap32(value); }

static std::vector<Beat> beats_of(const std::vector<uint32_t> &tlp)
{
    std::vector<Beat> beats;
    for (size_t at = 0; at < tlp.size(); at += 4)
        beats.emplace_back(tlp.begin() + at, tlp.begin() + std::min(at + 4, tlp.size()));
    return beats;
}

static void take(const std::vector<uint32_t> &tlp)
{
    uint32_t kind = tlp[0] >> 24, dwords = tlp[0] & 0x3ff;
    if (kind == 0x4a) {                              // Completion of a register read.
        answer   = swap(tlp[3]);
        answered = true;
    } else if (kind == 0x00) {                       // Read of host memory below 4 GiB, in dwords.
        std::vector<uint32_t> done = {0x4a000000 | dwords, dwords * 4,
            (tlp[1] & 0xffffff00) | (tlp[2] & 0x7f)};
        for (uint32_t n = 0; n < dwords; n++)
            done.push_back(swap(memory.at(tlp[2] / 4 + n)));
        later.push_back({now + @LATENCY@, beats_of(done)});
    }
}

static void cycle()
{
    if (!later.empty() && later.front().due <= now) {
        to_card.push_back(later.front().beats);
        later.pop_front();
    }
    const bool sending = !to_card.empty();
    static size_t at;
    top.rx_valid = sending;
    if (sending) {
        const std::vector<Beat> &tlp = to_card.front();
        top.rx_first = at == 0;
        top.rx_last  = at + 1 == tlp.size();
        top.rx_be    = 0;
        for (size_t n = 0; n < 4; n++) {
            top.rx_dat[n] = n < tlp[at].size() ? tlp[at][n] : 0;
            top.rx_be |= (n < tlp[at].size() ? 0xf : 0) << 4 * n;
        }
    }
    noise = noise * 1664525 + 1013904223;
    top.tx_ready = (noise >> 28) < 9;
    top.sys_clk  = 0;
    top.eval();
    uint64_t word = top.watched;
    std::fwrite(&word, 8, 1, trace);
    if (sending && top.rx_ready && ++at == to_card.front().size()) {
        to_card.pop_front();
        at = 0;
    }
    if (top.tx_valid && top.tx_ready) {
        for (int n = 0; n < 4; n++)
            if (top.tx_be >> 4 * n & 0xf)
                from_card.push_back(top.tx_dat[n]);
        if (top.tx_last) {
            take(from_card);
            from_card.clear();
        }
    }
    top.sys_clk = 1;
    top.eval();
    now++;
}

// A byte over the serial port: a start bit, eight bits with the least significant first, a stop bit.

static void bit_time(double bits)
{
    for (int n = 0; n < bits * @BIT@; n++)
        cycle();
}

static void serial_send(uint32_t byte)
{
    for (uint32_t bits = byte << 1 | 0x200, n = 0; n < 10; n++) {
        top.serial_rx = bits >> n & 1;
        bit_time(1);
    }
}

static uint32_t serial_receive()
{
    uint32_t byte = 0;
    for (int n = 0; n < 100 * @BIT@ && top.serial_tx; n++)
        cycle();
    bit_time(0.5);
    for (int n = 0; n < 8; n++) {
        bit_time(1);
        byte |= top.serial_tx << n;
    }
    bit_time(1);
    return byte;
}

int main(int, char **argv)
{
    trace = std::fopen(argv[1], "wb");
    top.phy_id                = 0x0100;
    top.phy_max_payload_size  = 128;
    top.phy_max_request_size  = 128;
    top.phy_bus_master_enable = 1;
    top.phy_link_up           = 1;
    top.msi_ready             = 1;
    top.serial_rx             = 1;
    char what;
    unsigned long address, value;
    while (std::scanf(" %c %lx %lx", &what, &address, &value) == 3) {
        uint32_t place = address;
        if (what == 'm') {                           // Host memory.
            memory.at(address / 4) = value;
        } else if (what == 'n') {                    // Cycles.
            for (unsigned long n = 0; n < value; n++)
                cycle();
        } else if (what == 'w') {                    // A register.
            to_card.push_back(beats_of({0x40000001, 0x0008000f, place, swap(value)}));
            for (int n = 0; n < 40; n++)
                cycle();
        } else if (what == 's') {                    // A register, by LiteX's bridge.
            for (uint32_t byte : {2u, 1u, place >> 26, place >> 18 & 0xff, place >> 10 & 0xff, place >> 2 & 0xff})
                serial_send(byte);
            uint32_t found = 0;
            for (int n = 0; n < 4; n++)
                found = found << 8 | serial_receive();
            std::printf("%x\n", found);
            std::fflush(stdout);
        } else {
            to_card.push_back(beats_of({0x00000001, 0x00085a0f, place}));
            answered = false;
            for (int n = 0; n < 2000 && !answered; n++)
                cycle();
            std::printf(answered ? "%x\n" : "none\n", answer);
            std::fflush(stdout);
        }
    }
    std::fclose(trace);
}
"""


class Host:
    """Builds a `ScopeSoC` in `folder` and runs it; `with` ends it."""
    def __init__(self, folder, soc):
        self.folder = folder
        verilog = soc.platform.get_verilog(soc, name="top")
        verilog.write(str(folder / "top.v"))  # With the contents of memories, which the model reads.
        main  = MAIN.replace("@LATENCY@", str(LATENCY)).replace("@BIT@", str(round(CLOCK/BAUDRATE)))
        self.model = verilate({"top.v": verilog.main_source, "main.cpp": main})

    def __enter__(self):
        self.process = subprocess.Popen([self.model.path, "trace.bin"], cwd=self.folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def tell(self, what, address, value):
        self.process.stdin.write(f"{what} {address:x} {value:x}\n")
        self.process.stdin.flush()

    def cycles(self, number):
        self.tell("n", 0, number)

    def memory(self, address, value):
        self.tell("m", address, value)

    def read_serial(self, address):
        self.tell("s", address, 0)
        return int(self.process.stdout.readline(), 16)

    # The same functions as LiteX's RemoteClient, which LiteScope's driver uses.

    def write(self, address, values):
        for n, value in enumerate(values if isinstance(values, list) else [values]):
            self.tell("w", address + 4*n, value)

    def read(self, address, length=None, burst="incr"):
        found = []
        for n in range(length or 1):
            self.tell("r", address + 4*n*(burst == "incr"), 0)
            found.append(int(self.process.stdout.readline(), 16))
        return found[0] if length is None else found
