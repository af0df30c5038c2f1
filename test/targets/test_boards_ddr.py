#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Every board of targets/ with its DDR: the same checks of the emitted files as without DDR."""

import pytest

from test.targets.boards import BOARDS, LINKS, build_name
from test.targets.checks import check_build

# Every link with every data path, and with the probes.
DDR    = [(name, [*options, "--with-ddr"]) for name, options in LINKS]
PROBES = [(name, ["--with-ddr", "--with-litescope"]) for name in BOARDS]
BUILDS = DDR + PROBES


@pytest.mark.parametrize("name, options", BUILDS, ids=[build_name(*build) for build in BUILDS])
def test_build_without_compile(name, options, tmp_path, capsys):
    check_build(name, options, tmp_path, capsys)
