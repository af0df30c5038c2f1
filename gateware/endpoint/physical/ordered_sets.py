#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Ordered sets and logical idle, two symbols per cycle (PCIe 2.1 4.2.4 and 4.2.7)."""

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.serdes.interface import COM, IDL, PAD, SKP, TS1, TS2

# What a training set says besides its type: link and lane number, of which PAD is bit 8, and the rest as it is.
TS_LAYOUT = [("link", 9), ("lane", 9), ("n_fts", 8), ("rate", 8), ("control", 8)]

MOST_IN_A_ROW = 15
MOST_IDLE     = 15

# Pairs --------------------------------------------------------------------------------------------


class SetAligner(LiteXModule):
    """Moves symbols by one, so that each COM is in the lower half of a pair. One cycle.

    The symbol before a COM that changes the alignment is dropped: it is the last one of a SKP set with an even number
    of SKP, or of logical idle.

    Attributes
    ----------
    valid, data, k, error : 1, 16, 2, 2, **in**, ``sys``; symbols behind the descrambler.
    out_valid, out_data, out_k, out_error : 1, 16, 2, 2, **out**.
    """
    def __init__(self):
        self.valid     = Signal()
        self.data      = Signal(16)
        self.k         = Signal(2)
        self.error     = Signal(2)
        self.out_valid = Signal()
        self.out_data  = Signal(16)
        self.out_k     = Signal(2)
        self.out_error = Signal(2)

        # # #

        com     = [self.k[n] & ~self.error[n] & (self.data[8*n:8*n + 8] == COM) for n in range(2)]
        upper   = Record([("data", 8), ("k", 1), ("error", 1)])
        shifted = Signal()
        shift   = Signal()  # This pair begins with the upper symbol before.
        self.comb += shift.eq(shifted & ~com[0])
        self.sync += [
            self.out_valid.eq(self.valid & (shift | ~com[1])),
            self.out_data.eq(Mux(shift, Cat(upper.data, self.data[:8]), self.data)),
            self.out_k.eq(Mux(shift, Cat(upper.k, self.k[0]), self.k)),
            self.out_error.eq(Mux(shift, Cat(upper.error, self.error[0]), self.error)),
            If(self.valid,
                upper.data.eq(self.data[8:]),
                upper.k.eq(self.k[1]),
                upper.error.eq(self.error[1]),
                shifted.eq(shift | com[1]),
            ),
        ]

# Receiver -----------------------------------------------------------------------------------------


