#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Every board of targets/ with its DDR: the same checks of the emitted files as without DDR."""

import pytest

from test.targets.boards import BOARDS, LINKS, configuration, parameters
from test.targets.checks import check_build

# Every link with every data path, and with the probes.
DDR    = [(name, [*options, "--with-ddr"]) for name, options in LINKS]
PROBES = [(name, ["--with-ddr", "--with-litescope"]) for name in BOARDS]
BUILDS = DDR + PROBES

DDR3_DDR4 = ("sqrl_acorn", "xilinx_alveo_u200")


def in_make_test(name, options):
    """True for a board with DDR3 and one with DDR4, with their default links."""
    return name in DDR3_DDR4 and configuration(name, options) == BOARDS[name].configure(with_ddr=True)


@pytest.mark.parametrize("name, options", parameters(BUILDS, in_make_test))
def test_build_without_compile(name, options, tmp_path, capsys):
    check_build(name, options, tmp_path, capsys)
