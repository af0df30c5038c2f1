#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Queues of the card's TLPs by type, which keep the order of PCI Express between types."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.pcie import TYPE_COMPLETION, TYPE_MEMORY
from litepcie_soc.endpoint.data_link.dllp import COMPLETION, NONPOSTED, POSTED
from litepcie_soc.endpoint.data_link.words import WORD

# Bits of the counts of posted requests, which wrap: the queue holds fewer than half of what they count.
COUNT_BITS = 8

# Words that leave the memory before they can be sent.
AHEAD = 4

# One Queue ----------------------------------------------------------------------------------------


class TLPQueue(LiteXModule):
    """Stores each TLP whole, so that it leaves without a gap, and holds it until ``mark`` posted requests have left.

    Parameters
    ----------
    words : int, of 16 bits, that it holds. At least those of the longest TLP.
    tlps  : int, TLPs that it holds.
    waits : bool, False: a TLP waits for none; ``mark`` and ``left`` have no meaning.

    Attributes
    ----------
    sink   : stream of 16 bits, **in**.
    mark   : COUNT_BITS, **in**; posted requests before the TLP, valid with its last word.
    left   : COUNT_BITS, **in**; posted requests that have left.
    source : stream of 16 bits, **out**; after the first word of a TLP there is no cycle without a word.
    busy   : 1, **out**; there is a word.
    """
    def __init__(self, words, tlps, waits=True):
        self.words  = words = stream.SyncFIFO(WORD, words, buffered=True)
        self.first  = first = stream.Buffer(WORD)  # Because the output of a block RAM comes late in its cycle.
        self.tlps   = tlps  = stream.SyncFIFO([("mark", COUNT_BITS)], tlps)
        self.sink   = sink  = stream.Endpoint(WORD)
        self.mark   = Signal(COUNT_BITS)
        self.left   = Signal(COUNT_BITS)
        # Runs ahead while the credits of a TLP are looked up, which hides the cycle between two TLPs.
        self.ahead  = ahead = stream.SyncFIFO(WORD, AHEAD)
        self.source = ahead.source
        source      = ahead.sink
        self.busy   = Signal()

        # # #

        distance = Signal(COUNT_BITS)
        moves    = Signal()  # The TLP leaves.
        ends     = Signal()
        self.comb += [
            self.busy.eq(sink.valid | first.source.valid | ahead.source.valid),
            sink.connect(words.sink, omit={"valid", "ready"}),
            words.sink.valid.eq(sink.valid & tlps.sink.ready),
            sink.ready.eq(words.sink.ready & tlps.sink.ready),
            tlps.sink.valid.eq(sink.valid & sink.last & words.sink.ready),
            tlps.sink.mark.eq(self.mark),
            distance.eq(tlps.source.mark - self.left),
            words.source.connect(first.sink),
            first.source.connect(source, omit={"valid", "ready"}),
            source.valid.eq(first.source.valid & moves),
            first.source.ready.eq(source.ready & moves),
            ends.eq(first.source.valid & first.source.ready & first.source.last),
            tlps.source.ready.eq(ends),
        ]
        self.sync += If(moves,
            If(ends, moves.eq(0))
        ).Elif(tlps.source.valid & first.source.valid & ((distance == 0) | distance[-1] | (not waits)),
            moves.eq(1),
        )

# All Queues ---------------------------------------------------------------------------------------


class TransmitQueues(LiteXModule):
    """Sorts the TLPs of the card into three queues.

    A completion or a non-posted request never passes a posted request before it, and everything else may pass: a read
    that waits for credits holds nothing back (PCIe 2.1 2.4.1). The queue of non-posted requests holds all that the
    card may have, so that none is left in ``sink``. Nothing is dropped: the transaction layer counts it as sent.

    Parameters
    ----------
    max_payload : int, bytes.
    tags        : int, non-posted requests that the card has outstanding at most.

    Attributes
    ----------
    sink       : stream of 16 bits, **in**; TLPs of the transaction layer.
    own        : stream of 16 bits, **in**; posted requests of the endpoint: MSI, messages.
    configured : stream of 16 bits, **in**; completions of the endpoint.
    sources    : [stream of 16 bits], **out**; by type, for `DataLink`.
    busy       : 1, **out**; there is a TLP.
    """
    def __init__(self, max_payload=256, tags=32):
        self.sink       = sink = stream.Endpoint(WORD)
        self.busy       = Signal()
        words           = 1 << log2_int(2*(max_payload//2 + 8), need_pow2=False)
        self.posted     = TLPQueue(words, 64, waits=False)  # They keep their order by themselves.
        self.nonposted  = TLPQueue(8*tags, tags)
        self.completion = TLPQueue(words, 16)
        self.requests   = requests    = PacketArbiter(WORD, 2)
        self.completions = completions = PacketArbiter(WORD, 2)
        self.own        = requests.sinks[1]
        self.configured = completions.sinks[1]
        self.sources    = [self.posted.source, self.nonposted.source, self.completion.source]

        # # #

        came, left = Signal(COUNT_BITS), Signal(COUNT_BITS)
        kind, held = Signal(2), Signal(2)
        destinations = {POSTED: requests.sinks[0], NONPOSTED: self.nonposted.sink, COMPLETION: completions.sinks[0]}
        self.comb += [
            kind.eq(Mux(sink.first, kind_of(sink.data), held)),
            requests.source.connect(self.posted.sink),
            completions.source.connect(self.completion.sink),
            self.busy.eq(self.posted.busy | self.nonposted.busy | self.completion.busy),
        ]
        for number, destination in destinations.items():
            self.comb += [
                sink.connect(destination, omit={"valid", "ready"}),
                If(kind == number,
                    destination.valid.eq(sink.valid),
                    sink.ready.eq(destination.ready),
                ),
            ]
        for queue in (self.posted, self.nonposted, self.completion):
            self.comb += [queue.mark.eq(came), queue.left.eq(left)]
        self.sync += [
            If(sink.valid, held.eq(kind)),
            If(ends(self.posted.sink), came.eq(came + 1)),
            If(ends(self.posted.source), left.eq(left + 1)),
        ]


def ends(endpoint):
    return endpoint.valid & endpoint.ready & endpoint.last


def kind_of(word):
    """Type of a TLP of the transaction layer by its first word."""
    fmt_type = word[:8]
    return Mux(fmt_type[1:5] == TYPE_COMPLETION >> 1, COMPLETION,
        Mux(fmt_type[6] & (fmt_type[:5] == TYPE_MEMORY), POSTED, NONPOSTED))
