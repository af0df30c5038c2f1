#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Somebody's card in a virtual machine: ``python -m litepcie_sim.card CARD.yml run -- COMMAND``.

Where the package is installed, this is also the command ``litepcie_soc_card``.
"""

import sys

from pathlib import Path

from litepcie_sim.card import verilog
from litepcie_sim.card.run import main


def of_description(argv=None):
    """Body of the command ``litepcie_soc_card``. Returns the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv or not argv[0].endswith((".yml", ".yaml")):
        print("usage: litepcie_soc_card CARD.yml {build,run,shell} [OPTION...] [-- COMMAND]", file=sys.stderr)
        return 2
    return main(lambda folder: verilog.make(argv[0], folder), Path(argv[0]).stem, argv[1:])


if __name__ == "__main__":
    sys.exit(of_description())
