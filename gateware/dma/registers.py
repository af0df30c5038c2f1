#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Registers of a DMA engine, at pinned addresses, and its counters."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSR, CSRField, CSRStatus, CSRStorage

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import done_layout

# Counters -----------------------------------------------------------------------------------------
# Progress and performance counters of a DMA engine.


class Progress(LiteXModule):
    """Counts completed descriptors and bytes in order, up to the first failure.

    Attributes
    ----------
    done             : Record(done_layout), **in**.
    completed        : 32, **out**, completed ring slots.
    slot             : 1, **out**, one cycle: ``completed`` increments in the next cycle.
    descriptor       : 1, **out**, one cycle: a descriptor completes, in the ring or in a table.
    bytes            : 64, **out**, bytes landed without a gap, including those of an unfinished descriptor.
    unfinished_bytes : 24, **out**, bytes of the unfinished descriptor.
    reason           : 4, **out**, reason of the first failure; nothing is counted after it.
    interrupt        : 1, **out**, one cycle: a descriptor with INTERRUPT completes.
    """
    def __init__(self):
        self.done             = done = Record(done_layout())
        self.completed        = Signal(32)
        self.slot             = Signal()
        self.descriptor       = Signal()
        self.bytes            = Signal(64)
        self.unfinished_bytes = Signal(24)
        self.reason           = Signal(4)
        self.interrupt        = Signal()

        # # #

        counts = Signal()
        good   = self.descriptor
        self.comb += [
            counts.eq(done.valid & (self.reason == REASON_NONE)),
            good.eq(counts & done.last & (done.reason == REASON_NONE)),
            self.slot.eq(good & done.slot_last),
            self.interrupt.eq(good & done.interrupt),
        ]
        self.sync += [
            If(counts,
                self.reason.eq(done.reason),
                self.bytes.eq(self.bytes + done.bytes),
                self.unfinished_bytes.eq(self.unfinished_bytes + done.bytes)
            ),
            If(good, self.unfinished_bytes.eq(0)),
            If(self.slot, self.completed.eq(self.completed + 1)),
        ]

ACTIVE_LO, ACTIVE_HI, DESCRIPTORS, TLPS, WAIT_DESCRIPTOR, WAIT_TAG, WAIT_LINK, WAIT_DATA = range(8)

WORDS    = 8  # Counters in the RAM; it has as many words for registers that the host wrote, and for LATCHED.
LATCHED  = 2*WORDS - 1  # Word that keeps ACTIVE_HI for the host.
LOW_BITS = 6  # 2^(LOW_BITS - 1) is more than the cycles between two visits, so a visit sees at most one wrap.


