#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The simulated board: the SoC on a simulated link to a virtual machine.

    ./targets/sim.py --build          writes Verilog and headers, builds the simulator
    ./targets/sim.py --load           boots the guest and gives a shell in it
"""

import fcntl
import logging
import os
import subprocess
import sys

from argparse import ArgumentTypeError
from pathlib import Path

import environment  # First: starts again in build/venv if LiteX is not here.

from migen import *

from litex.gen import *

from litex.build.generic_platform import GenericPlatform, Pins
from litex.soc.cores.timer import Timer
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import stream, wishbone
from litex.soc.interconnect.csr import CSRStatus, CSRStorage

from litepcie_soc.board.identity import pci_id, soft_identity
from litepcie_soc.build.command_line import Parser, run, size
from litepcie_soc.build.simulation import build_name
from litepcie_soc.common.abi import BAR0_SIZE, MAX_CHANNELS, WINDOW_MAX
from litepcie_soc.common import places
from litepcie_soc.common.link_rates import data_path_rate, default_clock, link_rate, say_if_slow
from litepcie_soc.common.pcie import DATA_WIDTHS, check_data_width
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.ddr.sim import CLOCK_HZ as DDR_CLOCK_HZ
from litepcie_soc.ddr.sim import SimDRAM, check_ddr
from litepcie_soc.phy.sim import IDEAL_SPACE, SimPHY, sim_phy_io
from litepcie_soc.phy.soft.phy import SoftPHY
from litepcie_soc.phy.soft.simulation import SimSerDes, soft_sim_io
from litepcie_soc.soc.export import PinnedMapError, export_headers, export_verilog
from litepcie_soc.soc.host_copier import HostCopier
from litepcie_soc.soc.host_mover import HostMover
from litepcie_soc.soc.soc import TAGS, LitePCIeSoC
from litepcie_soc.stream_dma.pattern import PatternEnds

# What --completion-space allows: completions, and bytes of their data.
COMPLETIONS      = range(16, 4096 + 1)
COMPLETION_BYTES = range(1024, (1 << 20) + 1)

# Of the user's bus: bytes that the host reaches, and the place of a RAM. There is nothing behind the RAM.
USER_BYTES     = 256 << 10
USER_RAM       = 64 << 10
USER_RAM_BYTES = 16 << 10

# Of the user core: buffers in host memory.
HOST_BUFFERS = 4

# Platform -----------------------------------------------------------------------------------------

_io = [
    ("sys_clk", 0, Pins(1)),
    ("sys_rst", 0, Pins(1)),
]


class Platform(GenericPlatform):
    """Platform with top-level ports instead of pins; ``io``: those of the PHY."""
    def __init__(self, io):
        GenericPlatform.__init__(self, "sim", _io + io, name="litepcie_soc_sim")

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform):
        self.cd_sys = ClockDomain()

        # # #

        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst")),
        ]

# User Core ----------------------------------------------------------------------------------------


class UserCore(LiteXModule):
    """What a designer might add: registers, a RAM on the bus of the SoC, a timer, interrupts.

    Registers
    ---------
    operand : 32 bits.
    result  : 32 bits, ``operand`` with its bits inverted.
    level   : 1 bit, the interrupt of this name.
    pulse   : a write makes a pulse of a cycle, the interrupt of this name.
    storm   : 1 bit, the interrupt of this name, which then has a pulse in each cycle.

    Those of ``timer`` are LiteX's; its EventManager has the interrupt "timer".

    Attributes
    ----------
    bus        : wishbone.Interface, slave: the RAM.
    interrupts : list of (name, source, pulse) for ``add_interrupt``.
    """
    def __init__(self, ram_bytes):
        self.operand = CSRStorage(32, description="A value.")
        self.result  = CSRStatus(32, description="The value with its bits inverted.")
        self.ram     = wishbone.SRAM(ram_bytes)
        self.bus     = self.ram.bus
        self.level   = CSRStorage(description="Level of an interrupt.")
        self.pulse   = CSRStorage(description="A write makes a pulse.")
        self.storm   = CSRStorage(description="A pulse in each cycle.")
        self.timer   = Timer()
        self.interrupts = [
            ("level", self.level.storage,  False),
            ("pulse", self.pulse.re,       True),
            ("storm", self.storm.storage,  True),
            ("timer", self.timer.ev.irq,   False),
        ]

        # # #

        self.comb += self.result.status.eq(~self.operand.storage)


# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(LitePCIeSoC):
    """SoC of the simulated board.

    Parameters
    ----------
    gen, lanes   : link.
    data_width   : width of the data path in bits.
    memory_size  : size of the endpoint memory in bytes, a power of two and at least the size of the window.
    sys_clk_freq : Hz. None: the slowest usual clock that keeps up with the link.
    phy          : "shared": one pair of streams as on 7-series; "split": four streams as on UltraScale; "soft": the
        endpoint in gateware, over the symbols of a SerDes.
    endianness   : "big" or "little": byte order of payload dwords at the PHY.
    tags         : number of requests that all channels can have outstanding.
    channels     : number of memory channels.
    completion_space  : completions, and bytes of their data, that the hard block holds. None: an ideal one.
    fabric_width : bits of a hard block with a completion buffer in the fabric, as on UltraScale; only with "split".
    streams      : number of stream channels; each is looped back.
    patterns     : of these, how many of the last ones have a pattern source and checker instead (``PatternEnds``).
    with_ddr     : endpoint memory in DDR3-1600 of 64 bit with LiteDRAM, whose clock is four times ``sys``.
    user_core    : a ``UserCore`` on the bus of the SoC, of which the host reaches 256 KiB, a ``HostCopier``
        and a ``HostMover``.
    user_bus     : range of the bus that the host reaches, as for ``add_litepcie``; not with ``user_core``.
    loops        : False: a derived class connects ``self.streams`` to logic of its own.
    processor    : arguments of ``LitePCIeSoC`` for a SoC with a CPU, as a dict.
    """
    def __init__(self, gen=2, lanes=4, data_width=128, memory_size=64 << 20, sys_clk_freq=None, *,
        phy="shared", endianness="big", tags=64, channels=1, streams=0, with_ddr=False, completion_space=None,
        fabric_width=0, patterns=0, user_core=False, user_bus=None, loops=True, processor=None):
        check_data_width(data_width)
        check_memory_size(memory_size)
        soft         = phy == "soft"
        split        = phy == "split"
        io           = soft_sim_io() if soft else sim_phy_io(data_width, split, msix=True)
        platform     = Platform(io)
        sys_clk_freq = sys_clk_freq or usual_clock(gen, lanes, data_width, with_ddr)

        # CRG --------------------------------------------------------------------------------------
        self.crg = _CRG(platform)

        # SoC --------------------------------------------------------------------------------------
        LitePCIeSoC.__init__(self, platform, sys_clk_freq, **processor or {})

        # Memory -----------------------------------------------------------------------------------
        memory = None
        if with_ddr:
            self.sdram = SimDRAM(memory_size, clk_freq=sys_clk_freq)
            memory     = DRAMMemory(memory_size, data_width, self.sdram.crossbar)

        # PCIe -------------------------------------------------------------------------------------
        if soft:
            self.serdes   = SimSerDes(platform)
            self.pcie_phy = SoftPHY(self.serdes.interface, bar0_size=BAR0_SIZE, tags=tags,
                **soft_identity(pci_id("ecp5")))
            self.add_config("PCIE_PHY_SOFT", 1)
        else:
            self.pcie_phy = SimPHY(data_width,
                pads              = {name: platform.request(name) for name, *_ in io},
                split             = split,
                endianness        = endianness,
                bar0_size         = BAR0_SIZE,
                completion_space  = completion_space or IDEAL_SPACE,
                fabric_width      = fabric_width,
                msix              = True,
            )
        self.add_litepcie(self.pcie_phy,
            target      = f"sim gen{gen} x{lanes} {data_width} bit" + " ddr" * with_ddr,
            gen         = gen,
            lanes       = lanes,
            memory_size = memory_size,
            memory      = memory,
            tags        = tags,
            channels    = channels,
            streams     = streams,
            pci_id      = pci_id("ecp5" if soft else "sim"),
            # For the checkers' registers, or all of the user core.
            user_bus    = {"origin": 0, "size": USER_BYTES} if user_core else user_bus or patterns > 0,
            host_buffers = HOST_BUFFERS if user_core else 0,
            host_descriptors = user_core,
        )
        if user_core:
            self.core = UserCore(USER_RAM_BYTES)
            self.bus.add_slave("ram", self.core.bus, SoCRegion(origin=USER_RAM, size=USER_RAM_BYTES))
            host = self.litepcie.host
            self.user_copier = HostCopier(log2_int(host.bytes))
            self.comb += self.user_copier.bus.connect(host.bus)
            port = self.litepcie.descriptor_port
            self.user_mover = HostMover(port)
            self.comb += [self.user_mover.source.connect(port.sink), port.source.connect(self.user_mover.sink)]
            # Programs of the tests know their addresses, whatever else the board has.
            for page, name in enumerate(("core", "user_copier", "user_mover")):
                self.csr.add(name, n=page)
            for name, source, pulse in [*self.core.interrupts, ("copied", self.user_copier.done, True)]:
                self.litepcie.add_interrupt(name, source, pulse)

        # Streams ----------------------------------------------------------------------------------
        for place, channel in enumerate(self.streams if loops else []):
            if place >= streams - patterns:
                ends = PatternEnds(data_width)
                self.add_module(f"pattern{place}", ends)
                self.comb += [channel.source.connect(ends.sink), ends.source.connect(channel.sink)]
                continue
            loop = stream.SyncFIFO(channel.sink.description, 16)
            self.submodules += loop
            self.comb += [channel.source.connect(loop.sink), loop.source.connect(channel.sink)]


def usual_clock(gen, lanes, data_width, with_ddr):
    """Returns the default clock in Hz: the slowest that keeps up with the link, or the DDR controller's clock."""
    return DDR_CLOCK_HZ if with_ddr else default_clock(gen, lanes, data_width)


