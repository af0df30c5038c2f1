#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""ECP5 boards: devices, clocks, the open endpoint in the place of a hard block, and the tools that build them."""

import re

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.cores.clock import ECP5PLL

from litepcie_soc.board.identity import pci_id, soft_identity
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.phy.ecp5.pads import PACKAGE, check_device
from litepcie_soc.phy.ecp5.serdes import ECP5SerDes
from litepcie_soc.phy.ecp5.words import in_bitstream
from litepcie_soc.phy.soft.phy import SoftPHY

# Devices ------------------------------------------------------------------------------------------

FAMILIES = {"": "LFE5U", "um-": "LFE5UM", "um5g-": "LFE5UM5G"}


def device_name(name):
    """Returns Lattice's name of a device that --device names: ``um5g-45k`` or, with a speed grade, ``um-45k-6``.

    Without a speed grade it is 8. Raises ``ValueError`` with one line if there is no such device, or none with a SerDes
    whose pins are known.
    """
    found = re.fullmatch(r"(um5g-|um-|)(25|45|85)k(?:-([678]))?", name.lower())
    if found is None:
        raise ValueError(f"--device {name}: no ECP5 has this name; give one such as um5g-45k or um-45k-6")
    family, density, grade = found.groups()
    device = f"{FAMILIES[family]}-{density}F-{grade or 8}{PACKAGE}C"
    try:
        check_device(device)
    except ValueError as error:
        raise ValueError(f"--device {name}: {error}") from None
    return device

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

    def make_phy(self):
        c            = self.configuration
        dcu, channel = self.place
        self.serdes  = ECP5SerDes(self.platform, self.sys_clk_freq, name=f"pcie_x{c.lanes}", dcu=dcu, channel=channel,
            refclk_freq=c.refclk)
        identity = pci_id(self.board.family)
        return SoftPHY(self.serdes.interface, bar0_size=BAR0_SIZE, tags=c.tags, **soft_identity(identity)), identity

    def constrain_link(self, memory):
        """The SerDes has constrained its clocks already. nextpnr takes all clocks as asynchronous to each other."""

    def add_leds(self, pads):
        """Adds LEDs, which are low active: as on every board, then the LTSSM's state from LED 4, bit 0 first."""
        lit   = Signal(len(pads))
        state = Signal(4)
        BoardSoC.add_leds(self, [lit[n] for n in range(4)])
        self.specials += MultiReg(self.pcie_phy.endpoint.stack.link.ltssm.state, state)
        self.comb     += [lit[4:].eq(state), [pad.eq(~lit[n]) for n, pad in enumerate(pads)]]

    def bitstream(self):
        """Returns what the bitstream must be, with the names of ``Design`` in ``gateware/build/trellis.py``."""
        return {
            "device": self.platform.device,
            "clocks": {**self.serdes.clocks, **self.crg.clocks},
            "words":  in_bitstream(self.serdes.channel.words),
            "dcu":    self.place[0],
            "seed":   self.configuration.seed,
        }
