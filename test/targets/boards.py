# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
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


def configuration(name, options):
    return BoardParser(MODULES[name].BOARD).parse_args(["--build", *options]).configuration


def build_name(name, options):
    return configuration(name, options).name(MODULES[name].BOARD)


# A board of each family, of which `make test-all` emits the usual, narrowest and widest link.
OF_FAMILY = {"artix7": "sqrl_acorn", "kintex7": "xilinx_kc705", "ultrascale": "xilinx_kcu105",
    "ultrascale_plus": "xilinx_alveo_u200"}


def sample(name):
    """Command lines for links of a board: the usual one, and the narrowest and widest for that of its family."""
    board = BOARDS[name]
    width = lambda c: (c.data_width, c.lanes, c.gen)
    every = list(board.configurations())
    few   = [board.configure(), *[most(every, key=width) for most in (min, max) if name in OF_FAMILY.values()]]
    return [options_of(c) for c in every if width(c) in map(width, few)]


def by_width(name):
    """A command line for each data width of a board."""
    return [options_of(c) for c in {c.data_width: c for c in BOARDS[name].configurations()}.values()]


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


def run(name, *args):
    """Returns the exit status of a target in this Python."""
    try:
        return MODULES[name].main([str(arg) for arg in args])
    except SystemExit as stop:
        return stop.code
