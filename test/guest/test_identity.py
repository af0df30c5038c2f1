#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A bitstream that this driver does not serve: one clear line, nothing bound, the module stays."""

import re
import shutil
import subprocess

import pytest

from litepcie_sim.guest import Guest

from test.guest.conftest import BUILD, ROOT

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def next_major(board):
    """The default board, but for the major version in its identity register."""
    other   = BUILD / "next_major"
    verilog = other / "gateware" / "litepcie_soc_sim.v"
    for folder in ("gateware", "software"):
        shutil.copytree(board / folder, other / folder, dirs_exist_ok=True)
    text, changed = re.subn(r"(_major = 16'd)1;", r"\g<1>2;", verilog.read_text())
    assert changed == 1
    verilog.write_text(text)
    subprocess.run(["make", "-s", "-C", ROOT / "sim", f"BOARD={other}"], check=True)
    return other


def test_another_major_version_is_refused(next_major):
    with Guest(next_major, load=False, log=BUILD / "next-major" / "console.log") as guest:
        assert guest.run("insmod /lib/modules/litepcie.ko").status == 0
        said = guest.run("dmesg | grep litepcie").output
        assert "gateware is of major version 2, this driver serves 1" in said
        assert guest.run("test -e /dev/litepcie0").status != 0
        tool = guest.run("litepcie_util info")
        assert tool.status == 1 and "/dev/litepcie0" in tool.output
        assert guest.run("rmmod litepcie").status == 0
