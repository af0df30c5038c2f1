#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Points: one point is one run of a host program with one set of parameters."""

from dataclasses import dataclass
from typing import NamedTuple

from litepcie_bench.hardware import Hardware
from litepcie_bench.stock import ADDRESS_WIDTH, MAX_PENDING_REQUESTS
from litepcie_soc.common.link_rates import default_clock
from litepcie_soc.common.pcie import DATA_WIDTHS

OURS  = "litepcie_soc"
STOCK = "litepcie_stock"

# Outstanding requests. A board is built with 64 tags by default. It uses 32 of them while the host leaves Extended
# Tag Field Enable off.
DEFAULT_TAGS     = 64
UNEXTENDED_TAGS  = 32
STOCK_TAGS       = MAX_PENDING_REQUESTS
PENDING          = (STOCK_TAGS, 16, 32)  # Pending requests with which stock is measured.

AN_BYTES      = 100_000  # Bytes of one transfer in the application notes.
AN_ITERATIONS = 20       # Transfers that the application notes average.


class Host(NamedTuple):
    """A host of docs/contracts/simulator.md.

    measured : whether its properties were, or were chosen.
    lanes    : of the widest link whose credits are known.
    mps      : largest payload of its root port, bytes.
    """
    measured: bool
    lanes:    int = 16
    mps:      int = 4096


HOSTS = {"ideal": Host(False), "broadwell": Host(True), "broadwell-cache": Host(True), "broadwell-remote": Host(True),
    "broadwell-iommu": Host(True), "haswell": Host(True), "haswell-cache": Host(True), "ivybridge": Host(True),
    "ivybridge-cache": Host(True), "ivybridge-remote": Host(True), "xeon-c5500": Host(True, 4),
    "chipset": Host(False, 4), "embedded": Host(False, 4, 128)}
CHOSEN = tuple(name for name, host in HOSTS.items() if not host.measured)


@dataclass(frozen=True, order=True)
class SimulatedBoard:
    """One simulated board.

    width   : bits of the data path.
    tags    : outstanding requests; for STOCK its pending requests.
    phy     : "shared" (one pair of streams, big-endian payload, as on 7-series), "split" (requests and completions
              apart, little-endian, as on UltraScale) or "soft" (the endpoint in gateware over a lane, symbol by symbol:
              its link is what it was built for).
    memory  : "bram" or "ddr" (64-bit DDR3-1600 with LiteDRAM).
    space   : completion buffer of the hard block, completions and bytes; empty if it is ideal.
    fabric  : bits of the hard block if the fabric has a completion buffer, else 0.
    address : for STOCK: bits of a host address.
    """
    design: str
    width:  int
    tags:   int = DEFAULT_TAGS
    phy:    str = "shared"
    memory: str = "bram"
    space:  tuple = ()
    fabric: int = 0
    address: int = ADDRESS_WIDTH

    def __str__(self):
        words = [self.design, f"{self.width} bit"]
        if self.design == STOCK:
            words += [f"{self.tags} pending requests"]*(self.tags != STOCK_TAGS)
            words += [f"{self.address}-bit addresses"]*(self.address != ADDRESS_WIDTH)
        elif self.tags != DEFAULT_TAGS:
            words.append(f"{self.tags} tags")
        if self.phy != "shared":
            words.append(self.phy)
        if self.memory != "bram":
            words.append(self.memory)
        if self.space:
            words.append("{} completions, {} bytes".format(*self.space))
        if self.fabric:
            words.append(f"fabric {self.fabric} bit")
        return " ".join(words)


