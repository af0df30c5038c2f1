# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Slaves of AXI4 onto host memory, and the host's accesses to a SoC's bus: each request has its own answer, once."""

from types import SimpleNamespace

from migen import *
from litex.gen import *
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from litex.soc.interconnect.axi import RESP_OKAY, AXIInterface, Wishbone2AXILite

from litepcie_soc.axi import beats, slave
from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
from litepcie_soc.soc import user_bus
from litepcie_soc.tlp.completer_user import UserBus
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

LONGEST = 3  # Beats of a burst, less one, that fit into the proofs.


class Channels:
    """The answers on `r` or `b` are those of the bursts on `ar` or `aw`: for any one burst, and by this for each.

    A read has as many beats as it asked for, with its ID and `last`. A write is answered once, with its ID, after its
    last beat. No answer is without a burst, and one that is offered stays.
    """
    def __init__(self, harness, name, address, answer, beat=None):
        harness.free(address.valid, address.len, address.id, answer.ready)
        harness.constant(address.addr, address.size, address.burst)
        harness.assume(f"{name}_address_stays", harness.stable(address))
        harness.assume(f"{name}_short", ~address.valid | (address.len <= LONGEST))
        which = Signal(2)
        harness.constant(which)
        asked, answered, taken = Signal(6), Signal(6), Signal(8)    # Bursts, answers and beats of a write.
        known, id, len_ = Signal(), Signal.like(address.id), Signal.like(address.len)
        end   = Signal(8)   # Beats of a write until the last one of the burst.
        count = Signal(8)   # Beats of the answer.
        asks, gives, whose = Signal(), Signal(), Signal()
        last  = answer.last if beat is None else 1
        harness.comb += [asks.eq(address.valid & address.ready), gives.eq(answer.valid & answer.ready),
            whose.eq(answer.valid & (answered == which))]
        harness.sync += [
            If(asks,
                asked.eq(asked + 1),
                If(asked <= which, end.eq(end + address.len + 1)),
                If(asked == which, known.eq(1), id.eq(address.id), len_.eq(address.len))),
            If(gives, count.eq(count + 1), *([If(last, count.eq(0), answered.eq(answered + 1))]))]
        harness.implies(f"{name}_has_a_request", whose, known)
        harness.implies(f"{name}_keeps_the_id",  whose, answer.id == id)
        names = [one for one, *_ in answer.description.payload_layout + answer.description.param_layout
            if one in ("data", "resp", "id")] + ["last"]*(beat is None)
        values = Cat(*[getattr(answer, one) for one in names])
        harness.implies(f"{name}_stays", harness.previous(answer.valid & ~answer.ready),
            answer.valid & (values == harness.previous(values)))
        if beat is None:
            harness.implies(f"{name}_last", whose, answer.last == (count == len_))
        else:
            harness.free(beat)
            harness.assume(f"{name}_beat_stays", harness.stable(beat))
            harness.sync += If(beat.valid & beat.ready, taken.eq(taken + 1))
            harness.implies(f"{name}_after_the_last_beat", whose, taken >= end)

# AXI4 onto a Wishbone bus: gateware/axi/beats.py --------------------------------------------------


