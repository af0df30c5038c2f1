# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""sim/Makefile: its builds, and the C++ unit tests of test/sim/src, of which some run with sanitizers, too."""

import os
import shutil
import signal
import subprocess
import time

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Most of the time of all: random input, and published rates over all sizes.
LONG = ("*Fuzz.*", "LinkDirection.ReachesItsBound", "Bounds.NoTrafficExceedsThoseWithoutDllps",
    "CurveTest.RatesOverSizesAreThePublishedOnes", "HostTest.LatenciesAreThePublishedOnes",
    "ModelTest.FunctionLevelResetThatDoesNotEnd")


@pytest.mark.parametrize("tests", [f"-{':'.join(LONG)}", pytest.param(":".join(LONG), marks=pytest.mark.full)],
    ids=["short", "long"])
def test_units(test_endpoint, tests):
    result = subprocess.run(["make", "-C", ROOT / "sim", "test"], capture_output=True, text=True,
        env={**os.environ, "GTEST_FILTER": tests})
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-6000:]
    assert "PASSED" in result.stdout


@pytest.mark.search
@pytest.mark.timeout(7200)  # It may compile the model anew.
def test_damaged_tlps():
    """Throws damaged TLPs and symbols at the model, built with the sanitizers of addresses and undefined behaviour."""
    settings = {"LITEPCIE_FUZZ_SEED": os.environ.get("LITEPCIE_SEARCH_SEED", "1"), "LITEPCIE_FUZZ_TLPS": "200000"}
    result   = subprocess.run(["make", "-C", ROOT / "sim", "fuzz", "SANITIZE=address,undefined"], capture_output=True,
        text=True, env={**os.environ, **settings})
    assert result.returncode == 0, f"{settings}\n" + result.stdout[-6000:] + result.stderr[-6000:]
    assert "PASSED" in result.stdout


def build(board, cache, *options, **environment):
    return subprocess.Popen(["make", "-C", ROOT / "sim", f"BOARD={board}", *options], start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "LITEPCIE_CACHE": str(cache), **environment})


def succeed(process):
    output = process.communicate()[0]
    assert process.returncode == 0, output


@pytest.fixture
def copy(test_endpoint, tmp_path):
    """A board with the test endpoint of which nothing is compiled."""
    for folder in ("gateware", "software"):
        shutil.copytree(test_endpoint / folder, tmp_path / "board" / folder)
    return tmp_path / "board"


@pytest.mark.full
def test_a_killed_build_goes_on(copy, tmp_path):
    compiler, stopped = tmp_path / "bin" / "g++", tmp_path / "stopped"
    compiler.parent.mkdir()
    compiler.write_text(f"""#!/bin/sh
case "$*" in *card.o*) touch {stopped}; sleep 1000;; esac
exec {shutil.which("g++")} "$@"
""")
    compiler.chmod(0o755)
    process = build(copy, tmp_path / "cache", PATH=f"{compiler.parent}:{os.environ['PATH']}")
    while not stopped.exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (copy / "simulator" / "litepcie_host").exists()
    succeed(build(copy, tmp_path / "cache"))
    assert (copy / "simulator" / "litepcie_host").exists()


@pytest.mark.full
def test_a_profile_serves_for_a_build_without_one(copy, tmp_path):
    """The test endpoint cannot do the training, and is compiled nevertheless."""
    host = copy / "simulator" / "litepcie_host"
    for profile in ("", 1):
        succeed(build(copy, tmp_path / "cache", f"PROFILE={profile}"))
    made = host.stat().st_mtime_ns
    for profile in ("", 1, ""):
        succeed(build(copy, tmp_path / "cache", f"PROFILE={profile}"))
        assert host.stat().st_mtime_ns == made
    assert not (copy / "simulator" / "training").exists()
