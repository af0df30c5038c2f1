#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors that the endpoint in gateware detects, and their bits in configuration space."""

from dataclasses import dataclass

# Where the header of a TLP in error comes from: a request of the host, a TLP that is malformed, or what the transaction
# layer found, which is a completion of the host or a request that the card aborted.
SOURCES = REQUEST, MALFORMED, LAYER = range(3)

# Errors -------------------------------------------------------------------------------------------


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
