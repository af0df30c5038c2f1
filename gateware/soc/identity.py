#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Identity bank: what the card is, at the same place in every bitstream of a major version."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

from litepcie_soc.soc import abi

# Helpers ------------------------------------------------------------------------------------------


def _constant(name, n, value, description):
    return CSRStatus(32, name=name, n=n, reset=value, description=description)


def target_words(target):
    """The 16 dwords of a target's name, first character lowest; ``ValueError`` if it cannot be."""
    name = target.encode("ascii", errors="replace")
    if not 0 < len(name) < abi.TARGET_BYTES or not target.isascii() or not target.isprintable():
        raise ValueError(
            f"target must be 1..{abi.TARGET_BYTES - 1} printable ASCII characters, not {target!r}")
    name = name.ljust(abi.TARGET_BYTES, b"\0")
    return [int.from_bytes(name[n:n + 4], "little") for n in range(0, abi.TARGET_BYTES, 4)]

# Identity -----------------------------------------------------------------------------------------


class Identity(LiteXModule):
    """What the card is, the scratch register, and what holds for all engines.

    Parameters
    ----------
    target      : name of the bitstream, up to 63 ASCII characters.
    channels    : DMA channels, each a reader and a writer.
    data_width  : bits of the data path.
    ring_log2   : largest ring, log2 of its descriptors.
    tags        : read requests a reader can have outstanding.
    memory_size : bytes of the endpoint memory.
    window_size : bytes of it behind the window.
    clk_freq    : Hz of ``sys``.
    gen, lanes  : link the bitstream was built for.

    Attributes
    ----------
    timeout_us            : 32, out, sys, completion timeout in microseconds.
    reset                 : 1, out, sys, one cycle: reset every engine.
    resetting             : 1, in, sys, an engine is in reset; from the cycle behind ``reset`` on.
    max_payload_size      : 16, in, sys, bytes.
    max_request_size      : 16, in, sys, bytes.
    link_up, bus_master, extended_tag, msi_enable : 1, in, sys.

    Registers: see ``software/kernel/litepcie_regs.h``.
    """
    def __init__(self, target, *, channels, data_width, ring_log2, tags, memory_size, window_size,
        clk_freq, gen, lanes):
        self.timeout_us       = Signal(32)
        self.reset            = Signal()
        self.resetting        = Signal()
        self.max_payload_size = Signal(16)
        self.max_request_size = Signal(16)
        self.link_up          = Signal()
        self.bus_master       = Signal()
        self.extended_tag     = Signal()
        self.msi_enable       = Signal()

        # # #

        self.add_constants(target, channels, data_width, ring_log2, tags, memory_size,
            window_size, clk_freq, gen, lanes)
        self.add_controls()
        self.add_link()

    def add_constants(self, target, channels, data_width, ring_log2, tags, memory_size,
        window_size, clk_freq, gen, lanes):
        self.magic   = _constant("magic", 0, abi.MAGIC, "Reads as MAGIC_VALUE.")
        self.version = CSRStatus(name="version", n=1, description="Of this register map.", fields=[
            CSRField("minor", 16, offset=0,  reset=abi.VERSION_MINOR),
            CSRField("major", 16, offset=16, reset=abi.VERSION_MAJOR),
        ])
        self.capabilities = CSRStatus(name="capabilities", n=2, description="What is there.", fields=[
            CSRField("reader", reset=1),
            CSRField("writer", reset=1),
            CSRField("msi",    reset=1),
            CSRField("link",   reset=1),
            CSRField("window", reset=int(window_size != 0)),
        ])
        self.geometry = CSRStatus(name="geometry", n=3, description="Sizes.", fields=[
            CSRField("channels",  8, offset=0,  reset=channels),
            CSRField("width",     8, offset=8,  reset=data_width // 32,
                description="data path, dwords"),
            CSRField("ring_log2", 8, offset=16, reset=ring_log2, description="largest ring"),
            CSRField("tags",      8, offset=24, reset=tags - 1,  description="tags - 1"),
        ])
        self.memory_size_lo = _constant("memory_size_lo", 4, memory_size & 0xffffffff, "Bytes.")
        self.memory_size_hi = _constant("memory_size_hi", 5, memory_size >> 32, "Bytes.")
        self.window_offset  = _constant("window_offset", 6, abi.WINDOW_OFFSET, "Bytes, in BAR0.")
        self.window_size    = _constant("window_size", 7, window_size, "Bytes.")
        self.clock_hz       = _constant("clock_hz", 8, int(clk_freq), "Data path and counters.")
        self.built_link     = CSRStatus(name="built_link", n=9, description="At most.", fields=[
            CSRField("gen",   4, offset=0, reset=gen),
            CSRField("lanes", 6, offset=8, reset=lanes),
        ])
        self.target = [
            _constant(f"target{n}", 16 + n, word, "Name of the bitstream.")
            for n, word in enumerate(target_words(target))
        ]

    def add_controls(self):
        self.scratch = CSRStorage(32, name="scratch", n=10, description="Reads as written.")
        self.control = CSRStorage(name="control", n=11, write_from_dev=True, fields=[
            CSRField("reset", description="every engine, as by its own RESET"),
        ], description="Over all engines.")
        self.timeout = CSRStorage(32, name="timeout_us", n=12, reset=10000,
            description="Completion timeout, microseconds; 10 ms is what PCIe 4.0 2.8 advises.")

        # RESET reads as one until the last engine has drained.
        started = Signal()
        self.sync += started.eq(self.reset)
        self.comb += [
            self.timeout_us.eq(self.timeout.storage),
            self.reset.eq(self.control.re & self.control.fields.reset),
            self.control.we.eq(~self.reset & ~started & ~self.resetting),
        ]

    def add_link(self):
        self.link_sizes = CSRStatus(name="link_sizes", n=13, description="In force.", fields=[
            CSRField("mps",  16, offset=0,  description="bytes"),
            CSRField("mrrs", 16, offset=16, description="bytes"),
        ])
        self.link_status = CSRStatus(name="link_status", n=14, description="Now.", fields=[
            CSRField("up"),
            CSRField("bus_master"),
            CSRField("extended_tag"),
            CSRField("msi"),
        ])
        # Keeps the name's place: LiteX counts registers, not addresses.
        self.reserved = CSRStatus(32, name="reserved", n=15, description="Reads as zero.")
        self.comb += [
            self.link_sizes.fields.mps.eq(self.max_payload_size),
            self.link_sizes.fields.mrrs.eq(self.max_request_size),
            self.link_status.fields.up.eq(self.link_up),
            self.link_status.fields.bus_master.eq(self.bus_master),
            self.link_status.fields.extended_tag.eq(self.extended_tag),
            self.link_status.fields.msi.eq(self.msi_enable),
        ]

    def get_csrs(self, sort=False):
        csrs = [csr for csr in vars(self).values() if isinstance(csr, (CSRStatus, CSRStorage))]
        return sorted(csrs + self.target, key=lambda csr: csr.n)
