# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Vivado as the programmer of a board."""

import os

import pytest

from litepcie_soc.build.tools import ToolError
from litepcie_soc.build.vivado_program import Vivado

@pytest.fixture
def vivado(tmp_path, monkeypatch):
    """A folder with Vivado Lab's program on the PATH, which keeps the script it is given and the build's files."""
    program = tmp_path / "vivado_lab"
    program.write_text(f'#!/bin/sh\nfor script; do :; done\ncp "$script" {tmp_path}/script.tcl\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


PROGRAMMER = Vivado(device="xcu200", memory="mt25qu01g-spi-x1_x2_x4")


@pytest.mark.parametrize("action, suffix, last", [
    ("load", ".bit", "program_hw_devices $device"), ("flash", ".mcs", "program_hw_cfgmem -hw_cfgmem $flash")])
def test_vivado_is_given_the_file_of_the_build(vivado, action, suffix, last):
    (vivado / f"name{suffix}").touch()
    getattr(PROGRAMMER, action)(vivado / "name")
    script = (vivado / "script.tcl").read_text()
    assert str(vivado / f"name{suffix}") in script and script.splitlines()[-1] == last
    assert "get_hw_devices {xcu200*}" in script and "\nopen_hw_target \n" in script
    assert script.count("{") == script.count("}") and script.count("[") == script.count("]")
    assert ("{mt25qu01g-spi-x1_x2_x4}" in script) == (action == "flash")


def test_a_cable_is_chosen_by_part_of_its_name(vivado):
    (vivado / "name.bit").touch()
    PROGRAMMER.load(vivado / "name", "21770205K")
    assert "open_hw_target [lindex [get_hw_targets {*21770205K*}] 0]" in (vivado / "script.tcl").read_text()


def test_no_file_or_no_vivado_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(ToolError, match=r"^no bitstream .*name.mcs; add --build to build it$"):
        PROGRAMMER.flash(tmp_path / "name")
    (tmp_path / "name.bit").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    message = r"^vivado is not on the PATH; this board needs Vivado or Vivado Lab \(vivado_lab\) for programming$"
    with pytest.raises(ToolError, match=message):
        PROGRAMMER.load(tmp_path / "name")
