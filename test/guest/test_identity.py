# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A bitstream that this driver does not serve, or whose registers claim what cannot be: one clear line, nothing bound,
the module stays. The simulator's option --registers makes the card claim it."""

import re

import pytest

from litepcie_sim.guest.kernels import DEFAULT_KERNEL, Kernel
from litepcie_sim.guest.module  import module
from litepcie_soc.board         import identity
from test.guest.conftest import BDF, CARD, DRIVER, TIMEOUT_MS

pytestmark = pytest.mark.guest

BUS_MASTER = 4     # Bit of the command register.

# Registers of the card, and of an engine.
MAGIC, VERSION, GEOMETRY, WINDOW_OFFSET, WINDOW_SIZE = 0x00, 0x04, 0x0c, 0x18, 0x1c
SCRATCH, STREAMS, USER_OFFSET, USER_SIZE             = 0x28, 0x3c, 0x80, 0x84
MEMORY_SIZE_LO, MEMORY_SIZE_HI                       = 0x10, 0x14
MEMORY_FAILED, PHY_STATE                             = 0x90, 0x94
CONTROL, RING_LOG2, DOORBELL                         = 0x00, 0x10, 0x1c


def reader(channel):
    return 0x1000 + 0x1000 * channel


def writer(channel):
    return reader(channel) + 0x800

# (register, its value, what the driver says). The card has 2 memory channels, 2 streams, 4 dwords, rings of 2^12.
CLAIMS = [
    (MAGIC,         0x12345678, "no LitePCIe SoC: magic is 0x12345678, not 0x4c504953"),
    (VERSION,       0x00020002, "gateware has major version 2, this driver supports 1"),
    (GEOMETRY,      0x000c0406, "6 memory and 2 stream channels are not supported; 1 to 7 in all are"),
    (GEOMETRY,      0x000d0402, "ring of 2^13 descriptors is not supported; 2^1 to 2^12 are"),
    (WINDOW_OFFSET, 0x00050000, "window of 0x100000 bytes at 0x50000 is over the registers"),
    (USER_OFFSET,   0x40000,    "user registers at 0x40000 are over those of the driver"),
]
# Only in make test-all.
MORE_CLAIMS = [
    (MAGIC,         0xffffffff, "card does not answer"),
    (STREAMS,       6,          "2 memory and 6 stream channels are not supported; 1 to 7 in all are"),
    (GEOMETRY,      0x00000402, "ring of 2^0 descriptors is not supported; 2^1 to 2^12 are"),
    (GEOMETRY,      0x000c0302, "data path of 3 dwords is not supported; 2, 4, 8 and 16 are"),
    (WINDOW_OFFSET, 0x001ff000, "window of 0x100000 bytes at 0x1ff000 is not in BAR0"),
    (WINDOW_OFFSET, 0xfffff000, "window of 0x100000 bytes at 0xfffff000 is not in BAR0"),
    (WINDOW_OFFSET, 0x00080800, "window of 0x100000 bytes at 0x80800 is not aligned to 4096 bytes"),
    (WINDOW_SIZE,   0x00100004, "window of 0x100004 bytes at 0x100000 is not in BAR0"),
    (WINDOW_SIZE,   0,          "window of 0x0 bytes at 0x100000 is not in BAR0"),
    (USER_OFFSET,   0x1f0000,   "user registers of 0x40000 bytes at 0x1f0000 are not in BAR0"),
    (USER_OFFSET,   0x80800,    "user registers of 0x40000 bytes at 0x80800 are not aligned"),
    (USER_SIZE,     0x800,      "user registers of 0x800 bytes at 0x80000 are not aligned"),
    (USER_SIZE,     0,          "user registers of 0x0 bytes at 0x80000 are not in BAR0"),
]


@pytest.fixture
def guest(usual, shared_guest):
    """The card is honest and bound, at the begin and at the end."""
    usual.run("test -e /dev/litepcie0 && dmesg -c")
    yield usual
    usual.run(f"test ! -e {DRIVER}/{BDF} || echo {BDF} > {DRIVER}/unbind; echo 10000 > {TIMEOUT_MS}")
    shared_guest.claim({})
    usual.run(f"echo {BDF} > {DRIVER}/bind && litepcie_util dma_test --sequence read-then-write "
        "--length 64K --iterations 2")


def bus_master(guest):
    return int(guest.run(f"hexdump -s 4 -n 1 -e '1/1 \"%d\"' {CARD}/config")) & BUS_MASTER


@pytest.mark.parametrize("claims", [CLAIMS, pytest.param(MORE_CLAIMS, marks=pytest.mark.full)], ids=["some", "others"])
def test_claims_that_cannot_be_are_refused(guest, shared_guest, claims):
    guest.run(f"echo {BDF} > {DRIVER}/unbind; dmesg -c > /tmp/earlier")
    for register, value, message in claims:
        shared_guest.claim({register: value})
        assert "No such device" in guest.run(f"echo {BDF} > {DRIVER}/bind", status=1)
        said = [line for line in guest.run("dmesg -c").splitlines() if "litepcie" in line]
        assert len(said) == 1 and message in said[0], (hex(register), hex(value), said)
        assert not bus_master(guest)
    guest.run("test -e /dev/litepcie0", status=1)
    assert "/dev/litepcie0" in guest.run("litepcie_util info", status=4)