@dataclass(frozen=True)
class Point:
    """One run.

    Attributes
    ----------
    sweep      : name of the sweep.
    design     : OURS or STOCK.
    sequence   : "write-then-read" (one direction at a time), "read-and-write" (both at once) or
                 "pio".
    bytes      : bytes of one transfer; each transfer is one descriptor.
    batch      : transfers per doorbell, measured as one.
    iterations : how many batches are measured, one after the other.
    completion : bytes of each completion from the host; 0: as many as MPS allows.
    latency_ns : time from the last byte of a request at the host to its first completion.
    store      : bytes of one store in the sequence "pio".
    fill       : for STOCK: whether the register writes that fill its table are counted.
    tags       : for OURS: outstanding requests; 32: the host leaves Extended Tags off.
    pending    : for STOCK: outstanding requests.
    phy        : for OURS: as in the class of the board.
    address_bits : host buffers below 4 GiB (32: headers of 3 dwords) or above (64: headers of 4 dwords).
    update_fc  : when credits are returned: "guideline", "per-type" or "minimum".
    acks       : when the link model sends an ACK: at an "interval", or "before-tlp".
    jitter_ns  : largest addition to ``latency_ns``, uniformly distributed.
    reorder    : whether completions of different requests overtake each other.
    outlier_ns, outlier_every : addition to the latency of every Nth request; 0: none.
    lcrc_every : every Nth TLP of each direction is damaged and replayed; 0: none.
    clock_mhz  : clock of the board; 0: the slowest usual clock that keeps up with the link.
    memory     : for OURS: as in the class of the board.
    direct     : the host writes the first descriptor of a doorbell into the card's registers.
    host       : name of a host of the simulator (``--host``); "ideal" answers after ``latency_ns``.
    hardware   : ``Hardware`` of a real board, whose parameters replace those of the ideal PHY; None: the ideal PHY.
    """
    sweep:      str
    design:     str
    gen:        int
    lanes:      int
    width:      int
    sequence:   str = "write-then-read"
    bytes:      int = AN_BYTES
    batch:      int = 1
    iterations: int = AN_ITERATIONS
    mps:        int = 256
    mrrs:       int = 512
    completion: int = 0
    latency_ns: int = 1000
    store:      int = 4
    fill:       bool = False
    tags:       int = DEFAULT_TAGS
    pending:    int = STOCK_TAGS
    phy:        str = "shared"
    address_bits: int = 32
    update_fc:  str = "guideline"
    acks:       str = "interval"
    jitter_ns:  int = 0
    reorder:    bool = False
    outlier_ns: int = 0
    outlier_every: int = 0
    lcrc_every: int = 0
    clock_mhz:  int = 0
    memory:     str = "bram"
    direct:     bool = False
    host:       str = "ideal"
    hardware:   Hardware = None

    @property
    def board(self):
        """The ``SimulatedBoard`` it runs on."""
        if self.design == STOCK:
            return SimulatedBoard(STOCK, self.width, self.pending, address=self.address_bits)
        if self.hardware:
            return SimulatedBoard(OURS, self.width, self.tags, self.phy, self.memory, self.hardware.space,
                self.hardware.fabric)
        tags = self.tags if self.phy == "soft" else max(self.tags, DEFAULT_TAGS)
        return SimulatedBoard(OURS, self.width, tags, self.phy, self.memory)

    @property
    def clock_hz(self):
        if self.hardware:
            return self.hardware.clock_hz
        return self.clock_mhz*1000000 or int(default_clock(self.gen, self.lanes, self.width))

    @property
    def response_ns(self):
        """Time from a request at the PHY to its first completion there: a real board adds its clock crossing."""
        return self.latency_ns + (self.hardware.crossing_ns if self.hardware else 0)

    @property
    def link(self):
        """Generation, lanes and data width: the key of a link."""
        return self.gen, self.lanes, self.width

    @property
    def where(self):
        """Link and data path in words, with everything that differs from the default."""
        words = link_name(*self.link)
        if self.hardware:
            return f"{self.hardware.title}, {words}"
        if self.clock_mhz:
            words += f", {self.clock_mhz} MHz"
        words += ", split little-endian PHY"*(self.phy == "split") + ", symbol by symbol"*(self.phy == "soft")
        return words + ", DDR"*(self.memory == "ddr")

    def __str__(self):
        text = f"{self.where} {self.sequence} {self.bytes} B" + " direct"*self.direct
        return text + (f" x {self.batch}" if self.batch > 1 else "")


def link_name(gen, lanes, width):
    """Returns the name of a link that all tables and plots use."""
    return f"Gen{gen} x{lanes}, {width} bit"


def narrowest(gen, lanes):
    """Returns the bits of the narrowest data path that keeps up with a link."""
    raw = {1: 250, 2: 500, 3: 985}[gen]*lanes
    return next(width for width in DATA_WIDTHS if width//8*250 >= raw)
