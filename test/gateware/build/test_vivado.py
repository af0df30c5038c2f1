#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Vivado: its timing report, and the program that runs it."""

import os

import pytest

from litepcie_soc.build.tools import ToolError
from litepcie_soc.build.vivado import check_timing, failing_pairs, slacks
from litepcie_soc.build.vivado_program import Vivado

# Columns and rules as report_timing_summary writes them.
SUMMARY = """\
------------------------------------------------------------------------------------------------
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------------------------

    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)  THS Failing Endpoints  \
THS Total Endpoints     WPWS(ns)     TPWS(ns)  TPWS Failing Endpoints  TPWS Total Endpoints
    -------      -------  ---------------------  -------------------      -------      -------  ---------------------  \
-------------------     --------     --------  ----------------------  --------------------
{wns:>11}        0.000                      0                41231  {whs:>11}        0.000                      0      \
          41211  {wpws:>11}        0.000                       0                 17120
"""


# The table that follows, with one row that is met and one that is not.
PAIRS = """

------------------------------------------------------------------------------------------------
| Inter Clock Table
| -----------------
------------------------------------------------------------------------------------------------

From Clock             To Clock               WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints
----------             --------               -------      -------  ---------------------  -------------------
s7pciephy_clkout2      s7pciephy_clkout3        1.204        0.000                      0                   64
s7pciephy_clkout0      crg_clkout               {0:>7}      -44.901                      9                    9


------------------------------------------------------------------------------------------------
| Other Path Groups Table
| -----------------------
------------------------------------------------------------------------------------------------

Path Group             From Clock             To Clock               WNS(ns)      TNS(ns)
----------             ----------             --------               -------      -------
**async_default**      crg_clkout             crg_clkout              -5.000        0.000
"""


def report(wns, whs=0.041, wpws=0.0):
    return SUMMARY.format(wns=wns, whs=whs, wpws=wpws)


def test_slacks():
    assert slacks(report(0.113)) == {"setup": 0.113, "hold": 0.041, "pulse width": 0.0}


def test_met():
    check_timing(report(0.0), "there")


@pytest.mark.parametrize("values, message", [
    ((-0.25,),            "timing is not met: setup by 0.250 ns; see there"),
    ((0.1, -0.031),       "timing is not met: hold by 0.031 ns; see there"),
    ((-1.5, -0.2, -0.3),  "timing is not met: setup by 1.500 ns, hold by 0.200 ns, pulse width by 0.300 ns; see there"),
])
def test_not_met(values, message):
    with pytest.raises(ToolError) as error:
        check_timing(report(*values), "there")
    assert str(error.value) == message


def test_clocks_between_which_timing_is_not_met():
    with pytest.raises(ToolError) as error:
        check_timing(report(-5.0) + PAIRS.format("-5.000"), "there")
    assert str(error.value) == \
        "timing is not met: setup by 5.000 ns; between clocks: s7pciephy_clkout0 to crg_clkout; see there"
    assert failing_pairs(report(-5.0) + PAIRS.format("0.100").replace("-44.901", "  0.000")) == []


@pytest.mark.parametrize("text", [
    "", "nothing of the kind\n", SUMMARY.split("    -------")[0], report("NA", "NA", "NA"),
])
def test_report_without_figures_is_not_met(text):
    with pytest.raises(ToolError, match="Vivado's report has no Design Timing Summary"):
        check_timing(text, "there")


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
    ("load", ".bit", "program_hw_devices $device"), ("flash", ".mcs", "program_hw_cfgmem -hw_cfgmem $flash"),
])
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
