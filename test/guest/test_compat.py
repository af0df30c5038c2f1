#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A 32-bit program on a 64-bit kernel (compat/), built without a C library for 32 bits."""

import subprocess

from pathlib import Path

import pytest

from litepcie_sim.guest.debug_kernel import kernel as named_kernel
from litepcie_sim.guest.module       import module

from test.guest.conftest import BUILD, EXPORTER, KERNEL, ROOT

pytestmark = [pytest.mark.guest, pytest.mark.full]

SOURCES = Path(__file__).resolve().parent / "compat"


@pytest.fixture(scope="module")
def guest(boot, full_board):
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-m32", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-nostdlib", "-ffreestanding",
        "-fno-pic", "-no-pie", "-fno-stack-protector", "-I", ROOT / "software" / "kernel" / "include" / "uapi",
        "-idirafter", "/usr/include/x86_64-linux-gnu", "-o", BUILD / "compat32", *sorted(SOURCES.glob("*.c"))],
        check=True)
    exporter = module(named_kernel(KERNEL), EXPORTER)
    with boot("compat", board=full_board,
            files=[(BUILD / "compat32", "/bin/compat"), (exporter, "/lib/modules/exporter.ko")]) as guest:
        yield guest
        guest.works()


def test_every_call_of_a_32_bit_program(guest):
    guest.run("insmod /lib/modules/exporter.ko")
    assert "checks passed" in guest.run("compat")
    guest.run("rmmod exporter")
