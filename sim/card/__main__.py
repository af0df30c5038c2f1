#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Somebody's card in a virtual machine: ``python -m litepcie_sim.card CARD.yml run -- COMMAND``."""

import sys

from pathlib import Path

from litepcie_sim.card import verilog
from litepcie_sim.card.run import main

if __name__ == "__main__":
    if len(sys.argv) < 2 or not sys.argv[1].endswith((".yml", ".yaml")):
        print("usage: python -m litepcie_sim.card CARD.yml {build,run,shell} [OPTION...] [-- COMMAND]", file=sys.stderr)
        sys.exit(2)
    path = sys.argv[1]
    sys.exit(main(lambda folder: verilog.make(path, folder), Path(path).stem, sys.argv[2:]))
