#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Primitives of ECP5 as yosys knows them."""

import importlib.util

from pathlib import Path


def primitive(name):
    """Returns the Verilog text of a black box, from ``module`` to ``endmodule``, without attributes of ports."""
    folder = Path(importlib.util.find_spec("pyosys").origin).parent
    text   = (folder / "share" / "ecp5" / "cells_bb.v").read_text(encoding="utf-8")
    start  = text.index(f"module {name}(")
    return text[start:text.index("endmodule", start)].replace("(* iopad_external_pin *)", "")
