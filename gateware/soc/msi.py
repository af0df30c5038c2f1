#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Messages to the host: MSI, and MSI-X with its table."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRStatus

from litepcie_soc.common import abi
from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.phy.gate import MSIGate

# MSI ----------------------------------------------------------------------------------------------
# Passes the MSI requests of all engines to the PHY, one at a time.


def msi_layout():
    """Returns LitePCIe's layout of an MSI request: ``dat`` is the vector."""
    return [("dat", 8)]


def msi_enable(phy):
    """Returns the signal of a PHY that says whether the host enabled MSI. LitePCIe's PHYs have it in a CSR only."""
    return phy.msi_enable if hasattr(phy, "msi_enable") else phy._msi_enable.status


class MSIMerger(LiteXModule):
    """Passes the MSI requests of the engines to the PHY, round robin.

    While the host has not enabled MSI, the merger accepts and drops requests: a function must not send them then (PCI
    Local Bus 3.0 6.8.1.3), and engines must not stall when the driver polls. While bus mastering is off or the link is
    down, the merger holds requests: an MSI is a memory write, which the function must not send then (PCIe 4.0
    7.5.1.1.3), but which the host still has to get.

    Parameters
    ----------
    sources : list of streams of ``msi_layout``, one per engine.

    Attributes
    ----------
    source : stream of ``msi_layout``, **out**; to the PHY.
    enable : Signal(), **in**; the host enabled MSI, and the function is not being reset.
    master : Signal(), **in**; bus mastering is on and the link is up.
    """
    def __init__(self, sources):
        self.source = stream.Endpoint(msi_layout())
        self.enable = Signal()
        self.master = Signal()

        # # #

        self.arbiter = PacketArbiter(msi_layout(), len(sources))
        for source, sink in zip(sources, self.arbiter.sinks):
            # A register per engine breaks the combinatorial path from the PHY's ready through the arbiter to its valid.
            buffer = stream.Buffer(msi_layout())
            self.submodules += buffer
            self.comb += [
                source.connect(buffer.sink),
                buffer.source.connect(sink, omit={"last"}),
                sink.last.eq(1),
            ]
        self.gate  = gate = MSIGate()
        self.comb += [
            self.arbiter.source.connect(gate.sink, keep={"valid", "ready", "dat"}),
            gate.enable.eq(self.enable),
            gate.master.eq(self.master),
            gate.source.connect(self.source),
        ]

# MSI-X --------------------------------------------------------------------------------------------
# MSI-X: table and Pending Bit Array in BAR0, and the unit that sends the messages.

ENTRY_DWORDS  = 4  # Address low and high, data, vector control (PCI Local Bus 3.0 6.8.2.6 to 6.8.2.9).
VECTOR_DWORD  = 3
MESSAGE_BYTES = 4


