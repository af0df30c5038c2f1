#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Identity bank: describes the card, at the same address in every bitstream of a major version."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

from litepcie_soc.common import abi

# Constants ----------------------------------------------------------------------------------------

TIMEOUT_US = 10000  # Initial completion timeout. PCIe 4.0 2.8 advises against one below 10 ms.

# Cleared Storage ----------------------------------------------------------------------------------


class ClearedStorage(CSRStorage):
    """A CSRStorage that returns to its initial value on ``clear``.

    ``clear`` overrides a write of the host. With the opposite priority, as in ``write_from_dev``, a flip-flop of Xilinx
    needs a LUT for it.

    Attributes
    ----------
    clear : Signal(), **in**.
    """
    def __init__(self, *args, **kwargs):
        CSRStorage.__init__(self, *args, **kwargs)
        self.clear = Signal()

    def do_finalize(self, busword, ordering):
        CSRStorage.do_finalize(self, busword, ordering)
        self.sync += If(self.clear, self.storage.eq(self.storage.reset))

# Helpers ------------------------------------------------------------------------------------------


def _constant(name, n, value, description):
    return CSRStatus(32, name=name, n=n, reset=value, description=description)


def _packed(name, n, description, *fields):
    return CSRStatus(name=name, n=n, description=description, fields=[*fields])


def target_words(target):
    """Returns a target's name as 16 dwords, first character in the low byte. Raises ``ValueError``."""
    name = target.encode("ascii", errors="replace")
    if not 0 < len(name) < abi.TARGET_BYTES or not target.isascii() or not target.isprintable():
        raise ValueError(
            f"target must be 1..{abi.TARGET_BYTES - 1} printable ASCII characters, not {target!r}")
    name = name.ljust(abi.TARGET_BYTES, b"\0")
    return [int.from_bytes(name[n:n + 4], "little") for n in range(0, abi.TARGET_BYTES, 4)]

# Identity -----------------------------------------------------------------------------------------


