#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The state of the lane, for the person at the bench: counters, the log of the LTSSM, and an instrument for the SerDes.

    SharedCounters, TransitionLog, signals --> LaneSampler --> LaneRegisters --> the SoC's bus, or a serial port

`layout.py` has names and places, of which `header.py` makes the tool's header.
"""
