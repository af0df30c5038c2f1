#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What an error sets in configuration space, and what it tells the host: advisory, non-fatal or fatal."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.error_kinds import ADVISORY, CORRECTABLE, CORRECTABLE_DETECTED, DETECTED, FATAL_DETECTED
from litepcie_soc.phy.soft.error_kinds import KINDS, NONFATAL_DETECTED, REPORTED, UNSUPPORTED, UNSUPPORTED_DETECTED

# Messages: bits of ``messages`` and ``late``, and of the enables in Device Control (7.8.4), where a further one is for
# unsupported requests.
MESSAGES = COR, NONFATAL, FATAL = range(3)
UNSUPPORTED_ENABLE = 3

# Error Reports ------------------------------------------------------------------------------------


class ErrorReports(LiteXModule):
    """Decides which bits an error sets, and which message it asks for (PCIe 2.1 6.2.5, figure 6-2).

    An error of KINDS is fatal if its bit of Uncorrectable Error Severity is set. Otherwise it is advisory, that is,
    correctable (6.2.3.2.4), or non-fatal, as its kind says. Uncorrectable Error Status shows an advisory error only
    while Advisory Non-Fatal Error is not masked. The header of an error that Uncorrectable Error Status shows is
    logged, unless Uncorrectable Error Mask has its bit.

    In D3hot, an error by a received TLP is told, and others when the function is back in D0 (5.3.1.4.1): ``late``.

    Attributes
    ----------
    errors    : {name: 1}, **in**; pulses, for each of KINDS.
    correctable : {name: 1}, **in**; pulses, for each of CORRECTABLE: what the link has made good.
    severity, mask : 32, **in**; Uncorrectable Error Severity and Mask.
    correctable_mask : 32, **in**; Correctable Error Mask.
    enables   : 4, **in**; of Device Control.
    serr      : 1, **in**; SERR# Enable.
    parity    : 1, **in**; Parity Error Response.
    detected  : 4, **out**; pulses: bits of Device Status, a cycle after the error, as the other outputs.
    uncorrectable : {bit: 1}, **out**; pulses: bits of Uncorrectable Error Status.
    logged    : {name: 1}, **out**; pulses: an error of KINDS that may be logged.
    corrected : {bit: 1}, **out**; pulses: bits of Correctable Error Status.
    messages, late : 3, **out**; pulses for each of MESSAGES: a message is wanted, by a received TLP or else.
    signaled, aborted, poisoned, poisoned_data : 1, **out**; pulses: bits of Status: Signaled System Error, Signaled
                Target Abort, Detected Parity Error and Master Data Parity Error.
    """
    def __init__(self):
        self.errors    = {name: Signal(name=f"error_{name}") for name in KINDS}
        self.correctable = {name: Signal(name=f"correctable_{name}") for name in CORRECTABLE}
        self.severity  = Signal(32)
        self.mask      = Signal(32)
        self.correctable_mask = Signal(32)
        self.enables   = Signal(4)
        self.serr      = Signal()
        self.parity    = Signal()
        self.detected  = Signal(len(DETECTED))
        self.uncorrectable = {bit: Signal(name=f"uncorrectable{bit}") for bit in REPORTED}
        self.logged    = {name: Signal(name=f"logged_{name}") for name in KINDS}
        self.corrected = {bit: Signal(name=f"corrected{bit}") for bit in (*CORRECTABLE.values(), ADVISORY)}
        self.messages  = Signal(len(MESSAGES))
        self.late      = Signal(len(MESSAGES))
        self.signaled  = Signal()
        self.aborted   = Signal()
        self.poisoned  = Signal()
        self.poisoned_data = Signal()

        # # #

        errors   = self.errors
        fatal    = {name: errors[name] & self.severity[kind.bit] for name, kind in KINDS.items()}
        advisory = {name: errors[name] & ~self.severity[kind.bit] for name, kind in KINDS.items() if kind.advisory}
        nonfatal = {name: errors[name] & ~self.severity[kind.bit] for name, kind in KINDS.items() if not kind.advisory}
        some     = Reduce("OR", list(advisory.values()))
        shown    = {name: errors[name] & (self.severity[kind.bit] | ~self.correctable_mask[ADVISORY]
            if kind.advisory else 1) for name, kind in KINDS.items()}
        self.sync += [
            self.detected[CORRECTABLE_DETECTED].eq(Reduce("OR", [some, *self.correctable.values()])),
            self.detected[NONFATAL_DETECTED].eq(Reduce("OR", list(nonfatal.values()))),
            self.detected[FATAL_DETECTED].eq(Reduce("OR", list(fatal.values()))),
            self.detected[UNSUPPORTED_DETECTED].eq(self.any_of(errors, bit=UNSUPPORTED)),
            [self.corrected[CORRECTABLE[name]].eq(error) for name, error in self.correctable.items()],
            self.corrected[ADVISORY].eq(some),
            [signal.eq(self.any_of(shown, bit=bit)) for bit, signal in self.uncorrectable.items()],
            [self.logged[name].eq(error & ~self.mask[KINDS[name].bit]) for name, error in shown.items()],
            self.aborted.eq(errors["abort"]),
            self.poisoned.eq(self.any_of(errors, parity=True)),
            self.poisoned_data.eq(errors["poisoned_completion"] & self.parity),
        ]
        self.add_messages(fatal, nonfatal, advisory)

    @staticmethod
    def any_of(signals, **fields):
        """Any of the signals {name: 1} whose kinds have these fields."""
        return Reduce("OR", [signal for name, signal in signals.items()
            if all(getattr(KINDS[name], field) == value for field, value in fields.items())] or [0])

    def add_messages(self, fatal, nonfatal, advisory):
        """What the host has enabled of it. SERR# Enable stands for the enables of what is not correctable."""
        some = {message: Signal(name=f"enabled{message}") for message in MESSAGES}
        told = self.enables[UNSUPPORTED_ENABLE]

        def wanted(errors, mask, unsupported, message):
            """Errors that ask for a message; of an unsupported request, if ``unsupported``."""
            return {name: error & ~(self.mask[KINDS[name].bit] if mask is None else mask) & some[message]
                & (unsupported if KINDS[name].bit == UNSUPPORTED else 1) for name, error in errors.items()}
        link  = [error & ~self.correctable_mask[CORRECTABLE[name]] for name, error in self.correctable.items()]
        parts = {
            COR:      wanted(advisory, self.correctable_mask[ADVISORY], told, COR),
            NONFATAL: wanted(nonfatal, None, told | self.serr, NONFATAL),
            FATAL:    wanted(fatal, None, told | self.serr, FATAL),
        }
        self.comb += [
            some[COR].eq(self.enables[COR]),
            some[NONFATAL].eq(self.enables[NONFATAL] | self.serr),
            some[FATAL].eq(self.enables[FATAL] | self.serr),
            self.signaled.eq(self.serr & ((self.messages | self.late)[NONFATAL:] != 0)),
        ]
        for message, signals in parts.items():
            late = [self.any_of(signals, received=False)]
            if message == COR:
                late.append(Reduce("OR", link) & some[COR])
            self.sync += [
                self.messages[message].eq(self.any_of(signals, received=True)),
                self.late[message].eq(Reduce("OR", late)),
            ]