class Identity(LiteXModule):
    """Describes the card; holds the scratch register and the controls of all engines.

    Parameters
    ----------
    target      : name of the bitstream, up to 63 ASCII characters.
    channels    : number of memory channels, each with a reader and a writer.
    direct      : whether the engines use the registers DIRECT*.
    msix        : whether there is an MSI-X table.
    streams     : number of stream channels; their engines follow those of the memory channels.
    lacking     : streams without a reader and streams without a writer, by bit.
    data_width  : width of the data path in bits.
    ring_log2   : log2 of the number of descriptors in the largest ring.
    tags        : the most read requests that one reader can have outstanding.
    memory_size : size of the endpoint memory in bytes.
    window_size : bytes of the endpoint memory that the window shows.
    clk_freq    : frequency of ``sys`` in Hz.
    gen, lanes  : link for which the bitstream was built.
    user_bus    : ``UserBus``, range of the user's bus that the host reaches. None: none.

    Attributes
    ----------
    timeout_us       : Signal(32), **out**; completion timeout in microseconds.
    memory_ready     : Signal(), **in**; the endpoint memory is initialised. MEMORY_SIZE reads 0 while it is low.
    memory_failed    : Signal(32), **in**; bytes of the memory's bus whose training failed, one bit each.
    ltssm            : Signal(6), **in**; state of the hard block, as its guide numbers it.
    reset            : Signal(), **out**; high for one cycle to reset every engine.
    resetting        : Signal(), **in**; an engine is in reset. High from the cycle after ``reset``.
    clear            : Signal(), **in**; return SCRATCH and TIMEOUT_US to their initial values.
    user_failed      : Signal(), **in**; an access to the user's bus failed. One cycle for each.
    max_payload_size : Signal(16), **in**; MPS in bytes.
    max_request_size : Signal(16), **in**; MRRS in bytes.
    link_up, bus_master, extended_tag, msi_enable : Signal(), **in**; state of the link and the host's enables.

    Registers
    ---------
    Those of the identity section in ``software/kernel/litepcie_regs.h``.
    """
    def __init__(self, target, *, channels, data_width, ring_log2, tags, memory_size, window_size,
        clk_freq, gen, lanes, streams=0, lacking=(0, 0), direct=True, user_bus=None, msix=False):
        self.timeout_us       = Signal(32)
        self.memory_ready     = Signal(reset=1)
        self.memory_failed    = Signal(32)
        self.ltssm            = Signal(6)
        self.reset            = Signal()
        self.resetting        = Signal()
        self.clear            = Signal()
        self.user_failed      = Signal()
        self.max_payload_size = Signal(16)
        self.max_request_size = Signal(16)
        self.link_up          = Signal()
        self.bus_master       = Signal()
        self.extended_tag     = Signal()
        self.msi_enable       = Signal()

        # # #

        self.add_constants(target, channels, data_width, ring_log2, tags, memory_size,
            window_size, clk_freq, gen, lanes, streams, lacking, direct, user_bus, msix)
        self.add_user_bus(user_bus)
        self.add_controls()
        self.add_link()

    def add_constants(self, target, channels, data_width, ring_log2, tags, memory_size,
        window_size, clk_freq, gen, lanes, streams, lacking, direct, user_bus, msix):
        self.magic        = _constant("magic", 0, abi.MAGIC, "Reads as MAGIC_VALUE.")
        self.version      = _packed("version", 1, "Version of this map.",
            CSRField("minor", 16, offset=0,  reset=abi.VERSION_MINOR),
            CSRField("major", 16, offset=16, reset=abi.VERSION_MAJOR),
        )
        self.capabilities = _packed("capabilities", 2, "Parts that the card has.",
            CSRField("reader", reset=int(channels + streams > lacking[0].bit_count())),
            CSRField("writer", reset=int(channels + streams > lacking[1].bit_count())),
            CSRField("msi",    reset=1),
            CSRField("link",   reset=1),
            CSRField("window", reset=int(window_size != 0)),
            CSRField("stream", reset=int(streams != 0)),
            CSRField("direct", reset=int(direct), description="registers DIRECT*"),
            CSRField("msix",   reset=int(msix)),
            CSRField("user",   offset=8, reset=int(user_bus is not None), description="registers USER_*"),
            CSRField("interrupt", offset=9, description="registers INTERRUPT_*, of the user's logic"),
            CSRField("host", offset=10, description="registers HOST_*, of the user's logic"),
            CSRField("lane", offset=11, description="state of the lane, behind the user's bus"),
        )
        self.geometry     = _packed("geometry", 3, "Size of the design.",
            CSRField("channels",  8, offset=0,  reset=channels, description="memory channels"),
            CSRField("width",     8, offset=8,  reset=data_width // 32,
                description="width of the data path, dwords"),
            CSRField("ring_log2", 8, offset=16, reset=ring_log2, description="log2 of the largest ring"),
            CSRField("tags",      8, offset=24, reset=tags - 1,  description="tags - 1"),
        )
        self.memory_size_lo = CSRStatus(32, name="memory_size_lo", n=4, description="Endpoint memory, low half.")
        self.memory_size_hi = CSRStatus(32, name="memory_size_hi", n=5, description="Endpoint memory, high half.")
        self.comb += If(self.memory_ready,
            self.memory_size_lo.status.eq(memory_size & 0xffffffff),
            self.memory_size_hi.status.eq(memory_size >> 32),
        )
        self.window_offset  = _constant("window_offset", 6, abi.WINDOW_OFFSET,
            "Offset of the window in BAR0.")
        self.window_size    = _constant("window_size", 7, window_size, "Bytes of the window.")
        self.clock_hz       = _constant("clock_hz", 8, int(clk_freq), "Clock of data path and counters.")
        self.built_link     = _packed("built_link", 9, "Link it was built for.",
            CSRField("gen",   4, offset=0, reset=gen),
            CSRField("lanes", 6, offset=8, reset=lanes),
        )
        self.streams        = _packed("streams", 15, "Stream channels, after memory channels.",
            CSRField("count", 8, offset=0, reset=streams),
            # 0 in older gateware, whose streams have both.
            CSRField("no_reader", abi.MAX_CHANNELS, offset=8, reset=lacking[0],
                description="streams without a reader"),
            CSRField("no_writer", abi.MAX_CHANNELS, offset=16, reset=lacking[1],
                description="streams without a writer"),
        )
        self.target = [
            _constant(f"target{n}", 16 + n, word,
                "Name of the bitstream: 16 registers, ASCII, first character lowest.")
            for n, word in enumerate(target_words(target))
        ]

    def has_interrupts(self):
        """Says that the user's logic has interrupts."""
        self.comb += self.capabilities.fields.interrupt.eq(1)

    def has_host_port(self):
        """Says that the user's logic has a port onto host memory."""
        self.comb += self.capabilities.fields.host.eq(1)

    def has_lane(self):
        """Says that the registers of `LaneState` are on the user's bus."""
        self.comb += self.capabilities.fields.lane.eq(1)

    def has_ltssm(self, state):
        """Shows the state of a hard block, a Signal in sys."""
        self.comb += [self.ltssm.eq(state), self.phy_state.fields.known.eq(1)]

    def add_user_bus(self, user_bus):
        size   = user_bus.size if user_bus else 0
        origin = user_bus.origin if user_bus else 0
        self.user_offset = _constant("user_offset", 32, abi.USER_OFFSET if size else 0,
            "Offset of the user's bus in BAR0.")
        self.user_size   = _constant("user_size", 33, size, "Bytes of the user's bus that the host reaches; 0: none.")
        self.user_origin = _constant("user_origin", 34, origin & 0xffffffff, "Address of the first one on that bus.")
        self.user_errors = CSRStatus(32, name="user_errors", n=35,
            description="Accesses to the user's bus that failed, modulo 2^32.")
        if user_bus:
            self.sync += self.user_errors.status.eq(self.user_errors.status + self.user_failed)

    def add_controls(self):
        self.scratch = ClearedStorage(32, name="scratch", n=10, description="Reads as written.")
        self.control = CSRStorage(name="control", n=11, write_from_dev=True, fields=[
            CSRField("reset", description="RESET of every engine"),
        ], description="Control of all engines.")
        self.timeout = ClearedStorage(32, name="timeout_us", n=12, reset=TIMEOUT_US,
            description="Completion timeout.")

        # Software polls RESET: it reads as one until no engine has a request outstanding.
        started = Signal()
        self.sync += started.eq(self.reset)
        self.comb += [
            self.timeout_us.eq(self.timeout.storage),
            self.scratch.clear.eq(self.clear),
            self.timeout.clear.eq(self.clear),
            self.reset.eq(self.control.re & self.control.fields.reset),
            self.control.we.eq(~self.reset & ~started & ~self.resetting),
        ]

    def add_link(self):
        self.link_sizes  = _packed("link_sizes", 13, "Sizes in force.",
            CSRField("mps",  16, offset=0,  description="bytes"),
            CSRField("mrrs", 16, offset=16, description="bytes"),
        )
        self.memory_training = CSRStatus(32, name="memory_failed", n=36,
            description="Bytes of the memory's bus whose training failed, one bit each.")
        self.phy_state   = _packed("phy_state", 37, "State of the hard block.",
            CSRField("ltssm", 6, offset=0, description="as its guide numbers it"),
            CSRField("known", offset=31, description="the PHY tells its state"),
        )
        self.link_status = _packed("link_status", 14, "State of the link.",
            CSRField("up"),
            CSRField("bus_master"),
            CSRField("extended_tag"),
            CSRField("msi"),
        )
        sizes, status = self.link_sizes.fields, self.link_status.fields
        self.comb += [
            self.memory_training.status.eq(self.memory_failed),
            self.phy_state.fields.ltssm.eq(self.ltssm),
            sizes.mps.eq(self.max_payload_size),
            sizes.mrrs.eq(self.max_request_size),
            status.up.eq(self.link_up),
            status.bus_master.eq(self.bus_master),
            status.extended_tag.eq(self.extended_tag),
            status.msi.eq(self.msi_enable),
        ]

    def get_csrs(self, sort=False):
        csrs = [csr for csr in vars(self).values() if isinstance(csr, (CSRStatus, CSRStorage))]
        return sorted(csrs + self.target, key=lambda csr: csr.n)