class Counters(LiteXModule):
    """Performance counters as in Intel AN 456: active cycles, TLPs, and what idle cycles waited for.

    ``active`` counts the cycles from the doorbell to the last byte. It is the sum of the cycles that moved data
    and of the four ``wait`` counters. A cycle for which the engine gives no reason waited for a descriptor.

    The counters are in one small RAM with one adder, which visits them round robin. The low bits of each
    counter are also in registers next to the RAM, which count in every cycle. A visit copies these low bits
    into the RAM word, and adds a carry if they have wrapped since the last visit. So a word read from the RAM is
    a few cycles old. After the counters, the RAM holds the values that the host wrote into registers, for reading
    them back, and in its last word ACTIVE_HI as of the last read of ACTIVE_LO.

    Attributes
    ----------
    run             : 1, **in**, there is work: this cycle is active.
    moved, wait_tag_now, wait_link_now, wait_data_now : 1, **in**, at most one of them is set.
    tlp             : 1, **in**, a data TLP was sent (read request or write).
    descriptor      : 1, **in**, a descriptor was completed.
    address, value  : 4, **in**; 32, **out**, reads a word in the same cycle: a counter, or the value of
        register n at ``WORDS`` + n.
    hold            : 1, **in**, ACTIVE_LO is read in this cycle: keeps ACTIVE_HI of this moment in word ``LATCHED``,
        which can be read three cycles later.
    write, write_address, write_value : 1, 3, 32, **in**, writes word ``WORDS`` + ``write_address``.
    """
    def __init__(self):
        self.run           = Signal()
        self.moved         = Signal()
        self.wait_tag_now  = Signal()
        self.wait_link_now = Signal()
        self.wait_data_now = Signal()
        self.tlp           = Signal()
        self.descriptor    = Signal()
        self.address       = Signal(max=2 * WORDS)
        self.value         = Signal(32)
        self.hold          = Signal()
        self.write         = Signal()
        self.write_address = Signal(max=WORDS)
        self.write_value   = Signal(32)

        # # #

        storage = Memory(32, 2 * WORDS)  # Not an attribute: LiteX would map it onto the CSR bus.
        write = storage.get_port(write_capable=True)
        visit = storage.get_port(async_read=True)
        read  = storage.get_port(async_read=True)
        self.specials += storage, write, visit, read

        # A visit takes one cycle; no counter is visited while the host writes a word. The cycle after a read
        # of ACTIVE_LO visits ACTIVE_HI. A carry from the cycle of the read has not reached ACTIVE_HI yet, so
        # both halves are from the same moment.
        turn       = Signal(max=WORDS)   # Round-robin pointer.
        hold       = Signal()            # Visit ACTIVE_HI out of turn, and write it to word LATCHED instead.
        latched    = Signal()            # Word LATCHED was written since the last reset.
        index      = Signal(max=WORDS)   # The counter visited: ACTIVE_HI with ``hold``, otherwise ``turn``.
        visiting   = Signal()
        next_turn  = Signal.like(turn)
        next_hold  = Signal()
        next_index = Signal.like(index)
        sample     = Signal(LOW_BITS)    # Low bits of the counter ``turn``, as of the last cycle.
        is_high    = Signal()
        low        = Signal(LOW_BITS)    # ``sample``; but ACTIVE_HI needs the present value, which has every carry.
        wrapped    = Signal()            # The low bits have wrapped since the last visit.
        upper      = Signal(32 - LOW_BITS + 1)
        total      = Signal(32)
        first_pass = Signal(reset=1)     # First pass after a reset: the RAM still holds the old values.
        self.first = Signal(32)          # Initial value of ACTIVE_LO: 0; tests change it to reach a carry soon.
        self.lows  = lows = [Signal(LOW_BITS) for _ in range(WORDS)]
        self.comb += [
            visiting.eq(~self.write),
            next_turn.eq(turn + (visiting & ~hold)),
            next_hold.eq(self.hold | (hold & ~visiting)),
            next_index.eq(Mux(next_hold, ACTIVE_HI, next_turn)),
            visit.adr.eq(index),
            low.eq(Mux(is_high, lows[ACTIVE_HI], sample)),
            wrapped.eq(visit.dat_r[LOW_BITS - 1] & ~low[-1]),
            upper.eq(visit.dat_r[LOW_BITS:] + wrapped),
            total.eq(Cat(low, Mux(first_pass, Mux(index == ACTIVE_LO, self.first[LOW_BITS:], 0), upper[:-1]))),
            write.we.eq(visiting | self.write),
            write.adr.eq(Mux(self.write, Cat(self.write_address, 1), Mux(hold, LATCHED, index))),
            write.dat_w.eq(Mux(self.write, self.write_value, total)),
            read.adr.eq(self.address),
            self.value.eq(Mux(first_pass & ~self.address[-1], self.first,
                Mux((self.address == LATCHED) & ~latched, 0, read.dat_r))),
        ]
        self.sync += [
            turn.eq(next_turn),
            hold.eq(next_hold),
            index.eq(next_index),
            is_high.eq(next_index == ACTIVE_HI),
            sample.eq(Array(lows)[next_turn]),   # For ACTIVE_HI it is not used.
            If(visiting & hold, latched.eq(1)),
            If(visiting & ~hold & (turn == WORDS - 1), first_pass.eq(0)),
        ]
        for n, event in self.events(upper[-1] & (index == ACTIVE_LO) & visiting & ~first_pass).items():
            self.sync += lows[n].eq(lows[n] + event)

    def events(self, carry):
        """The event of each counter in this cycle, as a register: some events come through long paths."""
        waits = {
            WAIT_TAG:        self.wait_tag_now,
            WAIT_LINK:       ~self.wait_tag_now & self.wait_link_now,
            WAIT_DATA:       ~self.wait_tag_now & ~self.wait_link_now & self.wait_data_now,
            WAIT_DESCRIPTOR: ~self.wait_tag_now & ~self.wait_link_now & ~self.wait_data_now,
        }
        events = {n: self.run & ~self.moved & wait for n, wait in waits.items()}
        events |= {ACTIVE_LO: self.run, ACTIVE_HI: carry, DESCRIPTORS: self.descriptor, TLPS: self.tlp}
        named  = {n: Signal() for n in events}
        self.sync += [named[n].eq(event) for n, event in events.items()]
        return named

