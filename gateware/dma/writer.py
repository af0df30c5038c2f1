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
from litepcie_soc.dma.descriptor import Splitter, descriptor_layout, done_layout, request_layout
from litepcie_soc.tlp.realign import Realigner, placement, placement_layout

# Word Reader --------------------------------------------------------------------------------------


class WordReader(LiteXModule):
    """Reads the words of packets from the endpoint memory, a word a cycle over packet ends.

    Parameters
    ----------
    memory    : MemoryReadStream of the endpoint memory.
    in_flight : words that can be on their way from the memory.
    packets   : packets that can.

    Attributes
    ----------
    sink   : Endpoint(request_layout), in, sys, accepted when its first command can leave next.
    source : Endpoint of ``Realigner``: payload ``dat``, where it goes as parameters, out, sys.
    busy   : 1, out, sys, a packet is inside.
    """
    def __init__(self, memory, in_flight=16, packets=16):
        width       = memory.data_width
        word_bits   = log2_int(width // 8)
        params      = placement_layout(word_bits)
        self.sink   = sink   = stream.Endpoint(request_layout(bits_for(memory.size - 1)))
        self.source = source = stream.Endpoint(stream.EndpointDescription([("dat", width)], params))
        self.busy   = Signal()

        # # #

        self.params  = packet = stream.SyncFIFO(params, packets)        # Of packets under way.
        self.markers = marker = stream.SyncFIFO([("end", 1)], in_flight)  # Of words under way.
        command = memory.command
        walking = Signal()
        behind  = Signal(13 - word_bits + 1)  # Words behind the current one, as their complement: it counts up.
        last    = Signal()
        load    = Signal()
        before  = Signal((word_bits + 1, True))  # Minus its bytes before the packet's first,
        end     = Signal(14)                  # and minus those up to its end: the complement of its last byte's.
        out_offset = Signal(word_bits)        # Of its first byte in the TLP.
        self.comb += [
            # Commands.
            command.valid.eq(walking & marker.sink.ready),
            marker.sink.valid.eq(command.valid & command.ready),
            last.eq(behind == 2**len(behind) - 1),
            marker.sink.end.eq(last),
            sink.ready.eq(packet.sink.ready & (~walking | (marker.sink.valid & last))),
            load.eq(sink.valid & sink.ready),
            before.eq(-sink.endpoint[:word_bits]),
            end.eq(before - sink.length),
            packet.sink.valid.eq(load),
            out_offset.eq(sink.host[:2] + Mux(sink.host[32:] == 0, HEADER_3DW, HEADER_4DW)),
            *placement(packet.sink, sink.endpoint[:word_bits], out_offset, sink.length[:word_bits]),
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
                behind.eq(behind + 1),
                If(last, walking.eq(0))
            ),
            If(load,
                walking.eq(1),
                command.address.eq(sink.endpoint[word_bits:]),
                behind.eq(end[word_bits:])
            )
        ]
        first = Signal(reset=1)
        self.comb += source.first.eq(first)
        self.sync += If(source.valid & source.ready, first.eq(source.last))

# Writer -------------------------------------------------------------------------------------------


class Writer(LiteXModule):
    """Sends the data of descriptors as packets that follow each other without a gap.

    A packet is one TLP: it ends at a multiple of MPS of the host address. Its words come from the
    endpoint memory and are rotated once, to the place they have in the TLP.

    Parameters
    ----------
    port    : MemoryWritePort of the data.
    memory  : MemoryReadStream of the endpoint memory.
    packets : packets between their first command and the PHY.
    splitter : what cuts descriptors into packets, with the ports of ``Splitter``; one if None.

    Attributes
    ----------
    sink     : Endpoint(descriptor_layout), in, sys.
    boundary : 16, in, sys, MPS in bytes.
    run      : 1, in, sys, a new descriptor may begin.
    issue    : 1, in, sys, packets may begin; without, those that began are sent.
    done     : Record(done_layout), out, sys.
    idle     : 1, out, sys, nothing is under way.
    tlp      : 1, out, sys, a packet was sent.
    moved    : 1, out, sys, data left in this cycle; else, at most one of
    wait_tag, wait_link, wait_data : 1, out, sys, for what the writer waits (never for a tag).
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

        # Packets: one that is counted here is sent, whatever happens to the engine.
        self.splitter = splitter = splitter or Splitter(endpoint_width)
        self.issued   = issued   = stream.SyncFIFO(
            [("bytes", 13), ("last_packet", 1), ("slot_last", 1), ("interrupt", 1), ("reason", 4)],
            depth = packets)
        self.words    = words    = WordReader(memory, in_flight=memory.in_flight)
        self.headers  = headers  = stream.SyncFIFO([("address", 64), ("length", 13)], 16)
        piece   = splitter.source
        packet  = stream.Endpoint(request_layout(endpoint_width))
        blocked = Signal()          # A reason was issued: nothing follows it.
        load    = Signal()
        self.comb += [
            self.sink.connect(splitter.sink),
            splitter.boundary.eq(self.boundary),
            splitter.run.eq(self.run),
            # One in two cycles: only the first packet of a descriptor can be a single word, and
            # descriptors are two cycles apart.
            piece.ready.eq(self.issue & ~blocked & issued.sink.ready & ~packet.valid),
            load.eq(piece.valid & piece.ready),
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
        self.sync += [
            If(packet.ready, packet.valid.eq(0)),
            If(load,
                packet.valid.eq(piece.reason == REASON_NONE),
                packet.host.eq(piece.host),
                packet.endpoint.eq(piece.endpoint),
                packet.length.eq(piece.length),
                If(piece.reason != REASON_NONE, blocked.eq(1))
            )
        ]

        # Data: rotated to the lanes of the TLP, zero where the header goes. The header's address
        # and length meet it behind the rotation.
        self.realigner = realigner = Realigner(width)
        self.comb += [
            words.source.connect(realigner.sink),
            realigner.source.connect(port.sink, omit={"be"}),
            port.sink.address.eq(headers.source.address),
            port.sink.length.eq(headers.source.length),
            headers.source.ready.eq(port.sink.valid & port.sink.ready & port.sink.last),
        ]

        # Ends: a packet when it was sent, a reason when everything before it was.
        over    = issued.source
        failed  = Signal()
        sent    = Signal()
        dropped = Signal()
        self.comb += [
            failed.eq(over.valid & (over.reason != REASON_NONE)),
            over.ready.eq(sent | failed),
            self.tlp.eq(sent & ~dropped),
            self.idle.eq(~over.valid & ~packet.valid & ~done.valid),
        ]
        self.sync += [
            sent.eq(port.sent),
            dropped.eq(port.dropped),
            done.valid.eq(over.ready),
            done.bytes.eq(Mux(failed | dropped, 0, over.bytes)),
            done.last.eq(over.last_packet),
            done.slot_last.eq(over.slot_last),
            done.interrupt.eq(over.interrupt),
            done.reason.eq(Mux(failed, over.reason,
                Mux(dropped, REASON_BUS_MASTER, REASON_NONE))),
        ]

        # What happens in this cycle.
        self.comb += [
            self.moved.eq(port.sink.valid & port.sink.ready),
            If(~self.moved,
                If(port.sink.valid,
                    self.wait_link.eq(1)
                ).Elif(packet.valid | words.busy | realigner.busy,
                    self.wait_data.eq(1)
                ).Elif(over.valid,
                    self.wait_link.eq(1)
                )
            )
        ]
