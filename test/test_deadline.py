#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""test/deadline.py in runs of pytest: no test begins, and no fixture is made, after the time."""

import os
import subprocess
import sys

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.full_tests import NO_TIME

ROOT  = Path(__file__).resolve().parents[1]
TESTS = """
import os, pathlib, pytest

@pytest.fixture(scope="module")
def made():
    pathlib.Path("made").touch()

def test_first():
    if os.environ["LITEPCIE_TESTS_UNTIL"] == "9e9":
        os.environ["LITEPCIE_TESTS_UNTIL"] = "0"  # So much time has passed.

def test_second(made):
    assert 0
"""


@pytest.mark.parametrize("until, passed, skipped, failed", [("1", 0, 2, 0), ("9e9", 1, 1, 0), ("1e10", 1, 0, 1)])
def test_no_test_begins_after_the_time(tmp_path, until, passed, skipped, failed):
    (tmp_path / "test_it.py").write_text(TESTS)
    status = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "test.deadline", "-p", "no:cacheprovider",
        "--rootdir", tmp_path, f"--junitxml={tmp_path}/report.xml", "test_it.py"], cwd=tmp_path, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LITEPCIE_TESTS_UNTIL": until}).returncode
    cases = list(ElementTree.parse(tmp_path / "report.xml").iter("testcase"))
    said  = [case.find("skipped").get("message") for case in cases if case.find("skipped") is not None]
    bad   = sum(case.find("failure") is not None for case in cases)
    assert (len(cases) - len(said) - bad, len(said), bad) == (passed, skipped, failed)
    assert set(said) <= {NO_TIME} and status == (1 if failed else 0)
    assert (tmp_path / "made").exists() == bool(failed)
