#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What is kept of proofs: test/formal/proof.py."""

import pytest

from test.formal.proof import ProofError, once

PROOFS = []


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Asks `once` about a Verilog text; returns (the answer, whether it was decided anew)."""
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))

    def asked(text, question="holds 20 2", answer=()):
        decided = []
        (tmp_path / "dut.v").write_text(text)
        (tmp_path / "top.v").write_text("// made today\nmodule formal;")
        return once(tmp_path, question, lambda: decided.append(1) or list(answer)), bool(decided)
    return asked


def test_the_same_verilog_is_decided_once(ask):
    assert ask("// Monday\nmodule dut;", answer=["covers"]) == (["covers"], True)
    assert ask("// Tuesday\nmodule dut;", answer=["other"]) == (["covers"], False)


def test_another_verilog_or_question_is_decided_anew(ask):
    assert ask("module dut;") == ([], True)
    assert ask("module dut; reg x;") == ([], True)
    assert ask("module dut;", "holds 21 2") == ([], True)
    assert ask("module dut;") == ([], False)


def test_a_proof_that_fails_is_not_kept(ask, tmp_path):
    def fail():
        raise ProofError("covers fails")

    ask("module dut;")
    for _ in range(2):
        with pytest.raises(ProofError):
            once(tmp_path, "holds 30 2", fail)
