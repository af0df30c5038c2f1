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

# Splitter -----------------------------------------------------------------------------------------


class Splitter(LiteXModule):
    """Cuts descriptors at multiples of ``boundary`` of the host address, one request a cycle.

    Multiples of MPS or MRRS contain those of 4 KiB, so no request crosses 4 KiB (PCIe 4.0, 2.2.7).
    A descriptor follows the one before it without a cycle between them.

    Parameters
    ----------
    endpoint_width : width of a byte address in the endpoint memory.

    Attributes
    ----------
    sink     : Endpoint(descriptor_layout), in, sys.
    source   : Endpoint(request_layout), out, sys.
    boundary : 16, in, sys, bytes: a power of two, 128..4096.
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

        left = Signal(24)  # Bytes of the descriptor that are not yet requested.
        mask = Signal(12)
        room = Signal(13)  # Bytes up to the next boundary.
        self.comb += [
            mask.eq(self.boundary - 1),
            room.eq(self.boundary - (source.host & mask)),
            source.valid.eq(self.busy),
            source.last.eq(left <= room),
            source.length.eq(Mux(left <= room, left, room)),
            sink.ready.eq(self.run & (~self.busy | (source.ready & source.last))),
        ]
        self.sync += [
            If(source.valid & source.ready,
                # Only what follows a boundary needs an address: no carry from the length.
                source.host.eq((source.host | mask) + 1),
                source.endpoint.eq(source.endpoint + room),
                left.eq(left - room),
                If(source.last, self.busy.eq(0))
            ),
            If(sink.valid & sink.ready,
                self.busy.eq(1),
                left.eq(sink.length),
                source.host.eq(sink.host),
                source.endpoint.eq(sink.endpoint),
                source.interrupt.eq(sink.interrupt),
                source.slot_last.eq(sink.slot_last),
                source.reason.eq(sink.reason)
            )
        ]
