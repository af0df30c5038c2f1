#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Posted requests that the endpoint itself sends: MSI, and the answer to PME_Turn_Off."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import FMT_TYPE_MWR_32, FMT_TYPE_MWR_64
from litepcie_soc.phy.soft.beats import swapped
from litepcie_soc.phy.soft.lcrc import WORD

# Fmt and type of a message without data that goes to the root complex with those of all ports (PCIe 2.1 table 2-11),
# and its code (table 2-16).
GATHERED   = 0x35
PME_TO_ACK = 0x1b

# Requests -----------------------------------------------------------------------------------------


class OwnRequests(LiteXModule):
    """Sends an MSI for each pulse, and PME_TO_Ack.

    There is one vector, so that pulses before the MSI has begun share it. It waits while the host has switched off bus
    mastering, and is forgotten when it has switched off MSI (PCI Local Bus 3.0 6.8.1).

    Attributes
    ----------
    msi     : 1, **in**; a pulse: an MSI is wanted. All posted requests before it are in their queue.
    pme     : 1, **in**; a pulse: PME_TO_Ack is wanted.
    id      : 16, **in**; bus, device and function number.
    enable, address, data : 1, 64, 16, **in**; of the MSI capability.
    master  : 1, **in**; Bus Master Enable.
    source  : stream of 16 bits, **out**.
    """
    def __init__(self):
        self.msi     = Signal()
        self.pme     = Signal()
        self.id      = Signal(16)
        self.enable  = Signal()
        self.address = Signal(64)
        self.data    = Signal(16)
        self.master  = Signal()
        self.source  = source = stream.Endpoint(WORD)

        # # #

        interrupt, answer = Signal(), Signal()  # What is wanted.
        place             = Signal(4)
        wide              = Signal()
        address           = Signal(64)
        data              = Signal(16)
        self.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += source.first.eq(place == 0)
        fsm.act("IDLE",
            # A copy: the host may change these while the request leaves.
            NextValue(address, self.address),
            NextValue(data, self.data),
            NextValue(wide, self.address[32:] != 0),
            If(answer,
                NextValue(answer, 0),
                NextState("ANSWER"),
            ).Elif(interrupt & ~self.enable,
                NextValue(interrupt, 0),
            ).Elif(interrupt & self.master,
                NextValue(interrupt, 0),
                NextState("INTERRUPT"),
            ),
        )
        fsm.act("INTERRUPT",
            source.valid.eq(1),
            source.last.eq(place == 9),
            # The upper half of the address is left out if it is 0.
            If(source.ready, NextValue(place, Mux((place == 3) & ~wide, 6, place + 1))),
            Case(place, {
                0: source.data.eq(Mux(wide, FMT_TYPE_MWR_64, FMT_TYPE_MWR_32)),
                1: source.data.eq(1 << 8),
                2: source.data.eq(swapped(self.id)),
                3: source.data.eq(0x0f << 8),
                **{4 + n: source.data.eq(swapped(address[48 - 16*n:64 - 16*n])) for n in range(4)},
                8: source.data.eq(data),
                9: source.data.eq(0),
            }),
            If(source.ready & source.last, NextValue(place, 0), NextState("IDLE")),
        )
        fsm.act("ANSWER",
            source.valid.eq(1),
            source.last.eq(place == 7),
            Case(place, {
                0: source.data.eq(GATHERED),
                2: source.data.eq(swapped(self.id)),
                3: source.data.eq(PME_TO_ACK << 8),
                "default": source.data.eq(0),
            }),
            If(source.ready, NextValue(place, place + 1)),
            If(source.ready & source.last, NextValue(place, 0), NextState("IDLE")),
        )
        # After the states: a wish that comes while another one is granted stays.
        self.sync += [
            If(self.msi, interrupt.eq(1)),
            If(self.pme, answer.eq(1)),
        ]
