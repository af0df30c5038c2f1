#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Gives descriptors that a program writes into registers to a descriptor port, as an example of user's logic."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

# Host Mover ---------------------------------------------------------------------------------------


class HostMover(LiteXModule):
    """Moves data between buffers of the host and the endpoint memory.

    Parameters
    ----------
    port : ``DescriptorPort`` of the card.

    Attributes
    ----------
    source : Endpoint(user_descriptor_layout), **out**, for ``DescriptorPort.sink``.
    sink   : Endpoint(end_layout), **in**, from ``DescriptorPort.source``.

    Registers
    ---------
    address  : byte address of the buffer's bytes, as at the card's bus port.
    endpoint : byte address in the first 16 MiB of the endpoint memory.
    length   : bytes.
    submit   : a write gives the descriptor to the port.
    ended    : number of descriptors that have ended.
    last     : REASON of the last end, and its TAG and WRITE.
    busy     : the descriptor before has not been taken.
    """
    def __init__(self, port):
        self.source   = source = stream.Endpoint(port.sink.description)
        self.sink     = sink   = stream.Endpoint(port.source.description)
        self.address  = CSRStorage(32, description="Address in the buffers.")
        self.endpoint = CSRStorage(24, description="Address in the endpoint memory.")
        self.length   = CSRStorage(24, description="Bytes.")
        self.submit   = CSRStorage(description="A write submits a descriptor.", fields=[
            CSRField("tag", 8, description="comes back with the end"),
            CSRField("write", 1, offset=8, description="endpoint memory to host"),
        ])
        self.ended    = CSRStatus(32, description="Descriptors that have ended.")
        self.last     = CSRStatus(description="The last end.", fields=[
            CSRField("reason", 8, description="0: all bytes have landed"),
            CSRField("tag", 8, offset=8, description="of the descriptor"),
            CSRField("write", 1, offset=16, description="endpoint memory to host"),
        ])
        self.busy     = CSRStatus(description="Whether SUBMIT must wait.")

        # # #

        self.comb += [
            source.address.eq(self.address.storage),
            source.endpoint.eq(self.endpoint.storage),
            source.length.eq(self.length.storage),
            source.tag.eq(self.submit.fields.tag),
            source.write.eq(self.submit.fields.write),
            source.valid.eq(self.busy.status),
            sink.ready.eq(1),
        ]
        self.sync += [
            If(source.ready, self.busy.status.eq(0)),
            If(self.submit.re, self.busy.status.eq(1)),
            If(sink.valid,
                self.ended.status.eq(self.ended.status + 1),
                self.last.fields.reason.eq(sink.reason),
                self.last.fields.tag.eq(sink.tag),
                self.last.fields.write.eq(sink.write),
            ),
        ]
