#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a descriptor is in host memory, and how it is cut into requests."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

# Layouts ------------------------------------------------------------------------------------------

DESCRIPTOR_BYTES = 16

# Four little-endian dwords; dwords 2 and 3 of a LINK are the address of a table.
HOST_DESCRIPTOR_LAYOUT = [
    ("length",     24),  # Bytes; descriptors if LINK.
    ("interrupt",   1),
    ("last",        1),  # Of a stream's reader: a packet ends with it.
    ("reserved",    5),
    ("link",        1),
    ("endpoint",   32),  # Byte address in the endpoint memory.
    ("host",       64),  # Byte address in host memory.
]


def descriptor_layout(endpoint_width):
    """A descriptor on its way from the ring to the engine.

    ``endpoint_width`` is the width of a byte address in the endpoint memory; None for a stream,
    which has no addresses but ends of packets. A descriptor with a ``reason`` moves nothing: it
    stops the engine when everything before it is complete.
    """
    return [
        ("host",      64),
        ("endpoint",  endpoint_width) if endpoint_width else ("packet_end", 1),
        ("length",    24),  # Bytes, 1..16 MiB - 1.
        ("interrupt",  1),
        ("slot_last",  1),  # The last descriptor of its slot of the ring.
        ("reason",     4),  # LITEPCIE_REASON_*.
    ]


def request_layout(endpoint_width):
    """A piece of a descriptor that fits one TLP; ``last`` ends its descriptor."""
    return [
        ("host",      64),
        ("endpoint",  endpoint_width),
        ("length",    13),  # Bytes, 1..4096.
        ("interrupt",  1),
        ("slot_last",  1),
        ("reason",     4),
    ]


def done_layout():
    """A request that is over, in the order of issue; one cycle of ``valid``, no back-pressure."""
    return [
        ("valid",      1),
        ("bytes",     13),  # Landed without a gap.
        ("last",       1),  # The last request of its descriptor.
        ("slot_last",  1),
        ("interrupt",  1),
        ("reason",     4),
    ]


def size_mask(size):
    """An MPS or MRRS less one: 12 bits, of a power of two from 128 to 4096 (PCIe 4.0 7.5.3.4). No subtraction."""
    return Cat(Constant(127, 7), *[size[n + 1:13] != 0 for n in range(7, 12)])

# Splitter -----------------------------------------------------------------------------------------


class Splitter(LiteXModule):
    """Cuts descriptors at multiples of ``boundary`` of the host address.

    Multiples of MPS or MRRS contain those of 4 KiB, so no request crosses 4 KiB (PCIe 4.0, 2.2.7).
    A request a cycle, and a cycle between descriptors: ``sink.ready`` is a register's.

    Parameters
    ----------
    endpoint_width : width of a byte address in the endpoint memory.

    Attributes
    ----------
    sink     : Endpoint(descriptor_layout), in, sys.
    source   : Endpoint(request_layout), out, sys.
    boundary : 16, in, sys, bytes: a power of two, 128..4096, not while ``busy``.
    run      : 1, in, sys, a new descriptor may begin; one that began goes on without it.
    busy     : 1, out, sys, within a descriptor.
    """
    def __init__(self, endpoint_width):
        self.sink     = sink   = stream.Endpoint(descriptor_layout(endpoint_width))
        self.source   = source = stream.Endpoint(request_layout(endpoint_width))
        self.boundary = Signal(16)
        self.run      = Signal()
        self.busy     = Signal()

        # # #

        size   = Signal(13)                    # Of a block, as ``boundary``,
        mask   = Signal(12)                    # and its bytes: a cycle late, decoded once.
        more   = Signal(26)                    # Bytes behind this block; negative if it is not full.
        offset = Signal(12)                    # Of the request in its block.
        load   = Signal()
        self.sync += [size.eq(Cat(Constant(0, 7), self.boundary[7:13])), mask.eq(size_mask(self.boundary))]
        self.comb += [
            offset.eq(source.host & mask),
            source.last.eq(more[-1] | (more == 0)),
            source.length.eq(Mux(more[-1], more[:12] & mask, size) - offset),
            source.valid.eq(self.busy),
            sink.ready.eq(self.run & ~self.busy),
            load.eq(~self.busy),
        ]
        # One adder each, with what it adds to in front. Behind a boundary there is no offset, so
        # the host address needs no carry from the length, and the room up to it is
        # -(offset | ~mask).
        self.sync += [
            If(source.ready & source.last, self.busy.eq(0)),
            If(load | source.ready,
                source.host.eq(Mux(load, sink.host, source.host | mask) + self.busy),
                source.endpoint.eq(Mux(load, sink.endpoint, source.endpoint)
                    - Mux(load, 0, Cat(offset | ~mask, Replicate(1, endpoint_width)))),
                # Less a block, which is ~mask; the offset has room in its zeros.
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
