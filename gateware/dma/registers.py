#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Registers of a DMA engine, at pinned places."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

# Helpers ------------------------------------------------------------------------------------------


def _storage(name, n, description, **kwargs):
    return CSRStorage(32, name=name, n=n, description=description, **kwargs)


def _status(name, n, description):
    return CSRStatus(32, name=name, n=n, description=description)

# Engine Registers ---------------------------------------------------------------------------------


class EngineRegisters(LiteXModule):
    """CSRs of one engine; ``n`` is the dword offset in the bank (``litepcie_regs.h``, ENGINE_*).

    Attributes
    ----------
    active, bytes : 64, in, sys, the two counters wider than a register: reading the low half holds
        the high half, so that the pair is one value.

    Every other value is reached through its CSR.
    """
    def __init__(self):
        self.active = Signal(64)
        self.bytes  = Signal(64)

        # # #

        self.add_control()
        self.add_ring()
        self.add_progress()
        self.add_counters()

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
        self.ring_lo = _storage("ring_lo", 2,
            "Host address of the descriptor ring, low half; set while not enabled.")
        self.ring_hi = _storage("ring_hi", 3, "Host address of the descriptor ring, high half.")
        self.ring_log2 = _storage("ring_log2", 4, "Descriptors of the ring, log2: 1..12.")
        self.status_address_lo = _storage("status_address_lo", 5,
            "Host address of the status block, low half; a multiple of 16.")
        self.status_address_hi = _storage("status_address_hi", 6,
            "Host address of the status block, high half.")
        self.doorbell = _storage("doorbell", 7,
            "Descriptors ever made available; writing starts them.", write_from_dev=True)

    def add_progress(self):
        self.completed = _status("completed", 8, "Descriptors of the ring completed since reset.")
        self.moderation = CSRStorage(name="moderation", n=9, fields=[
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
        for lo, hi, value in (
            (self.active_lo, self.active_hi, self.active),
            (self.bytes_lo,  self.bytes_hi,  self.bytes)):
            self.comb += lo.status.eq(value[:32])
            self.sync += If(lo.we, hi.status.eq(value[32:]))
        self.descriptors     = _status("descriptors",     20, "Descriptors done, also in tables.")
        self.tlps            = _status("tlps",            21, "Requests or writes of data.")
        self.wait_descriptor = _status("wait_descriptor", 22, "Active cycles, no descriptor.")
        self.wait_tag        = _status("wait_tag",        23, "Active cycles, no tag or room.")
        self.wait_link       = _status("wait_link",       24, "Active cycles, link not ready.")
        self.wait_data       = _status("wait_data",       25, "Active cycles, no data or memory.")
