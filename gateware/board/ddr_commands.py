#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Commands to DDR3 chips, and those that initialise them."""

import copy

from litedram.init import get_sdram_phy_init_sequence

# Constants ----------------------------------------------------------------------------------------

# JESD79-3, 3.3.1: power to reset's end, reset's end to CKE, CKE to the first command; seconds.
RESET_S, CKE_S, COMMAND_S = 200e-6, 500e-6, 1e-6

# Cycles of the controller behind any command: of four of the chips', so that tDLLK and tZQinit (512 of theirs) and
# all shorter ones are kept.
GAP = 160

# Bits of a command.
CS, WE, CAS, RAS = (1 << n for n in range(4))

ACTIVATE, PRECHARGE, WRITE, READ = RAS | CS, RAS | WE | CS, CAS | WE | CS, CAS | CS

# Initialisation -----------------------------------------------------------------------------------


def initialisation(settings, timings, clk_freq):
    """LiteDRAM's sequence as (control, command, address, bank, cycles behind it); control is ODT, CKE and RESET#."""
    # Mode register 0 says how long a write needs until its row can be closed. LiteDRAM's sequence takes tWTR for it,
    # which is too short from 133 MHz on; its controller keeps tWR.
    timings      = copy.copy(timings)
    timings.tWTR = timings.tWR
    sequence, _  = get_sdram_phy_init_sequence(settings, timings)
    control      = ("DFII_CONTROL_ODT", "DFII_CONTROL_CKE", "DFII_CONTROL_RESET_N")
    commands     = {"DFII_COMMAND_CS": CS, "DFII_COMMAND_WE": WE, "DFII_COMMAND_CAS": CAS, "DFII_COMMAND_RAS": RAS}
    state, steps = 0, [(0, 0, 0, 0, int(RESET_S*clk_freq))]
    for _, address, bank, what, _ in sequence:
        words = what.split("|")
        if words[0] in control:
            state   = sum(1 << n for n, name in enumerate(control) if name in words)
            seconds = COMMAND_S if "DFII_CONTROL_CKE" in words else CKE_S
            steps.append((state, 0, 0, 0, int(seconds*clk_freq) + GAP))
        else:
            steps.append((state, sum(commands[word] for word in words), address, bank, GAP))
    return steps
