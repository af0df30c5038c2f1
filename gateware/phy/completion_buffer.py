#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A buffer for completions in the fabric, for PHYs whose completions have a stream of their own.

The completion buffer of a hard block holds few completions: 64 on UltraScale, where a host that answers 64 bytes at a
time fills it with 4 KiB. This buffer is at the hard block's interface. It accepts a beat in every cycle, so the block's
own buffer drains as fast as the link fills it, and outstanding reads are limited by this buffer instead. Two conditions
hold for that:

- The interface carries completions of 64 bytes at least as fast as the link. If it were slower, completions would
  gather in the block's own buffer however large this one is, because new requests replace them. See `keeps_up`.
- The block does not hold completions back. It does so while a posted request before them waits at its other interface,
  unless they have the Relaxed Ordering attribute (PG213, "Receive Transaction Ordering").
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_3DW, RCB_BYTES

# Room ---------------------------------------------------------------------------------------------

DEPTH = 512  # Beats: the depth at which block RAM of UltraScale is widest (72 bits; UG573), so fewer beats save none.

# Bytes at whose multiples a TLP may begin in a beat with the straddle option (PG156, PG213).
SEGMENT = 16

# Bytes of a completion on the link besides its payload: framing, sequence number, header, LCRC.
LINK_OVERHEAD = 8 + HEADER_3DW


def beats_of(payload, data_width):
    """Beats that a completion with `payload` bytes takes: a header of three dwords, and payload that follows it."""
    return -(-(HEADER_3DW + payload)*8//data_width)


def blocks_of(depth, data_width):
    """Blocks that `depth` beats hold however the host splits them: (blocks of 64 bytes, blocks of 128 bytes).

    A host with a Read Completion Boundary of 64 bytes may send every block of 64 bytes as a completion of its own, and
    longer completions never take more beats than their blocks. With the straddle option completions share beats, but
    only if they follow each other at once. The room of a completion is given back after its last beat left the PHY.
    """
    return depth//beats_of(RCB_BYTES, data_width), depth//beats_of(2*RCB_BYTES, data_width)


def keeps_up(link_rate, data_width, clk_freq, straddle):
    """Whether an interface carries completions of 64, 128 and 256 bytes as fast as the link.

    Parameters
    ----------
    link_rate  : float, bytes per second of one direction of the link.
    data_width : int, bits of the interface.
    clk_freq   : float, its clock in Hz.
    straddle   : bool, with the straddle option.
    """
    def seconds(payload):
        if straddle:
            return -(-(HEADER_3DW + payload)//SEGMENT)*SEGMENT*8/data_width/clk_freq
        return beats_of(payload, data_width)/clk_freq
    return all(seconds(payload) <= (payload + LINK_OVERHEAD)/link_rate for payload in (64, 128, 256))

# Completion Buffer --------------------------------------------------------------------------------

class CompletionBuffer(LiteXModule):
    """FIFO of beats in block RAM; one beat per cycle, latency 3.

    The output of the block RAM goes into a register. `sink.ready` deasserts only if the host sends completions that
    nobody requested, or requested and no longer waits for.

    The module is written in `sys`; ClockDomainsRenamer moves it to the hard block.

    Parameters
    ----------
    layout : EndpointDescription of the beats.
    depth  : int, beats, a power of two.

    Attributes
    ----------
    sink   : stream of `layout`, **in**, completions.
    source : stream of `layout`, **out**.
    level  : Signal(), **out**, beats in the block RAM.
    """
    def __init__(self, layout, depth=DEPTH):
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth {depth!r} is not supported; choose a power of two")
        self.sink   = sink   = stream.Endpoint(layout)
        self.source = source = stream.Endpoint(layout)
        self.level  = level  = Signal(max=depth + 1)

        # # #

        def fields(endpoint):
            return Cat(endpoint.payload.raw_bits(), endpoint.first, endpoint.last)
        storage = Memory(len(fields(sink)), depth)
        write   = storage.get_port(write_capable=True, mode=READ_FIRST)
        read    = storage.get_port(has_re=True, mode=READ_FIRST)
        self.specials += storage, write, read

        # Write ------------------------------------------------------------------------------------
        address = Signal(max=depth)
        put     = Signal()
        self.comb += [
            sink.ready.eq(~level[-1]),
            put.eq(sink.valid & sink.ready),
            write.adr.eq(address),
            write.we.eq(put),
            write.dat_w.eq(fields(sink)),
        ]
        self.sync += If(put, address.eq(address + 1))

        # Read: from the RAM to its output, from there to the register -----------------------------
        next_address = Signal(max=depth)
        stored = Signal()  # A beat is in the RAM; it is not valid there before the cycle after its write.
        shown  = Signal()  # A beat is at the output of the RAM.
        get    = Signal()  # A beat goes from the RAM to its output.
        take   = Signal()  # A beat may go to the register.
        held   = Signal(storage.width, reset_less=True)
        self.comb += [
            stored.eq(level != 0),
            take.eq(~source.valid | source.ready),
            get.eq(stored & (~shown | take)),
            read.adr.eq(next_address),
            read.re.eq(~shown | take),
            fields(source).eq(held),
        ]
        self.sync += [
            level.eq(level + put - get),
            If(get, next_address.eq(next_address + 1)),
            If(~shown | take, shown.eq(stored)),
            If(take,
                source.valid.eq(shown),
                held.eq(read.dat_r),
            ),
        ]
