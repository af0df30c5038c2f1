#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""When to acknowledge received TLPs."""

from migen import *

from litex.gen import *

# Cycles from a good TLP to its ACK, for MPS 128 and for more. One TLP of ours may be before it. PCIe 2.1 table 3-5 has
# limits of 237 symbols for MPS 128 and 416 for 256, less the 164 and 292 symbols of that TLP and its SKP.
LATENCY_SHORT = 0b10_0000
LATENCY_LONG  = 0b11_0000

# Scheduler ----------------------------------------------------------------------------------------


class AckScheduler(LiteXModule):
    """Asks for ACK and NAK DLLPs.

    Good TLPs in a row share an ACK. A duplicate is acknowledged at once, because the partner is sending again. There
    is one NAK until a good TLP came.

    Attributes
    ----------
    accepted, duplicate, rejected : 1, **in**; pulses of the `Receiver`.
    mps_128  : 1, **in**; MPS is 128.
    ack_due  : 1, **out**; an ACK is to be sent.
    nak_due  : 1, **out**; a NAK is to be sent, before an ACK.
    ack_sent : 1, **in**; a pulse: an ACK is being sent. It was composed in the cycle before.
    nak_sent : 1, **in**; a pulse: a NAK is being sent.

    PCIe 2.1 3.5.3.1.
    """
    def __init__(self):
        self.accepted  = Signal()
        self.duplicate = Signal()
        self.rejected  = Signal()
        self.mps_128     = Signal()
        self.ack_due   = Signal()
        self.nak_due   = Signal()
        self.ack_sent  = Signal()
        self.nak_sent  = Signal()

        # # #

        nak_scheduled = Signal()
        pending, late = Signal(), Signal()
        urgent        = Signal()
        timer         = Signal(6)
        self.comb += self.ack_due.eq(pending & (urgent | ((timer & LATENCY_SHORT) != 0)
            & (self.mps_128 | ((timer & LATENCY_LONG) == LATENCY_LONG))))
        self.sync += [
            late.eq(self.accepted | self.duplicate),
            If(pending & (timer != 2**6 - 1), timer.eq(timer + 1)),
            If(self.ack_sent | self.nak_sent,
                pending.eq(0),
                urgent.eq(0),
                timer.eq(0),
            ),
            If(self.accepted | self.duplicate | late, pending.eq(1)),
            If(self.duplicate, urgent.eq(1)),
            If(self.nak_sent, self.nak_due.eq(0)),
            If(self.rejected & ~nak_scheduled,
                nak_scheduled.eq(1),
                self.nak_due.eq(1),
            ),
            If(self.accepted,
                nak_scheduled.eq(0),
                self.nak_due.eq(0),
            ),
        ]
