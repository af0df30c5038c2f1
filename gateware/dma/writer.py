#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DMA writer: endpoint memory to host memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_3DW, HEADER_4DW, REASON_BUS_MASTER, REASON_NONE
from litepcie_soc.dma.descriptor import PAIR_BITS, descriptor_layout, done_layout, piece_layout, splitter_for
from litepcie_soc.tlp.realign import Realigner, alignment, alignment_layout

# Word Reader --------------------------------------------------------------------------------------


class WordReader(LiteXModule):
    """Reads the words of packets from the endpoint memory, one per cycle, without a gap between packets.

    Parameters
    ----------
    memory    : MemoryReadStream of the endpoint memory.
    in_flight : most words in flight from the memory.
    packets   : most packets in flight.

    Attributes
    ----------
    sink   : Endpoint(piece_layout), **in**, a packet; accepted when its first command is next.
    source : Endpoint, **out**, input of ``Realigner``: payload ``dat``; the packet's position in its words and in
        its TLP as parameters.
    busy   : 1, **out**, a packet is in flight.
    """
    def __init__(self, memory, in_flight=16, packets=16):
        width       = memory.data_width
        word_bits   = log2_int(width // 8)
        params      = alignment_layout(word_bits)
        self.sink   = sink   = stream.Endpoint(piece_layout(bits_for(memory.size - 1)))
        self.source = source = stream.Endpoint(stream.EndpointDescription([("dat", width)], params))
        self.busy   = Signal()

        # # #

        self.params  = packet = stream.SyncFIFO(params, packets)          # One entry per packet in flight.
        self.markers = marker = stream.SyncFIFO([("end", 1)], in_flight)  # One entry per word in flight.
        command = memory.command
        active  = Signal()                    # A packet has commands left.
        words_left_n = Signal(13 - word_bits + 1)  # Ones' complement of the words left after this one: counts up.
        last    = Signal()
        load    = Signal()
        # Offsets in the packet's first word, as negative numbers: of its first byte, and of the byte after its
        # last. The upper bits of the latter are the ones' complement of the words after the first.
        minus_start = Signal((word_bits + 1, True))
        minus_end   = Signal(14)
        out_offset  = Signal(word_bits)       # Lane of the packet's first byte in the TLP.
        self.comb += [
            # Commands.
            command.valid.eq(active & marker.sink.ready),
            marker.sink.valid.eq(command.valid & command.ready),
            last.eq(words_left_n == 2**len(words_left_n) - 1),
            marker.sink.end.eq(last),
            sink.ready.eq(packet.sink.ready & (~active | (marker.sink.valid & last))),
            load.eq(sink.valid & sink.ready),
            minus_start.eq(-sink.endpoint[:word_bits]),
            minus_end.eq(minus_start - sink.length),
            packet.sink.valid.eq(load),
            out_offset.eq(sink.host[:2] + Mux(sink.host[32:] == 0, HEADER_3DW, HEADER_4DW)),
            *alignment(packet.sink, sink.endpoint[:word_bits], out_offset, sink.length[:word_bits]),
            # Words.
            source.valid.eq(memory.data.valid),
            memory.data.ready.eq(source.ready),
            source.dat.eq(memory.data.dat),
            source.last.eq(marker.source.end),
            marker.source.ready.eq(source.valid & source.ready),
            packet.source.ready.eq(source.valid & source.ready & source.last),
            *[getattr(source, name).eq(getattr(packet.source, name)) for name, _ in params],
            self.busy.eq(packet.source.valid),
        ]
        self.sync += [
            If(command.valid & command.ready,
                command.address.eq(command.address + 1),
                words_left_n.eq(words_left_n + 1),
                If(last, active.eq(0))
            ),
            If(load,
                active.eq(1),
                command.address.eq(sink.endpoint[word_bits:]),
                words_left_n.eq(minus_end[word_bits:])
            )
        ]
        first = Signal(reset=1)
        self.comb += source.first.eq(first)
        self.sync += If(source.valid & source.ready, first.eq(source.last))

# Slow Buffer --------------------------------------------------------------------------------------


class SlowBuffer(LiteXModule):
    """A register between two streams, which takes a beat in every second cycle: ``sink.ready`` is a register's output.

    That is enough for packets of a narrow path. Only the first packet of a descriptor can be as short as one word, and
    a ``Splitter`` makes descriptors two cycles apart.
    """
    def __init__(self, layout):
        self.sink   = sink   = stream.Endpoint(layout)
        self.source = source = stream.Endpoint(layout)

        # # #

        self.comb += sink.ready.eq(~source.valid)
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(sink.valid & sink.ready,
                source.valid.eq(1),
                source.payload.eq(sink.payload)
            )
        ]

# Writer -------------------------------------------------------------------------------------------