# Registers ----------------------------------------------------------------------------------------
# Registers of a DMA engine, at pinned addresses.


class ShadowedStorage(CSRStorage):
    """A CSRStorage whose read data comes from elsewhere, from a copy in RAM.

    The bus reads one RAM instead of many registers, which saves an input of a wide multiplexer for every bit.

    Parameters
    ----------
    late : whether ``storage`` takes the value one cycle later: the address of the bus comes late in its cycle.

    Attributes
    ----------
    locked     : 1, **in**, writes of the host are ignored.
    also       : 1, **in**, the host writes another register, and the value is for this one, too.
    written    : 1, **out**, the host writes the register in this cycle, and it is not locked.
    dat        : 32, **out**, the value written, with ``written``.
    strobe     : 1, **out**, ``written`` of the last cycle.
    late_dat   : 32, **in**, ``dat`` of the last cycle, with ``strobe``.
    read_value : 32, **in**, the value the host reads; at least three cycles after a write.
    clear      : 1, **in**, sets the register to 0; overrides a write of the host.
    """
    def __init__(self, *args, late=True, **kwargs):
        CSRStorage.__init__(self, *args, **kwargs)
        self.late       = late
        self.locked     = Signal()
        self.also       = Signal()
        self.written    = Signal()
        self.dat        = Signal(self.size)
        self.strobe     = Signal()
        self.late_dat   = Signal(self.size)
        self.read_value = Signal(self.size)
        self.clear      = Signal()

    def do_finalize(self, busword, ordering):
        assert self.size <= busword
        bus = CSR(self.size, self.name)
        self.simple_csrs.append(bus)
        self.comb += [
            self.written.eq((bus.re | self.also) & ~self.locked),
            self.dat.eq(bus.r),
            bus.w.eq(self.read_value),
        ]
        self.sync += [
            self.strobe.eq(self.written & ~self.clear),
            If(self.strobe, self.storage.eq(self.late_dat)) if self.late else
            If(self.written, self.storage.eq(self.dat)),
            If(self.clear, self.storage.eq(0)),
            self.re.eq(bus.re),
        ]

# Helpers ------------------------------------------------------------------------------------------


def _shadowed(name, n, description, **options):
    return ShadowedStorage(32, name=name, n=n, description=description, **options)


def _status(name, n, description):
    return CSRStatus(32, name=name, n=n, description=description)

# Engine Registers ---------------------------------------------------------------------------------


