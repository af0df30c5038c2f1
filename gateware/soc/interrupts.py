#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Interrupts of the user's logic."""

import re

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

from litepcie_soc.common import abi
from litepcie_soc.soc.identity import ClearedStorage
from litepcie_soc.soc.msi import msi_layout

# Registers ----------------------------------------------------------------------------------------


def name_words(name):
    """Returns the name of an interrupt as dwords, first character in the low byte. Raises ``ValueError``."""
    if not re.fullmatch(f"[a-z][a-z0-9_]{{0,{abi.INTERRUPT_NAME_BYTES - 2}}}", name):
        raise ValueError(f"interrupt name {name!r} is not supported; give a lower-case letter, then up to "
            f"{abi.INTERRUPT_NAME_BYTES - 2} of a-z, 0-9 and _")
    name = name.encode("ascii").ljust(abi.INTERRUPT_NAME_BYTES, b"\0")
    return [int.from_bytes(name[n:n + 4], "little") for n in range(0, len(name), 4)]


class InterruptRegisters(LiteXModule):
    """Registers of the user's interrupts. Bit n belongs to interrupt n.

    Parameters
    ----------
    names : list of names of the interrupts.
    pulse : int, bit mask of those that latch pulses.

    Registers
    ---------
    Those of the section of the user's interrupts in ``software/kernel/litepcie_regs.h``.
    """
    def __init__(self, names=(), pulse=0):
        self.count   = CSRStatus(32, name="count", n=0, reset=len(names),
            description="Number of the user's interrupts.")
        self.kind    = CSRStatus(32, name="pulse", n=1, reset=pulse,
            description="1: latches pulses. 0: follows a level.")
        self.vector  = ClearedStorage(name="vector", n=2, description="Vectors.", fields=[
            CSRField("first", 8, offset=0, description="vector of interrupt 0"),
            CSRField("each",  1, offset=8, description="interrupt n has vector FIRST + n, not FIRST"),
        ])
        self.arm     = CSRStorage(32, name="arm", n=3, description="Write 1: arm, and forget FIRED.")
        self.disarm  = CSRStorage(32, name="disarm", n=4, description="Write 1: disarm, and forget FIRED.")
        self.forget  = CSRStorage(32, name="forget", n=5, description="Write 1: forget a latched pulse.")
        self.armed   = CSRStatus(32, name="armed", n=6, description="Sends a message when pending, then is disarmed.")
        self.pending = CSRStatus(32, name="pending", n=7, description="Level is high, or a pulse is latched.")
        self.fired   = CSRStatus(32, name="fired", n=8, description="Sent its message since it was armed.")
        self.names   = [
            CSRStatus(32, name=f"name{n}_{place}", n=9 + abi.INTERRUPT_NAME_BYTES // 4 * n + place, reset=word,
                description="ASCII, first character lowest.")
            for n, name in enumerate(names) for place, word in enumerate(name_words(name))
        ]

    def get_csrs(self, sort=False):
        return [self.count, self.kind, self.vector, self.arm, self.disarm, self.forget, self.armed, self.pending,
            self.fired, *self.names]

# User Interrupts ----------------------------------------------------------------------------------


class UserInterrupts(InterruptRegisters):
    """Sends a message for each interrupt of the user's logic that the host has armed.

    An interrupt fires once: when it is armed and pending, the unit sends its message and disarms it. So a source that
    is asserted all the time causes one message each time the host arms the interrupt. Interrupts are served in turn.

    A pulse stays pending until a message is sent for it. A pulse after the message fires when the host arms the
    interrupt again. Pulses before the message share it.

    Parameters
    ----------
    interrupts : list of (name, source, pulse), as in ``LitePCIe.add_interrupt``; 1 to 16.

    Attributes
    ----------
    source : stream of ``msi_layout``, **out**, requests of messages.
    enable : Signal(), **in**, the host takes messages. No interrupt fires while it is deasserted.
    reset  : Signal(), **in**, the function is being reset: disarm all interrupts, forget pulses, VECTOR is 0.
    armed, pending, fired : Signal(interrupts), **out**, as in the registers.

    Raises ``ValueError`` if a name, a source or the number of interrupts is not supported.
    """
    def __init__(self, interrupts):
        check_interrupts(interrupts)
        count = len(interrupts)
        InterruptRegisters.__init__(self, [name for name, _, _ in interrupts],
            sum(bool(pulse) << n for n, (_, _, pulse) in enumerate(interrupts)))
        self.source = stream.Endpoint(msi_layout())
        self.enable = Signal()
        self.reset  = Signal()

        # # #

        armed, pending, fired = Signal(count), Signal(count), Signal(count)
        arm, disarm, forget   = Signal(count), Signal(count), Signal(count)
        sent                  = Signal(count)  # One bit: the message of this interrupt has been taken.
        for bits, register in ((armed, self.armed), (pending, self.pending), (fired, self.fired)):
            self.comb += register.status.eq(bits)
        for bits, register in ((arm, self.arm), (disarm, self.disarm), (forget, self.forget)):
            self.comb += If(register.re, bits.eq(register.storage))
        for n, (_, source, pulse) in enumerate(interrupts):
            latched    = pending[n] & ~sent[n] & ~forget[n] & ~self.reset if pulse else 0
            self.sync += pending[n].eq(source | latched)
        # A message that is taken while the host arms the interrupt again still counts as one: the host sees it.
        self.sync += [
            armed.eq((armed | arm) & ~disarm & ~sent),
            fired.eq((fired & ~arm & ~disarm) | sent),
            If(self.reset, armed.eq(0), fired.eq(0)),
        ]
        self.comb += self.vector.clear.eq(self.reset)
        self.add_sender(count, armed & pending, sent)

    def add_sender(self, count, wanted, sent):
        """Looks at one interrupt per cycle, and sends the messages of those in ``wanted``."""
        number = Signal(max=max(2, count))
        chosen = Signal(count)
        self.comb += [
            chosen.eq(1 << number),
            self.source.dat.eq(self.vector.fields.first + Mux(self.vector.fields.each, number, 0)),
        ]
        self.fsm = fsm = FSM(reset_state="LOOK")
        fsm.act("LOOK",
            If(self.enable & (wanted & chosen != 0),
                NextState("SEND")
            ).Else(
                NextValue(number, Mux(number == count - 1, 0, number + 1))
            )
        )
        fsm.act("SEND",
            self.source.valid.eq(1),
            If(self.source.ready,
                sent.eq(chosen),
                NextState("LOOK")
            )
        )


def check_interrupts(interrupts):
    """Raises ``ValueError`` with one line if the interrupts are not supported."""
    names = [name for name, _, _ in interrupts]
    if not 1 <= len(names) <= abi.MAX_INTERRUPTS:
        raise ValueError(f"{len(names)} interrupts are not supported; give 1 to {abi.MAX_INTERRUPTS}")
    for n, (name, source, _) in enumerate(interrupts):
        name_words(name)
        if name in names[:n]:
            raise ValueError(f"interrupt name {name!r} is taken; give another one")
        if len(source) != 1:
            raise ValueError(f"interrupt {name} has a source of {len(source)} bits; give one bit")
