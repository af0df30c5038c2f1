#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Delivers the data of checked completions to the clients."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_3DW, LENGTH_BITS, REASON_BUS_MASTER, REASON_NONE, word_bits
from litepcie_soc.tlp.budget import BlockReturn
from litepcie_soc.tlp.check import beats_layout, entry_layout
from litepcie_soc.tlp.context import REASON_KEPT_BITS
from litepcie_soc.tlp.realign import Realigner, alignment, alignment_layout

# Entry FIFO ---------------------------------------------------------------------------------------

# Width from which an entry that finds its FIFO empty is not stored in it: it saves a cycle of each completion.
BYPASS_BITS = 128


class EntryFIFO(LiteXModule):
    """A FIFO whose output is a register: an entry is valid there one cycle after it came, if no other one waits.

    Parameters
    ----------
    layout : layout of an entry.
    depth  : entries, besides that in the output register.

    Attributes
    ----------
    sink   : stream, **in**; ``first`` and ``last`` are not stored.
    source : stream, **out**.
    level  : Signal(), **out**, entries inside.
    """
    def __init__(self, layout, depth):
        self.sink   = sink   = stream.Endpoint(layout)
        self.source = source = stream.Endpoint(layout)
        self.level  = Signal(max=depth + 2)

        # # #

        self.fifo = fifo = stream.SyncFIFO(layout, depth)
        take  = Signal()    # The output register is loaded.
        waits = fifo.source.valid
        self.comb += [
            take.eq(~source.valid | source.ready),
            sink.connect(fifo.sink, omit={"valid"}),
            fifo.sink.valid.eq(sink.valid & (waits | ~take)),
            fifo.source.ready.eq(take),
            self.level.eq(fifo.level + source.valid),
        ]
        self.sync += If(take,
            source.valid.eq(waits | sink.valid),
            source.payload.eq(sink.payload),
            If(waits, source.payload.eq(fifo.source.payload))
        )

# Completion Writer --------------------------------------------------------------------------------

# Depth of the FIFOs, as many words as a RAM of LUTs has. Beats wait seven cycles for the result of their check.
DEPTH = 16


