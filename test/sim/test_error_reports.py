#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors that the card finds reach Device Status and AER (PCIe 4.0 7.5.3.5, 7.8.4), each in its own bit."""

import pytest

from test.sim.scripts import PREPARE, passes, transfer

TIMEOUT_US    = 0x0030                  # Register of litepcie_regs.h.
DEVICE_STATUS = 0x6a
UNCORRECTABLE, CORRECTABLE, CORRECTABLE_MASK = 0x104, 0x110, 0x114
POISONED, COMPLETION_TIMEOUT, UNEXPECTED_COMPLETION = (1 << bit for bit in (12, 14, 16))
ADVISORY      = 1 << 13                 # Advisory Non-Fatal Error.
CED           = 1                       # Correctable Error Detected.


def reported(error, device_status=CED):
    """Steps that read which errors the card reported."""
    return [
        {"do": "config_read", "offset": DEVICE_STATUS, "bytes": 2, "expect": device_status},
        {"do": "config_read", "offset": UNCORRECTABLE, "bytes": 4, "expect": error},
        {"do": "config_read", "offset": CORRECTABLE, "bytes": 4, "expect": ADVISORY if error else 0},
    ]


@pytest.mark.parametrize("fault, reason, error", [
    ("poison@5",    "POISONED",            POISONED),
    ("drop@5",      "TIMEOUT",             COMPLETION_TIMEOUT),
    ("duplicate@2", None,                  UNEXPECTED_COMPLETION),
    ("ur@5",        "UNSUPPORTED_REQUEST", 0),      # An error of the completer, which reports it.
])
def test_an_error_is_reported(host, tmp_path, fault, reason, error):
    """With MRRS 128 each request has one completion, and a duplicate is unexpected. Advisory errors are not masked."""
    expect = {"reason": reason} if reason else {}
    passes(host, tmp_path, [
        *PREPARE,
        {"do": "config_write", "offset": CORRECTABLE_MASK, "value": 0, "bytes": 4},
        *reported(0, 0),
        {"do": "write_register", "offset": TIMEOUT_US, "value": 100},
        {"do": "inject", "fault": fault},
        transfer("reader", (0x10000000, 0, 4096), **expect),
        *reported(error, CED if error else 0),
    ], setup={"mps": 128, "mrrs": 128})
