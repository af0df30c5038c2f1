#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Stock LitePCIe: names of its boards, without the gateware that they need."""

import os

# In the environment: the version of stock that is imported instead of the installed one.
VERSION = "LITEPCIE_STOCK_VERSION"

# Defaults of add_pcie.
MAX_PENDING_REQUESTS = 8
ADDRESS_WIDTH        = 32


def folder_name(data_width, pending=MAX_PENDING_REQUESTS, address=ADDRESS_WIDTH):
    """Returns the name of a board's folder in build/."""
    return f"stock_{data_width}" + f"_pending{pending}"*(pending != MAX_PENDING_REQUESTS) \
        + f"_address{address}"*(address != ADDRESS_WIDTH) + (f"_{os.environ[VERSION]}" if VERSION in os.environ else "")
