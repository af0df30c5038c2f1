#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A Wishbone slave as a slave of AXI4 or AXI4-Lite (AMBA AXI, ARM IHI 0022, A3 and B1)."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone
from litex.soc.interconnect.axi import RESP_OKAY, RESP_SLVERR, AXIInterface, AXILite2AXI, AXILiteInterface

from litepcie_soc.axi.slave import PAGE_BITS, BurstChecker, next_beat

# Constants ----------------------------------------------------------------------------------------

DATA_WIDTH = 32
ID_BITS    = 8  # LiteX's interconnects cut an ID that is wider than that of the slave.

# Beats --------------------------------------------------------------------------------------------


class Beats(LiteXModule):
    """Beats of the bursts of one direction, and their answers.

    Parameters
    ----------
    burst  : Endpoint(burst_layout), from a ``BurstChecker``.
    answer : channel ``r``, which has an answer for each beat, or ``b``, which has one for each burst.
    each   : bool, ``answer`` is ``r``.

    Attributes
    ----------
    dword  : address of the beat, in dwords.
    failed : Signal(), the burst has failed.
    ends   : Signal(), **in**, one cycle: the beat has ended, with ``err`` or with the data ``dat``.
    """
    def __init__(self, burst, answer, each):
        self.dword  = Signal(len(burst.address) - 2)
        self.failed = failed = Signal()
        self.ends   = ends   = Signal()
        self.err    = Signal()
        self.dat    = Signal(DATA_WIDTH)

        # # #

        count = Signal(len(burst.len))  # Beats that have ended.
        next_ = Signal(PAGE_BITS)       # Address of the beat in its page, unless it is the first one.
        place = Signal(PAGE_BITS)
        lost  = Signal()                # A beat has failed.
        last  = Signal()
        self.count = count  # Proofs read it.
        self.comb += [
            place.eq(Mux(count == 0, burst.spot, next_)),
            self.dword.eq(Cat(place, burst.address[PAGE_BITS:])[2:]),
            failed.eq(burst.bad | lost),
            last.eq(count == burst.len),
            burst.ready.eq(ends & last),
        ]
        self.sync += [
            If(answer.ready, answer.valid.eq(0)),
            If(ends,
                next_.eq(next_beat(place, burst.low, burst.mask)),
                count.eq(Mux(last, 0, count + 1)),
                lost.eq(~last & (failed | self.err)),
                answer.valid.eq(last | each),
                answer.last.eq(last),
                answer.id.eq(burst.id),
                answer.resp.eq(Mux(failed | self.err, RESP_SLVERR, RESP_OKAY)),
                *[answer.data.eq(self.dat) for _ in range(each)],
            ),
        ]

# AXI Slave ----------------------------------------------------------------------------------------


class AXISlave(LiteXModule):
    """Makes one cycle of a Wishbone bus for each beat, one at a time; beats of reads and of writes take turns.

    Reads and writes do not wait for each other's channels: a master may need the data of a read for a write that it has
    begun.

    A cycle that ends with ``err`` is answered with SLVERR, in its beat and in the later ones of the burst, which have
    no cycle: LiteX's converter of widths passes on the last response only. LiteX's own bridges begin such a cycle
    again, until the slave gives ``ack``: that may be never.

    Parameters
    ----------
    address_width : int, bits of a byte address.
    lite          : bool, AXI4-Lite.

    Attributes
    ----------
    axi : AXIInterface, or with ``lite`` AXILiteInterface, slave, 32-bit data.
    bus : wishbone.Interface, master, 32-bit data, word addresses.
    """
    def __init__(self, address_width=32, lite=False):
        self.axi = axi = AXIInterface(DATA_WIDTH, address_width=address_width, id_width=ID_BITS)
        if lite:
            self.axi  = AXILiteInterface(data_width=DATA_WIDTH, address_width=address_width)
            self.lite = AXILite2AXI(self.axi, axi)
        self.bus = bus = wishbone.Interface(data_width=DATA_WIDTH, address_width=address_width, addressing="word")

        # # #

        self.read_checker  = BurstChecker(axi.ar, DATA_WIDTH)
        self.write_checker = BurstChecker(axi.aw, DATA_WIDTH)
        self.reads  = reads  = Beats(self.read_checker.source, axi.r, each=True)
        self.writes = writes = Beats(self.write_checker.source, axi.b, each=False)
        read, write = Signal(), Signal()    # A beat can begin.
        turn  = Signal()                    # Of a write, if a read can begin as well.
        skips = Signal()                    # The beat has no cycle: its burst has failed.
        ends  = Signal()
        self.comb += [
            read.eq(self.read_checker.source.valid & ~axi.r.valid),
            write.eq(self.write_checker.source.valid & axi.w.valid & ~axi.b.valid),
            reads.ends.eq(ends & ~bus.we),
            writes.ends.eq(ends & bus.we),
            *[statement for beats in (reads, writes) for statement in (beats.err.eq(bus.cyc & bus.err),
                beats.dat.eq(bus.dat_r))],
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(bus.dat_w, axi.w.data),
            If(write & (turn | ~read),
                axi.w.ready.eq(1),
                NextValue(bus.we, 1),
                NextValue(bus.adr, writes.dword),
                NextValue(bus.sel, axi.w.strb),
                NextValue(skips, writes.failed),
                NextState("CYCLE")
            ).Elif(read,
                NextValue(bus.we, 0),
                NextValue(bus.adr, reads.dword),
                NextValue(bus.sel, 2**(DATA_WIDTH // 8) - 1),
                NextValue(skips, reads.failed),
                NextState("CYCLE")
            )
        )
        fsm.act("CYCLE",
            bus.cyc.eq(~skips),
            bus.stb.eq(~skips),
            ends.eq(skips | bus.ack | bus.err),
            NextValue(turn, ~bus.we),
            If(ends, NextState("IDLE"))
        )
