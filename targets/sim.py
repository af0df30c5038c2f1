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

from pathlib import Path

import environment  # First: starts again in build/venv if LiteX is not here.

from migen import *

from litex.gen import *

from litex.build.generic_platform import GenericPlatform, Pins

from litepcie_soc.board.identity import pci_id, soft_identity
from litepcie_soc.board.user_logic import add_user_logic
from litepcie_soc.board.user_options import NO_USER_LOGIC
from litepcie_soc.build.command_line import run
from litepcie_soc.build.sim_options import check_memory_size, parse_args, usual_clock
from litepcie_soc.common import places
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.link_rates import data_path_rate, link_rate, say_if_slow
from litepcie_soc.common.pcie import check_data_width
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.ddr.sim import SimDRAM
from litepcie_soc.endpoint import SimSerDes, SoftPHY, add_lane_state, soft_sim_io
from litepcie_soc.phy.sim import IDEAL_SPACE, SimPHY, sim_phy_io
from litepcie_soc.soc.export import PinnedMapError, export_headers, export_verilog
from litepcie_soc.soc.soc import LitePCIeSoC

# Of the serial port of a board with the endpoint in gateware: faster than a real one, as time is dear here.
SERIAL_BAUD = 4_000_000

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
    with_ddr     : endpoint memory in DDR3-1600 of 64 bit with LiteDRAM, whose clock is four times ``sys``.
    user         : ``UserOptions``, logic at the user's side of the card.
    processor    : arguments of ``LitePCIeSoC`` for a SoC with a CPU, as a dict.

    Attributes
    ----------
    card : dict, of a derived class: parameters of ``add_litepcie`` for its own logic, such as ``streams``.
    """
    card = {}

    def __init__(self, gen=2, lanes=4, data_width=128, memory_size=64 << 20, sys_clk_freq=None, *,
        phy="shared", endianness="big", tags=64, channels=1, with_ddr=False, completion_space=None, fabric_width=0,
        user=NO_USER_LOGIC, processor=None):
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
            **user.card({"user_bus": soft, **self.card}),  # The lane has registers.
        )
        if soft:
            add_lane_state(self, self.serdes.interface, baud=SERIAL_BAUD)
            self.add_config("PCIE_SERIAL_BAUD", SERIAL_BAUD)
        add_user_logic(self, user)


# Build --------------------------------------------------------------------------------------------


def build(soc, folder, compile_simulator=True, optimize=False):
    """Writes the board into ``folder`` and builds its simulator; returns make's exit status.

    With ``optimize`` the compiler has a profile of the board. Files that are up to date are not touched, and a
    simulator with a profile is up to date for both. A second build of the same folder waits for the first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as lock:
        wait_for(lock)
        soc.finalize()
        export_headers(soc, folder / "software" / "include" / "generated")
        export_verilog(soc, soc.platform, folder / "gateware", "litepcie_soc_sim")
        if not compile_simulator:
            return 0
        make = ["make", "--no-print-directory", "-C", str(places.SIM), f"BOARD={folder.resolve()}",
            f"PROFILE={1 if optimize else ''}"]
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


def load(folder, files=(), share=None, python=False):
    """Replaces this process by the guest runner with a shell in the guest, for the board in ``folder``.

    There is only one process, so a signal always reaches the one that cleans up.
    """
    guest = [sys.executable, "-m", "litepcie_sim.guest", "shell", "--board", str(folder)]
    guest += [f"--file={one}" for one in files] + ["--with-python"]*python
    guest += [f"--share={share}"] if share is not None else []
    sys.stdout.flush()
    os.execv(guest[0], guest)

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    args = parse_args(argv, environment.ROOT / "build")
    logging.basicConfig(level=args.log_level.upper())
    say_if_slow("sim.py", data_path_rate(args.data_width, args.sys_clk_freq), link_rate(args.gen, args.lanes))
    if args.build:
        soc = BaseSoC(args.gen, args.lanes, args.data_width, args.memory_size, args.sys_clk_freq,
            phy=args.phy, endianness=args.endianness, tags=args.tags, channels=args.channels,
            with_ddr=args.with_ddr, completion_space=args.completion_space, fabric_width=args.fabric_width,
            user=args.user)
        try:
            status = build(soc, args.output_dir, compile_simulator=not args.no_compile,
                optimize=args.optimize)
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
        load(args.output_dir, args.file, args.share, args.python)
    return 0


if __name__ == "__main__":
    sys.exit(run(main, "sim.py"))
