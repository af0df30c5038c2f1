# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Descriptor fetch: gateware/dma/fetch.py."""

from migen import *
from litex.gen import *

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma import fetch
from litepcie_soc.tlp.ports import MemoryReadPort
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

DEPTH = 8
TAGS  = 2
SHIFT = fetch.ADDRESS_SHIFT


class Fetch(Harness):
    """A fetch with a legal ring, a doorbell that only moves forward, and a host that ends requests in order.

    The ring's registers and MRRS do not change and are set two cycles before `run`. The doorbell is at most a ring
    ahead of the oldest slot in use. The parser takes a descriptor only while `ready`, does not change a LINK that
    waits, and resumes at a slot that was requested and is not older than the oldest slot in use. A slot is
    skipped in the cycle after `quiet` in which the doorbell makes it available. A path of 128 bit skips steps, and
    begins with short requests.
    """
    def __init__(self, width=64, early=2):
        Harness.__init__(self)
        self.early = early = early if width >= fetch.QUICK_BITS else 0
        self.port = port = MemoryReadPort(width, TAGS)
        self.dut  = dut  = fetch.DescriptorFetch(port, DEPTH, early)
        self.free(port.request.ready, port.retire, dut.doorbell, dut.run, dut.stop, dut.take, dut.head, dut.link,
            dut.table_last, dut.endless, dut.resume, dut.skip)
        self.constant(dut.base, dut.size_log2, dut.max_request_size)
        self.tied(*([port.soon] if width < fetch.QUICK_BITS else []))
        # Registers --------------------------------------------------------------------------------
        self.size = size = Signal(fetch.COUNT_BITS)
        self.comb += size.eq(1 << dut.size_log2)
        self.assume("max_request_size", Reduce("OR", [dut.max_request_size == 1 << n for n in range(7, 13)]))
        self.assume("size", (dut.size_log2 != 0) & (dut.size_log2 <= fetch.RING_LOG2_MAX))
        self.assume("aligned", (dut.base[:6] == 0) & ((dut.base[:12] & (Cat(Constant(0, SHIFT), size) - 1)) == 0))
        self.assume("set_before_run", ~dut.run | self.previous(~self.first_cycle))
        # Doorbell ---------------------------------------------------------------------------------
        self.oldest = oldest = Signal(fetch.COUNT_BITS)
        step        = Signal(fetch.COUNT_BITS)
        ahead       = Signal(fetch.COUNT_BITS)  # Slots from the oldest one to the doorbell.
        moved       = Signal(fetch.COUNT_BITS)  # Slots by which the doorbell moved.
        self.free(step)
        self.comb += [ahead.eq(dut.doorbell - oldest), moved.eq(dut.doorbell - self.previous(dut.doorbell))]
        self.sync += oldest.eq(oldest + step)
        self.assume("doorbell_forward", moved <= self.size)
        self.assume("doorbell_at_most_a_ring", (ahead <= size) & (moved <= ahead))
        self.requested = Signal(fetch.COUNT_BITS)   # Slots from the oldest one to the next to request.
        self.comb += self.requested.eq(dut.slot - oldest)
        self.assume("oldest_was_requested", step <= self.requested)
        # Parser -----------------------------------------------------------------------------------
        answered = self.previous(dut.link_good | dut.link_bad)
        asked    = self.previous(dut.link & ~dut.link_good & ~dut.link_bad)
        lead     = Signal(fetch.COUNT_BITS)
        head     = Cat(dut.head.raw_bits(), dut.table_last, dut.endless)
        self.comb += lead.eq(dut.resume - oldest)
        self.assume("take", ~dut.take | dut.ready)
        self.assume("skip", ~dut.skip | (self.previous(dut.quiet) & (dut.doorbell != dut.slot)))
        self.assume("link", (~asked | (dut.link & (head == self.previous(head)))) & ~(answered & dut.link))
        self.assume("resume", ~dut.link | ((lead <= self.requested) & (step <= lead)))
        # Host -------------------------------------------------------------------------------------
        retire = port.retire
        self.count  = count  = Signal(4)    # Descriptors of the request.
        self.counts = counts = [Signal(4, name=f"count{n}") for n in range(TAGS)]   # Of those in flight, in order.
        self.flight = flight = Signal(max=TAGS + 1)
        self.comb += count.eq(port.request.length >> SHIFT)
        after = Signal.like(flight)
        self.comb += after.eq(flight - retire.valid)
        self.sync += [flight.eq(after + dut.accepted),
            If(retire.valid, *[counts[n].eq(counts[n + 1]) for n in range(TAGS - 1)]),
            If(dut.accepted, *[If(after == n, counts[n].eq(count)) for n in range(TAGS)])]
        self.assume("retire", ~retire.valid | (flight != 0))
        self.assume("reason", retire.reason[len(dut.reason):] == 0)
        self.assume("bytes", Mux(retire.reason == REASON_NONE, retire.bytes == counts[0] << SHIFT,
            retire.bytes <= counts[0] << SHIFT))
        if early:
            self.add_data(width)

    def add_data(self, width):
        """Data of the requests in flight comes in any order, and each descriptor once.

        `open` has a bit for each place of the RAM that waits for data. A request that retires has all its data, or the
        bytes it tells; what is missing then never comes.
        """
        port, dut, retire = self.port, self.dut, self.port.retire
        each      = width // 128
        self.free(port.data)
        self.open = open = Signal(DEPTH)
        start     = Signal(max=DEPTH)   # Place of the oldest request in flight.
        def places(first, count):
            mask = Signal(2 * DEPTH)
            self.comb += mask.eq(((1 << count) - 1) << first)
            return mask[:DEPTH] | mask[DEPTH:]
        lanes  = Cat(*[port.data.be[16 * n] for n in range(each)])
        filled = Signal(DEPTH)          # By this beat.
        word   = Signal(max=max(2, DEPTH // each))
        self.comb += [word.eq(port.data.address), If(port.data.valid, filled.eq(lanes << (word * each)))]
        asked, ended = places(dut.requested[:3], Mux(dut.accepted, self.count, 0)), places(start, self.counts[0])
        here = places(start, retire.bytes >> SHIFT)     # What the request that retires says has come.
        self.sync += [open.eq((open & ~filled & ~Mux(retire.valid, ended, 0)) | asked),
            If(retire.valid, start.eq(start + self.counts[0]))]
        first = Signal(each)            # Lanes of one request are adjacent.
        self.comb += first.eq(lanes & ~(lanes << 1))
        self.assume("data_once", (filled & ~open) == 0)
        self.assume("data_adjacent", ~port.data.valid | ((lanes != 0) & ((first & (first - 1)) == 0)))
        self.assume("data_before_retirement", ~retire.valid | ((open & here) == 0))
        self.assume("data_not_in_the_cycle_of_retirement", ~retire.valid | ((filled & ended) == 0))


class FetchInOrder(Fetch):
    """taken <= landed <= requested, the RAM never overflows, and no slot past the doorbell is requested."""
    def __init__(self, width=64, early=2):
        Fetch.__init__(self, width, early)
        dut, port = self.dut, self.port
        landed    = Signal.like(dut.taken)  # Descriptors to take.
        requested = Signal.like(dut.taken)  # Descriptors to take, or requested and still to take.
        open      = Signal.like(dut.taken)  # Places of the RAM that requests in flight may still fill.
        total     = Signal.like(dut.taken)
        slots     = Signal(fetch.COUNT_BITS)
        self.comb += [
            landed.eq(dut.landed - dut.taken),
            requested.eq(dut.requested - dut.taken),
            open.eq(dut.requested - dut.landed),
            slots.eq(dut.doorbell - dut.slot),
            total.eq(sum([self.open[n] for n in range(DEPTH)] if self.early else
                [Mux(self.flight > n, count, 0) for n, count in enumerate(self.counts)]))]
        fresh = dut.stale == 0
        self.implies("taken_landed_requested", fresh, (landed <= requested) & (requested <= DEPTH))
        self.check("ram_holds_what_is_in_flight", (total <= open) & (open <= DEPTH))
        self.implies("slot_up_to_doorbell", ~self.first_cycle, slots <= self.size)
        self.check("pending", dut.pending == self.flight)
        self.check("stale", dut.stale <= dut.pending)
        if self.early:
            ready = Signal(DEPTH)   # Places from `taken` to `landed`.
            self.comb += ready.eq(sum([(landed > n) << ((dut.taken + n)[:3]) for n in range(DEPTH)]))
            self.implies("landed_is_here", fresh, (ready & self.open) == 0)
        flying = Signal.like(dut.taken)     # Descriptors of the requests in flight.
        self.comb += flying.eq(sum([Mux(self.flight > n, count, 0) for n, count in enumerate(self.counts)]))
        self.implies("none_lost", fresh & (dut.reason == REASON_NONE), (open + dut.lead)[:len(open)] == flying)
        self.implies("ready", dut.ready, fresh & (landed != 0))
        self.implies("request", port.request.valid, self.count + Mux(fresh, requested, open) <= DEPTH)
        self.implies("requested_slots", port.request.valid & ~dut.from_table, self.count <= slots)
        self.check("soon", ~self.previous(port.soon) | (port.request.valid & ~self.previous(port.request.valid)))
        self.check("stable", ~self.previous(port.request.valid & ~port.request.ready) | port.request.valid)


class FetchAddresses(Fetch):
    """Requests ask for consecutive slots of the ring, or for the table of a LINK and no more, and are legal."""
    def __init__(self, width=64):
        Fetch.__init__(self, width)
        dut, request = self.dut, self.port.request
        address = Signal(64 - SHIFT)    # Of the table that the last LINK named.
        left    = Signal(24)
        self.sync += [If(dut.accepted & (left != 0), address.eq(address + self.count), left.eq(left - self.count)),
            If(dut.link_good, address.eq(dut.head.host[SHIFT:]), left.eq(dut.head.length))]
        asks  = request.valid
        index = dut.slot & (self.size - 1)
        self.implies("length", asks, (request.length[:SHIFT] == 0) & (request.length != 0)
            & (request.length <= dut.max_request_size))
        self.implies("within_4_kib", asks, request.address[:12] + request.length <= 4096)
        self.implies("table", asks & (left != 0), (request.address[SHIFT:] == address) & (self.count <= left)
            & (request.address[:SHIFT] == 0))
        self.implies("ring", asks & (left == 0), (request.address == dut.base + (index << SHIFT))
            & (index + self.count <= self.size))
        self.implies("destination", asks, request.destination == (dut.requested[:3] << SHIFT))

PROOFS = [
    Proof("descriptor fetch", FetchInOrder, depth=24, variant=True),
    Proof("descriptor fetch", FetchAddresses, depth=18, variant=True),
    Proof("descriptor fetch, wide path", FetchInOrder, depth=16, options=dict(width=128)),
    Proof("descriptor fetch, wide path", FetchAddresses, depth=14, options=dict(width=128)),
    Proof("descriptor fetch, 256 bit", FetchInOrder, depth=18, options=dict(width=256), deep=True),
    Proof("descriptor fetch, wide path, not early", FetchInOrder, depth=20, options=dict(width=128, early=0),
        deep=True),
    Proof("descriptor fetch, longer", FetchInOrder, depth=32, deep=True),
    Proof("descriptor fetch, longer", FetchAddresses, depth=26, deep=True),
    Proof("descriptor fetch, wide path, longer", FetchInOrder, depth=24, options=dict(width=128), deep=True),
    Proof("descriptor fetch, wide path, longer", FetchAddresses, depth=22, options=dict(width=128), deep=True)]

MUTANTS = [
    Mutant("one_slot_past_the_doorbell", PROOFS[0], fetch, "distance.eq(self.doorbell - self.slot)",
        "distance.eq(self.doorbell - self.slot + 1)"),
    Mutant("ignores_4_kib", PROOFS[1], fetch, "Mux(from_table, chunk_mask, block_mask)) + 1",
        "Mux(from_table, chunk_mask, block_mask)) + 2"),
    Mutant("takes_a_full_ram_for_half_free", PROOFS[8], fetch, "free[-2:] != 0", "free[-3:] != 0"),
    Mutant("counts_data_that_overtook", PROOFS[2], fetch,
        "& (port.data.address[:log2_int(self.depth) - lane] == self.landed[lane:log2_int(self.depth)])", ""),
    Mutant("counts_from_any_lane", PROOFS[4], fetch, "& ((lanes & ((first << 1) - 1)) == first)", ""),
    Mutant("takes_the_address_of_before", PROOFS[3], fetch, 'again.eq(fsm.ongoing("ADDRESS"))', "again.eq(1)")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
