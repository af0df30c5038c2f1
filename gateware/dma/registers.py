#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Registers of a DMA engine, at pinned addresses."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSR, CSRField, CSRStatus, CSRStorage

from litepcie_soc.dma.counters import (
    ACTIVE_LO, DESCRIPTORS, LATCHED, TLPS, WAIT_DATA, WAIT_DESCRIPTOR, WAIT_LINK, WAIT_TAG, WORDS,
)

# Shadowed Storage ---------------------------------------------------------------------------------


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
