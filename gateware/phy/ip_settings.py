#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Commands for Vivado in the form that LiteX takes."""


def commands_of(tcl):
    """Returns the lines of a Tcl script for LiteX's lists of commands, which take braces as fields."""
    return tcl.replace("{", "{{").replace("}", "}}").splitlines()
