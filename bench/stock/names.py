#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Names of the boards with stock LitePCIe, without the gateware that they need."""

MAX_PENDING_REQUESTS = 8  # Default of add_pcie.


def folder_name(data_width, pending=MAX_PENDING_REQUESTS):
    """Returns the name of a board's folder in build/."""
    return f"stock_{data_width}" + (f"_pending{pending}" if pending != MAX_PENDING_REQUESTS else "")
