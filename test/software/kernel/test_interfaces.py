#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The driver in a guest: the ways into it beside plain read and write."""

import subprocess

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Path of the static program of vectors.c."""
    program = tmp_path_factory.mktemp("vectors") / "vectors"
    subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-static",
        "-I", ROOT / "test" / "guest" / "src", "-I", ROOT / "software/kernel/include/uapi",
        "-o", program, HERE / "vectors.c"], check=True)
    return program


def test_every_way_into_the_driver(boot, board, vectors):
    """Under an IOMMU, where the simulator reports any access outside a live mapping."""
    guest  = boot(board, files=[(vectors, "/bin/vectors")], iommu=True, cpus=2)
    result = guest.run("vectors", 240)
    assert result.status == 0, result.output
    pinned = guest.run("cat /sys/kernel/debug/litepcie/pinned_pages", 10)
    assert pinned.output.split() == ["0"]
