#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Vivado's timing report shows whether timing is met."""

import pytest

from litepcie_soc.build.tools import ToolError
from litepcie_soc.build.vivado import check_timing, slacks

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


@pytest.mark.parametrize("text", [
    "", "nothing of the kind\n", SUMMARY.split("    -------")[0], report("NA", "NA", "NA"),
])
def test_report_without_figures_is_not_met(text):
    with pytest.raises(ToolError, match="Vivado's report has no Design Timing Summary"):
        check_timing(text, "there")
