#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Physical and data link layer of an endpoint in gateware, one above the other, and power management of both."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.dllp import ENTER_L1, ENTER_L23, REQUEST_ACK
from litepcie_soc.endpoint.data_link.layer import DataLink
from litepcie_soc.endpoint.physical.link import Link
from litepcie_soc.endpoint.physical.states import TO_L1, TO_L2

# Power Management ---------------------------------------------------------------------------------
# Entry of the link to L1, and to L2/L3 Ready, as an endpoint asks for it.

# Cycles without anything to send before the link is asked to sleep: longer than a TLP takes from the logic above to the
# replay buffer, and than the partner's credits take to be looked up.
SETTLE_CYCLES = 64
# Cycles from the end of sending until the last packet is on the wire. The longest one is a DLLP.
DRAIN_CYCLES = 16


class PowerManagement(LiteXModule):
    """Asks the partner to let the link sleep, until it agrees, and wakes the link when there is something to send.

    Once it has asked, it goes on asking even if the function is back in D0, because the partner sends no TLP from then
    on. A TLP of ours pauses it. When the link leaves L0 before the partner agreed, both sides begin anew. A
    PM_Request_Ack that nobody asked for is ignored.

    Attributes
    ----------
    low_power  : 1, **in**; the function is not in D0.
    turn_off   : 1, **in**; a pulse: PME_Turn_Off came. Its answer keeps ``busy`` asserted.
    busy       : 1, **in**; there is a TLP to send, or one that is not acknowledged.
    credits    : 1, **in**; the partner's credits are enough for the longest TLP of each type.
    active     : 1, **in**; the link is in L0.
    asleep     : 1, **in**; the link is in L1 or L2.
    received, dword : 1, 32, **in**; a pulse: a DLLP of power management came.
    dllp       : stream of ``dword`` (32), **out**; to be sent again and again.
    hold       : 1, **out**; no packet may begin.
    sleep      : 2, **out**; the link goes to L1 (bit TO_L1) or to L2 (bit TO_L2).
    wake       : 1, **out**; it is to leave L1.
    off        : 1, **out**; PME_Turn_Off came: the function initiates no more requests.

    PCIe 2.1 5.3.2.1, 5.3.2.3 and 5.3.3.2.
    """
    def __init__(self):
        self.low_power = Signal()
        self.turn_off  = Signal()
        self.busy      = Signal()
        self.credits   = Signal()
        self.active    = Signal()
        self.asleep    = Signal()
        self.received  = Signal()
        self.dword     = Signal(32)
        self.dllp      = dllp = stream.Endpoint([("dword", 32)])
        self.hold      = Signal()
        self.sleep     = Signal(2)
        self.wake      = Signal()
        self.off       = Signal()

        # # #

        agreed  = Signal()
        quiet   = Signal(max=SETTLE_CYCLES + 1)
        left    = Signal(max=DRAIN_CYCLES)
        to_l2   = Signal()  # What was asked for.
        self.fsm = fsm = FSM(reset_state="AWAKE")
        self.comb += dllp.dword[24:].eq(Mux(to_l2, ENTER_L23, ENTER_L1))
        self.sync += [
            agreed.eq(self.received & (self.dword[24:] == REQUEST_ACK)),
            If(self.busy | ~self.credits | ~self.active,
                quiet.eq(0),
            ).Elif(quiet != SETTLE_CYCLES,
                quiet.eq(quiet + 1),
            ),
            If(self.turn_off, self.off.eq(1)),
            # From registers, because the longest paths of the endpoint begin at what these change.
            self.hold.eq(fsm.ongoing("DRAIN") | fsm.ongoing("LEAVE")),
            self.sleep[TO_L1].eq(fsm.ongoing("LEAVE") & ~to_l2),
            self.sleep[TO_L2].eq(fsm.ongoing("LEAVE") & to_l2),
            self.wake.eq(fsm.ongoing("ASLEEP") & ~to_l2 & (self.busy | ~self.low_power)),
        ]
        fsm.act("AWAKE",
            NextValue(to_l2, self.off),
            If((self.off | self.low_power) & (quiet == SETTLE_CYCLES), NextState("ASK")),
        )
        fsm.act("ASK",
            dllp.valid.eq(quiet == SETTLE_CYCLES),
            NextValue(left, DRAIN_CYCLES - 1),
            If(~self.active,
                NextState("AWAKE"),
            ).Elif(agreed & dllp.valid,
                NextState("DRAIN"),
            ),
        )
        fsm.act("DRAIN",
            NextValue(left, left - 1),
            If(left == 0, NextState("LEAVE")),
        )
        fsm.act("LEAVE",
            If(self.asleep,
                NextState("ASLEEP"),
            ).Elif(~self.active,
                NextState("AWAKE"),
            ),
        )
        fsm.act("ASLEEP",
            If(~self.asleep, NextState("AWAKE")),
        )

# Both Layers --------------------------------------------------------------------------------------


class Stack(LiteXModule):
    """Carries TLPs over a SerDes. All signals are in ``sys``, the clock domain of the endpoint (``pcie``, 125 MHz).

    Parameters
    ----------
    serdes   : `SerDesInterface`.
    clk_freq : Hz, as of `Link`.
    Others   : as of `DataLink`.

    Attributes
    ----------
    link      : `Link`, for its counters and the state of training.
    data_link : `DataLink`, for TLPs, credits and counters.
    power     : `PowerManagement`, for its ``low_power``, ``turn_off`` and ``off``. It is reset with the link.
    busy      : 1, **in**; the logic above has a TLP to send.
    link_up, dl_up : 1, **out**.
    hot_reset : 1, **out**; a pulse: everything above is to be reset.
    """
    def __init__(self, serdes, clk_freq=125e6, **data_link):
        self.link      = link  = Link(serdes, clk_freq)
        self.data_link = layer = DataLink(**data_link)
        self.power     = power = ResetInserter()(PowerManagement())
        self.busy      = Signal()
        self.link_up   = link.link_up
        self.dl_up     = layer.dl_up
        self.hot_reset = link.hot_reset

        # # #

        self.comb += [
            link.source.connect(layer.rx),
            layer.tx.connect(link.sink),
            layer.link_up.eq(link.link_up),
            layer.active.eq(link.active & ~power.hold),
            link.retrain.eq(layer.retrain),
            link.alive.eq(layer.dllp.update),
            link.ltssm.sleep.eq(power.sleep),
            link.ltssm.wake.eq(power.wake),
            power.reset.eq(~link.link_up),
            power.busy.eq(self.busy | ~layer.quiet),
            power.credits.eq(layer.ready),
            power.active.eq(link.active & layer.dl_up),
            power.asleep.eq(link.ltssm.asleep),
            power.received.eq(layer.power_seen),
            power.dword.eq(layer.dllp.dword),
            power.dllp.connect(layer.power),
        ]
