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


def test_the_end_says_what_to_type_next(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    monkeypatch.setattr(demo, "RESULT", tmp_path / "build" / "result.json")
    monkeypatch.setattr(demo, "handle_signals", lambda: None)
    monkeypatch.setattr(demo, "run", lambda args, result: None)
    assert demo.main([]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("demo: next: ./targets/sim.py --build --load ") and "docs/start.md" in last
