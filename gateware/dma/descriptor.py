#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Descriptor layouts, and the splitter that cuts descriptors into requests."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

# Layouts ------------------------------------------------------------------------------------------

DESCRIPTOR_BYTES = 16

SIZE_MAX = 4096  # Bytes, of MPS and MRRS (PCIe 4.0 7.5.3.4).

# Width from which steps that need not be taken are skipped, to begin sooner; narrower paths save the LUTs.
QUICK_BITS = 128

# Four little-endian dwords. Dwords 2 and 3 of a LINK hold the address of its table.
HOST_DESCRIPTOR_LAYOUT = [
    ("length",     24),  # Bytes; of a LINK, the number of descriptors in its table.
    ("interrupt",   1),
    ("last",        1),  # Stream readers only: this descriptor ends a packet.
    ("reserved",    5),
    ("link",        1),
    ("endpoint",   32),  # Byte address in the endpoint memory.
    ("host",       64),  # Byte address in host memory.
]


def descriptor_layout(endpoint_width):
    """A checked descriptor, as the ring passes it to the reader or writer.

    ``endpoint_width`` is the width of a byte address in the endpoint memory. It is None for a stream,
    whose descriptors have a ``packet_end`` in place of an address. A descriptor with a ``reason`` moves
    no data: it stops the engine when everything before it is complete.
    """
    return [
        ("host",      64),
        ("endpoint",  endpoint_width) if endpoint_width else ("packet_end", 1),
        ("length",    24),  # Bytes, 1..16 MiB - 1.
        ("interrupt",  1),
        ("slot_last",  1),  # The last descriptor of its ring slot.
        ("reason",     4),  # LITEPCIE_REASON_*.
    ]


def piece_layout(endpoint_width):
    """A piece of a descriptor that fits in one TLP; ``last`` marks the last piece of its descriptor."""
    return [
        ("host",      64),
        ("endpoint",  endpoint_width),
        ("length",    13),  # Bytes, 1..4096.
        ("interrupt",  1),
        ("slot_last",  1),
        ("reason",     4),
    ]


def done_layout():
    """A finished request. Requests finish in issue order; ``valid`` lasts one cycle, without back-pressure."""
    return [
        ("valid",      1),
        ("bytes",     13),  # Bytes that landed without a gap from the start of the request.
        ("last",       1),  # The last request of its descriptor.
        ("slot_last",  1),
        ("interrupt",  1),
        ("reason",     4),
    ]


def size_mask(size):
    """``size`` - 1 in 12 bits, made without a subtractor.

    ``size`` is an MPS or MRRS: a power of two from 128 to 4096 (PCIe 4.0 7.5.3.4).
    """
    return Cat(Constant(127, 7), *[size[n + 1:13] != 0 for n in range(7, 12)])


def at_most(longest, size):
    """Expression: ``size``, an MPS or MRRS, but no more than ``longest``, a power of two from 128."""
    return Mux(size[log2_int(longest) + 1:] != 0, longest, size) if longest < SIZE_MAX else size

# Splitter -----------------------------------------------------------------------------------------


