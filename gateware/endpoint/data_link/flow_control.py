#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Flow control in both directions: credits that the link partner gives, and those that it gets."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.dllp import COMPLETION, INIT1, INIT2, NONPOSTED, POSTED
from litepcie_soc.endpoint.data_link.words import WORD

# Credits of the Partner ---------------------------------------------------------------------------
# Credits that the link partner gives for our TLPs.

HEADER_BITS, DATA_BITS = 8, 12
NEED_BITS = 9  # Units of the longest TLP: 4 KiB of payload.

# One Pool -----------------------------------------------------------------------------------------


class CreditPool(LiteXModule):
    """Credits of one type for headers or for data.

    LIMIT and CONSUMED count modulo 2**bits. There are enough credits if LIMIT - (CONSUMED + need), modulo 2**bits, is
    at most half of 2**bits. A limit of 0 at the initialization means infinite credits for good.

    Parameters
    ----------
    bits : int, of the counters.

    Attributes
    ----------
    value    : bits, **in**; a limit of the partner.
    record   : 1, **in**; a pulse: the limit of the initialization. It may come again.
    update   : 1, **in**; a pulse: a limit of later.
    need     : bits, **in**; of the next TLP.
    consume  : 1, **in**; a pulse: the TLP is sent. ``need`` must have been the same in the cycle before.
    enough   : 1, **out**; there were credits for the ``need`` of three cycles before.
    infinite : 1, **out**; the partner has given infinite credits.
    fewest   : bits, **out**; the fewest credits that a TLP has left. All ones: no TLP was sent.
    forget   : 1, **in**; no TLP was sent since now, for ``fewest``.

    PCIe 2.1 2.6.1.2.
    """
    def __init__(self, bits):
        self.value   = Signal(bits)
        self.record  = Signal()
        self.update  = Signal()
        self.need    = Signal(bits)
        self.consume = Signal()
        self.enough  = Signal()
        self.infinite = infinite = Signal()
        self.fewest  = Signal(bits, reset=2**bits - 1)
        self.forget  = Signal()

        # # #

        limit, consumed, required = Signal(bits), Signal(bits), Signal(bits)
        left     = Signal(bits)  # Credits after the next TLP.
        after    = Signal(bits)  # Of the cycle before, when the TLP was sent.
        taken    = Signal()
        self.sync += [
            If(self.record, infinite.eq(self.value == 0)),
            If(self.record | self.update, limit.eq(self.value)),
            required.eq(consumed + self.need),
            If(self.consume, consumed.eq(required)),
            left.eq(limit - required),
            # More than half of the modulus is a negative number.
            self.enough.eq(infinite | ~(left[-1] & (left[:-1] != 0))),
            after.eq(left),
            taken.eq(self.consume),
            If(taken & (after < self.fewest), self.fewest.eq(after)),
            If(self.forget, self.fewest.eq(2**bits - 1)),
        ]

# One Type -----------------------------------------------------------------------------------------


class CreditGate(LiteXModule):
    """Credits of one type: posted, non-posted or completion.

    Attributes
    ----------
    header_fc : 8, **in**; limit of headers from the partner.
    data_fc   : 12, **in**; limit of data from the partner, in units of 16 bytes.
    record    : 1, **in**; a pulse: these are the limits of the initialization.
    update    : 1, **in**; a pulse: these are limits of later.
    recorded  : 1, **out**; there were limits of the initialization.
    ask       : 1, **in**; ``need`` is that of the next TLP.
    need      : 9, **in**; units of data of the next TLP. It stays the same while ``ask`` is asserted.
    enough    : 1, **out**; the next TLP may be sent. Comes three cycles after ``ask``, and falls with it.
    consume   : 1, **in**; a pulse, only with ``enough``: the TLP is sent. ``enough`` falls.

    PCIe 2.1 2.6.1.
    """
    def __init__(self):
        self.header_fc = Signal(HEADER_BITS)
        self.data_fc   = Signal(DATA_BITS)
        self.record    = Signal()
        self.update    = Signal()
        self.recorded  = Signal()
        self.ask       = Signal()
        self.need      = Signal(NEED_BITS)
        self.enough    = Signal()
        self.consume   = Signal()

        # # #

        self.header = header = CreditPool(HEADER_BITS)
        self.data   = data   = CreditPool(DATA_BITS)
        steps = Signal(3)  # Cycles since the need is known, as a row of ones.
        self.comb += [
            header.value.eq(self.header_fc),
            data.value.eq(self.data_fc),
            header.need.eq(1),
            data.need.eq(self.need),
            self.enough.eq(self.ask & steps[2] & header.enough & data.enough),
        ]
        self.comb += [getattr(pool, name).eq(getattr(self, name)) for pool in (header, data)
            for name in ("record", "update", "consume")]
        self.sync += [
            steps.eq(Cat(self.ask, steps[:2])),
            If(self.consume | ~self.ask, steps.eq(0)),
            If(self.record, self.recorded.eq(1)),
        ]

