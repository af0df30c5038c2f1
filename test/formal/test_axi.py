# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The AXI4 slave onto host memory: each burst has its own answer, once."""

from migen import *
from litex.gen import *
from litex.soc.interconnect.axi import AXIInterface

from litepcie_soc.axi import slave
from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
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

NEW = [Proof("AXI4 reads of host memory", HostReads, depth=18),
    Proof("AXI4 writes of host memory", HostWrites, depth=18)]
PROOFS  = NEW
MUTANTS = [
    Mutant("gives_a_beat_more", NEW[0], slave, "beats.sink.end.eq(now.len == 0)", "beats.sink.end.eq(now.len == 1)"),
    Mutant("answers_each_run",  NEW[1], slave, "                If(oldest.closes,\n                    b.valid.eq(1),",
        "                If(1,\n                    b.valid.eq(1),")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
