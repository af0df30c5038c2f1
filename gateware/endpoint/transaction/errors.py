#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors of the endpoint in gateware: their bits in configuration space, their log, and their messages."""

from dataclasses import dataclass

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.data_link.words import HEADER_BITS

# Kinds --------------------------------------------------------------------------------------------
# Errors that the endpoint in gateware detects, and their bits in configuration space.

# Where the header of a TLP in error comes from: a request of the host, a TLP that is malformed, or what the transaction
# layer found, which is a completion of the host or a request that the card aborted.
SOURCES = REQUEST, MALFORMED, LAYER = range(3)


@dataclass(frozen=True)
class Kind:
    """An uncorrectable error.

    - bit      : of Uncorrectable Error Status (PCIe 2.1 7.10.2).
    - source   : of its header. None: there is no TLP, or the specification logs none (tables 6-2 to 6-4).
    - advisory : unless it is fatal, it counts as correctable (6.2.3.2.4).
    - received : a received TLP caused it, which the function tells in D3hot, too (5.3.1.4.1).
    - parity   : the TLP was poisoned.
    """
    bit      : int
    source   : int = None
    advisory : bool = False
    received : bool = True
    parity   : bool = False


PROTOCOL, POISONED, TIMEOUT, ABORT, UNEXPECTED, OVERFLOW, MALFORMED_TLP, UNSUPPORTED = 4, 12, 14, 15, 16, 17, 18, 20
# A requester knows of a refused or aborted request by its completion, and the driver tries again what a completion has
# spoilt or has not come for: these are advisory. Nobody knows of a posted request that is refused or poisoned.
#
# Of errors in one cycle, the first one here is logged.
KINDS = {
    "malformed":           Kind(MALFORMED_TLP, MALFORMED),
    "abort":               Kind(ABORT, LAYER, advisory=True),
    "unexpected":          Kind(UNEXPECTED, LAYER, advisory=True),
    "poisoned_completion": Kind(POISONED, LAYER, advisory=True, parity=True),
    "unsupported":         Kind(UNSUPPORTED, REQUEST, advisory=True),
    "unsupported_posted":  Kind(UNSUPPORTED, REQUEST),
    "poisoned_request":    Kind(POISONED, REQUEST, advisory=True, parity=True),
    "poisoned_posted":     Kind(POISONED, REQUEST, parity=True),
    "overflow":            Kind(OVERFLOW),
    "protocol":            Kind(PROTOCOL, received=False),
    "timeout":             Kind(TIMEOUT, advisory=True, received=False),
}
# Bits of Uncorrectable Error Status, Mask and Severity that there are. Others are not detected: Surprise Down is of
# ports above a link, Flow Control Protocol Error and ECRC are optional, and an endpoint with one function has no ACS.
REPORTED = tuple(sorted({kind.bit for kind in KINDS.values()}))
DETECTABLE = sum(1 << bit for bit in REPORTED)

# Bits of Correctable Error Status (7.10.5).
ADVISORY = 13
CORRECTABLE = {"receiver": 0, "bad_tlp": 6, "bad_dllp": 7, "rollover": 8, "replay_timer": 12}
# Bits of Device Status (7.8.5): Correctable, Non-Fatal and Fatal Error Detected, Unsupported Request Detected.
DETECTED = CORRECTABLE_DETECTED, NONFATAL_DETECTED, FATAL_DETECTED, UNSUPPORTED_DETECTED = range(4)

# Log ----------------------------------------------------------------------------------------------
# First Error Pointer and Header Log: the first uncorrectable error, and the header of its TLP.

FOUR_DWORDS = 32 - 3  # Of the first dword of a header, whose byte 0 is in bits 31:24.


class ErrorLog(LiteXModule):
    """Holds the number of an error and a header until the host clears the error (PCIe 2.1 6.2.4.2, 7.10.7, 7.10.8).

    The header of the newest TLP of each source is kept, so that an error has it at hand when it is known. The source of
    a logged error keeps that one. There is one log: while it is in use, errors set their bits only. It reads as 0 when
    it is free, and the header of an error without a TLP as well.

    Attributes
    ----------
    headers  : [128] for each of SOURCES, **in**; see `HeaderWords`.
    load     : [1], **in**; a pulse, at the latest with the error: the header is that of the newest TLP.
    unknown  : [1], **in**; with ``load``: nobody has its header.
    logged   : {name: 1}, **in**; pulses for each of KINDS, see `ErrorReports`, a cycle after the error.
    cleared  : 32, **in**; bits that are cleared in Uncorrectable Error Status in this cycle.
    hold     : 1, **in**; errors do not count.
    pointer  : 5, **out**; First Error Pointer.
    address  : 2, **in**; dword of Header Log.
    data     : 32, **out**; it, in the next cycle.
    """
    def __init__(self):
        self.headers = [Signal(HEADER_BITS, name=f"header{n}") for n in SOURCES]
        self.load    = [Signal(name=f"load{n}") for n in SOURCES]
        self.unknown = [Signal(name=f"unknown{n}") for n in SOURCES]
        self.logged  = {name: Signal(name=f"log_{name}") for name in KINDS}
        self.cleared = Signal(32)
        self.hold    = Signal()
        self.pointer = Signal(5)
        self.address = Signal(2)
        self.data    = Signal(32)

        # # #

        kept  = [Signal(HEADER_BITS, name=f"kept{n}", reset_less=True) for n in SOURCES]
        fresh = Signal(len(SOURCES))  # What is kept is of the newest TLP.
        used  = Signal(len(SOURCES))  # The log shows it.
        free  = Signal()
        for n in SOURCES:
            self.sync += If(self.load[n],
                fresh[n].eq(~used[n] & ~self.unknown[n]),
                If(~used[n], kept[n].eq(self.headers[n])),
            )
        self.comb += [
            free.eq(self.pointer == 0),
            Case(self.pointer, {bit: If(self.cleared[bit], free.eq(1)) for bit in REPORTED}),
        ]
        choice = If(self.hold)
        for name, kind in KINDS.items():
            choice = choice.Elif(self.logged[name],
                self.pointer.eq(kind.bit),
                used.eq(0 if kind.source is None else fresh & 1 << kind.source),
            )
        self.sync += [
            If(free, self.pointer.eq(0), used.eq(0), choice),
            # One dword of each header, and none of those that are not used or have no fourth one.
            self.data.eq(Reduce("OR", [Mux(used[n] & ((self.address != 3) | kept[n][FOUR_DWORDS]),
                self.dword(kept[n]), 0) for n in SOURCES])),
        ]

    def dword(self, header):
        return Array([header[32*n:32*n + 32] for n in range(4)])[self.address]

# Reports ------------------------------------------------------------------------------------------
# What an error sets in configuration space, and what it tells the host: advisory, non-fatal or fatal.

# Messages: bits of ``messages`` and ``late``, and of the enables in Device Control (7.8.4), where a further one is for
# unsupported requests.
MESSAGES = COR, NONFATAL, FATAL = range(3)
UNSUPPORTED_ENABLE = 3


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