class Beats(Harness):
    """Each beat of AXI4 is one cycle of the bus, whose answer it gives; no channel waits for another one for ever.

    For any master with bursts of up to four beats, of one address, size and type, and any slave that answers within
    four clock cycles.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = beats.AXISlave()
        axi, bus = dut.axi, dut.bus
        self.tied("*")
        Channels(self, "r", axi.ar, axi.r)
        Channels(self, "b", axi.aw, axi.b, axi.w)
        self.free(bus.ack, bus.err, bus.dat_r)
        ends, waited = bus.ack | bus.err, Signal(4)
        self.sync += If(bus.cyc & ~ends, waited.eq(waited + 1)).Else(waited.eq(0))
        self.assume("answers", waited <= 3)
        cycle = Cat(bus.adr, bus.we, bus.sel, bus.dat_w)
        self.implies("cycle_stays", self.previous(bus.cyc & ~ends), bus.cyc & (cycle == self.previous(cycle)))
        self.implies("cycle_ends",  self.previous(bus.cyc & ends), ~bus.cyc)
        # What the cycle of the beat gave, until the beat is answered.
        got, good, data = Signal(), Signal(), Signal(32)
        reads = bus.cyc & ~bus.we
        self.sync += [If(axi.r.valid & axi.r.ready, got.eq(0)),
            If(reads & ends, got.eq(1), good.eq(~bus.err), data.eq(bus.dat_r))]
        self.implies("one_cycle",   reads, ~got)
        self.implies("good_is_its_own", axi.r.valid & (axi.r.resp == RESP_OKAY), got & good & (axi.r.data == data))
        wrote, word = Signal(), Signal(36)
        self.sync += [If(bus.cyc & bus.we & ends, wrote.eq(0)),
            If(axi.w.valid & axi.w.ready, wrote.eq(1), word.eq(Cat(axi.w.data, axi.w.strb)))]
        self.implies("writes_it", bus.cyc & bus.we, wrote & (Cat(bus.dat_w, bus.sel) == word))
        bad = Signal()      # A cycle of the burst failed.
        self.sync += [If(axi.b.valid & axi.b.ready, bad.eq(0)), If(bus.cyc & bus.we & bus.err, bad.eq(1))]
        self.implies("error_is_told", axi.b.valid & bad, axi.b.resp != RESP_OKAY)
        # Whatever the master does on the channels of the other direction.
        for name, unit, begins in (("read", dut.reads, dut.read_checker.source.valid & ~axi.r.valid),
                ("write", dut.writes, dut.write_checker.source.valid & axi.w.valid & ~axi.b.valid)):
            idle = Signal(6)
            self.sync += If(begins & ~unit.ends, idle.eq(idle + 1)).Else(idle.eq(0))
            self.check(f"{name}_goes_on", idle <= 12)

PROOFS  = [Proof("AXI4 onto Wishbone", Beats, depth=22)]
MUTANTS = [
    Mutant("hides_an_error",    PROOFS[0], beats, "Mux(failed | self.err, RESP_SLVERR", "Mux(failed, RESP_SLVERR"),
    Mutant("answers_each_beat", PROOFS[0], beats, "answer.valid.eq(last | each)", "answer.valid.eq(1)")]

# AXI4 onto host memory: gateware/axi/slave.py -----------------------------------------------------

SLOTS = 2


class HostReads(Harness):
    """Each read burst has its beats, with its ID and `last`, and they stay until they are accepted.

    For any master with bursts of up to four beats, of one address, size and type, any latency of the
    RAM, and transfers that end in any order.
    """
    channel = "ar"

    def __init__(self):
        Harness.__init__(self)
        axi  = AXIInterface(64, address_width=16, id_width=2)
        self.checker = slave.BurstChecker(getattr(axi, self.channel), 64)
        self.tied("*")
        self.add(axi, self.checker.source)
        dut, source = self.dut, self.dut.source
        self.free(source.ready, dut.ended, dut.tag, dut.failed)
        under_way = Signal(SLOTS)
        ended     = Mux(dut.ended, 1 << dut.tag, 0)
        self.sync += under_way.eq((under_way & ~ended) | Mux(source.valid & source.ready, 1 << source.tag, 0))
        self.assume("ends_what_it_has", (ended & ~under_way) == 0)
        self.check("transfer_stays", self.stable(source))
        self.implies("a_tag_is_free", source.valid & source.ready, ((under_way & ~ended) >> source.tag) & 1 == 0)

    def add(self, axi, bursts):
        memory   = MemoryReadStream(64, 256)
        self.dut = slave.ReadBursts(bursts, axi.r, memory, SLOTS)
        Channels(self, "r", axi.ar, axi.r)
        # The RAM: as many words as it was asked for.
        self.free(memory.command.ready, memory.data.valid)
        words = Signal(6)
        self.sync += words.eq(words + (memory.command.valid & memory.command.ready)
            - (memory.data.valid & memory.data.ready))
        self.assume("ram", ~memory.data.valid | (words != 0))
        self.assume("ram_stays", ~self.previous(memory.data.valid & ~memory.data.ready) | memory.data.valid)


class HostWrites(HostReads):
    """Each write burst has one answer, with its ID, after its last beat, which stays until it is accepted.

    For any master with bursts of up to four beats, of one address, size and type, a RAM that waits, and
    transfers that end in any order.
    """
    channel = "aw"

    def add(self, axi, bursts):
        memory   = MemoryWriteStream(64, 256)
        self.dut = slave.WriteBursts(bursts, axi.w, axi.b, memory, SLOTS)
        self.free(memory.ready)
        Channels(self, "b", axi.aw, axi.b, axi.w)

NEW = [Proof("AXI4 reads of host memory", HostReads, depth=18, variant=True),
    Proof("AXI4 writes of host memory", HostWrites, depth=18)]
PROOFS  += NEW
MUTANTS += [
    Mutant("gives_a_beat_more", NEW[0], slave, "beats.sink.end.eq(now.len == 0)", "beats.sink.end.eq(now.len == 1)"),
    Mutant("answers_each_run",  NEW[1], slave, "                If(oldest.closes,\n                    b.valid.eq(1),",
        "                If(1,\n                    b.valid.eq(1),")]

# The host's accesses to a Wishbone bus with a slave of AXI: gateware/soc/user_bus.py --------------

SILENCE = 5     # Cycles that the bus has.


class Guard(Harness):
    """Each access of the host ends once and in time, with the answer of its own cycle on the bus, never a late one.

    For any bus: silent, late, with errors. Assumed: a cycle stays until it is answered or given up, then it is off for
    a clock cycle.
    """
    def __init__(self):
        Harness.__init__(self)
        bus = SimpleNamespace(timeout=SILENCE, interconnect="crossbar", standard="wishbone", slaves={"one": "slave"},
            regions={"one": SoCRegion(origin=0, size=0x1000)}, masters={},
            _submodules=[(None, Wishbone2AXILite.__new__(Wishbone2AXILite))])
        access   = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self.dut = dut = user_bus.BusGuard(SimpleNamespace(bus=bus), UserBus(0, 0x2000, 4, 32), access)
        out      = dut.bus
        self.free(access.cyc, access.adr, access.we, access.sel, access.dat_w, out.ack, out.err, out.dat_r)
        self.tied("*")
        self.comb += access.stb.eq(access.cyc)
        ends  = access.ack | access.err
        cycle = Cat(access.adr, access.we, access.sel, access.dat_w)
        self.assume("cycle_stays", ~self.previous(access.cyc & ~ends) | ~access.cyc | (cycle == self.previous(cycle)))
        self.assume("cycle_ends",  ~self.previous(access.cyc & ends) | ~access.cyc)
        self.assume("in_range",    access.adr < 0x2000 // 4)
        asked, over = Cat(out.adr, out.we, out.sel, out.dat_w), out.ack | out.err
        self.implies("bus_cycle_stays", self.previous(out.cyc & ~over), out.cyc & (asked == self.previous(asked)))
        self.implies("bus_cycle_ends",  self.previous(out.cyc & over), ~out.cyc)
        self.implies("has_a_slave",     out.cyc, out.adr < 0x1000 // 4)
        # The cycle on the bus that has begun for this access, and what it gave.
        begins, began, got, good, data = Signal(), Signal(), Signal(), Signal(), Signal(32)
        mine = access.cyc & out.cyc & (begins | began)
        self.comb += begins.eq(out.cyc & ~self.previous(out.cyc))
        self.sync += If(~access.cyc | ends, began.eq(0), got.eq(0)).Else(
            If(begins, began.eq(1)), If(mine & over, got.eq(1), began.eq(0), good.eq(~out.err), data.eq(out.dat_r)))
        self.implies("asks_what_it_shall", mine, asked == cycle)
        self.implies("one_bus_cycle",      mine & begins, ~got)
        self.implies("answer_is_its_own",  access.ack, got & good & (access.we | (access.dat_r == data)))
        waited = Signal(8)
        self.sync += If(access.cyc & ~ends, waited.eq(waited + 1)).Else(waited.eq(0))
        limit  = SILENCE + user_bus.MARGIN_CYCLES
        self.implies("error_has_a_cause",  access.err, (got & ~good) | (access.adr >= 0x1000 // 4) | (waited >= limit))
        self.check("ends_in_time",         waited <= limit)
        self.check("one_answer",           ~(access.ack & access.err))

NEW = [Proof("guard of a bus", Guard, depth=36)]
PROOFS  += NEW
MUTANTS += [
    Mutant("gives_up_with_its_master", NEW[0], user_bus, "bus.cyc.eq(asks.asked & ~asks.answered)",
        "bus.cyc.eq(asks.asked & asks.owned & ~asks.answered)"),
    Mutant("takes_a_late_answer", NEW[0], user_bus, "If(~asks.asked, asks.answered.eq(0)),",
        "If(~asks.asked, asks.answered.eq(bus.ack)),"),
    Mutant("waits_for_ever", NEW[0], user_bus, "open_.eq(access.cyc & self.found & ~timer.done)",
        "open_.eq(access.cyc & self.found)")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
