#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lets a target be started with any Python: import it first. Standard library only."""

import importlib.util
import os
import sys

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / "build" / "venv"


def ensure():
    """Returns if LiteX and this package can be imported, else starts the program again in ``build/venv``.

    Ends the program with one line and status 2 if there is no ``build/venv``.
    """
    missing = [name for name in ("migen", "litex", "litepcie", "litepcie_soc")
        if importlib.util.find_spec(name) is None]
    if not missing:
        return
    python = VENV / "bin" / "python"
    # In a virtual environment ``sys.prefix`` is its folder. If it is build/venv already, starting again does not help.
    if python.exists() and Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [str(python), *sys.argv])
    print(f"{Path(sys.argv[0]).name}: {', '.join(missing)} not found; run `make setup`",
        file=sys.stderr)
    sys.exit(2)


ensure()
