#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Gives a design the same Verilog however many designs the process has made before it."""

from contextlib import contextmanager

from migen.fhdl import tracer
from migen.fhdl.structure import DUID

from litex.gen import LiteXContext

COUNTER = "_DUID__next_uid"
START   = 1 << 16   # More than the modules make when they are imported.


@contextmanager
def numbered_alike():
    """Inside, Migen numbers what is made from `START` on.

    A set of signals has the order of their numbers, and LiteX's namer gives `valid` and `valid_1` in the order of
    such a set. Migen also counts the modules of each class, for their names. LiteX writes the hierarchy of the SoC
    that the process made last into all Verilog.

    A design must be made and converted inside one block. No object of an earlier block may be part of it: two signals
    could have the same number.
    """
    before  = getattr(DUID, COUNTER)
    counted = [(counts, dict(counts)) for counts in (tracer.name_to_idx, tracer.classname_to_objs)]
    setattr(DUID, COUNTER, START)
    for counts, _ in counted:
        counts.clear()
    top, LiteXContext.top = LiteXContext.top, None
    try:
        yield
    finally:
        LiteXContext.top = LiteXContext.top or top
        setattr(DUID, COUNTER, max(before, getattr(DUID, COUNTER)))
        for counts, earlier in counted:
            counts.clear()
            counts.update(earlier)
