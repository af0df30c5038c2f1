#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Ports of the transaction layer for its clients: reads and writes of host memory."""

from migen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import (
    check_data_width, read_data_layout, read_request_layout, retire_layout, write_packet_layout,
)

# Memory Read Port ---------------------------------------------------------------------------------

class MemoryReadPort:
    """One client that reads host memory.

    Parameters
    ----------
    data_width : int, bits.
    tags       : int, requests that can be outstanding.
    attributes : int, Attr[1:0] of its requests.

    Attributes
    ----------
    request : stream, **in**, `sys`: `address[64]`, `length[13]` (bytes, 1..4096), `destination[32]` (byte
        address in the client's own space). One beat is one request. The client keeps the Max Read Request
        Size and the 4 KiB rule (PCIe 4.0 2.2.7).
    data : stream, **out**, `sys`: `address[32 - log2(W/8)]` (destination, in words), `dat[W]`, `be[W/8]`.
        Rotated and placed; the completions of different requests come in any order, `first` and `last`
        mark the beats of one completion.
    retire : stream, **out**, `sys`: `reason[8]` (REASON_*), `bytes[13]` landed without a gap from the
        start. One for each request in the order of the requests, after its last byte was accepted on
        `data`. `valid` is one cycle and `ready` is not looked at: a client always takes it.
    outstanding : Signal(9), **out**, requests accepted and not yet retired.
    no_tag : Signal(), **out**, `request` is valid and waits for a tag or for room in the completion buffer.
    """
    def __init__(self, data_width, tags, name="read", attributes=0):
        check_data_width(data_width)
        self.data_width  = data_width
        self.tags        = tags
        self.attributes  = attributes
        self.name        = name
        self.request     = stream.Endpoint(read_request_layout(),         name=f"{name}_request")
        self.data        = stream.Endpoint(read_data_layout(data_width),  name=f"{name}_data")
        self.retire      = stream.Endpoint(retire_layout(),               name=f"{name}_retire")
        self.outstanding = Signal(9, name=f"{name}_outstanding")
        self.no_tag      = Signal(name=f"{name}_no_tag")

# Memory Write Port --------------------------------------------------------------------------------

class MemoryWritePort:
    """One client that writes host memory.

    Parameters
    ----------
    data_width : int, bits.
    attributes : int, Attr[1:0] of its requests.

    Attributes
    ----------
    sink : stream, **in**, `sys`: parameters `address[64]`, `length[13]` (bytes, 1..Max_Payload_Size; the
        client keeps that and the 4 KiB rule), payload `dat[W]`, `first`, `last`. The first payload byte is
        at lane `(H + address[1:0]) mod (W/8)`, H = 12 below 4 GiB, else 16. Parameters are stable during a packet.
    sent : Signal(), **out**, one cycle for each packet, in order: its last beat was accepted by the PHY, or
        dropped.
    dropped : Signal(), **out**, valid with `sent`: the packet was dropped, as bus mastering is off or the
        link is down (REASON_BUS_MASTER).
    """
    def __init__(self, data_width, name="write", attributes=0):
        check_data_width(data_width)
        self.data_width = data_width
        self.attributes = attributes
        self.name       = name
        self.sink       = stream.Endpoint(write_packet_layout(data_width), name=f"{name}_sink")
        self.sent       = Signal(name=f"{name}_sent")
        self.dropped    = Signal(name=f"{name}_dropped")
