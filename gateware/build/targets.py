#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds the boards: one file per board in ``targets/``. ``litepcie_soc_target BOARD`` is the program of one."""

import functools
import importlib.util
import sys

from litepcie_soc.common.places import TARGETS

OTHERS = ("environment", "sim")  # Files in targets/ that are not about an FPGA board.
PATHS  = {path.stem: path for path in sorted(TARGETS.glob("*.py")) if path.stem not in OTHERS}
NAMES  = tuple(PATHS)


@functools.cache
def load(name):
    """Returns the module of a target, also of "sim". It can import other files of ``targets/``."""
    sys.path.insert(0, str(TARGETS))
    try:
        spec   = importlib.util.spec_from_file_location(name, TARGETS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(TARGETS))


def boards():
    """Returns the ``Board`` of every target, sorted by name."""
    return [load(name).BOARD for name in NAMES]


def main(argv=None):
    """Runs the program of a board, with the arguments after its name. Returns its exit status."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] not in NAMES:
        wrong = f"{argv[0]!r} is no board" if argv else "no board given"
        print(f"litepcie_soc_target: {wrong}; choose {', '.join(NAMES)}", file=sys.stderr)
        return 2
    sys.argv = [f"litepcie_soc_target {argv[0]}", *argv[1:]]
    return load(argv[0]).main()


if __name__ == "__main__":
    sys.exit(main())