# Entrance -----------------------------------------------------------------------------------------


class CreditEntrance(LiteXModule):
    """Lets TLPs of one type pass when there are credits for them.

    Holds the first two words of the next TLP, which tell its length.

    Attributes
    ----------
    sink    : stream of 16 bits, **in**; TLPs. After the first word of a TLP there is no cycle without a word.
    source  : stream of 16 bits, **out**; the same. Begins after ``grant``, and has no cycle without a word either.
    request : 1, **out**; there is a TLP, and credits for it.
    grant   : 1, **in**; a pulse, only with ``request``: the TLP is to be sent.
    largest : 10, **in**; dwords of payload of the longest TLP; 0: it has none.
    discard : 1, **in**; a TLP that has no grant is dropped.
    idle    : 1, **out**; there is no TLP, and after four cycles of this:
    ready   : 1, **out**; there are credits for the longest one.

    ``header_fc``, ``data_fc``, ``record``, ``update`` and ``recorded`` are those of `CreditGate`.

    PCIe 2.1 2.2.1 and 2.6.1.
    """
    def __init__(self):
        self.sink    = sink   = stream.Endpoint(WORD)
        self.source  = source = stream.Endpoint(WORD)
        self.request = Signal()
        self.grant   = Signal()
        self.largest = Signal(10)
        self.discard = Signal()
        self.idle    = Signal()
        self.ready   = Signal()
        self.gate    = gate = CreditGate()
        for name in ("header_fc", "data_fc", "record", "update", "recorded"):
            setattr(self, name, getattr(gate, name))

        # # #

        word, following = stream.Endpoint(WORD), stream.Endpoint(WORD)  # Registers: of the source, and after it.
        opened = Signal()
        drops  = Signal()
        move   = Signal()
        self.comb += [
            # The rest of a TLP is dropped after its first word was, and after a reset in the middle of a TLP.
            move.eq(~word.valid | (opened & source.ready) | (~opened & ~word.first) | drops),
            sink.ready.eq(move | ~following.valid),
            source.valid.eq(opened & word.valid),
            source.data.eq(word.data),
            source.first.eq(word.first),
            source.last.eq(word.last),
            self.request.eq(gate.enough),
            self.idle.eq(~word.valid & ~following.valid),
            self.ready.eq(gate.header.enough & gate.data.enough),
            gate.consume.eq(self.grant),
        ]
        self.sync += [
            If(move,
                word.valid.eq(following.valid),
                word.data.eq(following.data),
                word.first.eq(following.first),
                word.last.eq(following.last),
            ),
            If(sink.ready,
                following.valid.eq(sink.valid),
                following.data.eq(sink.data),
                following.first.eq(sink.first),
                following.last.eq(sink.last),
            ),
            If(source.valid & source.ready & source.last, opened.eq(0)),
            If(self.grant, opened.eq(1)),
            drops.eq(self.discard & gate.ask & ~self.grant),
        ]
        self.add_need()

    def add_need(self):
        """Computes the need of the next TLP when its second word comes: then the TLP before it has left.

        From registers, because the words may come from a block RAM, which is slow.
        """
        sink, gate = self.sink, self.gate
        second     = Signal()   # The next word is the second one of a TLP.
        has_data   = Signal()
        length     = Signal(10)
        # A length of 0 is 1024 dwords.
        self.comb += If(has_data, gate.need.eq(Cat(length[2:], length == 0) + (length[:2] != 0)))
        self.sync += [
            If(self.grant | self.discard, gate.ask.eq(0)),
            If(self.idle,
                has_data.eq(self.largest != 0),
                length.eq(self.largest),
            ),
            If(sink.valid & sink.ready,
                second.eq(sink.first),
                If(sink.first, has_data.eq(sink.data[6])),
                If(second,
                    gate.ask.eq(1),
                    length.eq(Cat(sink.data[8:], sink.data[:2])),
                )
            ),
        ]

# Credits for the Partner --------------------------------------------------------------------------
# Flow control of the receiving side: initialization, and the credits that the link partner gets.

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
