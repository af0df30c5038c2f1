#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Registers of a DMA engine, at pinned places."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSR, CSRField, CSRStatus, CSRStorage

from litepcie_soc.dma.counters import (
    ACTIVE_LO, DESCRIPTORS, TLPS, WAIT_DATA, WAIT_DESCRIPTOR, WAIT_LINK, WAIT_TAG, WORDS,
)

# Kept Storage -------------------------------------------------------------------------------------


class KeptStorage(CSRStorage):
    """A CSRStorage that is read back from elsewhere: one wide multiplexer less for every bit.

    Attributes
    ----------
    written : 1, out, sys, the host writes it in this cycle,
    dat     : 32, out, sys, with this.
    asked   : 1, out, sys, the host reads it in this cycle, two or more behind a write,
    shown   : 32, in, sys, and gets this.
    clear   : 1, in, sys, back to 0, whatever the host writes.
    """
    def __init__(self, *args, **kwargs):
        CSRStorage.__init__(self, *args, **kwargs)
        self.written = Signal()
        self.dat     = Signal(self.size)
        self.asked   = Signal()
        self.shown   = Signal(self.size)
        self.clear   = Signal()

    def do_finalize(self, busword, ordering):
        assert self.size <= busword
        bus = CSR(self.size, self.name)
        self.simple_csrs.append(bus)
        self.comb += [
            self.written.eq(bus.re),
            self.dat.eq(bus.r),
            self.asked.eq(bus.we),
            bus.w.eq(self.shown),
        ]
        self.sync += [
            If(bus.re, self.storage.eq(bus.r)),
            If(self.clear, self.storage.eq(0)),
            self.re.eq(bus.re),
        ]

# Helpers ------------------------------------------------------------------------------------------


def _kept(name, n, description):
    return KeptStorage(32, name=name, n=n, description=description)


def _status(name, n, description):
    return CSRStatus(32, name=name, n=n, description=description)

# Engine Registers ---------------------------------------------------------------------------------


