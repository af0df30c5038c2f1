# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What is kept of proofs: test/formal/proof.py."""

import pytest

from test.formal.proof import ProofError, once

PROOFS = []


def test_what_is_decided_once(tmp_path, monkeypatch):
    """The same question about the same Verilog, whatever its comments say; a proof that fails is not kept."""
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "top.v").write_text("// made today\nmodule formal;")
    def ask(text, question="holds 20 2", decide=list):
        (tmp_path / "dut.v").write_text(text)
        return once(tmp_path, question, decide)
    def fail():
        raise ProofError("covers fails")
    assert ask("// Monday\nmodule dut;", decide=lambda: ["covers"]) == ["covers"]
    assert ask("// Tuesday\nmodule dut;", decide=fail) == ["covers"]
    assert ask("module dut; reg x;") == ask("module dut;", "holds 21 2") == []
    for _ in range(2):
        with pytest.raises(ProofError):
            ask("module dut;", "holds 30 2", fail)
