#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Window of the TLPs that are sent and not acknowledged."""

from migen import *

from litex.gen import *

# Window -------------------------------------------------------------------------------------------


class AckWindow(LiteXModule):
    """Checks the numbers of received ACK and NAK DLLPs against the TLPs in flight, and moves the window.

    A number is right if it is that of a TLP in flight, or of the last one that was acknowledged. The results come
    three cycles after the DLLP. Between two DLLPs are at least four cycles, as they have eight symbols.

    Parameters
    ----------
    tlps          : int, a power of two that the number of TLPs in flight stays below.
    sequence_bits : int, of sequence numbers. Fewer than 12 are for proofs.

    Attributes
    ----------
    ack, nak  : 1, **in**; a pulse: a DLLP was received, with
    sequence  : 12, **in**; this number.
    sent      : log2(tlps) + 1, **in**; low bits of the number after that of the newest TLP that was sent once.
    oldest    : 12, **out**; number of the oldest TLP in flight, or of the next TLP if there is none.
    number    : 12, **out**; of the last DLLP, from the cycle after it.
    progress  : 1, **out**; a pulse: ``number`` and those before are acknowledged. ``oldest`` moves with it.
    refused   : 1, **out**; a pulse: a NAK with a number that is right. What is still in flight must be sent again.
    error     : 1, **out**; a pulse: the number is wrong. The DLLP has no effect.

    PCIe 2.1 3.5.2.1.
    """
    def __init__(self, tlps=64, sequence_bits=12):
        bits = log2_int(tlps)
        self.ack      = Signal()
        self.nak      = Signal()
        self.sequence = Signal(sequence_bits)
        self.sent     = Signal(bits + 1)
        self.oldest   = Signal(sequence_bits)
        self.number   = Signal(sequence_bits)
        self.progress = Signal()
        self.refused  = Signal()
        self.error    = Signal()

        # # #

        measured = Signal(2)              # A DLLP in the cycle before: ACK, NAK.
        checked  = Signal(2)
        offset   = Signal(sequence_bits)  # From the oldest TLP in flight.
        flying   = Signal(bits + 1)
        inside   = Signal()
        again    = Signal()               # It is the number that was acknowledged last.
        right    = Signal()
        # Proofs read them.
        self.measured, self.checked, self.offset = measured, checked, offset
        self.flying, self.inside, self.again = flying, inside, again
        self.comb += [
            right.eq(inside | again),
            self.progress.eq((checked != 0) & inside),
        ]
        self.sync += [
            # One subtraction.
            measured.eq(Cat(self.ack, self.nak)),
            offset.eq(self.sequence - self.oldest),
            flying.eq(self.sent - self.oldest[:bits + 1]),
            If(self.ack | self.nak, self.number.eq(self.sequence)),
            # One comparison.
            checked.eq(measured),
            inside.eq((offset[bits:] == 0) & (offset[:bits] < flying)),
            again.eq(offset == 2**sequence_bits - 1),
            # Result.
            If(self.progress, self.oldest.eq(self.number + 1)),
            self.refused.eq(checked[1] & right),
            self.error.eq((checked != 0) & ~right),
        ]
