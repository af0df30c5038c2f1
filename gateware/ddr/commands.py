#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Commands of DDR3 and DDR4 chips, and their initialisation sequence."""

import copy
import math

from litedram.init import cmds, get_sdram_phy_init_sequence

# Constants ----------------------------------------------------------------------------------------

# Seconds from power-up to the end of reset, from there to CKE, and from CKE to the first command (JESD79-3 3.3.1,
# JESD79-4 3.3.1).
RESET_S, CKE_S, COMMAND_S = 200e-6, 500e-6, 1e-6

# Controller cycles after every command. Each is four cycles of the chips: enough for tDLLK (512 chip cycles, DDR4 597),
# tZQinit (512, DDR4 1024) and everything shorter.
GAP = 260

# Seconds after a command to an RCD, a DIMM's register of addresses and commands, until its clocks and outputs are
# stable again (JESD82-31, tSTAB).
REGISTER_S = 100e-6

# Bits of a command: a set bit asserts the pin.
CS, WE, CAS, RAS = (1 << n for n in range(4))

ACTIVATE, PRECHARGE, WRITE, READ = RAS | CS, RAS | WE | CS, CAS | WE | CS, CAS | CS

MODE = RAS | CAS | WE | CS

# Mode registers of DDR4. Number 7 selects the RCD's control words.
MR5, MR6, RCD = 5, 6, 7

MR5_DM = 1 << 10  # Enables data masks.

# DDR4 has no reference voltage for DQ until one is written (JESD79-4, DQ Vref training). We choose the middle of the
# signal: high is VDDQ; low is where the FPGA's 40 ohm driver pulls against the chip's 120 ohm termination (RTT_WR).
# That is 62.6 % of VDDQ: step 4 of range 1, which begins at 60 % and has steps of 0.65 %.
MR6_VREF_TRAINING, MR6_VREF = 1 << 7, 4

# Bits that an RCD inverts on its B side: A3 to A9, A11, A13; BA and BG (JESD82-31, output inversion).
B_SIDE_ADDRESS, B_SIDE_BANK = 0x2bf8, 0xf

T_WR_S = 15e-9  # Write recovery of DDR4, the same in all speed bins.

# Initialisation -----------------------------------------------------------------------------------


def initialisation(settings, timings, clk_freq, masks=True):
    """LiteDRAM's sequence as a list of (control, command, address, bank, cycles to wait after it).

    The bits of control are ODT, CKE and RESET#. ODT stays low until the end of the sequence, as mode register 1
    enables a termination (JESD79-3 3.3.1, JESD79-4 3.3.1).

    Parameters
    ----------
    settings : LiteDRAM's PHY settings.
    timings  : LiteDRAM's timings of the chips.
    clk_freq : Hz of the controller.
    masks    : whether the chips have data masks (DDR4 only).
    """
    control      = ("ODT", "DFII_CONTROL_CKE", "DFII_CONTROL_RESET_N")
    commands     = {"DFII_COMMAND_CS": CS, "DFII_COMMAND_WE": WE, "DFII_COMMAND_CAS": CAS, "DFII_COMMAND_RAS": RAS}
    state, steps = 0, [(0, 0, 0, 0, int(RESET_S*clk_freq))]
    for address, bank, what in sequence(settings, timings, clk_freq, masks):
        words = what.split("|")
        if "DFII_CONTROL_RESET_N" in words:
            state   = sum(1 << n for n, name in enumerate(control) if name in words)
            seconds = COMMAND_S if "DFII_CONTROL_CKE" in words else CKE_S
            steps.append((state, 0, 0, 0, int(seconds*clk_freq) + GAP))
        else:
            command = sum(commands[word] for word in words)
            seconds = REGISTER_S if (command, bank) == (MODE, RCD) else 0
            steps.append((state, command, address, bank, int(seconds*clk_freq) + GAP))
    return [*steps, (state | 1 << control.index("ODT"), 0, 0, 0, GAP)]


def sequence(settings, timings, clk_freq, masks):
    """LiteDRAM's sequence with the steps it leaves out, as a list of (address, bank, command or control signals)."""
    ddr4         = settings.memtype == "DDR4"
    timings      = copy.copy(timings)
    timings.tWTR = (write_recovery(clk_freq*settings.nphases)/settings.nphases) if ddr4 else timings.tWR
    found        = [step[1:4] for step in get_sdram_phy_init_sequence(settings, timings)[0]]
    if ddr4 and not masks:
        found = [(address & ~MR5_DM if bank == MR5 else address, bank, what) for address, bank, what in found]
    if ddr4:
        mr6    = next(address for address, bank, _ in found if bank == MR6) | MR6_VREF
        found += [(value, MR6, cmds["MODE_REGISTER"])
            for value in (mr6 | MR6_VREF_TRAINING, mr6 | MR6_VREF_TRAINING, mr6)]
    if settings.is_rdimm:
        found = [side for step in found for side in both_sides(*step)]
    return found


def write_recovery(frequency):
    """Write recovery of DDR4 for mode register 0, in chip cycles of ``frequency``: the smallest allowed value.

    It is the time from a write until its row may be closed. The register also sets the time from a read until its row
    may be closed (half as many cycles), for which LiteDRAM's controller has no timing of its own.
    """
    return max(10, 2*math.ceil(T_WR_S*frequency/2))


def both_sides(address, bank, what):
    """Yields the step, and for a mode register of an RDIMM a second one for the RCD's B side, with its inverted bits.

    Each side ignores the command of the other.
    """
    yield address, bank, what
    if what == cmds["MODE_REGISTER"] and bank != RCD:
        yield address ^ B_SIDE_ADDRESS, bank ^ B_SIDE_BANK, what