class MSIX(LiteXModule):
    """MSI-X table, Pending Bit Array and the messages of a function (PCI Local Bus 3.0 6.8.2).

    A request sets the pending bit of its vector. While MSI-X is enabled, vector and function are not masked, and
    requests can be sent, the unit clears the bit and writes the vector's data to its address, in posted order behind
    what the client sent before. Several requests of a vector that waits give one message. A message that the
    transaction layer dropped stays pending. Vectors are served in turn.

    The table is a RAM on the register bus, which the host reads and writes in dwords. After a reset of the function all
    vectors are masked, and addresses and data are 0.

    Parameters
    ----------
    port    : MemoryWritePort of the messages.
    vectors : int, number of vectors, 1 to 32.

    Attributes
    ----------
    table         : Memory, 4 dwords for each vector.
    bus           : csr_bus.Interface, **in**, the register bus; writes to the table are seen on it.
    sink          : stream of `dat[8]` (vector), **in**, requests; always ready. Those of other vectors are dropped.
    enable        : Signal(), **in**, MSI-X Enable. Without it, pending bits are 0.
    function_mask : Signal(), **in**, Function Mask.
    can_send      : Signal(), **in**, bus mastering is on and the link is up.
    clear         : Signal(), **in**, the function is being reset.
    masked        : Signal(vectors), **out**, Mask Bit of each vector.
    pending       : Signal(vectors), **out**.

    Registers
    ---------
    MSIX_PENDING, the Pending Bit Array.

    Raises ``ValueError`` if ``vectors`` is not supported.
    """
    def __init__(self, port, vectors):
        if not 1 <= vectors <= 32:
            raise ValueError(f"vectors must be 1..32, not {vectors!r}")
        self.vectors       = vectors
        self.bus           = None
        self.sink          = stream.Endpoint([("dat", 8)])
        self.enable        = Signal()
        self.function_mask = Signal()
        self.can_send      = Signal()
        self.clear         = Signal()
        self.masked        = Signal(vectors, reset=2**vectors - 1)
        self.pending       = Signal(vectors)

        # # #

        self.port  = port
        depth      = ENTRY_DWORDS * 2**bits_for(vectors - 1)
        self.table = Memory(32, depth, name="table")
        self.array = CSRStatus(32, name="pending", n=0, description="Pending Bit Array of MSI-X.")
        self.comb += self.array.status.eq(self.pending)
        self.add_sender()

    def get_memories(self):
        return [(False, self.table)]

    def get_csrs(self, sort=False):
        return [self.array]

    def watch(self, bus):
        """Takes the mask bits from the writes to the table on the register bus ``bus``."""
        page_bits = log2_int(abi.CSR_PAGING // 4)
        entry     = bus.adr[2:page_bits]
        self.sync += [
            If(bus.we & (bus.adr[page_bits:] == abi.MSIX_TABLE_BASE // abi.CSR_PAGING) &
                (bus.adr[:2] == VECTOR_DWORD),
                [If(entry == n, self.masked[n].eq(bus.dat_w[0])) for n in range(self.vectors)]
            ),
            If(self.clear, self.masked.eq(2**self.vectors - 1)),
        ]

    def add_sender(self):
        sink, out  = self.sink, self.port.sink
        self.specials.read  = read  = self.table.get_port(write_capable=True)
        vector  = Signal(max=max(2, self.vectors))
        choice  = Signal.like(vector)
        dword   = Signal(2)
        address = Signal(64)
        data    = Signal(32)
        ready   = Signal()  # `vector` may be sent.
        taken   = Signal()  # Its message begins.
        lost    = Signal()  # Its message was dropped.
        erasing = Signal(reset=1)  # The RAM is being filled with the values after a reset.
        erase   = Signal(len(read.adr))
        self.vector = vector  # Proofs read it.
        self.comb += [
            sink.ready.eq(1),
            choice.eq(Mux(vector == self.vectors - 1, 0, vector + 1)),
            ready.eq(self.enable & ~self.function_mask & self.can_send & ~erasing &
                (self.pending & ~self.masked & (1 << vector) != 0)),
            read.adr.eq(Mux(erasing, erase, Cat(dword, vector))),
            read.we.eq(erasing),
            read.dat_w.eq(erase[:2] == VECTOR_DWORD),
        ]
        self.sync += [
            If(self.clear,
                erasing.eq(1),
                erase.eq(0)
            ).Elif(erasing,
                erase.eq(erase + 1),
                If(erase == self.table.depth - 1, erasing.eq(0))
            ),
            self.pending.eq((self.pending | Mux(sink.valid, 1 << sink.dat[:5], 0) | Mux(lost, 1 << vector, 0)) &
                ~Mux(taken, 1 << vector, 0)),
            If(~self.enable | self.clear, self.pending.eq(0)),
        ]
        self.fsm = fsm = FSM(reset_state="CHOOSE")
        fsm.act("CHOOSE",
            If(ready,
                NextValue(dword, 1),
                NextState("READ_LOW")
            ).Else(
                NextValue(vector, choice)
            )
        )
        # The RAM gives a dword one cycle after its address; `dword` is 0 in CHOOSE.
        fsm.act("READ_LOW",
            NextValue(address[:32], read.dat_r),
            NextValue(dword, 2),
            NextState("READ_HIGH")
        )
        fsm.act("READ_HIGH",
            NextValue(address[32:], read.dat_r),
            NextState("READ_DATA")
        )
        fsm.act("READ_DATA",
            NextValue(data, read.dat_r),
            NextValue(dword, 0),
            NextState("CHECK")
        )
        # The host may have masked the vector meanwhile.
        fsm.act("CHECK",
            taken.eq(ready),
            If(ready, NextState("SEND")).Else(NextState("CHOOSE"))
        )
        fsm.act("SEND",
            out.valid.eq(1),
            If(out.ready, NextState("SENT"))
        )
        fsm.act("SENT",
            lost.eq(self.port.sent & self.port.dropped),
            If(self.port.sent,
                NextValue(vector, choice),
                NextState("CHOOSE")
            )
        )
        self.comb += [
            out.first.eq(1),
            out.last.eq(1),
            out.dat.eq(Replicate(data, len(out.dat) // 32)),  # In whichever lane the TLP has it.
            out.address.eq(Cat(C(0, 2), address[2:])),
            out.length.eq(MESSAGE_BYTES),
        ]
