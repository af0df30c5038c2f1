#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The symbols that are sent: ordered sets, packets, logical idle, two per cycle (PCIe 2.1 4.2.4 and 4.2.7)."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.set_receiver import TS_LAYOUT
from litepcie_soc.phy.soft.symbols import COM, IDL, SKP, TS1, TS2

# What to send: electrical idle, training sets without a gap, one EIOS, or packets and logical idle.
SEND = SEND_NOTHING, SEND_TS1, SEND_TS2, SEND_EIOS, SEND_DATA = range(5)

# Symbols from one SKP set to the next one that is due: 1180 to 1538 (4.2.7.3).
SKP_INTERVAL = 1536

# Transmitter --------------------------------------------------------------------------------------


class SetTransmitter(LiteXModule):
    """Sends ordered sets and, in between, packets. Every set begins in the lower half of a pair.

    A set that was begun is sent to its end; then what ``send`` says goes on. SKP sets that are due go first; if a
    packet holds them up, they follow it one behind the other.

    Parameters
    ----------
    interval : int, symbols, even; from one SKP set to the next one. Another value is for tests.

    Attributes
    ----------
    send     : 3, **in**, ``sys``; one of SEND.
    fields   : TS_LAYOUT, **in**; what training sets say. PAD is bit 8 of a number.
    packet   : 1, **in**; there is a pair of a packet, which is sent in this cycle.
    packet_data, packet_k : 16, 2, **in**.
    hold     : 1, **out**; no packet may begin.
    ts_sent  : 1, **out**; a pulse: a training set was sent.
    eios_sent: 1, **out**; a pulse: an EIOS was sent.
    idle_sent: 1, **out**; a pulse: two symbols of logical idle were sent.
    data, k, plain, idle : 16, 2, 2, 2, **out**; symbols, of which those of training sets are not scrambled, and
               electrical idle, which the scrambler does not delay.
    """
    def __init__(self, interval=SKP_INTERVAL):
        self.send        = Signal(max=len(SEND))
        self.fields      = fields = Record(TS_LAYOUT)
        self.packet      = Signal()
        self.packet_data = Signal(16)
        self.packet_k    = Signal(2)
        self.hold        = Signal()
        self.ts_sent     = Signal()
        self.eios_sent   = Signal()
        self.idle_sent   = Signal()
        self.data        = Signal(16)
        self.k           = Signal(2)
        self.plain       = Signal(2)
        self.idle        = Signal(2, reset=0b11)

        # # #

        timer = Signal(max=interval//2)
        due   = Signal(3)      # SKP sets.
        left  = Signal(3)      # Pairs of a set that are not sent.
        kind  = Signal(max=len(SEND))
        skip  = Signal()       # The set is a SKP set.
        numbers = Record(TS_LAYOUT)
        begin_skip, begin_set = Signal(), Signal()
        training = Signal()
        self.comb += [
            training.eq((self.send == SEND_TS1) | (self.send == SEND_TS2)),
            self.hold.eq((due != 0) | (left != 0) | (self.send != SEND_DATA)),
            begin_skip.eq((left == 0) & (due != 0) & ~self.packet & (self.send != SEND_NOTHING)
                & (self.send != SEND_EIOS)),
            begin_set.eq((left == 0) & ~begin_skip & (training | (self.send == SEND_EIOS))),
        ]
        self.sync += [
            If((timer == 0) | (self.send == SEND_NOTHING),
                timer.eq(interval//2 - 1),
            ).Else(
                timer.eq(timer - 1),
            ),
            # More than seven are never due: the longest packet takes less than one interval.
            If(self.send == SEND_NOTHING,
                due.eq(0)
            ).Elif((timer == 0) & ~begin_skip,
                due.eq(due + 1)
            ).Elif((timer != 0) & begin_skip,
                due.eq(due - 1)
            ),
        ]
        # Pairs, in the next cycle.
        number = {name: getattr(numbers, name) for name in ("link", "lane")}
        symbol = TS1*(1 + 256), TS2*(1 + 256)
        self.sync += [
            self.data.eq(0),
            self.k.eq(0),
            self.plain.eq(0),
            self.idle.eq(0),
            self.ts_sent.eq(0),
            self.eios_sent.eq(0),
            self.idle_sent.eq(0),
            If(left != 0,
                left.eq(left - 1),
                If(skip,
                    self.data.eq(SKP*(1 + 256)),
                    self.k.eq(0b11),
                ).Elif(kind == SEND_EIOS,
                    self.data.eq(IDL*(1 + 256)),
                    self.k.eq(0b11),
                    self.eios_sent.eq(1),
                ).Else(
                    self.plain.eq(0b11),
                    self.data.eq(Mux(kind == SEND_TS2, symbol[1], symbol[0])),
                    If(left == 7,
                        self.data.eq(Cat(number["lane"][:8], numbers.n_fts)),
                        self.k.eq(number["lane"][8]),
                    ),
                    If(left == 6,
                        self.data.eq(Cat(numbers.rate, numbers.control)),
                    ),
                    self.ts_sent.eq(left == 1),
                ),
            ).Elif(begin_skip,
                skip.eq(1),
                left.eq(1),
                self.data.eq(Cat(C(COM, 8), C(SKP, 8))),
                self.k.eq(0b11),
            ).Elif(begin_set,
                skip.eq(0),
                kind.eq(self.send),
                numbers.eq(fields),
                self.data.eq(Cat(C(COM, 8), Mux(training, fields.link[:8], C(IDL, 8)))),
                self.k.eq(Cat(C(1, 1), ~training | fields.link[8])),
                self.plain.eq(Cat(C(0, 1), training)),
                left.eq(Mux(training, 7, 1)),
            ).Elif(self.send == SEND_NOTHING,
                self.idle.eq(0b11),
            ).Elif(self.packet,
                self.data.eq(self.packet_data),
                self.k.eq(self.packet_k),
            ).Else(
                self.idle_sent.eq(1),
            ),
        ]
