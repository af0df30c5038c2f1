#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The driver in a guest: transfers other than plain read and write, and the table of its cards."""

import re
import subprocess

from pathlib import Path

import pytest

from litepcie_sim.guest.kernels import DEFAULT_KERNEL, Kernel
from litepcie_sim.guest.module  import module
from litepcie_soc.board         import identity

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
    """With an IOMMU, so that the simulator reports every access outside a live mapping."""
    guest  = boot(board, files=[(vectors, "/bin/vectors")], iommu=True, cpus=2)
    result = guest.run("vectors", 240)
    assert result.status == 0, result.output
    pinned = guest.run("cat /sys/kernel/debug/litepcie/pinned_pages", 10)
    assert pinned.output.split() == ["0"]


@pytest.mark.guest
def test_the_module_is_loaded_for_every_card_and_no_other():
    """udev loads by the aliases that the kernel's tools made of the driver's table."""
    aliases = re.findall(rb"alias=pci:v(\w{8})d(\w{8})sv(\w{8})sd(\w{8})bc\*sc\*i\*\0",
        module(Kernel(DEFAULT_KERNEL)).read_bytes())
    cards   = [identity.pci_id(family) for family in identity.FAMILIES]
    assert sorted(tuple(int(number, 16) for number in alias) for alias in aliases) == sorted(
        tuple(card[f"{name}_id"] for name in ("vendor", "device", "subsystem_vendor", "subsystem_device"))
        for card in cards)
