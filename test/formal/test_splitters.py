# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""DMA: the splitters of engines and streams, and the check of the doorbell."""

from types import SimpleNamespace

from migen import *
from litex.gen import *
from litex.soc.interconnect import stream

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma import descriptor, engine, fetch
from litepcie_soc.stream_dma import splitter
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases


ENDPOINT_WIDTH = 20


class SplitterCovers(Harness):
    """Requests cover each descriptor exactly, in order; none crosses a multiple of MPS, MRRS or 4 KiB.

    For descriptors of 1 to 2**24 - 1 bytes at every host address, boundaries of 128 to 4096 bytes and any
    back-pressure. Assumed: the boundary is constant, and set one cycle before the first descriptor; a descriptor does
    not wrap around the end of the host's addresses.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = self.make()
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.run)
        parts = self.parts(dut)
        self.tied(*[part.source.first for part in parts])
        self.constant(dut.boundary)
        self.assume("boundary", Reduce("OR", [dut.boundary == 1 << n for n in range(7, 13)]))
        self.assume("boundary_is_set", ~self.first_cycle | ~dut.run)
        self.assume("descriptor", (sink.length != 0) & (sink.reason == REASON_NONE)
            & (Cat(sink.host, Constant(0, 1)) + sink.length <= 1 << 64))
        # What is left of the descriptors that were accepted: of every second one, if the unit holds two.
        count = len(parts)
        enter, leave = [Signal() if count > 1 else Constant(0) for _ in range(2)]   # Of the next, and of the oldest.
        hosts     = [Signal(64, name=f"host{n}") for n in range(count)]
        endpoints = [Signal(ENDPOINT_WIDTH, name=f"endpoint{n}") for n in range(count)]
        lefts     = [Signal(24, name=f"left{n}") for n in range(count)]
        flags     = [Signal(2, name=f"flags{n}") for n in range(count)]
        if count > 1:
            self.sync += [If(sink.valid & sink.ready, enter.eq(~enter)),
                If(source.valid & source.ready & source.last, leave.eq(~leave))]
        for n in range(count):
            self.sync += [
                If(source.valid & source.ready & (leave == n),
                    hosts[n].eq(hosts[n] + source.length),
                    endpoints[n].eq(endpoints[n] + source.length),
                    lefts[n].eq(lefts[n] - source.length)),
                If(sink.valid & sink.ready & (enter == n),
                    hosts[n].eq(sink.host),
                    endpoints[n].eq(sink.endpoint),
                    lefts[n].eq(sink.length),
                    flags[n].eq(Cat(sink.interrupt, sink.slot_last)))]
        offset = Signal(13)  # Of the request, in its block of host memory.
        left   = Array(lefts)[leave]
        self.comb += offset.eq(source.host & (dut.boundary - 1))
        self.implies("covers_host", source.valid, source.host == Array(hosts)[leave])
        self.implies("covers_endpoint", source.valid, source.endpoint == Array(endpoints)[leave])
        self.implies("not_empty", source.valid, source.length != 0)
        self.implies("within_descriptor", source.valid, source.length <= left)
        self.implies("last_ends_descriptor", source.valid, source.last == (source.length == left))
        self.implies("within_boundary", source.valid, offset + source.length <= dut.boundary)
        self.implies("within_4_kib", source.valid, source.host[:12] + source.length <= 4096)
        self.implies("flags", source.valid, Cat(source.interrupt, source.slot_last) == Array(flags)[leave])
        self.implies("whole_before_next", sink.valid & sink.ready, Array(lefts)[enter] == 0)
        self.implies("goes_on", left != 0, source.valid)
        self.check("stable", self.stable(source))
        # What the registers hold, for induction.
        for n, part in enumerate(parts):
            size, mask, more = part.size, part.mask, part.more
            expected = Signal.like(more)
            at       = Signal(13)
            self.comb += [at.eq(part.source.host & (dut.boundary - 1)), expected.eq(lefts[n] + at - dut.boundary)]
            self.helper(f"size_and_mask{n}", self.first_cycle | (size == dut.boundary) & (mask == dut.boundary - 1))
            self.helper(f"busy_until_whole{n}", part.busy == (lefts[n] != 0))
            self.helper(f"more{n}", ~part.busy | (more == expected))
        if count > 1:
            self.helper("turns", (enter == dut.enter) & (leave == dut.leave))
            self.helper("oldest_first", (enter == leave) == ((lefts[0] != 0) == (lefts[1] != 0)))
            self.helper("waits", (lefts[0] == 0) & (lefts[1] == 0) | (left != 0))
            for n, part in enumerate(parts):
                values = Cat(part.source.host, part.source.endpoint, part.source.interrupt, part.source.slot_last)
                model  = Cat(hosts[n], endpoints[n], flags[n])
                self.helper(f"holds{n}", ~part.busy | (values == model))

    def make(self):
        return descriptor.Splitter(ENDPOINT_WIDTH)

    def parts(self, dut):
        return [dut]


class PairCovers(SplitterCovers):
    """As a splitter alone, and no descriptor overtakes another one, although the next begins before one has ended."""
    def make(self):
        return descriptor.SplitterPair(ENDPOINT_WIDTH)

    def parts(self, dut):
        return dut.parts

PROOFS = [
    Proof("splitter", SplitterCovers, depth=6, induction=2),
    Proof("pair of splitters", PairCovers, depth=6, induction=2, variant=True)]

MUTANTS = [
    Mutant("length_without_offset", PROOFS[0], descriptor, "size) - offset),", "size)),"),
    Mutant("pair_leaves_after_each_request", PROOFS[1], descriptor,
        "If(source.valid & source.ready & source.last, leave.eq(~leave)),",
        "If(source.valid & source.ready, leave.eq(~leave)),")]

# Splitter of a stream's writer: gateware/stream_dma/splitter.py -----------------------------------

OFFSET_BITS = 9     # Of a RAM of 512 bytes.
WORD_BITS   = 3


class BufferSplitterCovers(Harness):
    """Requests carry consecutive bytes of a packet into consecutive bytes of a descriptor; none crosses the boundary.

    They never reach past the descriptor, the packet's end or the bytes that are in the RAM; a descriptor is left only
    when it is full, the packet has ended or the buffer was flushed. The report of a buffer has its bytes, whether a
    packet ends there, and whether the packet before was cut, also if no byte of that one was left. For any packets,
    descriptors, boundaries, flushes and back-pressure. Assumed: the boundary is constant and set two cycles before
    `run`; the input keeps to the docstring of `PacketInput`; `flush` follows `pending` by a cycle at most.
    """
    def __init__(self):
        Harness.__init__(self)
        self.packets_in = inner = SimpleNamespace(
            memory    = SimpleNamespace(size=4 << OFFSET_BITS),
            word_bits = WORD_BITS,
            end       = stream.Endpoint([("offset", OFFSET_BITS), ("cut", 1)]),
            filled    = Signal(OFFSET_BITS),
            report    = Signal(26),
            put       = Signal(),
            report_at = Signal(5))
        self.dut = dut = splitter.BufferSplitter(inner)
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.run, inner.end.valid, inner.end.offset, inner.end.cut, inner.filled,
            inner.report_at, dut.flush)
        self.constant(dut.boundary, dut.status_address, dut.ring_log2)
        self.tied(source.first, "end_first", "end_last")
        most = 1 << OFFSET_BITS - 1
        self.assume("boundary", Reduce("OR", [dut.boundary == 1 << n for n in range(7, 13)]))
        self.assume("set_before_run", ~dut.run | self.previous(~self.first_cycle))
        self.assume("descriptor", (sink.length != 0) & (Cat(sink.host, Constant(0, 1)) + sink.length <= 1 << 64))
        self.assume("flush", ~dut.flush | dut.pending | self.previous(dut.pending))
        # The input: whole words enter; an end is offered until it is taken, and lies in the words that are there ----
        before = self.previous(inner.filled)
        grown  = Signal(OFFSET_BITS)
        level  = Signal(OFFSET_BITS)    # Bytes that entered and were not sent.
        part   = Signal(OFFSET_BITS)    # Bytes of the packet that were not sent.
        taken  = self.previous(dut.fsm.ongoing("REQUEST") & source.valid & source.ready & dut.final)
        self.comb += [grown.eq(inner.filled - before), level.eq(inner.filled - dut.front),
            part.eq(inner.end.offset - dut.front)]
        full = self.previous(level) >= (1 << OFFSET_BITS) - 16
        self.assume("words", (grown == 0) | ((grown == 8) & ~full))
        waits = self.previous(inner.end.valid & ~inner.end.ready)
        same  = Signal()
        self.comb += same.eq((inner.end.offset == self.previous(inner.end.offset))
            & (inner.end.cut == self.previous(inner.end.cut)))
        self.assume("end_waits", ~waits | (inner.end.valid & same))
        # A packet that is cut ends before the word that cuts it, with bytes that were not sent or without.
        of_cut, of_last = Signal(), Signal()
        self.comb += [of_cut.eq((inner.end.offset[:WORD_BITS] == 0) & (level >= 8) & (part <= level - 8)),
            of_last.eq((part != 0) & (part <= level))]
        self.assume("end_is_there", ~inner.end.valid | inner.end.ready | Mux(inner.end.cut, of_cut, taken | of_last)
            | taken)
        # An end that did not wait behind another one comes with the last word of its packet, or the word that cuts it.
        comes = inner.end.valid & ~self.previous(inner.end.valid)
        self.assume("end_comes_with_its_word", ~comes | ((grown == 8)
            & Mux(inner.end.cut, part + 8 == level, part + 8 > level)))
        # What is left of the descriptor -----------------------------------------------------------
        host  = Signal(64)
        left  = Signal(24)
        place = Signal(OFFSET_BITS)
        ended = Signal()
        data  = Signal()
        final = Signal()
        flush = Signal()
        size  = Signal(14)
        offset = Signal(13)
        self.comb += [size.eq(Mux(dut.boundary > most, most, dut.boundary)), offset.eq(source.host & (size - 1)),
            flush.eq(dut.fsm.ongoing("FLUSH") & source.valid),
            data.eq((dut.fsm.ongoing("REQUEST") & source.valid) | flush), final.eq(dut.final & ~flush)]
        self.sync += [
            If(sink.valid & sink.ready, host.eq(sink.host), left.eq(sink.length)),
            If(data & source.ready, host.eq(host + source.length), left.eq(left - source.length),
                place.eq(Mux(final, Cat(Constant(0, WORD_BITS),
                    inner.end.offset[WORD_BITS:] + (inner.end.offset[:WORD_BITS] != 0)), place + source.length)),
                ended.eq(final))]
        self.implies("not_empty", data, source.length != 0)
        self.implies("covers_host", data, source.host == host)
        self.implies("covers_packet", data, source.endpoint == place)
        self.implies("within_descriptor", data, source.length <= left)
        self.implies("within_boundary", data, offset + source.length <= size)
        self.implies("within_4_kib", data, source.host[:12] + source.length <= 4096)
        self.implies("within_ram", data, source.length <= level)
        self.implies("within_packet", data & inner.end.valid, source.length <= part)
        self.implies("final_ends_packet", data & final, inner.end.valid & (source.length == part))
        self.implies("left_when_full", data & dut.full & ~final & ~flush, source.length == left)
        self.implies("flush_keeps_the_end", flush & inner.end.valid,
            (source.length < part) | (inner.end.cut & (source.length == part)))
        self.implies("flush_waits", self.previous(flush & ~source.ready),
            flush & (source.length == self.previous(source.length)))
        report = dut.fsm.ongoing("REPORT")
        self.implies("report", report, source.valid & source.slot_last & (source.length == abi.REPORT_BYTES))
        self.implies("report_after_data", report, (left == 0) | ended | dut.packet_end | dut.flushed)
        self.implies("reason", dut.fsm.ongoing("REASON"), source.reason != REASON_NONE)
        # What the host is told ---------------------------------------------------------------------
        leaves = inner.end.valid & inner.end.ready
        sums   = Signal(24)     # Bytes of the buffer.
        tells  = Record([("last", 1), ("cut", 1), ("before", 1)])   # Of the buffer's packet, and of the one before.
        so_far = Record(tells.layout)
        self.comb += [tells.last.eq(so_far.last | (leaves & ~inner.end.cut)),
            tells.cut.eq(so_far.cut | (leaves & inner.end.cut & (sums != 0))),
            tells.before.eq(so_far.before | (leaves & inner.end.cut & (sums == 0)))]
        self.sync += [
            so_far.eq(tells),
            If(data & source.ready, sums.eq(sums + source.length)),
            If(inner.put, sums.eq(0), so_far.last.eq(0), so_far.cut.eq(0), so_far.before.eq(tells.cut))]
        self.implies("told", inner.put, inner.report == Cat(sums, tells.last, tells.before))
        void = Signal(3)        # Cycles for which a request waits for bytes of a packet that has none left.
        self.sync += If(dut.fsm.ongoing("REQUEST") & inner.end.valid & (part == 0), void.eq(void + 1)).Else(void.eq(0))
        self.check("void_ends", void <= 3)

NEW = [
    Proof("stream splitter", BufferSplitterCovers, depth=12),
    Proof("stream splitter, longer", BufferSplitterCovers, depth=18, deep=True)]
PROOFS  += NEW
MUTANTS += [
    Mutant("sends_what_is_not_there", NEW[0], splitter, "Mux(ends, available != 0, available >= want)",
        "available != 0"),
    Mutant("flush_sends_what_came_later", NEW[0], splitter, "source.length.eq(self.part)",
        "source.length.eq(self.available)"),
    Mutant("waits_for_a_packet_without_bytes", NEW[0], splitter, ").Elif(self.void,", ").Elif(0,"),
    Mutant("a_cut_is_not_told", NEW[0], splitter, "NextValue(self.begins, 1),", "")]

# Check of the doorbell: `add_doorbell` of gateware/dma/engine.py ----------------------------------

class Doorbell(LiteXModule):
    """The part of an engine that checks the doorbell, alone."""
    def __init__(self):
        self.doorbell     = Signal(32)
        self.bad_doorbell = Signal()
        self.running      = Signal()
        self.clear        = Signal()
        self.work         = Signal()
        self.storage      = Signal(32)
        self.completed    = Signal(32)
        self.index_mask   = Signal(fetch.RING_LOG2_MAX)
        self.written      = Signal()
        self.direct_go    = Signal()
        self.registers    = SimpleNamespace(doorbell=SimpleNamespace(storage=self.storage, clear=Signal()),
            direct_doorbell=SimpleNamespace(written=self.written))
        self.progress     = SimpleNamespace(completed=self.completed)
        self.ring         = SimpleNamespace(index_mask=self.index_mask, direct_go=self.direct_go)
        engine.DMAEngine.add_doorbell(self)


class DoorbellForward(Harness):
    """The doorbell that the ring gets never moves backwards, and is at most a ring ahead of COMPLETED.

    For every value that the host writes in any cycle, from the reset of the engine on. Assumed: COMPLETED advances by
    at most one in a cycle and not past the doorbell, the size of the ring is constant, and the engine stops in the
    cycle after `bad_doorbell`.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = Doorbell()
        self.free(dut.storage, dut.completed, dut.running, dut.written)
        self.tied(dut.clear)
        self.constant(dut.index_mask)
        size  = Signal(fetch.COUNT_BITS)
        last  = self.previous(dut.completed)
        older = self.previous(last)
        self.comb += size.eq(dut.index_mask + 1)
        self.assume("size", (size & dut.index_mask) == 0)
        one = Signal(32)
        self.comb += one.eq(dut.completed - last)
        self.assume("completed", (one == 0) | ((one == 1) & (last != dut.doorbell)))
        self.assume("stops", ~self.since(dut.bad_doorbell) | ~dut.running)
        ahead, step, left = Signal(32), Signal(32), Signal(32)
        self.comb += [ahead.eq(dut.doorbell - dut.completed), step.eq(dut.doorbell - self.previous(dut.doorbell)),
            left.eq(dut.storage - dut.completed)]
        self.check("forward", step <= size)
        self.check("at_most_a_ring", ahead <= size)
        # A legal doorbell reaches the ring.
        steady = self.previous(dut.storage) == dut.storage
        still  = Signal(2)
        self.sync += If(~dut.running | ~steady | (last != dut.completed),
            still.eq(0)
        ).Elif(still != 3,
            still.eq(still + 1))
        self.implies("legal_is_accepted", (still == 3) & dut.running & ~dut.bad_doorbell,
            dut.doorbell == self.previous(dut.storage))
        # For induction.
        sampled, distance, candidate = dut.sampled, dut.distance, dut.candidate
        too_far, backwards = dut.too_far, dut.backwards
        early  = self.previous(self.first_cycle, reset=1) | self.first_cycle
        far    = Signal(32)
        lead   = Signal(32)
        back   = Signal(fetch.COUNT_BITS + 1)
        apart  = Signal(32)
        self.comb += [apart.eq(sampled - last - 1), far.eq(candidate - older), lead.eq(dut.doorbell - older),
            back.eq(candidate - dut.doorbell)]
        self.helper("distance", self.first_cycle | (distance == apart))
        self.helper("too_far", early | (too_far == (far > size)))
        self.helper("backwards", early | (backwards == back[-1]))
        self.helper("lead", early | (lead <= size + 2))

NEW = [Proof("doorbell", DoorbellForward, depth=9, induction=5)]
PROOFS  += NEW
MUTANTS += [
    Mutant("doorbell_backwards", NEW[0], engine, "self.running & ~too_far & ~backwards", "self.running & ~too_far")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
