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


CARD       = "/sys/bus/pci/devices/0000:01:00.0"
BUS_MASTER = 4  # Bit of the command register.

# The value that `litepcie_util scratch_test` leaves in the register.
LAST_PATTERN = "32'h7fffffff"


@pytest.fixture(scope="module")
def changing(board):
    """The default board, but of the next major version from the first `scratch_test` on, whatever resets it."""
    other   = BUILD / "changing"
    verilog = other / "gateware" / "litepcie_soc_sim.v"
    for folder in ("gateware", "software"):
        shutil.copytree(board / folder, other / folder, dirs_exist_ok=True)
    text, changed = re.subn(r"(version_status\[31:16\] <= )(\w+_major);", r"\1\2 + changed;", verilog.read_text())
    scratch       = re.search(r"reg +\[31:0\] (\w+_scratch_storage)", text)[1]
    assert changed == 1
    verilog.write_text(text.replace("\nendmodule", f"""
reg changed = 0;
always @(posedge sys_clk)
    if ({scratch} == {LAST_PATTERN})
        changed <= 1;

endmodule"""))
    subprocess.run(["make", "-s", "-C", ROOT / "sim", f"BOARD={other}"], check=True)
    return other


@pytest.fixture
def guest(changing, programs):
    with Guest(changing, files=programs, log=BUILD / "changing" / "console.log") as guest:
        assert guest.run("litepcie_util scratch_test").status == 0
        yield guest


def test_another_major_version_is_refused(guest):
    assert guest.run("rmmod litepcie && insmod /lib/modules/litepcie.ko").status == 0
    said = guest.run("dmesg | grep litepcie").output
    assert "gateware has major version 2, this driver supports 1" in said
    assert guest.run("test -e /dev/litepcie0").status != 0
    tool = guest.run("litepcie_util info")
    assert tool.status == 1 and "/dev/litepcie0" in tool.output
    assert guest.run("rmmod litepcie").status == 0


def test_another_bitstream_behind_a_reset_is_not_used(guest):
    """An FPGA loads another design from its flash because a suspend cut its power."""
    command = guest.run(f"hexdump -s 4 -n 1 -e '1/1 \"%d\"' {CARD}/config").output
    assert int(command) & BUS_MASTER
    mapped  = guest.run(f"window 'echo 1 > {CARD}/reset'")
    assert mapped.status == 0 and mapped.output.split() == ["SIGBUS"]
    command = guest.run(f"hexdump -s 4 -n 1 -e '1/1 \"%d\"' {CARD}/config").output
    assert not int(command) & BUS_MASTER
    assert "another bitstream after the reset: unbind and bind the driver" in guest.run("dmesg").output
    said = guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=4096 count=1")
    assert said.status == 1 and "No such device" in said.output
    assert guest.run("rmmod litepcie").status == 0
