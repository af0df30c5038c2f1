#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR3 of the simulation: LiteDRAM's controller in front of its model of chips and PHY."""

from migen import *

from litex.gen import *

from litedram.core import LiteDRAMCore
from litedram.modules import MT41K128M16
from litedram.phy.model import SDRAMPHYModel

# Module -------------------------------------------------------------------------------------------

PHASES     = 4             # Of the memory's clock in one of the controller's.
DATA_RATE  = 1600e6        # Transfers a second at most: DDR3-1600.
CLOCK_HZ   = DATA_RATE / 2 / PHASES
CLOCK_MIN  = 300e6 / PHASES  # The chips' DLL runs from 300 MHz on.


def check_ddr(clk_freq):
    """Raises ``ValueError`` for a clock that the chips have no timing for."""
    if not CLOCK_MIN <= clk_freq <= CLOCK_HZ:
        raise ValueError(f"DDR3-1600 needs from {CLOCK_MIN / 1e6:g}e6 to {CLOCK_HZ / 1e6:g}e6 Hz, a quarter of its own "
            f"clock, not {clk_freq / 1e6:g}e6")


def sim_module(size, data_bits, clk_freq):
    """DDR3-1600 of 16 bit chips beside each other, with as many rows as ``size`` bytes need.

    The timings, the pins and the width of a row are those of the chip; rows that nobody addresses are left out, which
    keeps the simulation small. Raises ``ValueError`` if it cannot be.
    """
    check_ddr(clk_freq)
    module   = MT41K128M16(clk_freq, f"1:{PHASES}", speedgrade="1600")
    geometry = module.geom_settings
    rows     = size // (data_bits // 8) >> (geometry.bankbits + geometry.colbits)
    if not 2 <= rows <= module.nrows:
        whole = module.nrows << (geometry.bankbits + geometry.colbits)
        raise ValueError(f"memory of {data_bits} bit DDR3 chips must be up to {whole * data_bits // 8} bytes, "
            f"not {size!r}")
    geometry.rowbits = log2_int(rows)  # ``addressbits`` stays: A10 is more than an address.
    return module

# Sim DRAM -----------------------------------------------------------------------------------------


class SimDRAM(LiteXModule):
    """DDR3-1600 with its controller; the model needs no initialisation.

    Parameters
    ----------
    size      : bytes.
    data_bits : width of the module's data bus (64).
    clk_freq  : Hz of sys, a quarter of the memory's clock.
    byte_mask : whether the chips have data masks; without, they write all bytes of a burst.

    Attributes
    ----------
    crossbar : LiteDRAM's, for ``DRAMMemory``.

    Raises ``ValueError`` on what cannot be.
    """
    def __init__(self, size, data_bits=64, clk_freq=CLOCK_HZ, verbosity=0, byte_mask=True):
        module    = sim_module(size, data_bits, clk_freq)
        self.phy  = SDRAMPHYModel(module, data_width=data_bits, clk_freq=clk_freq, verbosity=verbosity,
            we_granularity=8 if byte_mask else 0)
        self.core = LiteDRAMCore(self.phy, module.geom_settings, module.timing_settings, clk_freq)
        self.crossbar = self.core.crossbar
