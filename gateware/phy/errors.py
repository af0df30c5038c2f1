#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors that the transaction layer reports to configuration space: Device Status and AER (PCIe 4.0 6.2)."""

from migen import *

# Errors -------------------------------------------------------------------------------------------

# Name of each error at a PHY, and the strobes of the transaction layer that it sums up.
#
# A completion that matches a request except for its byte count, lower address or length may be handled as unexpected
# (PCIe 4.0 2.3.2). A completion with an error status is no error of this function (PCIe 4.0 6.2.3.2.4.1). A poisoned
# write of the host is not here: a PHY reports it by itself.
REPORTED_ERRORS = {
    "completion_timeout":    ("timeout",),
    "unexpected_completion": ("unexpected", "bad_length"),
    "poisoned":              ("poisoned",),
    "unsupported_request":   ("unsupported",),
    "completer_abort":       ("aborted",),
}
# Three dwords, of which the first is in bits 31:0.
HEADER_BITS = 96


def error_record():
    """Returns a Record with one Signal() for each of REPORTED_ERRORS; each is a strobe of one cycle in `sys`.

    With a strobe of `unexpected_completion`, `poisoned` or `completer_abort`, `header` has the first three dwords of
    the header of the completion, or of the request that is aborted.
    """
    return Record([*[(name, 1) for name in REPORTED_ERRORS], ("header", HEADER_BITS)], name="error")