class EngineRegisters(LiteXModule):
    """CSRs of one engine; ``n`` is the dword offset in the bank (``litepcie_regs.h``, ENGINE_*).

    Attributes
    ----------
    bytes : 64, in, sys; reading the low half holds the high half, so that the pair is one value.
        ACTIVE does the same.

    Every other value is reached through its CSR.

    Parameters
    ----------
    counters : Counters, which also keep what the host wrote.
    """
    def __init__(self, counters):
        self.bytes = Signal(64)

        # # #

        self.add_control()
        self.add_ring()
        self.add_progress()
        self.add_counters()
        self.add_words(counters)

    def add_control(self):
        self.control = CSRStorage(name="control", n=0, write_from_dev=True, fields=[
            CSRField("enable", size=1, description="Run; 0 pauses behind the current descriptor."),
            CSRField("reset", size=1, description=
                "Drop the ring's position and clear everything; clears itself when drained."),
        ], description="Control of the engine; a reset leaves it 0.")
        self.status = CSRStatus(name="status", n=1, fields=[
            CSRField("running",   size=1, offset=0, description="Enabled and not stopped."),
            CSRField("idle",      size=1, offset=1, description="Nothing to do or outstanding."),
            CSRField("stopped",   size=1, offset=2, description="Stopped by an error; see reason."),
            CSRField("resetting", size=1, offset=3, description="A reset is not over."),
            CSRField("reason",    size=8, offset=8, description="Why it stopped, REASON_*."),
        ], description="State of the engine.")

    def add_ring(self):
        self.ring_lo = _kept("ring_lo", 2,
            "Host address of the descriptor ring, low half; set while not enabled.")
        self.ring_hi = _kept("ring_hi", 3, "Host address of the descriptor ring, high half.")
        self.ring_log2 = _kept("ring_log2", 4, "Descriptors of the ring, log2: 1..12.")
        self.status_address_lo = _kept("status_address_lo", 5,
            "Host address of the status block, low half; a multiple of 16.")
        self.status_address_hi = _kept("status_address_hi", 6,
            "Host address of the status block, high half.")
        self.doorbell = _kept("doorbell", 7,
            "Descriptors ever made available; writing starts them.")

    def add_progress(self):
        self.completed = _status("completed", 8, "Descriptors of the ring completed since reset.")
        self.moderation = KeptStorage(name="moderation", n=9, fields=[
            CSRField("count", size=16, description="Interrupts a message stands for at most."),
            CSRField("us",    size=16, description="Microseconds an interrupt waits at most."),
        ], description="Moderation of the MSI, whichever comes first; 0 in either: at once.")
        self.stopped_bytes = _status("stopped_bytes", 10,
            "Bytes of the failing descriptor that landed without a gap.")

        # LiteX orders pinned registers right only without gaps.
        for n in range(11, 16):
            setattr(self, f"reserved{n}", _status(f"reserved{n}", n, "Reserved, reads 0."))

    def add_counters(self):
        self.active_lo = _status("active_lo", 16, "Cycles with work, low half; holds the high.")
        self.active_hi = _status("active_hi", 17, "Cycles with work, high half as held.")
        self.bytes_lo  = _status("bytes_lo",  18, "Bytes landed, low half; holds the high.")
        self.bytes_hi  = _status("bytes_hi",  19, "Bytes landed, high half as held.")
        self.comb += self.bytes_lo.status.eq(self.bytes[:32])
        self.sync += If(self.bytes_lo.we, self.bytes_hi.status.eq(self.bytes[32:]))
        self.descriptors     = _status("descriptors",     20, "Descriptors done, also in tables.")
        self.tlps            = _status("tlps",            21, "Requests or writes of data.")
        self.wait_descriptor = _status("wait_descriptor", 22, "Active cycles, no descriptor.")
        self.wait_tag        = _status("wait_tag",        23, "Active cycles, no tag or room.")
        self.wait_link       = _status("wait_link",       24, "Active cycles, link not ready.")
        self.wait_data       = _status("wait_data",       25, "Active cycles, no data or memory.")

    def add_words(self, counters):
        """The RAM of the counters serves reads of a whole group of registers, one at a time."""
        groups = {
            ACTIVE_LO:       self.active_lo,
            DESCRIPTORS:     self.descriptors,
            TLPS:            self.tlps,
            WAIT_DESCRIPTOR: self.wait_descriptor,
            WAIT_TAG:        self.wait_tag,
            WAIT_LINK:       self.wait_link,
            WAIT_DATA:       self.wait_data,
        }
        kept   = (self.ring_lo, self.ring_hi, self.ring_log2, self.status_address_lo,
            self.status_address_hi, self.moderation, self.doorbell)
        reads  = [(n, register.we) for n, register in groups.items()]
        reads += [(WORDS + n, register.asked) for n, register in enumerate(kept)]
        writes = [(n, register.written) for n, register in enumerate(kept)]
        known  = Signal(len(kept))   # The RAM has it: it was written since it was 0.
        value  = Signal(32)
        self.comb += [
            counters.address.eq(one_hot_to_number(reads)),
            counters.hold.eq(self.active_lo.we),
            value.eq(counters.value),
            If(Reduce("OR", [register.asked & ~known[n] for n, register in enumerate(kept)]),
                value.eq(0)
            ),
            self.active_hi.status.eq(counters.high),
            *[register.status.eq(value) for register in groups.values()],
            *[register.shown.eq(value) for register in kept],
        ]
        # A cycle late: the host cannot read it back before.
        self.sync += [
            counters.write.eq(Reduce("OR", [strobe for _, strobe in writes])),
            counters.write_address.eq(one_hot_to_number(writes)),
            counters.write_value.eq(self.ring_lo.dat),   # The bus gives all of them the same.
            *[If(strobe, known[n].eq(1)) for n, strobe in writes],
            *[If(register.clear, known[n].eq(0)) for n, register in enumerate(kept)],
        ]


def one_hot_to_number(choices):
    """``choices``: (number, strobe) with at most one strobe set; 0 if none is."""
    return Reduce("OR", [Mux(strobe, number, 0) for number, strobe in choices])
