#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Credits that the link partner gives for our TLPs."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.phy.soft.lcrc import WORD

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
