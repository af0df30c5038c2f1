#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Generates the committed header `software/kernel/litepcie_regs.h` from the registers of the SoC.

    python3 -m litepcie_soc.build.regs --write     updates it
    python3 -m litepcie_soc.build.regs --check     compares it; exit status 1 if it differs
"""

import logging
import sys

from litepcie_soc.build import generated
from litepcie_soc.soc.reference import ReferenceSoC
from litepcie_soc.soc.regs import COMMITTED, header


def text(_committed):
    """Returns the header of a SoC without a board. All boards have the same pinned registers."""
    soc = ReferenceSoC()
    soc.finalize()
    return header(soc)


def main(argv=None):
    logging.basicConfig(level=logging.WARNING)  # LiteX logs much at INFO.
    return generated.main(argv, "litepcie_soc.build.regs", "The pinned register map as a C header, from the gateware.",
        {COMMITTED: text})


if __name__ == "__main__":
    sys.exit(main())
