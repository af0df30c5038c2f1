#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The logic of the options ``--streams``, ``--user-bus``, ``--host-buffers`` and ``--interrupts`` of every board.

Its registers have the same addresses on every board, so that the programs which test the simulated board run on a
real one too.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream, wishbone
from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage
from litex.soc.cores.timer import Timer
from litex.soc.integration.soc import SoCRegion

from litepcie_soc.board.user_options import USER_RAM, USER_RAM_BYTES
from litepcie_soc.stream_dma.pattern import StreamEnds

# Copier -------------------------------------------------------------------------------------------
# Copies dwords between buffers in host memory, as an example of user's logic, and to test its bounds.


class HostCopier(LiteXModule):
    """Reads dwords at one address of a ``HostPort`` and writes them at another, one access at a time.

    A dword whose read fails is not written. With GIVE_UP, the master breaks the rules: it gives up each cycle that has
    no answer after so many clock cycles, and goes on with the next dword.

    Parameters
    ----------
    address_width : int, bits of a byte address of the port.
    patient       : bool, GIVE_UP does nothing: LiteX's bridge to AXI gives the answer of such a cycle to the next one.

    Attributes
    ----------
    bus  : wishbone.Interface, master, 32-bit data, for ``HostPort.bus``.
    done : Signal(), **out**, one cycle: all dwords were copied.

    Registers
    ---------
    source, target : byte addresses at the port, multiples of 4.
    words   : number of dwords.
    control : a write with START begins; with AGAIN, the copy begins again whenever it is done.
    status  : BUSY until the copy is done.
    errors  : accesses that ended with an error, since START.
    copied  : dwords copied, since START.
    """
    def __init__(self, address_width, patient=False):
        self.source  = CSRStorage(32, description="Address of the first dword to read.")
        self.target  = CSRStorage(32, description="Address of the first dword to write.")
        self.words   = CSRStorage(32, description="Number of dwords.")
        self.control = CSRStorage(description="Control.", fields=[
            CSRField("start", 1, pulse=True, description="begin"),
            CSRField("again", 1, description="begin again when done"),
            CSRField("give_up", 8, offset=8, description="give a cycle up after so many clock cycles; 0: never"),
        ])
        self.status  = CSRStatus(description="State.", fields=[CSRField("busy", description="not done")])
        self.errors  = CSRStatus(32, description="Accesses that failed.")
        self.copied  = CSRStatus(32, description="Dwords copied.")
        self.bus     = bus = wishbone.Interface(data_width=32, address_width=address_width)
        self.done    = Signal()

        # # #

        word    = Signal(32)
        waited  = Signal(8)
        gives   = Signal()
        strobe  = Signal()
        control = self.control.fields
        self.comb += [
            bus.cyc.eq(strobe),
            bus.stb.eq(strobe),
            bus.sel.eq(0xf),
            bus.adr.eq(Mux(bus.we, self.target.storage[2:], self.source.storage[2:]) + word),
            gives.eq(0 if patient else (control.give_up != 0) & (waited == control.give_up)),
        ]
        self.sync += [
            If(strobe & ~bus.ack & ~bus.err, waited.eq(waited + 1)).Else(waited.eq(0)),
            If(strobe & bus.err, self.errors.status.eq(self.errors.status + 1)),
            If(control.start, self.errors.status.eq(0)),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += self.status.fields.busy.eq(~fsm.ongoing("IDLE"))
        fsm.act("IDLE",
            NextValue(word, 0),
            If(control.start,
                NextValue(self.copied.status, 0),
                NextState("CHECK")
            )
        )
        fsm.act("CHECK",
            NextState("READ"),
            If(word >= self.words.storage,
                self.done.eq(1),
                NextValue(word, 0),
                NextState("IDLE"),
                If(control.again, NextState("CHECK"))
            )
        )
        fsm.act("READ",
            strobe.eq(1),
            If(bus.err | (~bus.ack & gives),    # LiteX's bridge to AXI-Lite gives ``ack`` with ``err``.
                NextState("NEXT")
            ).Elif(bus.ack,
                NextValue(bus.dat_w, bus.dat_r),
                NextState("WRITE")
            )
        )
        fsm.act("WRITE",
            strobe.eq(1),
            bus.we.eq(1),
            If(bus.ack & ~bus.err, NextValue(self.copied.status, self.copied.status + 1)),
            If(bus.ack | bus.err | gives, NextState("NEXT"))
        )
        fsm.act("NEXT",
            NextValue(word, word + 1),
            NextState("CHECK")
        )

# Mover --------------------------------------------------------------------------------------------
# Gives descriptors that a program writes into registers to a descriptor port, as an example of user's logic.


class HostMover(LiteXModule):
    """Moves data between buffers of the host and the endpoint memory.

    Parameters
    ----------
    port : ``DescriptorPort`` of the card.

    Attributes
    ----------
    source : Endpoint(user_descriptor_layout), **out**, for ``DescriptorPort.sink``.
    sink   : Endpoint(end_layout), **in**, from ``DescriptorPort.source``.

    Registers
    ---------
    address  : byte address of the buffer's bytes, as at the card's bus port.
    endpoint : byte address in the first 16 MiB of the endpoint memory.
    length   : bytes.
    submit   : a write gives the descriptor to the port.
    ended    : number of descriptors that have ended.
    last     : REASON of the last end, and its TAG and WRITE.
    busy     : the descriptor before has not been taken.
    """
    def __init__(self, port):
        self.source   = source = stream.Endpoint(port.sink.description)
        self.sink     = sink   = stream.Endpoint(port.source.description)
        self.address  = CSRStorage(32, description="Address in the buffers.")
        self.endpoint = CSRStorage(24, description="Address in the endpoint memory.")
        self.length   = CSRStorage(24, description="Bytes.")
        self.submit   = CSRStorage(description="A write submits a descriptor.", fields=[
            CSRField("tag", 8, description="comes back with the end"),
            CSRField("write", 1, offset=8, description="endpoint memory to host"),
        ])
        self.ended    = CSRStatus(32, description="Descriptors that have ended.")
        self.last     = CSRStatus(description="The last end.", fields=[
            CSRField("reason", 8, description="0: all bytes have landed"),
            CSRField("tag", 8, offset=8, description="of the descriptor"),
            CSRField("write", 1, offset=16, description="endpoint memory to host"),
        ])
        self.busy     = CSRStatus(description="Whether SUBMIT must wait.")

        # # #

        self.comb += [
            source.address.eq(self.address.storage),
            source.endpoint.eq(self.endpoint.storage),
            source.length.eq(self.length.storage),
            source.tag.eq(self.submit.fields.tag),
            source.write.eq(self.submit.fields.write),
            source.valid.eq(self.busy.status),
            sink.ready.eq(1),
        ]
        self.sync += [
            If(source.ready, self.busy.status.eq(0)),
            If(self.submit.re, self.busy.status.eq(1)),
            If(sink.valid,
                self.ended.status.eq(self.ended.status + 1),
                self.last.fields.reason.eq(sink.reason),
                self.last.fields.tag.eq(sink.tag),
                self.last.fields.write.eq(sink.write),
            ),
        ]

# All Options --------------------------------------------------------------------------------------


class UserCore(LiteXModule):
    """What a designer might add: registers, a timer, sources of interrupts.

    Registers
    ---------
    operand : 32 bits.
    result  : 32 bits, ``operand`` with its bits inverted.
    level   : 1 bit, the interrupt of this name.
    pulse   : a write makes a pulse of a cycle, the interrupt of this name.
    storm   : 1 bit, the interrupt of this name, which then has a pulse in each cycle.

    Those of ``timer`` are LiteX's; its EventManager has the interrupt "timer".

    Attributes
    ----------
    interrupts : list of (name, source, pulse) for ``add_interrupt``.
    """
    def __init__(self):
        self.operand = CSRStorage(32, description="A value.")
        self.result  = CSRStatus(32, description="The value with its bits inverted.")
        self.level   = CSRStorage(description="Level of an interrupt.")
        self.pulse   = CSRStorage(description="A write makes a pulse.")
        self.storm   = CSRStorage(description="A pulse in each cycle.")
        self.timer   = Timer()
        self.interrupts = [
            ("level", self.level.storage,  False),
            ("pulse", self.pulse.re,       True),
            ("storm", self.storm.storage,  True),
            ("timer", self.timer.ev.irq,   False),
        ]

        # # #

        self.comb += self.result.status.eq(~self.operand.storage)


def add_user_logic(soc, options):
    """Adds the logic of ``UserOptions`` to a SoC whose card has ``options.card()``."""
    card = soc.litepcie
    if options.core:
        soc.core = UserCore()
        soc.csr.add("core", n=0)
    if options.user_bus:
        soc.user_ram = wishbone.SRAM(USER_RAM_BYTES)
        soc.bus.add_slave("ram", soc.user_ram.bus, SoCRegion(origin=USER_RAM, size=USER_RAM_BYTES))
    interrupts = soc.core.interrupts if options.interrupts else []
    if options.host_buffers:
        add_host_logic(soc, card)
        interrupts = [*interrupts, *[("copied", soc.user_copier.done, True)] * options.interrupts]
    for name, source, pulse in interrupts:
        card.add_interrupt(name, source, pulse)
    for place, channel in enumerate(card.streams[:options.streams]):
        ends = StreamEnds(soc.pcie_phy.data_width, loop=place < options.streams - options.patterns)
        soc.add_module(f"stream{place}", ends)
        soc.comb += [channel.source.connect(ends.sink), ends.source.connect(channel.sink)]


def add_host_logic(soc, card):
    """Adds logic that moves data between buffers in host memory, and to and from the endpoint memory."""
    soc.user_copier = HostCopier(log2_int(card.host.bytes))
    soc.user_mover  = mover = HostMover(card.descriptor_port)
    soc.comb += [
        soc.user_copier.bus.connect(card.host.bus),
        mover.source.connect(card.descriptor_port.sink),
        card.descriptor_port.source.connect(mover.sink),
    ]
    for page, name in enumerate(("user_copier", "user_mover"), start=1):
        soc.csr.add(name, n=page)
