#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A bitstream that this driver does not serve, or whose registers claim what cannot be: one clear line, nothing bound,
the module stays."""

import re
import subprocess
import sys

import pytest

from litepcie_sim.guest import Guest, qemu

from test.conftest       import arguments_of
from test.guest.conftest import BUILD, FAULTS, ROOT

pytestmark = pytest.mark.guest

BDF        = "0000:01:00.0"
CARD       = f"/sys/bus/pci/devices/{BDF}"
DRIVER     = "/sys/bus/pci/drivers/litepcie"
BUS_MASTER = 4     # Bit of the command register.
TIMEOUT_MS = "/sys/module/litepcie/parameters/timeout_ms"

# Registers.
SCRATCH    = 0x28
CONTROL    = 0x00
RING_LOG2  = 0x10
DOORBELL   = 0x1c


def reader(channel):
    return 0x1000 + 0x1000 * channel


def writer(channel):
    return reader(channel) + 0x800

# What the card's registers say: 2 memory channels, 1 stream, 128 bits, rings of 2^12.
HONEST     = 0

# (register in the Verilog, its value, what the driver says), by number: the card claims it from the moment on at which
# SCRATCH is written with 0xc1a10000 + number.
CLAIMS = {
    1:  ("version",       0x00020002, "gateware has major version 2, this driver supports 1"),
    2:  ("geometry",      0x000c0400, "0 memory and 1 stream channels are not supported; 1 to 7 in all are"),
    3:  ("geometry",      0x000c0407, "7 memory and 1 stream channels are not supported; 1 to 7 in all are"),
    4:  ("streams",       6,          "2 memory and 6 stream channels are not supported; 1 to 7 in all are"),
    5:  ("geometry",      0x000d0402, "ring of 2^13 descriptors is not supported; 2^1 to 2^12 are"),
    6:  ("geometry",      0x00000402, "ring of 2^0 descriptors is not supported; 2^1 to 2^12 are"),
    7:  ("geometry",      0x000c0302, "data path of 3 dwords is not supported; 2, 4, 8 and 16 are"),
    8:  ("window_offset", 0x00050000, "window of 0x100000 bytes at 0x50000 is over the registers"),
    9:  ("window_offset", 0x001ff000, "window of 0x100000 bytes at 0x1ff000 is not in BAR0"),
    10: ("window_offset", 0xfffff000, "window of 0x100000 bytes at 0xfffff000 is not in BAR0"),
    11: ("window_offset", 0x00080800, "window of 0x100000 bytes at 0x80800 is not aligned to 4096 bytes"),
    12: ("window_size",   0x00100004, "window of 0x100004 bytes at 0x100000 is not in BAR0"),
    13: ("window_size",   0,          "window of 0x0 bytes at 0x100000 is not in BAR0"),
    16: ("user_offset",   0x40000,    "user registers at 0x40000 are over those of the driver"),
    17: ("user_offset",   0x1f0000,   "user registers of 0x40000 bytes at 0x1f0000 are not in BAR0"),
    18: ("user_offset",   0x80800,    "user registers of 0x40000 bytes at 0x80800 are not aligned"),
    19: ("user_size",     0x800,      "user registers of 0x800 bytes at 0x80000 are not aligned"),
    20: ("user_size",     0,          "user registers of 0x0 bytes at 0x80000 are not in BAR0"),
}
GONE  = 15  # All registers read as ones.
STUCK = 21  # No engine ends its reset.


@pytest.fixture(scope="module")
def changing():
    """A board whose registers claim something else after a write to SCRATCH, whatever resets it."""
    other = BUILD / "changing"
    subprocess.run([sys.executable, ROOT / "targets" / "sim.py", "--build", "--no-compile", "--log-level", "warning",
        *arguments_of({"channels": 2, "streams": 1, "user_core": True}), "--output-dir", other], check=True)
    verilog = other / "gateware" / "litepcie_soc_sim.v"
    text    = verilog.read_text()
    scratch = re.search(r"reg +\[31:0\] (\w+_scratch_storage)", text)[1]
    for name in {claim[0] for claim in CLAIMS.values()}:
        values = "".join(f"claim == {number} ? 32'd{value} : "
            for number, (register, value, _) in CLAIMS.items() if register == name)
        text, changed = re.subn(rf"(assign \w+_csrbank\d+_{name}_w = )(?=\w+_identity_)", rf"\1{values}", text)
        assert changed == 1, name
    text, changed = re.subn(r"(?<= : )(\w+_completer_access_csr_bus_dat_r)\b",
        rf"({{32{{claim == {GONE}}}}} | \1)", text)
    assert changed == 1
    text, changed = re.subn(r"(assign \w+_csrbank\d+_control0_w = )(?=\w+_registers_\w+_control_storage\[1:0\])",
        rf"\1claim == {STUCK} ? 2'd2 : ", text)
    assert changed == 6
    # Before the first use, and without a reset.
    text, changed = re.subn(r"^(wire .*\n)", r"reg [15:0] claim = 0;\n\1", text, count=1, flags=re.M)
    assert changed == 1
    verilog.write_text(text.replace("\nendmodule", f"""