@pytest.mark.full
def test_a_memory_whose_training_failed_is_named_byte_by_byte(guest, shared_guest):
    guest.run(f"echo {BDF} > {DRIVER}/unbind")
    shared_guest.claim({MEMORY_SIZE_LO: 0, MEMORY_SIZE_HI: 0, MEMORY_FAILED: 0b1010})
    assert "No such device" in guest.run(f"echo {BDF} > {DRIVER}/bind", status=1)
    assert "training of the memory failed: bytes 0xa of its bus" in guest.run("dmesg -c")
    shared_guest.claim({MEMORY_SIZE_LO: 0, MEMORY_SIZE_HI: 0})
    assert "No such device" in guest.run(f"echo {BDF} > {DRIVER}/bind", status=1)
    assert "memory of 0 bytes is not supported" in guest.run("dmesg")


@pytest.mark.full
def test_the_state_of_a_hard_block(guest, shared_guest):
    """Where the PHY does not tell its state, there is none."""
    file = "/sys/class/litepcie/litepcie0/ltssm"
    assert "not supported" in guest.run(f"cat {file}", status=1)
    shared_guest.claim({PHY_STATE: 1 << 31 | 0x16})
    assert guest.run(f"cat {file}").strip() == "0x16"
    assert "state of the hard block  0x16" in guest.run("litepcie_util link")


def test_another_bitstream_behind_a_reset_is_not_used(guest, shared_guest):
    """An FPGA loads another design from its flash because a suspend cut its power: one that this driver serves, too."""
    shared_guest.claim({VERSION: 0x00010063})
    assert bus_master(guest)
    assert guest.run(f"window 'echo 1 > {CARD}/reset'").split() == ["SIGBUS"]
    assert not bus_master(guest)
    assert "another bitstream after the reset: unbind and bind the driver" in guest.run("dmesg")
    assert "No such device" in guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=4096 count=1", status=1)
    assert "the card is gone" in guest.run("litepcie_util info", status=4)


def test_a_card_that_goes_away_while_it_is_read_is_no_data(guest, shared_guest):
    """The ioctl checks that the card answers and reads SCRATCH; all later reads are ones."""
    assert guest.run("scratch 0x12345678").strip() == "0x12345678"
    shared_guest.claim({MAGIC: (0xffffffff, 1), SCRATCH: 0xffffffff})
    said = guest.run("scratch 0x12345678")
    assert "No such device" in said and "0xffffffff" not in said


@pytest.mark.full
def test_a_stop_while_idle_leaves_no_engine_dead(guest):
    """A doorbell that no ring allows, twice: the second stop is recovered after the timeout; channel 1 serves."""
    guest.run(f"echo 1000 > {TIMEOUT_MS}")
    for _ in range(2):
        guest.run(f"poke {reader(0) + DOORBELL} 99999; sleep 0.1; dd if=/dev/zero of=/dev/litepcie0 bs=4096 count=1")
    said = guest.run("for i in $(seq 600); do [ $(dmesg | grep -c 'stopped without a request') = 2 ] && break;"
        " sleep 0.1; done; dmesg")
    assert said.count("reader0 stopped without a request: ") == 2 and "reader0 stopped: " not in said


def test_every_engine_is_reset_before_bus_mastering(guest):
    """The second memory channel and a stream were left enabled, with a doorbell, by whoever had the card before."""
    others = [engine(channel) for engine in (reader, writer) for channel in (1, 2)]
    poke   = "poke {} 4; poke {} 1; poke {} 1"
    guest.run(f"echo {BDF} > {DRIVER}/unbind")
    for engine in others:
        guest.run(poke.format(engine + RING_LOG2, engine + CONTROL, engine + DOORBELL))
        assert guest.run(f"poke {engine + CONTROL}").strip() == "0x1"
    guest.run(f"echo {BDF} > {DRIVER}/bind")
    for engine in others:
        assert guest.run(f"poke {engine + DOORBELL}").strip() == "0"


@pytest.mark.full
def test_unbinding_waits_once_for_engines_that_do_not_end_their_reset(guest, shared_guest):
    """The card has four memory engines and four of streams. If the driver waited for each, that would take 24 s."""
    guest.run(f"echo 3000 > {TIMEOUT_MS}")
    shared_guest.claim({engine(channel) + CONTROL: 2 for engine in (reader, writer) for channel in range(4)})
    said = guest.run(f"cat /proc/uptime; echo {BDF} > {DRIVER}/unbind; cat /proc/uptime; dmesg")
    begun, ended = (float(time) for time in re.findall(r"^([\d.]+) [\d.]+$", said, re.M))
    assert 3 <= ended - begun < 20
    assert said.count("reset timed out: card disabled") >= 4 and not bus_master(guest)


def test_a_timeout_that_cannot_be_is_refused(usual):
    before = usual.run(f"cat {TIMEOUT_MS}")
    for text in ("99", "60001", "4294967296", "-1", "soon"):
        assert usual.guest.run(f"echo {text} > {TIMEOUT_MS}").status, text
        assert usual.run(f"cat {TIMEOUT_MS}") == before


def test_the_module_is_loaded_for_every_card_and_no_other():
    """udev loads by the aliases that the kernel's tools made of the driver's table."""
    aliases = re.findall(rb"alias=pci:v(\w{8})d(\w{8})sv(\w{8})sd(\w{8})bc\*sc\*i\*\0",
        module(Kernel(DEFAULT_KERNEL)).read_bytes())
    cards   = [identity.pci_id(family) for family in identity.FAMILIES]
    assert sorted(tuple(int(number, 16) for number in alias) for alias in aliases) == sorted(
        tuple(card[f"{name}_id"] for name in ("vendor", "device", "subsystem_vendor", "subsystem_device"))
        for card in cards)
