# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The user's accesses and descriptors stay inside the buffers that the host gave."""

from migen import *
from litex.gen import *

from litepcie_soc.dma.engine import DIRECTIONS
from litepcie_soc.soc import descriptor_port, host_buffers, host_port
from litepcie_soc.soc.host_buffers import PAGE_BITS
from litepcie_soc.tlp.ports import MemoryReadPort, MemoryWritePort
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases


class GivenBuffer:
    """Any one of the buffers, as the driver gave it. It may write the registers of the buffers in any way.

    Assumed: it replaces the buffer only after it took it and then saw it not busy.

    Attributes
    ----------
    which : number of the buffer.
    base, pages : address and size in pages.
    may_read, may_write : what the card may do.
    busy  : the card says that it accesses the buffer.
    gone  : the buffer was taken from the card, and was not busy since.
    """
    def __init__(self, harness, host):
        registers = [host.base_lo.storage, host.base_hi.storage, host.size.storage, host.set.re, host.clear.re,
            host.clear.storage, *[getattr(host.set.fields, name) for name in ("number", "read", "write")]]
        harness.free(*registers)
        self.which = which = Signal(max=host.buffers)
        harness.constant(which)
        self.base  = Signal(64 - PAGE_BITS)
        self.pages = Signal(32 - PAGE_BITS)
        self.may_read, self.may_write, self.busy = Signal(), Signal(), Signal()
        self.gone  = gone = Signal(reset=1)

        has, gives = Signal(), Signal()
        harness.comb += [
            gives.eq(host.set.re & (host.set.fields.number == which) & ~host.reset &
                (host.size.storage <= host.byte_limit) &
                (Cat(host.base_lo.storage[:PAGE_BITS], host.size.storage[:PAGE_BITS]) == 0)),
            self.busy.eq((host.busy.status >> which) & 1)]
        harness.sync += [
            If(gives,
                has.eq(1),
                self.base.eq(Cat(host.base_lo.storage[PAGE_BITS:], host.base_hi.storage)),
                self.pages.eq(host.size.storage[PAGE_BITS:]),
                self.may_read.eq(host.set.fields.read),
                self.may_write.eq(host.set.fields.write),
                gone.eq(0),
            ).Elif(~has & ~self.busy,
                gone.eq(1)),
            If(host.reset | (host.clear.re & ((host.clear.storage >> which) & 1)), has.eq(0))]
        harness.assume("not_replaced", ~gives | (~has & gone))

BUFFERS, LIMIT = 2, 0x4000


class PortBounds(Harness):
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
        self.comb += [address.eq(Mux(sink.valid, sink.address, request.address)), offset.eq(address[PAGE_BITS:] - base)]
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

PROOFS  = [Proof("host port", PortBounds, depth=14)]
MUTANTS = [
    Mutant("takes_an_old_address", PROOFS[0], host_port, "Elif(~known,", "Elif(~table.known,"),
    Mutant("busy_too_short",       PROOFS[0], host_port, "Mux(idle, 0, 1 << number)",
        "Mux(idle | ~self.can_send, 0, 1 << number)")]

MEMORY, DEPTH = 0x1000, 2


class DescriptorBounds(Harness):
    """Descriptors that are executed lie in a buffer that the card has; it is busy until they have ended.

    For any descriptors, registers, resets, and ends that are taken at any time or never. Assumed: the driver replaces
    a buffer only after it took it and then saw it not busy; the reader and the writer end what they were given, in
    its order, and nothing else.
    """
    def __init__(self):
        Harness.__init__(self)
        self.host = host = host_buffers.HostBuffers(BUFFERS, LIMIT)
        self.dut  = dut  = descriptor_port.HostDescriptors(host, MEMORY, DEPTH)
        self.free(dut.sink, dut.source.ready, dut.can_send, dut.reset)
        self.tied("*")
        self.comb += host.reset.eq(dut.reset)
        given = GivenBuffer(self, host)
        which, base, pages, busy, gone = given.which, given.base, given.pages, given.busy, given.gone
        # A reader and a writer: how many descriptors, of all buffers and of this one, they have.
        for name in DIRECTIONS:
            source, done, idle = dut.sources[name], dut.dones[name], dut.idles[name]
            count, order = Signal(5), Signal(16)    # In `order`, bit n: the n-th oldest is of this buffer.
            mine = Signal()
            end  = Signal()
            self.free(source.ready, done.valid, done.last, done.reason, idle)
            self.comb += [mine.eq(source.valid & (dut.number == which)), end.eq(done.valid & done.last)]
            pushes = source.valid & source.ready
            self.sync += [
                If(dut.forget,
                    count.eq(0), order.eq(0)
                ).Else(
                    count.eq(count + pushes - end),
                    order.eq((order | Mux(pushes & (dut.number == which), 1 << count, 0)) >> end))]
            self.assume(f"{name}_ends_what_it_has", ~done.valid | (count != 0))
            self.assume(f"{name}_idle", ~idle | (count == 0) | ~dut.run)
            self.assume(f"{name}_idle_has_no_end", ~idle | ~done.valid)
            self.assume(f"{name}_nothing_while_forgotten", ~dut.forget | ~done.valid)
            address = Signal(64)
            length  = Signal(64)
            self.comb += [address.eq(source.host - Cat(Constant(0, PAGE_BITS), base)),
                length.eq(address + source.length)]
            self.implies(f"{name}_inside",    mine, (source.length != 0) & (address < LIMIT) &
                (length <= Cat(Constant(0, PAGE_BITS), pages)))
            self.implies(f"{name}_permitted", mine, given.may_write if name == "writer" else given.may_read)
            self.implies(f"{name}_endpoint",  source.valid, source.endpoint + source.length <= MEMORY)
            self.implies(f"{name}_busy_says_so", mine | (order != 0), busy)
            self.implies(f"{name}_nothing_after_busy", gone, ~mine & (order == 0))
            self.implies(f"{name}_fits", count == DEPTH, ~pushes)
        self.check("one_kind", ~(dut.sources["reader"].valid & dut.sources["writer"].valid))
        self.implies("reset_takes_all", self.previous(host.reset), host.valid.status == 0)
        # Every descriptor has one end, and each end a place.
        left = Signal(6)
        self.sync += left.eq(left + (dut.sink.valid & dut.sink.ready) - (dut.source.valid & dut.source.ready))
        self.implies("no_end_without_a_descriptor", left == 0, ~dut.source.valid)
        self.check("a_place_for_each", left <= DEPTH)
        for name in DIRECTIONS:
            ends = getattr(dut, f"ends_{name}")
            self.implies(f"{name}_end_fits", ends.sink.valid, ends.sink.ready)
        self.implies("refusal_fits", dut.refused.sink.valid, dut.refused.sink.ready)

NEW = [Proof("host descriptors", DescriptorBounds, depth=16)]
PROOFS  += NEW
MUTANTS += [
    Mutant("takes_an_old_address", NEW[0], descriptor_port, "Elif(~known,", "Elif(~table.known,"),
    Mutant("busy_too_short",       NEW[0], descriptor_port, "If(self.under_check, Case", "If(0, Case"),
    Mutant("busy_until_passed",    NEW[0], descriptor_port, "*[If(count != 0,", "*[If(0,"),
    Mutant("survives_a_reset",     NEW[0], host_buffers, "If(self.reset, valid.eq(0)),", "")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