class Writer(LiteXModule):
    """Reads the data of descriptors from endpoint memory and sends it as packets without gaps between them.

    A packet is the payload of one TLP; it ends at a multiple of MPS of the host address, or with its
    descriptor. The words from the endpoint memory are rotated once, to the lanes they have in the TLP.

    Parameters
    ----------
    port     : MemoryWritePort of the data.
    memory   : MemoryReadStream of the endpoint memory.
    packets  : most packets in flight, from their first command to the PHY.
    splitter : cuts descriptors into packets, with the ports of ``Splitter``; ``splitter_for`` makes it if None.

    Attributes
    ----------
    sink     : Endpoint(descriptor_layout), **in**.
    boundary : 16, **in**, MPS in bytes.
    run      : 1, **in**, a new descriptor may begin.
    issue    : 1, **in**, packets may begin; without it, packets that have begun are still sent.
    done     : Record(done_layout), **out**.
    idle     : 1, **out**, nothing is in flight.
    tlp      : 1, **out**, a packet was sent.
    moved    : 1, **out**, the transaction layer accepts data in this cycle.
    wait_tag, wait_link, wait_data : 1, **out**, what the writer waits for; at most one, and none with ``moved``.
        It never waits for a tag.
    """
    def __init__(self, port, memory, packets=32, splitter=None):
        width          = memory.data_width
        endpoint_width = bits_for(memory.size - 1)
        self.sink      = stream.Endpoint(descriptor_layout(endpoint_width))
        self.boundary  = Signal(16)
        self.run       = Signal()
        self.issue     = Signal()
        self.done      = done = Record(done_layout())
        self.idle      = Signal()
        self.tlp       = Signal()
        self.moved     = Signal()
        self.wait_tag  = Signal()
        self.wait_link = Signal()
        self.wait_data = Signal()

        # # #

        # Packets. One that has entered ``issued`` is sent, even if the engine stops.
        self.splitter = splitter = splitter or splitter_for(width, endpoint_width)
        self.issued   = issued   = stream.SyncFIFO(
            [("bytes", 13), ("last_packet", 1), ("slot_last", 1), ("interrupt", 1), ("reason", 4)],
            depth = packets)
        self.words    = words    = WordReader(memory, in_flight=memory.in_flight)
        self.headers  = headers  = stream.SyncFIFO([("address", 64), ("length", 13)], 16)
        piece   = splitter.source
        layout  = piece_layout(endpoint_width)
        self.buffer = buffer = stream.Buffer(layout, pipe_ready=True) if width >= PAIR_BITS else SlowBuffer(layout)
        packet  = buffer.source
        blocked = Signal()          # A reason was issued: nothing follows it.
        load    = Signal()
        self.comb += [
            self.sink.connect(splitter.sink),
            splitter.boundary.eq(self.boundary),
            splitter.run.eq(self.run),
            piece.ready.eq(self.issue & ~blocked & issued.sink.ready & buffer.sink.ready),
            load.eq(piece.valid & piece.ready),
            piece.connect(buffer.sink, omit={"valid", "ready"}),
            buffer.sink.valid.eq(load & (piece.reason == REASON_NONE)),
            issued.sink.valid.eq(load),
            issued.sink.bytes.eq(piece.length),
            issued.sink.last_packet.eq(piece.last),
            issued.sink.slot_last.eq(piece.slot_last),
            issued.sink.interrupt.eq(piece.interrupt),
            issued.sink.reason.eq(piece.reason),
            packet.connect(words.sink, omit={"valid", "ready"}),
            words.sink.valid.eq(packet.valid & headers.sink.ready),
            packet.ready.eq(words.sink.ready & headers.sink.ready),
            headers.sink.valid.eq(packet.valid & words.sink.ready),
            headers.sink.address.eq(packet.host),
            headers.sink.length.eq(packet.length),
        ]
        self.sync += If(load & (piece.reason != REASON_NONE), blocked.eq(1))

        # Data: rotated to the lanes of the TLP, zero in the lanes of the header. Address and length
        # bypass the rotation and join the data after it.
        self.realigner = realigner = Realigner(width)
        self.comb += [
            words.source.connect(realigner.sink),
            realigner.source.connect(port.sink, omit={"be"}),
            port.soon.eq(realigner.soon),
            port.sink.address.eq(headers.source.address),
            port.sink.length.eq(headers.source.length),
            headers.source.ready.eq(port.sink.valid & port.sink.ready & port.sink.last),
        ]

        # Completion: a packet is done when it was sent, a reason when everything before it is done.
        oldest  = issued.source
        failed  = Signal()
        self.comb += [
            failed.eq(oldest.valid & (oldest.reason != REASON_NONE)),
            oldest.ready.eq(port.sent | failed),
            self.tlp.eq(port.sent & ~port.dropped),
            self.idle.eq(~oldest.valid & ~packet.valid & ~done.valid),
        ]
        self.sync += [
            done.valid.eq(oldest.ready),
            done.bytes.eq(Mux(failed | port.dropped, 0, oldest.bytes)),
            done.last.eq(oldest.last_packet),
            done.slot_last.eq(oldest.slot_last),
            done.interrupt.eq(oldest.interrupt),
            done.reason.eq(Mux(failed, oldest.reason,
                Mux(port.dropped, REASON_BUS_MASTER, REASON_NONE))),
        ]

        # Events of this cycle, for the counters.
        self.comb += [
            self.moved.eq(port.sink.valid & port.sink.ready),
            If(~self.moved,
                If(port.sink.valid,
                    self.wait_link.eq(1)
                ).Elif(packet.valid | words.busy | realigner.busy,
                    self.wait_data.eq(1)
                ).Elif(oldest.valid,
                    self.wait_link.eq(1)
                )
            )
        ]
