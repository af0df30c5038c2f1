#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Yosys as a program: ``python -m litepcie_soc.build.yosys "COMMAND; COMMAND..."``.

The package pyosys is yosys as a library, compiled for the machine. Its messages go to standard output. An error goes
to standard error, and the exit status is 1.
"""

import sys

from pyosys import libyosys

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('usage: python -m litepcie_soc.build.yosys "COMMAND; COMMAND..."')
    libyosys.run_pass(sys.argv[1], libyosys.Design())
