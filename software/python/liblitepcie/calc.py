#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The rates that a link can carry, as `litepcie_util calc` has them. Needs no card."""

from __future__ import annotations

from ctypes import byref, c_double
from dataclasses import dataclass

from liblitepcie._library import CLink, CRates, library


@dataclass(frozen=True)
class Rates:
    """Payload in bytes per second: host to card, card to host, and each of both at once."""
    read: float
    write: float
    both: float


@dataclass(frozen=True)
class Calculation:
    """``raw`` is the rate before headers, in bytes per second. The others are the formulas of `litepcie_util calc`."""
    raw: float
    application_note: Rates
    msc815x: Rates
    pcie_bench: Rates
    bound: Rates


def calc(gen: int = 2, lanes: int = 4, *, mps: int = 256, mrrs: int = 512, completion: int = 0, header: int = 12,
        ecrc: bool = False, length: int = 1 << 20, latency_ns: int = 1000, tags: int = 32,
        acks_all: bool = False) -> Calculation:
    """Calculates for a link and transfers of ``length`` bytes. ``mps`` and ``mrrs`` are Max_Payload_Size and
    Max_Read_Request_Size, ``completion`` is the most data of a completion (0: MPS), all in bytes.
    """
    link, raw, names = CLink(gen, lanes, mps, mrrs, header, completion, 4*ecrc), c_double(), library()
    rates = [CRates() for _ in range(4)]
    results = (
        names.litepcie_theory_raw(gen, lanes, byref(raw)),
        names.litepcie_theory_application_note(byref(link), byref(rates[0])),
        names.litepcie_theory_msc815x(byref(link), length, acks_all, byref(rates[1])),
        names.litepcie_theory_pcie_bench(byref(link), length, byref(rates[2])),
        names.litepcie_theory_bound(byref(link), length, latency_ns, tags, byref(rates[3])),
    )
    if any(results):
        raise ValueError("these values are no link; gen is 1 to 4, lanes are 1, 2, 4, 8 or 16, MPS and MRRS powers of "
            "two from 128 to 4096, a completion has 64 bytes or a power of two up to MPS, and a header 12 or 16")
    return Calculation(raw.value, *[Rates(one.read, one.write, one.both) for one in rates])
