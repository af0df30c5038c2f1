#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Flow control of the receiving side: initialization, and the credits that the link partner gets."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.credits import DATA_BITS, HEADER_BITS
from litepcie_soc.phy.soft.dllp import COMPLETION, INIT1, INIT2, NONPOSTED, POSTED

# Times at 125 MHz.
AGAIN    = 512   # Cycles between initializations: 4 us. PCIe 2.1 3.3.1 allows 34 us.
PERIOD   = 4096  # Cycles between updates without a reason: 33 us. PCIe 2.1 2.6.1.2 wants 30 us to 45 us.
DISTANCE = 48    # Cycles between updates: two types that take turns are each sent within the limit of 237 symbols.

# Initialization -----------------------------------------------------------------------------------


class FlowControlInit(LiteXModule):
    """Initializes flow control for virtual channel 0 after reset.

    Asks for InitFC1 of all types until the partner's credits of all types are recorded, and then for InitFC2 until the
    partner is known to have ours. Each set of three is sent to its end.

    Attributes
    ----------
    recorded  : 1, **in**; the partner's credits of all types are recorded.
    confirmed : 1, **in**; a pulse: InitFC2, UpdateFC or a TLP was received.
    request   : 1, **out**; a DLLP is to be sent:
    kind      : 2, **out**; INIT1 or INIT2,
    credits   : 2, **out**; for POSTED, NONPOSTED or COMPLETION.
    sent      : 1, **in**; a pulse: the DLLP is being sent.
    listen    : 1, **out**; record the credits of InitFC1 and InitFC2.
    accept    : 1, **out**; TLPs and UpdateFC are for us.
    up        : 1, **out**; TLPs can be sent: DL_Up.

    PCIe 2.1 3.2.1 and 3.3.1.
    """
    def __init__(self):
        self.recorded  = Signal()
        self.confirmed = Signal()
        self.request   = Signal(reset=1)
        self.kind      = Signal(2)
        self.credits   = Signal(2)
        self.sent      = Signal()
        self.listen    = Signal(reset=1)
        self.accept    = Signal()
        self.up        = Signal()

        # # #

        known = Signal()  # The partner has our credits.
        wait  = Signal(max=AGAIN)
        self.comb += [
            self.accept.eq(~self.listen),
            self.kind.eq(Mux(self.listen, INIT1, INIT2)),
        ]
        self.sync += [
            If(self.accept & self.confirmed, known.eq(1)),
            If(self.request,
                wait.eq(0),
                If(self.sent,
                    self.credits.eq(self.credits + 1),
                    If(self.credits == COMPLETION,
                        self.credits.eq(POSTED),
                        self.request.eq(0),
                    )
                )
            ).Elif(~self.up,
                wait.eq(wait + 1),
                If(self.listen & self.recorded,
                    self.listen.eq(0),
                    self.request.eq(1),
                ).Elif(known,
                    self.up.eq(1),
                ).Elif(wait == AGAIN - 1,
                    self.request.eq(1),
                )
            )
        ]

# Credits ------------------------------------------------------------------------------------------


class Advertiser(LiteXModule):
    """Counts the credits that the partner was given, and asks for UpdateFC.

    Credits for completions are infinite, as an endpoint must advertise (PCIe 2.1 2.6.1). An update is due when the
    consumer of TLPs has freed credits, and in any case every 33 us. Two updates have a distance, so that credits that
    are freed in a row share an update. If both types are due, they take turns.

    Parameters
    ----------
    posted    : (int, int), headers and units of 16 bytes of data at the begin.
    nonposted : (int, int), the same.

    Attributes
    ----------
    free_ph   : 1, **in**; a pulse: a header of a posted request was freed.
    free_pd   : 8, **in**; units of data of posted requests that were freed in this cycle.
    free_nph  : 1, **in**; a pulse: a header of a non-posted request was freed.
    free_npd  : 1, **in**; a pulse: a unit of data of a non-posted request was freed.
    up        : 1, **in**; updates may be sent.
    due       : 1, **out**; an update is to be sent:
    credits   : 2, **out**; for POSTED or NONPOSTED.
    sent      : 2, **in**; a pulse for POSTED and one for NONPOSTED: an update is being sent.
    chosen    : 2, **in**; the type for which
    header_fc : 8, **out**; is the limit of headers, and
    data_fc   : 12, **out**; is the limit of data. Both are registered, and composed into an update in the next cycle.

    PCIe 2.1 2.6.1.
    """
    def __init__(self, posted, nonposted):
        for name, (headers, data) in (("posted", posted), ("nonposted", nonposted)):
            if not 1 <= headers < 128:
                raise ValueError(f"credits for {name} headers are 1 to 127, not {headers!r}")
            if not 1 <= data < 2048:
                raise ValueError(f"credits for {name} data are 1 to 2047, not {data!r}")
        self.free_ph   = Signal()
        self.free_pd   = Signal(8)
        self.free_nph  = Signal()
        self.free_npd  = Signal()
        self.up        = Signal()
        self.due       = Signal()
        self.credits   = Signal(2)
        self.sent      = Signal(2)
        self.chosen    = Signal(2)
        self.header_fc = Signal(HEADER_BITS)
        self.data_fc   = Signal(DATA_BITS)

        # # #

        freed = [(self.free_ph, self.free_pd), (self.free_nph, self.free_npd)]
        given = [(Signal(HEADER_BITS, reset=headers), Signal(DATA_BITS, reset=data))
            for headers, data in (posted, nonposted)]
        for counts, limits in zip(freed, given):
            self.sync += [limit.eq(limit + count) for count, limit in zip(counts, limits)]
        self.sync += Case(self.chosen, {
            POSTED:    [self.header_fc.eq(given[POSTED][0]),    self.data_fc.eq(given[POSTED][1])],
            NONPOSTED: [self.header_fc.eq(given[NONPOSTED][0]), self.data_fc.eq(given[NONPOSTED][1])],
            "default": [self.header_fc.eq(0),                   self.data_fc.eq(0)],
        })
        self.add_schedule(freed)

    def add_schedule(self, freed):
        """Says when which update is due."""
        period   = Signal(max=PERIOD)
        distance = Signal(max=DISTANCE + 1)
        changed  = [Signal(name=f"changed{credits}") for credits in (POSTED, NONPOSTED)]
        # Changes of the last two cycles: the update that is being sent was composed before.
        late     = [Signal(2, name=f"late{credits}") for credits in (POSTED, NONPOSTED)]
        # A stream of short posted writes makes their update due all the time.
        turn     = Signal(reset=POSTED)  # The type that goes first.
        self.comb += self.credits.eq(Mux(changed[POSTED] & changed[NONPOSTED], turn, changed[NONPOSTED]))
        self.sync += [
            If(self.sent[POSTED], turn.eq(NONPOSTED)),
            If(self.sent[NONPOSTED], turn.eq(POSTED)),
            period.eq(period + 1),
            self.due.eq(self.up & (distance == 0) & (changed[0] | changed[1]) & (self.sent == 0)),
            If(distance != 0, distance.eq(distance - 1)),
            If(self.sent != 0, distance.eq(DISTANCE)),
        ]
        for credits, (headers, data) in zip((POSTED, NONPOSTED), freed):
            self.sync += [
                late[credits].eq(Cat(headers | (data != 0), late[credits][0])),
                If(self.sent[credits], changed[credits].eq(0)),
                If(headers | (data != 0) | (late[credits] != 0) | (period == 0), changed[credits].eq(1)),
            ]
