#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Every board of targets/: its command line, what it emits, and that all have one register map."""

import importlib.util
import os
import sys

from pathlib import Path

import pytest

ROOT    = Path(__file__).resolve().parents[2]
TARGETS = sorted(path for path in (ROOT / "targets").glob("*.py") if path.stem not in ("environment", "sim"))


def load(path):
    """The module of a target."""
    sys.path.insert(0, str(path.parent))
    try:
        spec   = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(path.parent))


MODULES = {path.stem: load(path) for path in TARGETS}
BOARDS  = {name: module.BOARD for name, module in MODULES.items()}

# Files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.stem)
def test_target_is_a_program_named_after_its_board(path):
    assert os.access(path, os.X_OK)
    assert BOARDS[path.stem].name == path.stem


CHOICES = [(name, configuration) for name, board in BOARDS.items() for configuration in board.configurations()]


@pytest.mark.parametrize("name, configuration", CHOICES, ids=[c.name(BOARDS[n]) for n, c in CHOICES])
def test_every_link_is_emitted(name, configuration, tmp_path, capsys):
    c      = configuration
    status = MODULES[name].main(["--build", "--no-compile", "--output-dir", str(tmp_path), "--pcie-gen", str(c.gen),
        "--pcie-lanes", str(c.lanes), "--data-width", str(c.data_width)])
    assert status == 0
    build = c.name(BOARDS[name])
    assert {path.name for path in (tmp_path / "gateware").iterdir()} == {
        f"{build}.v", f"{build}.xdc", f"{build}.tcl", f"build_{build}.sh"}
    assert {path.name for path in (tmp_path / "software" / "include" / "generated").iterdir()} == {
        "csr.h", "soc.h", "csr.json", "litepcie_regs.h"}
    assert str(tmp_path) not in (tmp_path / "gateware" / f"{build}.tcl").read_text()