class SetReceiver(LiteXModule):
    """Counts training sets that are the same and follow each other, and logical idle. SKP sets between do not count.

    Attributes
    ----------
    valid, data, k, error : 1, 16, 2, 2, **in**, ``sys``; symbols behind the descrambler.
    clear    : 1, **in**; counts begin anew.
    ts       : 1, **out**; a pulse: a training set is complete, and all below is its.
    ts2      : 1, **out**; it is a TS2.
    inverted : 1, **out**; its identifiers are inverted: the polarity of the lane is wrong.
    fields   : TS_LAYOUT, **out**.
    in_a_row : 4, **out**; how many such sets came in a row, up to MOST_IN_A_ROW.
    idle     : 4, **out**; symbols of logical idle in a row, up to MOST_IDLE.
    skp      : 1, **out**; a pulse: a SKP set.
    eios     : 1, **out**; a pulse: the partner goes to electrical idle.
    damaged  : 1, **out**; a pulse: a set had a wrong symbol.
    """
    def __init__(self):
        self.aligner  = aligner = SetAligner()
        self.valid    = aligner.valid
        self.data     = aligner.data
        self.k        = aligner.k
        self.error    = aligner.error
        self.clear    = Signal()
        self.ts       = Signal()
        self.ts2      = Signal()
        self.inverted = Signal()
        self.fields   = fields = Record(TS_LAYOUT)
        self.in_a_row = Signal(max=MOST_IN_A_ROW + 1)
        self.idle     = Signal(max=MOST_IDLE + 1)
        self.skp      = Signal()
        self.eios     = Signal()
        self.damaged  = Signal()

        # # #

        # Symbols with what they are, one cycle later.
        data, k = Signal(16), Signal(2)
        valid, bad, com, zero, dataful = Signal(), Signal(), Signal(), Signal(), Signal()
        skps, idls, pads = Signal(2), Signal(2), Signal(2)
        ids = [Signal(4, name=f"ids{n}") for n in range(2)]  # TS1, TS2, and both inverted.
        self.sync += [valid.eq(aligner.out_valid), data.eq(aligner.out_data), k.eq(aligner.out_k),
            bad.eq(aligner.out_error != 0), zero.eq((aligner.out_k == 0) & (aligner.out_data == 0)),
            com.eq(aligner.out_k[0] & ~aligner.out_error[0] & (aligner.out_data[:8] == COM)),
            dataful.eq(aligner.out_k == 0)]
        for n in range(2):
            symbol, control = aligner.out_data[8*n:8*n + 8], aligner.out_k[n]
            self.sync += [flags[n].eq(control & (symbol == code))
                for flags, code in ((skps, SKP), (idls, IDL), (pads, PAD))]
            self.sync += [ids[n][at].eq(~control & (symbol == code))
                for at, code in enumerate((TS1, TS2, TS1 ^ 0xff, TS2 ^ 0xff))]

        step   = Signal(3)     # Pairs of the training set so far; 0: there is none.
        in_skp = Signal()
        in_eios = Signal()
        kind   = Signal(4)     # As `ids`.
        now    = Record(TS_LAYOUT)
        same   = Signal()      # What came of the set is what the one before had.
        before = Signal(4)     # Its kind.
        number = [pads[n] | ~k[n] for n in range(2)]
        value  = [Cat(data[8*n:8*n + 8], pads[n]) for n in range(2)]
        right  = Signal()      # This pair may be the next one of the set.
        idled  = Signal()
        wrong  = Signal()
        self.comb += [
            Case(step, {
                1: right.eq(number[0] & ~k[1]),
                2: right.eq(dataful),
                3: right.eq((ids[0] & ids[1]) != 0),
                "default": right.eq((ids[0] & ids[1] & kind) != 0),
            }),
            idled.eq(zero & ~bad & (step == 0)),
            wrong.eq((step != 0) & (bad | com | ~right)),
        ]
        self.sync += [
            self.ts.eq(0),
            self.skp.eq(0),
            self.eios.eq(0),
            self.damaged.eq(0),
            If(valid,
                self.damaged.eq(wrong),
                in_skp.eq(0),
                in_eios.eq(0),
                If(com & ~bad,
                    step.eq(0),
                    If(skps[1],
                        in_skp.eq(1),
                        self.skp.eq(1),
                    ).Elif(idls[1],
                        in_eios.eq(1),
                        self.in_a_row.eq(0),
                    ).Elif(number[1],
                        step.eq(1),
                        now.link.eq(value[1]),
                        same.eq(value[1] == fields.link),
                    ).Else(
                        self.in_a_row.eq(0),
                    ),
                    If(wrong, self.in_a_row.eq(0)),
                    If(~skps[1], self.idle.eq(0)),
                ).Elif(wrong,
                    step.eq(0),
                    self.in_a_row.eq(0),
                    self.idle.eq(0),
                ).Elif(step != 0,
                    step.eq(step + 1),
                    If(step == 1,
                        now.lane.eq(value[0]),
                        now.n_fts.eq(data[8:]),
                        same.eq(same & (value[0] == fields.lane) & (data[8:] == fields.n_fts)),
                    ),
                    If(step == 2,
                        now.rate.eq(data[:8]),
                        now.control.eq(data[8:]),
                        same.eq(same & (data == Cat(fields.rate, fields.control))),
                    ),
                    If(step == 3,
                        kind.eq(ids[0] & ids[1]),
                        same.eq(same & ((ids[0] & ids[1]) == before)),
                    ),
                    If(step == 7,
                        self.ts.eq(1),
                        self.ts2.eq(kind[1] | kind[3]),
                        self.inverted.eq(kind[2] | kind[3]),
                        before.eq(kind),
                        fields.eq(now),
                        If(~same,
                            self.in_a_row.eq(1)
                        ).Elif(self.in_a_row != MOST_IN_A_ROW,
                            self.in_a_row.eq(self.in_a_row + 1)
                        ),
                    ),
                ).Elif(in_skp & (skps != 0) & ~bad,
                    # The last SKP, or with a symbol that is dropped anyway.
                    in_skp.eq(skps[1]),
                ).Else(
                    self.eios.eq(in_eios & (idls == 0b11)),
                    self.in_a_row.eq(0),
                    If(~idled,
                        self.idle.eq(0)
                    ).Elif(self.idle < MOST_IDLE - 1,
                        self.idle.eq(self.idle + 2)
                    ),
                ),
            ),
            If(self.clear,
                self.in_a_row.eq(0),
                self.idle.eq(0),
            ),
        ]

# Transmitter --------------------------------------------------------------------------------------
# The symbols that are sent: ordered sets, packets, logical idle, two per cycle (PCIe 2.1 4.2.4 and 4.2.7).

# What to send: electrical idle, training sets without a gap, one EIOS, or packets and logical idle.
SEND = SEND_NOTHING, SEND_TS1, SEND_TS2, SEND_EIOS, SEND_DATA = range(5)

# Symbols from one SKP set to the next one that is due: 1180 to 1538 (4.2.7.3).
SKP_INTERVAL = 1536


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
