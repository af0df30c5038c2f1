#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LitePCIe SoC cards from Python, by the C library liblitepcie.

    with Card("litepcie0") as card:
        card.memory[0:1024] = samples
        back = card.memory[0:1024]

Directions are as seen from the card: a reader moves host memory to the card, a writer the card's memory to the host.
"""

from liblitepcie.calc      import Calculation, Rates, calc
from liblitepcie.capture.raw import load
from liblitepcie.card      import Card, CardEntry, Counters, Errors, Info, cards
from liblitepcie.errors    import LibraryMissing, LitePCIeError, WrongRegister
from liblitepcie.host_buffer import HostBuffer
from liblitepcie.interrupt import Interrupt
from liblitepcie.memory    import Memory
from liblitepcie.queue     import Queue
from liblitepcie.registers import Register, Registers
from liblitepcie.stream    import Stream, StreamInfo
from liblitepcie.version   import __version__

__all__ = ["Calculation", "Card", "CardEntry", "Counters", "Errors", "HostBuffer", "Info", "Interrupt",
    "LibraryMissing", "LitePCIeError", "Memory", "Queue", "Rates", "Register", "Registers", "Stream", "StreamInfo",
    "WrongRegister", "__version__", "calc", "cards", "load"]