class EngineRegisters(LiteXModule):
    """CSRs of one engine; ``n`` is the dword offset in the bank.

    Reading the low half of a 64-bit counter latches its high half, so that the two reads give one value.

    Parameters
    ----------
    counters : Counters; their RAM also keeps the values that the host wrote.
    flush    : whether the register FLUSH_US is used; otherwise it is always 0.

    Attributes
    ----------
    bytes  : 64, **in**, value of the registers BYTES_LO and BYTES_HI. Every other value is driven through its CSR.
    selected : 5, **in**, low bits of the address on the register bus. A RAM holds the values of many registers, and
        its address would come late if it were made of the decoded addresses.
    forget : 1, **in**, sets the registers of ring, status block and moderation to 0.
    locked : 1, **in**, writes to RING_* and STATUS_ADDRESS_* are ignored.

    Registers
    ---------
    ENGINE_* of ``litepcie_regs.h``.
    """
    def __init__(self, counters, flush=False):
        self.bytes  = Signal(64)
        self.selected = Signal(5)
        self.forget = Signal()
        self.locked = Signal()

        # # #

        self.add_control()
        self.add_ring()
        self.add_progress()
        self.add_direct()
        self.add_counters()
        self.flush_us = ShadowedStorage(16, name="flush_us", n=26, description=
            "Stream writer: microseconds after which a buffer with data is completed; 0: never.")
        self.interrupt = ShadowedStorage(name="interrupt", n=27, fields=[
            CSRField("vector", size=5, offset=0, description="Of the interrupts of this engine."),
            CSRField("idle",   size=1, offset=8, description=
                "An engine that runs out of descriptors sends the MSI without moderation."),
        ], description="Vector, and what ends moderation.")
        self.comb += self.interrupt.read_value.eq(self.interrupt.storage)
        self.passed = _status("passed", 28, "Stream: bytes between its RAM and the user, modulo 2^32; never reset.")
        self.add_words(counters, flush)

    def add_control(self):
        self.control = CSRStorage(name="control", n=0, write_from_dev=True, fields=[
            CSRField("enable", size=1, description="Run; 0 pauses after the current descriptor."),
            CSRField("reset", size=1, description=
                "Drain, then clear the ring position and all state; clears itself when done."),
        ], description="Control of the engine; 0 after a reset.")
        self.status = CSRStatus(name="status", n=1, fields=[
            CSRField("running",   size=1, offset=0, description="Enabled and not stopped."),
            CSRField("idle",      size=1, offset=1, description="No work, nothing outstanding."),
            CSRField("stopped",   size=1, offset=2, description="Stopped by an error; see reason."),
            CSRField("resetting", size=1, offset=3, description="A reset is in progress."),
            CSRField("reason",    size=8, offset=8, description="Why it stopped, REASON_*."),
        ], description="State of the engine.")

    def add_ring(self):
        self.ring_lo = _shadowed("ring_lo", 2,
            "Host address of the descriptor ring, low half; write it while not enabled.")
        self.ring_hi = _shadowed("ring_hi", 3, "Host address of the descriptor ring, high half.")
        self.ring_log2 = _shadowed("ring_log2", 4, "Log2 of the ring size, 1..12.")
        self.status_address_lo = _shadowed("status_address_lo", 5,
            "Host address of the status block, low half; a multiple of 16.")
        self.status_address_hi = _shadowed("status_address_hi", 6,
            "Host address of the status block, high half.")
        self.comb += [register.locked.eq(self.locked) for register in (
            self.ring_lo, self.ring_hi, self.ring_log2, self.status_address_lo, self.status_address_hi)]
        self.doorbell = _shadowed("doorbell", 7,
            "Number of descriptors ever made available, modulo 2^32; a write starts them.", late=False)

    def add_progress(self):
        self.completed = _status("completed", 8, "Ring descriptors completed since reset.")
        self.moderation = ShadowedStorage(name="moderation", n=9, fields=[
            CSRField("count", size=16, description="Most interrupts combined into one MSI."),
            CSRField("us",    size=16, description="Most microseconds an interrupt is delayed."),
        ], description="MSI moderation, whichever limit comes first; 0 in either: no delay.")
        self.stopped_bytes = _status("stopped_bytes", 10,
            "Bytes of the failing descriptor that landed without a gap.")

    def add_direct(self):
        """Registers that the host writes only; they read 0."""
        self.direct = []
        for n in range(4):
            register = _shadowed(f"direct{n}", 11 + n,
                f"Dword {n} of the next descriptor; see DIRECT_DOORBELL." if n else
                "Dword 0 of the next descriptor; see DIRECT_DOORBELL. Bits 30:26: its count modulo 32.")
            setattr(self, f"direct{n}", register)
            self.direct.append(register)
        self.direct_doorbell = _shadowed("direct_doorbell", 15,
            "As DOORBELL; the engine need not fetch the descriptor in DIRECT0 to DIRECT3.")
        self.comb += self.doorbell.also.eq(self.direct_doorbell.written)

    def add_counters(self):
        self.active_lo = _status("active_lo", 16, "Cycles with work, low half; latches high.")
        self.active_hi = _status("active_hi", 17, "Cycles with work, latched high half.")
        self.bytes_lo  = _status("bytes_lo",  18, "Bytes landed, low half; latches high.")
        self.bytes_hi  = _status("bytes_hi",  19, "Bytes landed, latched high half.")
        self.comb += self.bytes_lo.status.eq(self.bytes[:32])
        self.sync += If(self.bytes_lo.we, self.bytes_hi.status.eq(self.bytes[32:]))
        self.descriptors     = _status("descriptors",     20, "Descriptors done, also in tables.")
        self.tlps            = _status("tlps",            21, "Data TLPs: read requests or writes.")
        self.wait_descriptor = _status("wait_descriptor", 22, "Active cycles waiting for descriptors.")
        self.wait_tag        = _status("wait_tag",        23, "Active cycles waiting for tags or room.")
        self.wait_link       = _status("wait_link",       24, "Active cycles waiting for the link.")
        self.wait_data       = _status("wait_data",       25, "Active cycles waiting for data or memory.")

    def add_words(self, counters, flush):
        """Connects the registers that are read from the counters' RAM; the bus reads one of them at a time."""
        groups = {
            ACTIVE_LO:       self.active_lo,
            LATCHED:         self.active_hi,
            DESCRIPTORS:     self.descriptors,
            TLPS:            self.tlps,
            WAIT_DESCRIPTOR: self.wait_descriptor,
            WAIT_TAG:        self.wait_tag,
            WAIT_LINK:       self.wait_link,
            WAIT_DATA:       self.wait_data,
        }
        shadowed = (self.ring_lo, self.ring_hi, self.ring_log2, self.status_address_lo,
            self.status_address_hi, self.moderation, self.doorbell)
        self.comb += [register.clear.eq(self.forget) for register in (*shadowed, self.flush_us, self.interrupt)
            if register is not self.doorbell]
        if flush:   # The RAM has no word left.
            self.comb += self.flush_us.read_value.eq(self.flush_us.storage)
        places   = {register.n: n for n, register in groups.items()}
        places  |= {register.n: WORDS + n for n, register in enumerate(shadowed)}
        writes   = [(n, register.strobe) for n, register in enumerate(shadowed)]
        known    = Signal(len(shadowed))  # The host wrote it since it was last 0: the RAM holds its value.
        late_dat = Signal(32)
        value    = Signal(32)
        zero     = Signal()               # The register selected is 0, whatever the RAM holds.
        self.comb += [
            Case(self.selected, {n: counters.address.eq(place) for n, place in places.items()}),
            Case(self.selected, {register.n: zero.eq(~known[n]) for n, register in enumerate(shadowed)}),
            counters.hold.eq(self.active_lo.we),
            If(~zero, value.eq(counters.value)),
            *[register.status.eq(value) for register in groups.values()],
            *[register.read_value.eq(value) for register in shadowed],
            *[register.late_dat.eq(late_dat)
                for register in (*shadowed, self.flush_us, self.interrupt)],
        ]
        # The RAM is written two cycles late, because the address of the bus comes late in its cycle. The host cannot
        # read the register back earlier.
        self.sync += [
            late_dat.eq(self.ring_lo.dat),   # All registers see the same bus data.
            counters.write.eq(Reduce("OR", [strobe for _, strobe in writes])),
            counters.write_value.eq(late_dat),
            counters.write_address.eq(one_hot_to_number(writes)),
            *[If(strobe, known[n].eq(1)) for n, strobe in writes],
            *[If(register.clear, known[n].eq(0)) for n, register in enumerate(shadowed)],
        ]


def one_hot_to_number(choices):
    """Expression: the number whose strobe is set, 0 if none is. ``choices``: (number, strobe), at most one set."""
    return Reduce("OR", [Mux(strobe, number, 0) for number, strobe in choices])
