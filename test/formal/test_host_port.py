#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Bounds of the user's accesses to host memory: gateware/soc/host_port.py."""

from migen import *

from litex.gen import *

from litepcie_soc.soc import host_port
from litepcie_soc.tlp.ports import MemoryReadPort, MemoryWritePort

from test.formal.given_buffer import GivenBuffer
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

BUFFERS, LIMIT, PAGE_BITS = 2, 0x4000, 12

# Properties ---------------------------------------------------------------------------------------


class Bounds(Harness):
    """Requests stay inside a buffer that the card has, and none follows when it was taken and is not busy.

    For any master, which may change or give up a cycle at any time, any registers, resets, and answers of the
    transaction layer. Assumed: the driver replaces a buffer only after it took it and then saw it not busy.
    """
    def __init__(self):
        Harness.__init__(self)
        read, write = MemoryReadPort(64, 1, "read", destination_bits=7), MemoryWritePort(64, "write")
        self.dut = dut = host_port.HostPort(read, write, BUFFERS, LIMIT)
        bus, sink, request = dut.bus, write.sink, read.request
        self.free(bus.cyc, bus.stb, bus.we, bus.adr, bus.sel, bus.dat_w, sink.ready, write.sent, write.dropped,
            request.ready, read.retire.valid, read.retire.reason, read.data.valid, read.data.be, read.data.dat,
            dut.can_send, dut.reset)
        self.tied("*")
        given = GivenBuffer(self, dut)
        base, pages, gone = given.base, given.pages, given.gone
        asks  = Signal()
        self.comb += asks.eq((sink.valid | request.valid) & (dut.number == given.which))

        address = Signal(64)
        offset  = Signal(64 - PAGE_BITS)
        self.comb += [
            address.eq(Mux(sink.valid, sink.address, request.address)),
            offset.eq(address[PAGE_BITS:] - base),
        ]
        self.implies("inside",     asks, offset < pages)
        self.implies("one_dword",  asks, Mux(sink.valid, address[:2] + sink.length <= 4, address[:2] == 0))
        self.implies("permitted",  asks, Mux(sink.valid, given.may_write, given.may_read))
        self.implies("busy_says_so",       asks, given.busy)
        self.implies("nothing_after_busy", gone, ~asks)
        self.implies("reset_takes_all",    self.previous(dut.reset), dut.valid.status == 0)
        self.check("one_kind",      ~(sink.valid & request.valid))
        self.check("write_stays",   self.stable(sink))
        self.check("read_stays",    self.stable(request))
        # An answer is for the cycle that began the access.
        idle, strobe = dut.idle, bus.cyc & bus.stb
        given_up = Signal()
        self.sync += If(idle, given_up.eq(0)).Elif(~strobe, given_up.eq(1))
        self.implies("answer_has_a_cycle", bus.ack | bus.err, strobe & ~given_up & ~idle)
        self.check("one_answer",    ~(bus.ack & bus.err))

PROOFS  = [Proof("host port", Bounds, depth=14)]
MUTANTS = [
    Mutant("takes_an_old_address", PROOFS[0], host_port, "Elif(~known,", "Elif(~table.known,"),
    Mutant("ignores_clear",        PROOFS[0], host_port, "NextValue(known, table.known)",
        "NextValue(known, known | table.known)"),
    Mutant("one_page_more",        PROOFS[0], host_port, "page >= size", "page > size"),
    Mutant("ignores_permission",   PROOFS[0], host_port, "Mux(write, table.may_write, table.may_read)",
        "table.may_read"),
    Mutant("busy_too_short",       PROOFS[0], host_port, "Mux(idle, 0, 1 << number)",
        "Mux(idle | ~self.can_send, 0, 1 << number)"),
    Mutant("answers_another",      PROOFS[0], host_port, "~idle & (aborted | ~(bus.cyc & bus.stb))",
        "~idle & ~(bus.cyc & bus.stb)"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
