#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What `make demo` says to options that it does not know; what it does is in `.ci/run` and in test/guest."""

import pytest

from litepcie_sim.demo import __main__ as demo


@pytest.mark.parametrize("args, message", [
    (("--phy", "split"),      "argument --phy: invalid choice: 'split'"),
    (("--lcrc-every", "9"),   "argument --lcrc-every: 9 is not 0, nor 10 or more"),
    (("--lcrc-every", "one"), "argument --lcrc-every: invalid int value: 'one'"),
])
def test_bad_input_is_one_line_and_status_2(capsys, args, message):
    with pytest.raises(SystemExit) as end:
        demo.main(args)
    said = capsys.readouterr()
    assert (end.value.code, said.out) == (2, "") and message in said.err
