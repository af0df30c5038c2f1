#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The last transitions of the LTSSM, with their times."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.lane_layout import CAUSES, ENTRY, LOG_ENTRIES
from litepcie_soc.phy.soft.ltssm_states import STATE_BITS, State

TIME_BITS = 48  # Of 8 ns: 26 days.

# Log ----------------------------------------------------------------------------------------------


class TransitionLog(LiteXModule):
    """Records each change of the LTSSM's state. It is kept in a reset of ``sys``, the clock domain of all signals.

    Attributes
    ----------
    state   : STATE_BITS, **in**; of the LTSSM.
    causes  : {name: 1}, **in**; for each of CAUSES, what is so now.
    time    : 48, **out**; cycles since power-up.
    count   : 32, **out**; transitions that were recorded.
    address : 7, **in**; word of the log: two words for each entry, see ENTRY.
    data    : 32, **out**; the word at the address of the cycle before.
    """
    def __init__(self):
        self.state   = Signal(STATE_BITS)
        self.causes  = {name: Signal(name=f"cause_{name}") for name in CAUSES}
        self.time    = Signal(TIME_BITS, reset_less=True)
        self.count   = Signal(32, reset_less=True)
        self.address = Signal(max=2*LOG_ENTRIES)
        self.data    = Signal(32)

        # # #

        # Not attributes: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memories = [Memory(32, LOG_ENTRIES) for _ in range(2)]
        writes   = [memory.get_port(write_capable=True) for memory in memories]
        reads    = [memory.get_port() for memory in memories]
        self.specials += memories, writes, reads
        last     = Signal(STATE_BITS, reset=State.DETECT_QUIET, reset_less=True)
        reasons  = Signal(len(CAUSES), reset_less=True)
        causes   = Signal(len(CAUSES), reset_less=True)
        second   = Signal(reset_less=True)
        fields   = {"state": self.state, "cause": causes, "time_hi": self.time[32:]}
        self.comb += [
            [writes[0].dat_w[low:low + bits].eq(fields[name]) for name, low, bits, _ in ENTRY],
            writes[1].dat_w.eq(self.time[:32]),
            [write.adr.eq(self.count) for write in writes],
            [write.we.eq(self.state != last) for write in writes],
            [read.adr.eq(self.address[1:]) for read in reads],
            self.data.eq(Mux(second, reads[1].dat_r, reads[0].dat_r)),
        ]
        self.sync += [
            self.time.eq(self.time + 1),
            last.eq(self.state),
            # The state changes two cycles after its reason.
            reasons.eq(Cat(*self.causes.values())),
            causes.eq(reasons),
            second.eq(self.address[0]),
            If(self.state != last, self.count.eq(self.count + 1)),
        ]
