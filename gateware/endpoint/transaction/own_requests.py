#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Posted requests that the endpoint itself sends: MSI, messages of errors, and the answer to PME_Turn_Off."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import FMT_TYPE_MWR_32, FMT_TYPE_MWR_64
from litepcie_soc.endpoint.data_link.words import WORD, swapped
from litepcie_soc.endpoint.transaction.errors import COR, FATAL, MESSAGES, NONFATAL

# Fmt and type of messages without data that go to the root complex, alone or with those of all ports (PCIe 2.1 table
# 2-11), and their codes (tables 2-15 and 2-16).
TO_ROOT    = 0x30
GATHERED   = 0x35
PME_TO_ACK = 0x1b
ERR_COR, ERR_NONFATAL, ERR_FATAL = 0x30, 0x31, 0x33

# Requests -----------------------------------------------------------------------------------------


class OwnRequests(LiteXModule):
    """Sends an MSI for each pulse, messages of errors, and PME_TO_Ack.

    There is one vector, so that pulses before the MSI has begun share it. It waits while the host has switched off bus
    mastering, and is forgotten when it has switched off MSI (PCI Local Bus 3.0 6.8.1).

    Errors of a kind before their message has begun share it, too. Messages do not depend on bus mastering.

    Attributes
    ----------
    msi     : 1, **in**; a pulse: an MSI is wanted. All posted requests before it are in their queue.
    pme     : 1, **in**; a pulse: PME_TO_Ack is wanted,
    wait    : 1, **in**; but not yet: requests of before are to be in their queue first.
    errors, late : 3, **in**; pulses for each kind, see `ErrorReports`: a message is wanted, at once or in D0.
    awake   : 1, **in**; the function is in D0.
    silent  : 1, **in**; messages of errors are forgotten: PME_Turn_Off came, or the function is being reset.
    id      : 16, **in**; bus, device and function number.
    enable, address, data : 1, 64, 16, **in**; of the MSI capability.
    master  : 1, **in**; Bus Master Enable.
    source  : stream of 16 bits, **out**.
    inside  : 1, **out**; an MSI is being sent.
    busy    : 1, **out**; a request is being sent, or would be.
    """
    def __init__(self):
        self.msi     = Signal()
        self.pme     = Signal()
        self.wait    = Signal()
        self.errors  = Signal(len(MESSAGES))
        self.late    = Signal(len(MESSAGES))
        self.awake   = Signal()
        self.silent  = Signal()
        self.id      = Signal(16)
        self.enable  = Signal()
        self.address = Signal(64)
        self.data    = Signal(16)
        self.master  = Signal()
        self.source  = source = stream.Endpoint(WORD)
        self.inside  = Signal()
        self.busy    = Signal()

        # # #

        interrupt, answer = Signal(), Signal()  # What is wanted.
        told, held        = Signal(len(MESSAGES)), Signal(len(MESSAGES))
        begun             = Signal(len(MESSAGES))
        gathered          = Signal()
        code              = Signal(8)
        place             = Signal(4)
        wide              = Signal()
        address           = Signal(64)
        data              = Signal(16)
        self.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += [
            source.first.eq(place == 0),
            self.inside.eq(fsm.ongoing("INTERRUPT")),
            self.busy.eq(source.valid | answer | (told != 0) | (interrupt & self.enable & self.master)),
        ]
        fsm.act("IDLE",
            # A copy: the host may change these while the request leaves.
            NextValue(address, self.address),
            NextValue(data, self.data),
            NextValue(wide, self.address[32:] != 0),
            NextValue(gathered, answer & ~self.wait),
            If(answer & ~self.wait,
                NextValue(answer, 0),
                NextValue(code, PME_TO_ACK),
                NextState("MESSAGE"),
            ).Elif(told != 0,
                # The worst one first.
                If(told[FATAL],
                    begun[FATAL].eq(1), NextValue(code, ERR_FATAL),
                ).Elif(told[NONFATAL],
                    begun[NONFATAL].eq(1), NextValue(code, ERR_NONFATAL),
                ).Else(
                    begun[COR].eq(1), NextValue(code, ERR_COR),
                ),
                NextState("MESSAGE"),
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
        fsm.act("MESSAGE",
            source.valid.eq(1),
            source.last.eq(place == 7),
            Case(place, {
                0: source.data.eq(Mux(gathered, GATHERED, TO_ROOT)),
                2: source.data.eq(swapped(self.id)),
                3: source.data.eq(code << 8),
                "default": source.data.eq(0),
            }),
            If(source.ready, NextValue(place, place + 1)),
            If(source.ready & source.last, NextValue(place, 0), NextState("IDLE")),
        )
        # After the states: a wish that comes while another one is granted stays.
        self.sync += [
            If(self.msi, interrupt.eq(1)),
            If(self.pme, answer.eq(1)),
            told.eq((told & ~begun) | self.errors | Mux(self.awake, held, 0)),
            held.eq(Mux(self.awake, 0, held) | self.late),
            If(self.silent, told.eq(0), held.eq(0)),
        ]
