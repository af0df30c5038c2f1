#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Answers configuration requests."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import COMPLETION_SC, COMPLETION_UR, FMT_TYPE_CPL, FMT_TYPE_CPLD
from litepcie_soc.phy.soft.beats import swapped
from litepcie_soc.phy.soft.lcrc import WORD

# Cycles from an address to its register, see `ConfigSpace`.
READ_CYCLES = 3

# Configuration Access -----------------------------------------------------------------------------


class ConfigAccess(LiteXModule):
    """Reads and writes configuration space for the host, one request after the other.

    A poisoned write changes nothing, and is answered with Unsupported Request (PCIe 2.1 2.7.2.2).

    Parameters
    ----------
    space : `ConfigSpace`, whose access port this module drives.

    Attributes
    ----------
    sink     : stream of 16 bits, **in**; type 0 configuration requests of function 0.
    source   : stream of 16 bits, **out**; their completions.
    id       : 16, **out**; bus, device and function number, as the last write named them (2.2.6.2).
    hold     : 1, **in**; what a write forbids may still come. It is answered after that.
    busy     : 1, **out**; a request has begun to come, and is not answered.
    """
    def __init__(self, space):
        self.sink     = stream.Endpoint(WORD)
        self.source   = stream.Endpoint(WORD)
        self.id       = Signal(16)
        self.hold     = Signal()
        self.busy     = Signal()

        # # #

        # Words of the request: header, and the data of a write.
        self.words = [Signal(16, name=f"word{n}") for n in range(8)]
        self.fsm   = FSM(reset_state="COLLECT")
        is_write, poisoned = self.words[0][6], self.words[1][6]
        place      = Signal(max=9)
        waited     = Signal(max=READ_CYCLES + 1)
        self.refused = is_write & poisoned
        self.reads   = ~is_write
        self.comb += [
            self.busy.eq(~self.fsm.ongoing("COLLECT") | (place != 0)),
            space.address.eq(Cat(self.words[5][10:16], self.words[5][0:4])),
            space.be.eq(self.words[3][8:12]),
            space.data_w.eq(Cat(self.words[6], self.words[7])),
        ]
        self.fsm.act("COLLECT",
            self.sink.ready.eq(1),
            NextValue(waited, 0),
            If(self.sink.valid,
                Case(place, {n: NextValue(word, self.sink.data) for n, word in enumerate(self.words)}),
                If(place != 8, NextValue(place, place + 1)),
                If(self.sink.last, NextValue(place, 0), NextState("ACCESS")),
            ),
        )
        self.fsm.act("ACCESS",
            space.write.eq(is_write & ~poisoned),
            If(space.write, NextValue(self.id, Cat(Constant(0, 3), self.words[4][11:16], self.words[4][0:8]))),
            NextState("WAIT"),
        )
        self.fsm.act("WAIT",
            If(waited != READ_CYCLES,
                NextValue(waited, waited + 1),
            ).Elif(self.reads | ~self.hold,
                NextState("ANSWER"),
            ),
        )
        self.fsm.act("ANSWER",
            self.source.valid.eq(1),
            self.source.first.eq(place == 0),
            self.source.last.eq(place == Mux(self.reads, 7, 5)),
            If(self.source.ready,
                NextValue(place, place + 1),
                If(self.source.last, NextValue(place, 0), NextState("COLLECT")),
            ),
        )
        self.comb += Case(place, {n: self.source.data.eq(word) for n, word in enumerate(self.answer(space.data_r))})

    def answer(self, data):
        """Words of the completion (PCIe 2.1 2.2.9): traffic class, attributes, requester and tag are the request's."""
        words  = self.words
        status = Mux(self.refused, Constant(COMPLETION_UR, 3), Constant(COMPLETION_SC, 3))
        return [
            Cat(Mux(self.reads, Constant(FMT_TYPE_CPLD, 8), Constant(FMT_TYPE_CPL, 8)), words[0][8:16] & 0x74),
            Cat(words[1][:8] & 0x30, self.reads, Constant(0, 7)),
            swapped(self.id),
            Cat(Constant(0, 5), status, Constant(4, 8)),
            words[2],
            words[3][:8],
            data[:16],
            data[16:],
        ]
