#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""ECP5 boards: devices, clocks, the open endpoint instead of a hard block, and the tools that build them."""

import re

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.cores.clock import ECP5PLL

from litepcie_soc.board.board import Board, Memory
from litepcie_soc.board.constraints import add_link_pads
from litepcie_soc.board.identity import pci_id, soft_identity
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.endpoint import (
    ANALOGUE, MODES, RATE_MODES, STATE_BITS, ECP5SerDes, SoftPHY, add_bringup, add_lane_state, check_device,
    check_words, in_bitstream,
)

# Devices ------------------------------------------------------------------------------------------

FAMILIES = {"": "LFE5U", "um-": "LFE5UM", "um5g-": "LFE5UM5G"}


def device_name(name, package="BG381"):
    """Returns Lattice's name of a device that --device names: ``um5g-45k`` or, with a speed grade, ``um-45k-6``.

    Without a speed grade it is 8. ``package`` is that of the board. Raises ``ValueError`` with one line if there is no
    such device, or none with a SerDes whose pins are known.
    """
    found = re.fullmatch(r"(um5g-|um-|)(25|45|85)k(?:-([678]))?", name.lower())
    if found is None:
        raise ValueError(f"--device {name}: no ECP5 has this name; give one such as um5g-45k or um-45k-6")
    family, density, grade = found.groups()
    device = f"{FAMILIES[family]}-{density}F-{grade or 8}{package}C"
    try:
        check_device(device)
    except ValueError as error:
        raise ValueError(f"--device {name}: {error}") from None
    return device

def check_analogue(name, analogue):
    """Raises ``ValueError`` with one line if a set of analogue words is not for a device that --device names."""
    try:
        check_words(device_name(name), analogue)
    except ValueError as error:
        raise ValueError(f"--analogue {analogue} is not supported with --device {name}: {error}") from None

# Clocks -------------------------------------------------------------------------------------------


def constrain_pll(platform, pll):
    """Adds a constraint for each output of a PLL of LiteX to a platform, and returns {net: Hz}.

    nextpnr derives such constraints too, but it gives no error if it does not. It calls the nets by the signals at the
    outputs, so they need names that are known.
    """
    clocks = {}
    for number, (signal, hz, *_) in pll.clkouts.items():
        signal.name_override = name = f"pll_clkout{number}"
        platform.add_platform_command(f'FREQUENCY NET "{name}" {hz / 1e6} MHz;')
        clocks[name] = hz
    return clocks


class ECP5CRG(LiteXModule):
    """Makes ``sys`` from an oscillator of the board.

    Parameters
    ----------
    platform     : LiteX platform.
    sys_clk_freq : Hz of ``sys``. Raises ``ValueError`` if the PLL cannot make it.

    Attributes
    ----------
    clocks : {net: Hz} of the clocks of the PLL.
    """
    def __init__(self, platform, sys_clk_freq):
        self.cd_sys = ClockDomain()

        # # #

        self.pll = pll = ECP5PLL()
        pll.register_clkin(platform.request(platform.default_clk_name), 1e9/platform.default_clk_period)
        pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)
        self.clocks = constrain_pll(platform, pll)

# Board --------------------------------------------------------------------------------------------


def ecp5_board(name, **options):
    """Returns the ``Board`` of a card with the open endpoint, x1; ``options`` are those that differ between boards."""
    return Board(name, **{
        "family":         "ecp5",
        "links":          {(1, 1): {64: 100e6}},
        "link":           (1, 1),
        "memory":         Memory(bram=1 << 16),  # 32 of the 108 block RAMs of a 45F.
        "channels":       2,
        "tags":           32,
        "clocks":         (50e6, 125e6),
        "toolchain":      "trellis",
        "refclks":        tuple(RATE_MODES),
        "check_part":     device_name,
        "analogues":      tuple(ANALOGUE),
        "serdes_modes":   tuple(MODES),
        "check_analogue": check_analogue,
        **options,
    })

# LEDs ---------------------------------------------------------------------------------------------


def state_leds(state, heartbeat):
    """Returns four bits that show a state of the LTSSM: its number, or, blinking, its number less 15 from 16 on."""
    return Mux(state[4], Mux(heartbeat, state[:4] + 1, 0), state[:4])

# Board SoC ----------------------------------------------------------------------------------------


class ECP5BoardSoC(BoardSoC):
    """``BoardSoC`` with the open endpoint on a SerDes channel, built by yosys, nextpnr and Project Trellis.

    The target makes ``crg`` as ``ECP5CRG``.

    Parameters
    ----------
    board, platform, configuration : as in ``BoardSoC``.
    dcu, channel : SerDes channel of the lane.
    """
    output_suffixes = (".v", ".lpf", ".init")  # LiteX's scripts would build without the checks.

    def __init__(self, board, platform, configuration, *, dcu=0, channel=0):
        self.place = dcu, channel
        BoardSoC.__init__(self, board, platform, configuration)

    def make_serdes(self, **options):
        c            = self.configuration
        dcu, channel = self.place
        self.serdes  = ECP5SerDes(self.platform, self.sys_clk_freq, name=add_link_pads(self.platform, c.lanes),
            dcu=dcu, channel=channel, refclk_freq=c.refclk, analogue=c.analogue, mode=c.serdes,
            receiver_detect=c.receiver_detect, **options)

    def make_phy(self):
        c = self.configuration
        self.make_serdes()
        return SoftPHY(self.serdes.interface, bar0_size=BAR0_SIZE, tags=c.tags,
            slot_clock=self.board.slot_clock, **soft_identity(pci_id(self.board.family)))

    def own_card(self):
        return {"user_bus": True, **self.card}  # The lane has registers.

    def add_link(self, memory=None):
        """Adds the link as on every board, and the state of its lane, which a serial port reaches as well.

        The image for bring-up has no more than its SerDes, its link training and a serial port.
        """
        if self.configuration.bringup:
            self.make_serdes(registers=True)
            add_bringup(self, self.serdes)
            return
        BoardSoC.add_link(self, memory)
        add_lane_state(self, self.serdes.interface, self.serdes.view)

    def constrain_link(self, memory):
        """The SerDes has constrained its clocks already. nextpnr takes all clocks as asynchronous to each other."""

    def add_leds(self, pads):
        """Adds LEDs, which are low active: as on every board, then the LTSSM's state, see `state_leds`."""
        lit   = Signal(len(pads))
        state = Signal(STATE_BITS)
        if self.configuration.bringup:
            link      = self.link
            heartbeat = Signal(log2_int(int(self.sys_clk_freq), need_pow2=False))
            self.sync     += heartbeat.eq(heartbeat + 1)
            self.specials += MultiReg(link.link_up, lit[0])
            self.comb     += lit[3].eq(heartbeat[-1])
        else:
            link = self.pcie_phy.endpoint.stack.link
            BoardSoC.add_leds(self, [lit[n] for n in range(4)])
        self.specials += MultiReg(link.ltssm.state, state)
        self.comb     += [lit[4:].eq(state_leds(state, lit[3])), [pad.eq(~lit[n]) for n, pad in enumerate(pads)]]

    def bitstream(self):
        """Returns what the bitstream must be, with the names of ``Design`` in ``gateware/build/trellis.py``."""
        return {
            "device": self.platform.device,
            "clocks": {**self.serdes.clocks, **self.crg.clocks},
            "words":  in_bitstream(self.serdes.channel.words),
            "dcu":    self.place[0],
            "seed":   self.configuration.seed,
            "serdes": f"mode {self.configuration.serdes}, analogue words {self.configuration.analogue}",
        }