def check_memory_size(size):
    """Raises ``ValueError`` if the simulation does not support this size of the endpoint memory."""
    if size & (size - 1) or not WINDOW_MAX <= size <= 1 << 30:
        raise ValueError(f"memory size must be a power of two from {WINDOW_MAX} (the window) to "
            f"{1 << 30}, not {size}")

# Build --------------------------------------------------------------------------------------------


def build(soc, folder, compile_simulator=True):
    """Writes the board into ``folder`` and builds its simulator; returns make's exit status.

    Files that are up to date are not touched. A second build of the same folder waits for the first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as lock:
        wait_for(lock)
        soc.finalize()
        export_headers(soc, folder / "software" / "include" / "generated")
        export_verilog(soc, soc.platform, folder / "gateware", "litepcie_soc_sim")
        if not compile_simulator:
            return 0
        make = ["make", "--no-print-directory", "-C", str(places.SIM), f"BOARD={folder.resolve()}"]
        if places.INSTALLED:
            make += [f"SOFTWARE={places.SOFTWARE}", f"MODEL={places.BUILD / 'sim_model'}"]
        return subprocess.run(make).returncode


def wait_for(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"sim.py: waiting for another build of {Path(lock.name).parent}",
            file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)


def load(folder):
    """Replaces this process by the guest runner with a shell in the guest, for the board in ``folder``.

    There is only one process, so a signal always reaches the one that cleans up.
    """
    guest = [sys.executable, "-m", "litepcie_sim.guest", "shell", "--board", str(folder)]
    sys.stdout.flush()
    os.execv(guest[0], guest)

# Main ---------------------------------------------------------------------------------------------


def parse_args(argv):
    parser = Parser(description="LitePCIe SoC in simulation.")
    target = parser.add_argument_group(title="Target options")
    target.add_argument("--build", action="store_true", help="Build design and simulator.")
    target.add_argument("--load",  action="store_true", help="Boot the guest and open a shell in it.")
    target.add_argument("--gen",   type=int, choices=[1, 2, 3], help="Generation of the link (2; soft: 1).")
    target.add_argument("--lanes", type=int, choices=[1, 2, 4, 8, 16], help="Lanes of the link (4; soft: 1).")
    target.add_argument("--data-width", type=int, choices=DATA_WIDTHS,
        help="Width of the data path in bits (128; soft: 64).")
    target.add_argument("--phy", default="shared", choices=["shared", "split", "soft"],
        help="Streams of the PHY: one pair, or separate ones for requests and completions; or the endpoint in "
            "gateware, symbol by symbol, for litepcie_host only (shared).")
    target.add_argument("--endianness", default="big", choices=["big", "little"],
        help="Byte order of payload dwords at the PHY (big).")
    target.add_argument("--tags", type=int, choices=TAGS,
        help="Requests that all channels can have outstanding; more than 32 need Extended Tags (64; soft: 32).")
    target.add_argument("--channels", default=1, type=int, choices=range(1, MAX_CHANNELS + 1),
        help="Memory channels, each with a reader and a writer; at most 7 together with the streams (1).")
    target.add_argument("--completion-space", type=space_of, metavar="N,BYTES",
        help="Completions, and bytes of their data, that the hard block holds (ideal: it limits no read).")
    target.add_argument("--fabric-width", default=0, type=int, choices=[0, 128, 256, 512],
        help="Width of a hard block with a completion buffer in the fabric, as on UltraScale; needs --phy split (0).")
    target.add_argument("--streams", default=0, type=int, choices=range(MAX_CHANNELS),
        help="Stream channels, looped back (0).")
    target.add_argument("--patterns", default=0, type=int, choices=range(MAX_CHANNELS),
        help="Of these, how many of the last ones have a pattern source and a checker instead of the loop (0).")
    target.add_argument("--user-core", action="store_true",
        help="Registers and a RAM of a user on the bus of the SoC, as /dev/litepcie0_user.")
    target.add_argument("--with-ddr", action="store_true",
        help="Endpoint memory in simulated DDR3-1600 of 64 bit with LiteDRAM, instead of block RAM.")
    target.add_argument("--memory-size", default=64 << 20, type=size, metavar="BYTES",
        help="Size of the endpoint memory, a power of two from 1 MiB to 1 GiB (64 MiB).")
    target.add_argument("--sys-clk-freq", type=float, metavar="HZ",
        help="Clock of the data path (125e6 if that keeps up with the link, else 250e6; 200e6 with DDR; soft: 100e6).")
    builder = parser.add_argument_group(title="Builder options")
    builder.add_argument("--output-dir", type=Path, metavar="DIR",
        help="Build folder (named after the options: build/sim_gen2_x4_128).")
    builder.add_argument("--no-compile", action="store_true",
        help="Write Verilog and headers, but do not build the simulator.")
    logs = parser.add_argument_group(title="Logging options")
    logs.add_argument("--log-level", default="warning",
        choices=["debug", "info", "warning", "error"], help="Level of LiteX's messages (warning).")
    args = parser.parse_args(argv)
    check_args(parser, args)
    return args


def space_of(text):
    """Returns ``N,BYTES`` of the option --completion-space as two numbers."""
    words = text.split(",")
    if len(words) == 2 and all(word.isdecimal() for word in words):
        completions, data = map(int, words)
        if completions in COMPLETIONS and data in COMPLETION_BYTES:
            return completions, data
    raise ArgumentTypeError(f"{text!r} is not supported; give {COMPLETIONS[0]} to {COMPLETIONS[-1]} completions and "
        f"{COMPLETION_BYTES[0]} to {COMPLETION_BYTES[-1]} bytes, as in 72,13600")


# Defaults of a simulated card with a hard block, and with the endpoint in gateware, which has no others.
USUAL = {"gen": 2, "lanes": 4, "data_width": 128, "tags": 64}
SOFT  = {"gen": 1, "lanes": 1, "data_width": 64,  "tags": 32}

SOFT_CLOCK  = 100e6
SOFT_CLOCKS = (50e6, 250e6)


def fill_in(parser, args):
    """Sets the options that were not given."""
    soft = args.phy == "soft"
    for name, value in (SOFT if soft else USUAL).items():
        if getattr(args, name) is None:
            setattr(args, name, value)
        elif soft and getattr(args, name) != value:
            parser.error(f"argument --{name.replace('_', '-')}: {getattr(args, name)} is not supported with "
                f"--phy soft, which has {value}")
    if not soft:
        return
    for name, given in (("--with-ddr", args.with_ddr), ("--completion-space", args.completion_space),
        ("--load", args.load), ("--endianness little", args.endianness == "little")):
        if given:
            parser.error(f"argument {name}: not supported with --phy soft")
    args.sys_clk_freq = SOFT_CLOCK if args.sys_clk_freq is None else args.sys_clk_freq
    if not SOFT_CLOCKS[0] <= args.sys_clk_freq <= SOFT_CLOCKS[1]:
        parser.error(f"argument --sys-clk-freq: {args.sys_clk_freq:g} is not from 50e6 to 250e6 Hz, as --phy soft "
            "needs")


def check_args(parser, args):
    fill_in(parser, args)
    if args.fabric_width and args.phy != "split":
        parser.error("argument --fabric-width: not supported with --phy shared; add --phy split")
    if args.fabric_width not in (0, args.data_width, args.data_width//2):
        parser.error(f"argument --fabric-width: {args.fabric_width} is not supported with --data-width "
            f"{args.data_width}; give the same width or half of it")
    if not (args.build or args.load):
        parser.error("nothing to do; give --build, --load or both (see --help)")
    if args.sys_clk_freq is None:
        args.sys_clk_freq = usual_clock(args.gen, args.lanes, args.data_width, args.with_ddr)
    if not 1e6 <= args.sys_clk_freq <= 1e9:
        parser.error(f"argument --sys-clk-freq: {args.sys_clk_freq:g} is not from 1e6 to 1e9 Hz")
    try:
        check_memory_size(args.memory_size)
    except ValueError as error:
        parser.error(f"argument --memory-size: {error}")
    if args.channels + args.streams > MAX_CHANNELS:
        parser.error(f"argument --channels: {args.channels} with {args.streams} streams is more than {MAX_CHANNELS}")
    if args.patterns > args.streams:
        parser.error(f"argument --patterns: {args.patterns} is more than the {args.streams} streams")
    if args.with_ddr:
        try:
            check_ddr(args.sys_clk_freq)
        except ValueError as error:
            parser.error(f"argument --sys-clk-freq: {error}")
    if args.output_dir is None:
        args.output_dir = environment.ROOT / "build" / build_name(args.gen, args.lanes, args.data_width, args.phy,
            args.endianness, args.tags, args.streams, args.with_ddr, args.channels, args.completion_space,
            args.fabric_width, args.patterns, args.user_core)


def main(argv=None):
    args = parse_args(argv)
    logging.basicConfig(level=args.log_level.upper())
    say_if_slow("sim.py", data_path_rate(args.data_width, args.sys_clk_freq), link_rate(args.gen, args.lanes))
    if args.build:
        soc = BaseSoC(args.gen, args.lanes, args.data_width, args.memory_size, args.sys_clk_freq,
            phy=args.phy, endianness=args.endianness, tags=args.tags, channels=args.channels,
            streams=args.streams, with_ddr=args.with_ddr, completion_space=args.completion_space,
            fabric_width=args.fabric_width, patterns=args.patterns, user_core=args.user_core)
        try:
            status = build(soc, args.output_dir, compile_simulator=not args.no_compile)
        except PinnedMapError as error:
            print(f"sim.py: {error}", file=sys.stderr)
            return 1
        if status:
            return status
    if args.load:
        if not (args.output_dir / "simulator" / "litepcie_simulator").exists():
            print(f"sim.py: no simulator in {args.output_dir}; add --build to build it",
                file=sys.stderr)
            return 1
        load(args.output_dir)
    return 0


if __name__ == "__main__":
    sys.exit(run(main, "sim.py"))
