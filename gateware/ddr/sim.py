#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR3 of the simulation: LiteDRAM's controller with LiteDRAM's model of PHY and chips."""

from migen import *

from litex.gen import *

from litedram.core import LiteDRAMCore
from litedram.modules import MT41K128M16
from litedram.phy.model import SDRAMPHYModel

# Module -------------------------------------------------------------------------------------------

PHASES     = 4             # Memory clock cycles per controller clock cycle.
DATA_RATE  = 1600e6        # Most transfers per second: DDR3-1600.
CLOCK_HZ   = DATA_RATE / 2 / PHASES
CLOCK_MIN  = 300e6 / PHASES  # The chips' DLL needs at least 300 MHz.


def check_ddr(clk_freq):
    """Raises ``ValueError`` if the chips have no timings for the controller clock ``clk_freq``."""
    if not CLOCK_MIN <= clk_freq <= CLOCK_HZ:
        raise ValueError(f"with DDR3-1600 the clock must be from {CLOCK_MIN / 1e6:g}e6 to {CLOCK_HZ / 1e6:g}e6 Hz (a "
            f"quarter of the memory clock), not {clk_freq / 1e6:g}e6")


def sim_module(size, data_bits, clk_freq):
    """A module of 16-bit DDR3-1600 chips in parallel, with as many rows as ``size`` bytes need.

    Timings, pins and row width are those of the real chip. Rows beyond ``size`` are left out to keep the simulation
    small. Raises ``ValueError`` if ``size`` or ``clk_freq`` is out of range.
    """
    check_ddr(clk_freq)
    module   = MT41K128M16(clk_freq, f"1:{PHASES}", speedgrade="1600")
    geometry = module.geom_settings
    rows     = size // (data_bits // 8) >> (geometry.bankbits + geometry.colbits)
    if not 2 <= rows <= module.nrows:
        row_bytes = data_bits // 8 << (geometry.bankbits + geometry.colbits)
        raise ValueError(f"memory of {data_bits} bit DDR3 chips must be from {2 * row_bytes} to "
            f"{module.nrows * row_bytes} bytes, not {size!r}")
    geometry.rowbits = log2_int(rows)  # ``addressbits`` stays as it is: A10 also has a meaning in commands.
    return module

# Sim DRAM -----------------------------------------------------------------------------------------


class SimDRAM(LiteXModule):
    """DDR3-1600 with its controller; the model needs no initialisation.

    Parameters
    ----------
    size      : bytes.
    data_bits : width of the module's data bus.
    clk_freq  : Hz of sys, a quarter of the memory clock.
    verbosity : of LiteDRAM's model.
    byte_mask : whether the chips have data masks; without them, every write writes all bytes of a burst.

    Attributes
    ----------
    crossbar : LiteDRAM's, for ``DRAMMemory``.

    Raises ``ValueError`` if ``size`` or ``clk_freq`` is out of range.
    """
    def __init__(self, size, data_bits=64, clk_freq=CLOCK_HZ, verbosity=0, byte_mask=True):
        module    = sim_module(size, data_bits, clk_freq)
        self.phy  = SDRAMPHYModel(module, data_width=data_bits, clk_freq=clk_freq, verbosity=verbosity,
            we_granularity=8 if byte_mask else 0)
        self.core = LiteDRAMCore(self.phy, module.geom_settings, module.timing_settings, clk_freq)
        self.crossbar = self.core.crossbar