always @(posedge sys_clk)
    if ({scratch}[31:16] == 16'hc1a1)
        claim <= {scratch}[15:0];

endmodule"""))
    subprocess.run(["make", "-s", "-C", ROOT / "sim", f"BOARD={other}"], check=True)
    return other


@pytest.fixture(scope="module")
def booted(changing, programs):
    arguments = qemu.Machine.kernel_arguments
    with pytest.MonkeyPatch.context() as patch:
        # Registers are written beside the driver.
        patch.setattr(qemu.Machine, "kernel_arguments", lambda self: [*arguments(self), "iomem=relaxed"])
        with Guest(changing, files=programs, log=BUILD / "changing" / "console.log",
                simulator_arguments=FAULTS) as guest:
            yield guest


@pytest.fixture
def guest(booted):
    """The card is honest and bound, at the begin and at the end."""
    assert booted.run("test -e /dev/litepcie0 && dmesg -c").status == 0
    yield booted
    booted.run(f"echo {BDF} > {DRIVER}/unbind; echo 10000 > {TIMEOUT_MS}")
    claim(booted, HONEST)
    assert booted.run(f"echo {BDF} > {DRIVER}/bind").status == 0
    assert booted.run("litepcie_util dma_test --sequence read-then-write --iterations 2").status == 0


def claim(guest, number):
    assert guest.run(f"poke {SCRATCH} {0xc1a10000 + number}").status == 0


def bus_master(guest):
    return int(guest.run(f"hexdump -s 4 -n 1 -e '1/1 \"%d\"' {CARD}/config").output) & BUS_MASTER


@pytest.mark.parametrize("number", CLAIMS)
def test_a_claim_that_cannot_be_is_refused(guest, number):
    assert guest.run(f"echo {BDF} > {DRIVER}/unbind").status == 0
    claim(guest, number)
    bound = guest.run(f"echo {BDF} > {DRIVER}/bind")
    assert bound.status == 1 and "No such device" in bound.output
    said  = [line for line in guest.run("dmesg").output.splitlines() if "litepcie" in line]
    assert len(said) == 1 and CLAIMS[number][2] in said[0]
    assert guest.run("test -e /dev/litepcie0").status != 0
    assert not bus_master(guest)
    tool  = guest.run("litepcie_util info")
    assert tool.status == 4 and "/dev/litepcie0" in tool.output


def test_another_bitstream_behind_a_reset_is_not_used(guest):
    """An FPGA loads another design from its flash because a suspend cut its power."""
    claim(guest, 1)
    assert bus_master(guest)
    mapped = guest.run(f"window 'echo 1 > {CARD}/reset'")
    assert mapped.status == 0 and mapped.output.split() == ["SIGBUS"]
    assert not bus_master(guest)
    assert "another bitstream after the reset: unbind and bind the driver" in guest.run("dmesg").output
    said = guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=4096 count=1")
    assert said.status == 1 and "No such device" in said.output
    tool = guest.run("litepcie_util info")
    assert tool.status == 4 and "the card is gone" in tool.output


def test_a_card_that_goes_away_while_it_is_read_is_no_data(guest):
    """The ioctl checks that the card answers and writes SCRATCH; all later reads are ones."""
    assert guest.run("scratch 0x12345678").output.strip() == "0x12345678"
    said = guest.run(f"scratch {0xc1a10000 + GONE}").output
    assert "No such device" in said and "0xffffffff" not in said


def test_a_stop_while_idle_leaves_no_engine_dead(guest):
    """A doorbell that no ring allows, twice: the second stop is recovered after the timeout; channel 1 serves."""
    assert guest.run(f"echo 1000 > {TIMEOUT_MS}").status == 0
    for _ in range(2):
        assert guest.run(f"poke {reader(0) + DOORBELL} 99999").status == 0
        written = guest.run("sleep 0.1; dd if=/dev/zero of=/dev/litepcie0 bs=4096 count=1")
        assert written.status == 0, written.output
    said = guest.run("sleep 2; dmesg").output
    assert said.count("reader0 stopped without a request: ") == 2 and "reader0 stopped: " not in said


def test_every_engine_is_reset_before_bus_mastering(guest):
    """The second memory channel and the stream were left enabled, with a doorbell, by whoever had the card before."""
    others = [engine(channel) for engine in (reader, writer) for channel in (1, 2)]
    poke   = "poke {} 4; poke {} 1; poke {} 1"
    assert guest.run(f"echo {BDF} > {DRIVER}/unbind").status == 0
    for engine in others:
        assert guest.run(poke.format(engine + RING_LOG2, engine + CONTROL, engine + DOORBELL)).status == 0
        assert guest.run(f"poke {engine + CONTROL}").output.strip() == "0x1"
    assert guest.run(f"echo {BDF} > {DRIVER}/bind").status == 0
    for engine in others:
        assert guest.run(f"poke {engine + DOORBELL}").output.strip() == "0"


def test_unbinding_waits_once_for_engines_that_do_not_end_their_reset(guest):
    """The card has four memory engines and two of a stream; each was waited for, 18 s in all."""
    assert guest.run(f"echo 3000 > {TIMEOUT_MS}").status == 0
    claim(guest, STUCK)
    said = guest.run(f"cat /proc/uptime; echo {BDF} > {DRIVER}/unbind; cat /proc/uptime; dmesg").output
    begun, ended = (float(time) for time in re.findall(r"^([\d.]+) [\d.]+$", said, re.M))
    assert 3 <= ended - begun < 12
    assert said.count("reset timed out: card disabled") >= 4 and not bus_master(guest)


@pytest.mark.parametrize("text", ["99", "60001", "4294967296", "-1", "soon"])
def test_a_timeout_that_cannot_be_is_refused(guest, text):
    before = guest.run(f"cat {TIMEOUT_MS}").output
    assert guest.run(f"echo {text} > {TIMEOUT_MS}").status != 0
    assert guest.run(f"cat {TIMEOUT_MS}").output == before
