#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What an error sets in configuration space, and what it tells the host: advisory, non-fatal or fatal."""

from migen import *

from litex.gen import *

# Errors that the endpoint reports: bits of Uncorrectable Error Status (PCIe 2.1 7.10.2).
POISONED, TIMEOUT, UNEXPECTED, UNSUPPORTED = 12, 14, 16, 20
REPORTED = POISONED, TIMEOUT, UNEXPECTED, UNSUPPORTED
# Bits of Correctable Error Status (7.10.5).
ADVISORY = 13
CORRECTABLE = {"receiver": 0, "bad_tlp": 6, "bad_dllp": 7, "rollover": 8, "replay_timer": 12}
# Bits of Device Status (7.8.5): Correctable, Non-Fatal and Fatal Error Detected, Unsupported Request Detected.
DETECTED = CORRECTABLE_DETECTED, NONFATAL_DETECTED, FATAL_DETECTED, UNSUPPORTED_DETECTED = range(4)
# Messages: bits of ``messages`` and ``late``, and of the enables in Device Control (7.8.4), where a further one is for
# unsupported requests.
KINDS = COR, NONFATAL, FATAL = range(3)
UNSUPPORTED_ENABLE = 3

# Error Reports ------------------------------------------------------------------------------------


class ErrorReports(LiteXModule):
    """Decides which bits an error sets, and which message it asks for (PCIe 2.1 6.2.5, figure 6-2).

    An error of REPORTED is fatal if its bit of Uncorrectable Error Severity is set. Otherwise it is advisory, that is,
    correctable (6.2.3.2.4): a requester knows of an unsupported request by its completion, and the driver tries again
    what a completion has spoilt or has not come for. Uncorrectable Error Status shows an advisory error only while
    Advisory Non-Fatal Error is not masked. Nobody knows of a posted request that is unsupported: it is non-fatal.

    In D3hot, an error by a received TLP is told, and others when the function is back in D0 (5.3.1.4.1): ``late``.

    Attributes
    ----------
    errors    : [1], **in**; pulses, for each of REPORTED.
    unsupported_posted : 1, **in**; a pulse: a posted request was unsupported.
    correctable : {name: 1}, **in**; pulses, for each of CORRECTABLE: what the link has made good.
    severity, mask : 32, **in**; Uncorrectable Error Severity and Mask.
    correctable_mask : 32, **in**; Correctable Error Mask.
    enables   : 4, **in**; of Device Control.
    serr      : 1, **in**; SERR# Enable.
    detected  : 4, **out**; pulses: bits of Device Status, a cycle after the error, as the other outputs.
    uncorrectable : {bit: 1}, **out**; pulses: bits of Uncorrectable Error Status.
    corrected : {bit: 1}, **out**; pulses: bits of Correctable Error Status.
    messages, late : 3, **out**; pulses for each of KINDS: a message is wanted, by a received TLP or else.
    signaled  : 1, **out**; a pulse: Signaled System Error.
    """
    def __init__(self):
        self.errors    = [Signal(name=f"error{bit}") for bit in REPORTED]
        self.unsupported_posted = Signal()
        self.correctable = {name: Signal(name=f"correctable_{name}") for name in CORRECTABLE}
        self.severity  = Signal(32)
        self.mask      = Signal(32)
        self.correctable_mask = Signal(32)
        self.enables   = Signal(4)
        self.serr      = Signal()
        self.detected  = Signal(len(DETECTED))
        self.uncorrectable = {bit: Signal(name=f"uncorrectable{bit}") for bit in REPORTED}
        self.corrected = {bit: Signal(name=f"corrected{bit}") for bit in (*CORRECTABLE.values(), ADVISORY)}
        self.messages  = Signal(len(KINDS))
        self.late      = Signal(len(KINDS))
        self.signaled  = Signal()

        # # #

        posted   = self.unsupported_posted
        fatal    = [error & self.severity[bit] for bit, error in zip(REPORTED, self.errors)]
        advisory = [error & ~self.severity[bit] for bit, error in zip(REPORTED, self.errors)]
        some     = Reduce("OR", advisory)
        self.sync += [
            self.detected[CORRECTABLE_DETECTED].eq(Reduce("OR", [some, *self.correctable.values()])),
            self.detected[NONFATAL_DETECTED].eq(posted & ~self.severity[UNSUPPORTED]),
            self.detected[FATAL_DETECTED].eq(Reduce("OR", fatal) | (posted & self.severity[UNSUPPORTED])),
            self.detected[UNSUPPORTED_DETECTED].eq(self.errors[REPORTED.index(UNSUPPORTED)] | posted),
            [self.corrected[CORRECTABLE[name]].eq(error) for name, error in self.correctable.items()],
            self.corrected[ADVISORY].eq(some),
            [self.uncorrectable[bit].eq(error & (self.severity[bit] | ~self.correctable_mask[ADVISORY])
                | (posted if bit == UNSUPPORTED else 0)) for bit, error in zip(REPORTED, self.errors)],
        ]
        self.add_messages(fatal, advisory)

    def add_messages(self, fatal, advisory):
        """What the host has enabled of it. SERR# Enable stands for the enables of what is not correctable."""
        some   = {kind: Signal(name=f"enabled{kind}") for kind in KINDS}
        told   = self.enables[UNSUPPORTED_ENABLE]
        posted = self.unsupported_posted & ~self.mask[UNSUPPORTED] & (told | self.serr)

        def open_(bit, unsupported):
            """An error may be told; of an unsupported request, if ``unsupported``."""
            return unsupported if bit == UNSUPPORTED else 1
        quiet   = {bit: error & ~self.correctable_mask[ADVISORY] & open_(bit, told) & some[COR]
            for bit, error in zip(REPORTED, advisory)}
        grave   = {bit: error & ~self.mask[bit] & open_(bit, told | self.serr) & some[FATAL]
            for bit, error in zip(REPORTED, fatal)}
        by_tlp  = [bit for bit in REPORTED if bit != TIMEOUT]
        link    = [error & ~self.correctable_mask[CORRECTABLE[name]] for name, error in self.correctable.items()]
        wanted  = Cat(Reduce("OR", [quiet[bit] for bit in by_tlp]),
            posted & ~self.severity[UNSUPPORTED] & some[NONFATAL],
            Reduce("OR", [grave[bit] for bit in by_tlp]) | (posted & self.severity[UNSUPPORTED] & some[FATAL]))
        self.comb += [
            some[COR].eq(self.enables[COR]),
            some[NONFATAL].eq(self.enables[NONFATAL] | self.serr),
            some[FATAL].eq(self.enables[FATAL] | self.serr),
            self.signaled.eq(self.serr & (self.messages[NONFATAL] | self.messages[FATAL] | self.late[FATAL])),
        ]
        self.sync += [
            self.messages.eq(wanted),
            self.late[COR].eq((Reduce("OR", link) & some[COR]) | quiet[TIMEOUT]),
            self.late[FATAL].eq(grave[TIMEOUT]),
        ]