class Splitter(LiteXModule):
    """Cuts descriptors at multiples of ``boundary`` of the host address.

    ``boundary`` is MPS or MRRS. Every multiple of 4 KiB is also a multiple of ``boundary``, so no request
    crosses 4 KiB (PCIe 4.0 2.2.7). The splitter makes one request per cycle. It spends one cycle between
    descriptors, so that no combinatorial path leads from ``source.ready`` to ``sink.ready``; ``SplitterPair`` does not.

    Parameters
    ----------
    endpoint_width : width of a byte address in the endpoint memory.

    Attributes
    ----------
    sink     : Endpoint(descriptor_layout), **in**.
    source   : Endpoint(piece_layout), **out**.
    boundary : 16, **in**, bytes, a power of two from 128 to 4096; must not change while ``busy``.
    run      : 1, **in**, a new descriptor may begin; one that has begun continues without it.
    busy     : 1, **out**, a descriptor is being cut.
    """
    def __init__(self, endpoint_width):
        self.sink     = sink   = stream.Endpoint(descriptor_layout(endpoint_width))
        self.source   = source = stream.Endpoint(piece_layout(endpoint_width))
        self.boundary = Signal(16)
        self.run      = Signal()
        self.busy     = Signal()

        # # #

        # A block is ``boundary`` bytes of host memory at a multiple of ``boundary``.
        size   = Signal(13)                    # Bytes of a block, registered from ``boundary``.
        mask   = Signal(12)                    # size - 1, registered too.
        more   = Signal(26)                    # Bytes after this block; negative if the request ends before its end.
        offset = Signal(12)                    # Offset of the request in its block.
        load   = Signal()
        self.size, self.mask, self.more = size, mask, more  # Proofs read them.
        self.sync += [size.eq(Cat(Constant(0, 7), self.boundary[7:13])), mask.eq(size_mask(self.boundary))]
        self.comb += [
            offset.eq(source.host & mask),
            source.last.eq(more[-1] | (more == 0)),
            source.length.eq(Mux(more[-1], more[:12] & mask, size) - offset),
            source.valid.eq(self.busy),
            sink.ready.eq(self.run & ~self.busy),
            load.eq(~self.busy),
        ]
        # Each register has one adder, with a multiplexer in front of it. The next request begins at a
        # boundary: its host address is (host | mask) + 1, so it needs no carry from the length. The
        # bytes up to that boundary are -(offset | ~mask), sign-extended.
        self.sync += [
            If(source.ready & source.last, self.busy.eq(0)),
            If(load | source.ready,
                source.host.eq(Mux(load, sink.host, source.host | mask) + self.busy),
                source.endpoint.eq(Mux(load, sink.endpoint, source.endpoint)
                    - Mux(load, 0, Cat(offset | ~mask, Replicate(1, endpoint_width)))),
                # Subtracts a block: ~mask with ones above it is -size. Its zero bits hold the first request's offset.
                more.eq(Mux(load, sink.length, more) + Cat(~mask | Mux(load, sink.host[:12], 0),
                    Replicate(1, len(more) - len(mask))))
            ),
            If(load,
                self.busy.eq(sink.valid & self.run),
                source.interrupt.eq(sink.interrupt),
                source.slot_last.eq(sink.slot_last),
                source.reason.eq(sink.reason)
            )
        ]

# Splitter Pair ------------------------------------------------------------------------------------

# Width from which a request of one beat, with its header, leaves in one cycle: a splitter alone would then be slower
# than the data path. Narrower paths save the LUTs of a second one.
PAIR_BITS = 256


class SplitterPair(LiteXModule):
    """Two ``Splitter``s that take descriptors in turn: one request per cycle, also from one descriptor to the next.

    While one makes its last request, the other one takes the next descriptor. Parameters and attributes are those of
    ``Splitter``.
    """
    def __init__(self, endpoint_width):
        self.sink     = sink   = stream.Endpoint(descriptor_layout(endpoint_width))
        self.source   = source = stream.Endpoint(piece_layout(endpoint_width))
        self.boundary = Signal(16)
        self.run      = Signal()
        self.busy     = Signal()

        # # #

        self.parts = parts = [Splitter(endpoint_width) for _ in range(2)]
        self.submodules += parts
        self.enter = enter = Signal()   # The part that takes the next descriptor.
        self.leave = leave = Signal()   # The part that has the oldest descriptor.
        for n, part in enumerate(parts):
            self.comb += [
                sink.connect(part.sink, omit={"valid", "ready"}),
                part.sink.valid.eq(sink.valid & (enter == n)),
                part.boundary.eq(self.boundary),
                part.run.eq(self.run),
                part.source.ready.eq(source.ready & (leave == n)),
                If(enter == n, sink.ready.eq(part.sink.ready)),
                If(leave == n, part.source.connect(source, omit={"ready"})),
            ]
        self.comb += self.busy.eq(Reduce("OR", [part.busy for part in parts]))
        self.sync += [
            If(sink.valid & sink.ready, enter.eq(~enter)),
            If(source.valid & source.ready & source.last, leave.eq(~leave)),
        ]


def splitter_for(data_width, endpoint_width):
    """Returns the splitter for a data path of ``data_width`` bits."""
    return (SplitterPair if data_width >= PAIR_BITS else Splitter)(endpoint_width)
