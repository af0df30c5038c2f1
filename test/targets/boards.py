#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The boards of targets/ that Vivado builds, whichever there are, and the programs of all boards run in this Python."""

import gc

from pathlib import Path

import pytest

from migen.fhdl import tracer

from litepcie_soc.build.options import BoardParser
from litepcie_soc.build.targets import NAMES, PATHS, load

HEADERS = Path("software/include/generated")
MODULES = {name: load(name) for name in NAMES}
BOARDS  = {name: module.BOARD for name, module in MODULES.items() if module.BOARD.toolchain == "vivado"}
TARGETS = [PATHS[name] for name in BOARDS]


def options_of(configuration):
    """The command line that asks for a link and a data path."""
    c = configuration
    return ["--gen", str(c.gen), "--lanes", str(c.lanes), "--data-width", str(c.data_width)]


# Every link with every data path.
LINKS = [(name, options_of(c)) for name, board in BOARDS.items() for c in board.configurations()]


def configuration(name, options):
    return BoardParser(MODULES[name].BOARD).parse_args(["--build", *options]).configuration


def build_name(name, options):
    return configuration(name, options).name(MODULES[name].BOARD)


# The board of each family that `make test` emits. `make test-all` emits every board.
OF_FAMILY = {
    "artix7":          "sqrl_acorn",
    "kintex7":         "xilinx_kc705",
    "ultrascale":      "xilinx_kcu105",
    "ultrascale_plus": "xilinx_alveo_u200",
}


def in_make_test(name, options):
    """True for a board of `OF_FAMILY` with its default link, or with its narrowest or widest data path."""
    c      = configuration(name, options)
    board  = BOARDS[name]
    width  = lambda other: (other.data_width, other.lanes, other.gen)
    chosen = [board.configure(), min(board.configurations(), key=width), max(board.configurations(), key=width)]
    return name in OF_FAMILY.values() and width(c) in map(width, chosen)


def parameters(builds, in_make_test):
    """Parameters of a test for every build; those for which `in_make_test(name, options)` is false are marked full."""
    return [pytest.param(name, options, id=build_name(name, options),
        marks=[] if in_make_test(name, options) else pytest.mark.full) for name, options in builds]


def emitted(name, options, folder):
    """Emits a board into ``folder``; returns its ``Configuration``."""
    # Migen keeps and numbers all names it has seen. Forget them, so that names do not depend on earlier boards.
    tracer.classname_to_objs.clear()
    gc.collect()
    assert MODULES[name].main(["--build", "--no-compile", "--output-dir", str(folder), *options]) == 0
    return configuration(name, options)
