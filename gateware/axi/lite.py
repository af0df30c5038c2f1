#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The user's bus as an AXI4-Lite master (AMBA AXI, ARM IHI 0022, B1), in any clock domain.

Two halves, one for each clock, exchange a request and an answer by a handshake of four phases: ``asked`` rises, then
``answered`` rises, ``asked`` falls, and ``answered`` falls. Neither half has a reset of its own, so a reset of one side
never leaves the handshake half done.
"""

from migen import *

from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import wishbone

# Requester ----------------------------------------------------------------------------------------

ANSWER = [("failed", 1), ("dat", 32)]


def request_layout(address_width):
    return [("we", 1), ("address", address_width), ("be", 4), ("dat", 32)]


class AXILiteRequester(LiteXModule):
    """Hands a cycle of the user's bus to an ``AXILiteMaster``, and its answer back.

    If the cycle ends without an answer (abort), the transaction goes on, and its answer is dropped. A cycle that begins
    before then waits.

    Parameters
    ----------
    address_width : int, bits of a byte address.

    Attributes
    ----------
    bus      : wishbone.Interface, slave, 32-bit data, word addresses. Between two cycles ``cyc`` is low.
    request  : Record(request_layout(address_width)), **out**, stable while ``asked`` is high; ``address`` in bytes.
    asked    : Signal(), **out**, a register.
    answered : Signal(), **in**, in the domain of this module.
    answer   : Record(ANSWER), **in**, stable while ``answered`` is high.
    """
    def __init__(self, address_width=32):
        self.bus      = bus     = wishbone.Interface(data_width=32, address_width=address_width, addressing="word")
        self.request  = request = Record(request_layout(address_width))
        self.asked    = asked   = Signal()
        self.answered = Signal()
        self.answer   = Record(ANSWER)

        # # #

        owned  = Signal()  # The cycle that asked is still on the bus.
        ends   = Signal()
        failed = Signal()
        self.owned = owned  # Proofs read it.
        self.comb += [
            bus.ack.eq(ends & bus.cyc & ~failed),
            bus.err.eq(ends & bus.cyc & failed),
        ]
        self.sync += [
            ends.eq(0),
            If(~bus.cyc, owned.eq(0)),
            If(asked,
                If(self.answered,
                    asked.eq(0),
                    owned.eq(0),
                    ends.eq(owned & bus.cyc),
                    failed.eq(self.answer.failed),
                    bus.dat_r.eq(self.answer.dat),
                )
            ).Elif(~self.answered & bus.cyc & bus.stb & ~ends,
                asked.eq(1),
                owned.eq(1),
                request.we.eq(bus.we),
                request.address.eq(Cat(Constant(0, 2), bus.adr)),
                request.be.eq(bus.sel),
                request.dat.eq(bus.dat_w),
            ),
        ]

# Master -------------------------------------------------------------------------------------------


def axi_lite_layout(address_width=32):
    """The signals of an AXI4-Lite master: (name, bits, direction of the master)."""
    return [
        ("awvalid", 1, "output"), ("awready", 1, "input"), ("awaddr", address_width, "output"), ("awprot", 3, "output"),
        ("wvalid", 1, "output"), ("wready", 1, "input"), ("wdata", 32, "output"), ("wstrb", 4, "output"),
        ("bvalid", 1, "input"), ("bready", 1, "output"), ("bresp", 2, "input"),
        ("arvalid", 1, "output"), ("arready", 1, "input"), ("araddr", address_width, "output"), ("arprot", 3, "output"),
        ("rvalid", 1, "input"), ("rready", 1, "output"), ("rresp", 2, "input"), ("rdata", 32, "input"),
    ]


class AXILiteMaster(LiteXModule):
    """Makes one transaction at a time. A valid signal and its payload stay until accepted, whatever the host does.

    While ``reset`` is asserted, no valid signal is, and each request fails, also one that is under way.

    Parameters
    ----------
    address_width : int, bits of a byte address.

    Attributes
    ----------
    asked, request   : **in**, and answered, answer : **out**, as in ``AXILiteRequester``. ``asked`` is in the domain of
        this module, and ``request`` has been stable before it rises. ``answered`` is a register.
    reset            : Signal(), **in**, the slave is reset.
    awvalid to rdata : ``axi_lite_layout()``. A read is always of 4 bytes: AXI4-Lite has no byte enables for it.
    """
    def __init__(self, address_width=32):
        self.asked    = Signal()
        self.request  = request = Record(request_layout(address_width))
        self.answered = Signal()
        self.answer   = answer = Record(ANSWER)
        self.reset    = reset  = Signal()
        for name, bits, _ in axi_lite_layout(address_width):
            setattr(self, name, Signal(bits, name=name))

        # # #

        # What is not accepted yet.
        aw = Signal()
        w  = Signal()
        ar = Signal()
        self.aw, self.w, self.ar = aw, w, ar  # Proofs read them.
        self.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += [
            self.awvalid.eq(aw & ~reset),
            self.wvalid.eq(w & ~reset),
            self.arvalid.eq(ar & ~reset),
            self.awaddr.eq(request.address),
            self.araddr.eq(request.address),
            self.wdata.eq(request.dat),
            self.wstrb.eq(request.be),
            self.awprot.eq(0),
            self.arprot.eq(0),
            self.bready.eq(fsm.ongoing("WRITE") & ~aw & ~w & ~reset),
            self.rready.eq(fsm.ongoing("READ") & ~ar & ~reset),
        ]
        self.sync += [
            If(reset | self.awready, aw.eq(0)),
            If(reset | self.wready, w.eq(0)),
            If(reset | self.arready, ar.eq(0)),
        ]
        fsm.act("IDLE",
            If(self.asked,
                NextValue(answer.failed, 1),
                If(reset,
                    NextState("ANSWER")
                ).Elif(request.we,
                    NextValue(aw, 1),
                    NextValue(w, 1),
                    NextState("WRITE")
                ).Else(
                    NextValue(ar, 1),
                    NextState("READ")
                )
            )
        )
        # Of the answers, SLVERR and DECERR have bit 1 set.
        for state, ends, resp in (("WRITE", self.bvalid & self.bready, self.bresp),
            ("READ", self.rvalid & self.rready, self.rresp)):
            fsm.act(state,
                NextValue(answer.dat, self.rdata),
                If(ends, NextValue(answer.failed, resp[1])),
                If(ends | reset, NextState("ANSWER"))
            )
        fsm.act("ANSWER",
            NextValue(self.answered, self.asked),
            If(self.answered & ~self.asked, NextState("IDLE"))
        )

# Bridge -------------------------------------------------------------------------------------------


class AXILiteBridge(LiteXModule):
    """The user's bus as an AXI4-Lite master.

    Parameters
    ----------
    bus_clock, axi_clock : str, clock domains of the two sides, equal if there is one clock. They have no reset, or are
        one domain whose reset also resets the slave.
    address_width : int, bits of a byte address.

    Attributes
    ----------
    bus    : wishbone.Interface, slave, domain ``bus_clock``.
    master : ``AXILiteMaster``, domain ``axi_clock``.
    """
    def __init__(self, bus_clock="sys", axi_clock="sys", address_width=32):
        self.requester = requester = in_clock(bus_clock, AXILiteRequester(address_width))
        self.master    = master    = in_clock(axi_clock, AXILiteMaster(address_width))
        self.bus       = requester.bus

        # # #

        # These are stable while the other side reads them.
        self.comb += [
            master.request.eq(requester.request),
            requester.answer.eq(master.answer),
        ]
        if bus_clock == axi_clock:
            self.comb += [
                master.asked.eq(requester.asked),
                requester.answered.eq(master.answered),
            ]
        else:
            self.specials += [
                MultiReg(requester.asked, master.asked, axi_clock),
                MultiReg(master.answered, requester.answered, bus_clock),
            ]

    def connect(self, axi):
        """Returns the statements that connect ``master`` to an ``AXILiteInterface`` of LiteX."""
        statements = []
        for name, _, way in axi_lite_layout():
            channel = next(channel for channel in ("aw", "ar", "w", "b", "r") if name.startswith(channel))
            signals = getattr(self.master, name), getattr(getattr(axi, channel), name.removeprefix(channel))
            statements.append(signals[1].eq(signals[0]) if way == "output" else signals[0].eq(signals[1]))
        return statements


def in_clock(domain, unit):
    # Migen drops the statements of a unit whose domain is renamed to itself.
    return unit if domain == "sys" else ClockDomainsRenamer(domain)(unit)