class CompletionWriter(LiteXModule):
    """Aligns the data of completions to its destination, and writes it to the read port of the client.

    Completions are delivered in the order of arrival; the tag of each decides the client and the destination address.
    `CompletionCheck` has already looked these up. Its entry is split over two FIFOs: the one before the realigner says
    how to align the beats of the next completion or to drop them, and the one after the realigner says where they go
    and which request ends with them. A request ends when its last byte was accepted by the client. The blocks of the
    PHY's buffer that a completion filled are given back earlier, see `BlockReturn`.

    Parameters
    ----------
    data_width : int, bits.
    ports      : list of MemoryReadPort.
    contexts   : TagContexts, receives the results of the requests that end.

    Attributes
    ----------
    beats        : stream of `beats_layout`, **in**, beats of completions.
    entry        : Record of `valid` and `entry_layout`, **in**, results of the check.
    room         : Signal(), **out**, there is room for six entries.
    busy         : Signal(), **out**, beats or entries are in the FIFOs, or a request is ending.
    lost         : Signal(), **in**, the link was lost: no request ends successfully.
    blocks       : BlockReturn, gives blocks of the PHY's buffer back.
    ended        : Signal(), **out**, a request of port `client` ended; asserted for one cycle.
    client       : Signal(), **out**.
    filling      : Signal(), **in**, no tag may be returned.
    put          : Record of `valid`, `ready`, `tag` and `generation`, **out**, a tag that has left quarantine.
    """
    def __init__(self, data_width, ports, contexts):
        client_bits       = len(contexts.context.client)
        destination_bits  = len(contexts.context.end)
        offset_bits       = word_bits(data_width)
        self.beats        = stream.Endpoint(beats_layout(data_width))
        self.entry        = entry = Record([("valid", 1)] + entry_layout(data_width, client_bits, destination_bits))
        self.room         = Signal()
        self.busy         = Signal()
        self.lost         = Signal()
        self.ended        = Signal()
        self.client       = Signal(client_bits)
        self.filling      = Signal()
        self.put          = put = Record([("valid", 1), ("ready", 1), ("tag", contexts.tag_bits), ("generation", 1)])

        # # #

        self.blocks    = blocks    = BlockReturn(entry)
        self.realigner = realigner = Realigner(data_width)
        self.beat_fifo      = beat_fifo      = stream.SyncFIFO(beats_layout(data_width), depth=DEPTH, buffered=True)
        layout = [("good", 1)] + alignment_layout(offset_bits)
        self.alignment_fifo = alignment_fifo = (EntryFIFO(layout, DEPTH) if data_width >= BYPASS_BITS else
            stream.SyncFIFO(layout, depth=DEPTH, buffered=True))
        self.target_fifo    = target_fifo    = stream.SyncFIFO([
            ("empty", 1), ("client", client_bits), ("address", destination_bits - offset_bits), ("done", 1),
            ("late", 1), ("returned", 1), ("tag", contexts.tag_bits), ("generation", 1), ("reason", REASON_KEPT_BITS),
            ("bytes", LENGTH_BITS),
        ], depth=DEPTH, buffered=True)

        # Entries ----------------------------------------------------------------------------------
        self.comb += [
            self.beats.connect(beat_fifo.sink),
            alignment_fifo.sink.valid.eq(entry.valid & entry.has_beats),
            alignment_fifo.sink.good.eq(entry.good),
            *alignment(alignment_fifo.sink, HEADER_3DW + entry.lower[:2], entry.destination[:offset_bits], entry.chunk),
            target_fifo.sink.valid.eq(entry.valid & entry.live),
            target_fifo.sink.empty.eq(~entry.good),
            target_fifo.sink.address.eq(entry.destination[offset_bits:]),
            *[getattr(target_fifo.sink, name).eq(getattr(entry, name))
                for name in ("client", "done", "late", "returned", "tag", "generation", "reason", "bytes")],
            blocks.last.eq(beat_fifo.sink.valid & beat_fifo.sink.ready & beat_fifo.sink.last),
        ]
        # Half of the depth leaves room for the entries in the pipeline of the check: four, that of this cycle and that
        # of the next one, because the levels are one cycle old.
        self.sync += self.room.eq((alignment_fifo.level < DEPTH//2) & (target_fifo.level < DEPTH//2))

        # Beats to the realigner -------------------------------------------------------------------
        beat, head = beat_fifo.source, alignment_fifo.source
        self.comb += [
            realigner.sink.valid.eq(beat.valid & head.valid & head.good),
            realigner.sink.first.eq(beat.first),
            realigner.sink.last.eq(beat.last),
            realigner.sink.dat.eq(beat.dat),
            *[getattr(realigner.sink, name).eq(getattr(head, name)) for name, _ in alignment_layout(offset_bits)],
            beat.ready.eq(head.valid & (realigner.sink.ready | ~head.good)),
            head.ready.eq(beat.valid & beat.last & (realigner.sink.ready | ~head.good)),
        ]

        # Aligned beats to the client --------------------------------------------------------------
        target  = target_fifo.source
        aligned = realigner.source
        ready   = Signal()
        waits   = Signal()      # The tag cannot be returned yet.
        next_address = Signal(destination_bits - offset_bits)
        address      = Signal(destination_bits - offset_bits)
        self.comb += [
            address.eq(Mux(aligned.first, target.address, next_address)),
            Case(target.client, {n: ready.eq(port.data.ready) for n, port in enumerate(ports)}),
            aligned.ready.eq(ready & target.valid & ~target.empty),
            waits.eq(target.returned & (put.valid | self.filling)),
            target.ready.eq(Mux(target.empty, ~waits, aligned.valid & aligned.ready & aligned.last)),
        ]
        for n, port in enumerate(ports):
            self.comb += [
                port.data.valid.eq(aligned.valid & target.valid & ~target.empty & (target.client == n)),
                port.data.first.eq(aligned.first),
                port.data.last.eq(aligned.last),
                port.data.address.eq(address),
                port.data.dat.eq(aligned.dat),
                port.data.be.eq(aligned.be),
            ]
        self.sync += If(aligned.valid & aligned.ready, next_address.eq(address + 1))

        # End of a completion, of a request, and of a quarantine ------------------------------------
        finish = contexts.finish
        taken  = Signal()
        ending = Signal()
        finish.bytes.reset_less = True  # The reset input of the flip-flops is used by `lost`.
        self.comb += [
            taken.eq(target.valid & target.ready),
            self.busy.eq((beat_fifo.level != 0) | (target_fifo.level != 0) | ending),
        ]
        self.sync += [
            finish.write.eq(taken & (target.done | target.returned)),
            finish.tag.eq(target.tag),
            finish.generation.eq(target.generation),
            finish.late.eq(target.late & ~target.returned),
            finish.reason.eq(target.reason),
            finish.bytes.eq(target.bytes),
            If(self.lost,
                If(target.reason == REASON_NONE, finish.reason.eq(REASON_BUS_MASTER)),
                finish.bytes.eq(0),
            ),
            ending.eq(taken),
            self.ended.eq(taken & target.done),
            self.client.eq(target.client),
            If(put.ready, put.valid.eq(0)),
            If(taken & target.returned,
                put.valid.eq(1),
                put.tag.eq(target.tag),
                put.generation.eq(~target.generation),
            ),
        ]
