#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory behind LiteX's ``AXIInterface`` or a port of LiteDRAM."""

from migen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import BURST_INCR, AXIInterface

from litedram.common import LiteDRAMNativePort
from litedram.core.crossbar import LiteDRAMCrossbar
from litedram.frontend.axi import LiteDRAMAXI2Native

from litepcie_soc.axi.memory import AXIMemory
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.memory.bram import EndpointMemory

READ_AHEAD = 64       # Words: what a client reads while the memory has its latency.
TIMEOUT    = 1 << 20  # Cycles without any answer, after which the memory has failed.

# AXI Interface Memory -----------------------------------------------------------------------------


class AXIInterfaceMemory(AXIMemory):
    """``AXIMemory`` with its channels at an ``AXIInterface`` of LiteX, whose master it is. All transactions have ID 0.

    Parameters
    ----------
    axi        : ``AXIInterface`` in ``sys``, of the width of the data path; the memory begins at its address 0.
    size       : bytes, a power of two.
    data_width : bits of the data path.

    Raises ``ValueError`` if the interface has another width, or too few bits of address.
    """
    def __init__(self, axi, size, data_width):
        if axi.data_width != data_width:
            raise ValueError(f"memory of {axi.data_width} bits is not supported with a data path of {data_width}; give "
                f"an AXIInterface of {data_width} bits, behind LiteX's AXIConverter")
        if size > 1 << axi.address_width:
            raise ValueError(f"memory of {size} bytes needs more than the {axi.address_width} bits of address of its "
                "AXIInterface")
        AXIMemory.__init__(self, size, data_width, READ_AHEAD, TIMEOUT)

        # # #

        for name in ("aw", "w", "ar"):
            inner, outer = getattr(self, name), getattr(axi, name)
            # What the slave has seen as valid stays so until it is taken, also after a time-out.
            buffer = stream.Buffer(inner.description)
            self.add_module(f"{name}_buffer", buffer)
            held   = buffer.source
            self.comb += [
                inner.connect(buffer.sink),
                outer.valid.eq(held.valid),
                held.ready.eq(outer.ready),
                outer.last.eq(1 if name != "w" else held.last),
            ]
            if name == "w":
                self.comb += [outer.data.eq(held.data), outer.strb.eq(held.strb)]
            else:
                self.comb += [
                    outer.addr.eq(Cat(Constant(0, log2_int(data_width // 8)), held.address)),
                    outer.len.eq(held.len),
                    outer.size.eq(log2_int(data_width // 8)),
                    outer.burst.eq(BURST_INCR),
                ]
        self.comb += [
            axi.b.connect(self.b, keep={"valid", "ready", "resp"}),
            axi.r.connect(self.r, keep={"valid", "ready", "data", "resp"}),
        ]

# Choice -------------------------------------------------------------------------------------------


def memory_of(choice, size, data_width):
    """Returns the endpoint memory for the parameter ``memory`` of ``LitePCIe``.

    choice : None: block RAM. A module with the ports of ``EndpointMemory``: that. LiteDRAM's crossbar: a
        ``DRAMMemory``. LiteX's ``AXIInterface``, or a native port of LiteDRAM of mode "both": the memory of the card
        begins at its address 0. Interface and port have the width of the data path.

    Raises ``ValueError`` if the choice does not fit.
    """
    if choice is None:
        return EndpointMemory(size, data_width)
    if isinstance(choice, LiteDRAMCrossbar):
        return DRAMMemory(size, data_width, choice)
    if isinstance(choice, AXIInterface):
        return AXIInterfaceMemory(choice, size, data_width)
    if isinstance(choice, LiteDRAMNativePort):
        if choice.mode != "both" or choice.data_width != data_width:
            raise ValueError(f"memory port of mode {choice.mode} with {choice.data_width} bits is not supported; give "
                f"crossbar.get_port(data_width={data_width}), or the crossbar itself, which is faster")
        axi           = AXIInterface(data_width, address_width=32)
        memory        = AXIInterfaceMemory(axi, size, data_width)
        memory.bridge = LiteDRAMAXI2Native(axi, choice)
        return memory
    if not hasattr(choice, "add_write_port"):
        raise ValueError(f"memory of {type(choice).__name__} is not supported; give LiteDRAM's crossbar or a port of "
            "it, LiteX's AXIInterface, or a module with the ports of EndpointMemory")
    return choice
