#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Commands to DDR3 and DDR4 chips, and those that initialise them."""

import copy
import math

from litedram.init import cmds, get_sdram_phy_init_sequence

# Constants ----------------------------------------------------------------------------------------

# JESD79-3, 3.3.1, and JESD79-4, 3.3.1: power to reset's end, reset's end to CKE, CKE to the first command; seconds.
RESET_S, CKE_S, COMMAND_S = 200e-6, 500e-6, 1e-6

# Cycles of the controller behind any command: of four of the chips', so that tDLLK (512 of theirs; DDR4 597), tZQinit
# (512; DDR4 1024) and all shorter ones are kept.
GAP = 260

# Behind a command to a register of addresses (RCD): its clocks, and all it drives, are stable again (JESD82-31, tSTAB).
REGISTER_S = 100e-6

# Bits of a command.
CS, WE, CAS, RAS = (1 << n for n in range(4))

ACTIVATE, PRECHARGE, WRITE, READ = RAS | CS, RAS | WE | CS, CAS | WE | CS, CAS | CS

MODE = RAS | CAS | WE | CS

# DDR4's mode registers; the last is the RCD's control words.
MR5, MR6, RCD = 5, 6, 7

MR5_DM = 1 << 10  # Data masks.

# DDR4 knows no reference voltage of DQ until it is told one (JESD79-4, DQ Vref training): in the middle between high,
# VDDQ, and low, where the FPGA's 40 ohm pull against 120 of the chip (RTT_WR): 62.6 % of VDDQ; range 1, steps of 0.65
# from 60.
MR6_VREF_TRAINING, MR6_VREF = 1 << 7, 4

# What an RCD inverts on its B side: A3 to A9, A11, A13; BA and BG (JESD82-31, output inversion).
B_SIDE_ADDRESS, B_SIDE_BANK = 0x2bf8, 0xf

T_WR_S = 15e-9  # Write recovery of DDR4, of all speed bins.

# Initialisation -----------------------------------------------------------------------------------


def initialisation(settings, timings, clk_freq, masks=True):
    """LiteDRAM's sequence as (control, command, address, bank, cycles behind it); control is ODT, CKE and RESET#.

    ODT stays low until all is done, since mode register 1 has a termination for it (JESD79-3 and -4, 3.3.1).

    masks : the chips have data masks; DDR4.
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
    """LiteDRAM's, with what it leaves out, as (address, bank, what)."""
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
    """What mode register 0 says of DDR4, the least there is: cycles of the chips until a row that was written can be
    closed, and half as many from a read on, for which LiteDRAM's controller has no time of its own."""
    return max(10, 2*math.ceil(T_WR_S*frequency/2))


def both_sides(address, bank, what):
    """A mode register is written twice behind an RCD: its B side has bits inverted, and both know what is theirs."""
    yield address, bank, what
    if what == cmds["MODE_REGISTER"] and bank != RCD:
        yield address ^ B_SIDE_ADDRESS, bank ^ B_SIDE_BANK, what
