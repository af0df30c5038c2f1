#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Ports of the transaction layer, through which its clients read and write host memory."""

from migen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import (
    check_data_width, read_data_layout, read_request_layout, retire_layout, write_packet_layout,
)

# Memory Read Port ---------------------------------------------------------------------------------

class MemoryReadPort:
    """The port of one client that reads host memory.

    The client must keep Max_Read_Request_Size, and a request must not cross a 4 KiB boundary (PCIe 4.0 2.2.7).

    Parameters
    ----------
    data_width : int, bits.
    tags       : int, the most requests that can be outstanding.
    name       : str, prefix of the signal names.
    attributes : int, Attr[1:0] of the requests.
    reserve    : int, tags that no other client can take.
    destination_bits : int, bits of a destination that the client uses; those above are undefined on `data`.
    order      : RequestOrder, by which the client waits for the posted requests of the host that came before its data;
        None: it does not wait, and its completions may pass them.

    Attributes
    ----------
    request     : stream, **in**, one beat per request: `address[64]` (host byte address), `length[13]` (bytes,
        1..4096), `destination[32]` (byte address in the client's own space).
    soon        : Signal(), **in**, `request` is not valid, but will be in the next cycle. A client that knows may tell,
        and saves a cycle.
    data        : stream, **out**, data aligned to its destination: `address[32 - log2(W/8)]` (destination in words of W
        bits), `dat[W]`, `be[W/8]`. Completions of different requests come in any order; `first` and `last` delimit one
        completion.
    retire      : stream, **out**, the end of a request: `reason[8]` (REASON_*), `bytes[13]` (bytes that arrived without
        a gap from its start). Requests retire in the order of `request`, each after its last byte was accepted on
        `data`. `valid` is asserted for one cycle and `ready` is ignored: a client must always accept.
    outstanding : Signal(9), **out**, number of requests accepted and not yet retired.
    no_tag      : Signal(), **out**, `request` waits for a tag or for room in the completion buffer.
    """
    def __init__(self, data_width, tags, name="read", attributes=0, reserve=1, destination_bits=32,
        order=None):
        check_data_width(data_width)
        self.destination_bits = destination_bits
        self.order       = order
        self.data_width  = data_width
        self.tags        = tags
        self.reserve     = reserve
        self.attributes  = attributes
        self.name        = name
        self.request     = stream.Endpoint(read_request_layout(),         name=f"{name}_request")
        self.soon        = Signal(name=f"{name}_soon")
        self.data        = stream.Endpoint(read_data_layout(data_width),  name=f"{name}_data")
        self.retire      = stream.Endpoint(retire_layout(),               name=f"{name}_retire")
        self.outstanding = Signal(9, name=f"{name}_outstanding")
        self.no_tag      = Signal(name=f"{name}_no_tag")

# Memory Write Port --------------------------------------------------------------------------------

class MemoryWritePort:
    """The port of one client that writes host memory.

    A packet is one TLP. The client must keep Max_Payload_Size, and a packet must not cross a 4 KiB boundary
    (PCIe 4.0 2.2.7).

    The client aligns the payload to the lanes that it has in the TLP: its first byte is in lane
    `(H + address[1:0]) mod (W/8)` of the first beat, where the header has H = 12 bytes below 4 GiB and 16 bytes above.

    Parameters
    ----------
    data_width : int, bits.
    name       : str, prefix of the signal names.
    attributes : int, Attr[1:0] of the requests.

    Attributes
    ----------
    sink    : stream, **in**, payload `dat[W]` and the parameters `address[64]` (host byte address) and `length[13]`
        (bytes, 1..Max_Payload_Size), which must be stable during a packet.
    soon    : Signal(), **in**, `sink` is not valid, but is expected to be in the next cycle. A client that knows may
        tell, and saves a cycle if nothing else is sent.
    sent    : Signal(), **out**, the PHY accepted the last beat of a packet, or the packet was dropped. One cycle per
        packet, in order.
    dropped : Signal(), **out**, valid with `sent`: the packet was dropped, because bus mastering is off or the link is
        down (REASON_BUS_MASTER).
    """
    def __init__(self, data_width, name="write", attributes=0):
        check_data_width(data_width)
        self.data_width = data_width
        self.attributes = attributes
        self.name       = name
        self.sink       = stream.Endpoint(write_packet_layout(data_width), name=f"{name}_sink")
        self.soon       = Signal(name=f"{name}_soon")
        self.sent       = Signal(name=f"{name}_sent")
        self.dropped    = Signal(name=f"{name}_dropped")
