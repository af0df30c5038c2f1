#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The command line of `python -m litepcie_bench.stress`; test/sim/test_stress.py has the loads."""

import pytest

from litepcie_bench import stress


@pytest.mark.parametrize("args", [["--seeds", "0"], ["--seeds", "-3"], ["--first", "-1"], ["--seeds", "many"]])
def test_usage(args, capsys):
    with pytest.raises(SystemExit) as ended:
        stress.main(args)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("stress: error: ")
