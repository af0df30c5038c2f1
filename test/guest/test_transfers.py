# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Data through /dev/litepcie0 of a guest: the unmodified driver and tool against the real RTL."""

import json

import pytest

from test.guest.conftest import SPEED

pytestmark = pytest.mark.guest

BOARD = "default"

ENGINES = ["pvsync2", "mmap", "io_uring", "libaio"]


def fio_verify(engine):
    """A command: several jobs, each on its own part, mixed block sizes, crc32c of every block; `mmap` in the window."""
    apart = "--size=64k --offset_increment=128k" if engine == "mmap" else "--size=1M --offset_increment=4M"
    sizes = "--bsrange=512-16k" if engine == "mmap" else "--bsrange=512-64k --bs_unaligned"
    return (f"fio --name=verify --filename=/dev/litepcie0 --ioengine={engine} --iodepth=32 --numjobs=8 {apart} {sizes}"
        " --rw=randrw --verify=crc32c --verify_fatal=1 --randrepeat=1 --filesize=40M --allow_file_create=0")


def test_info_says_what_the_board_is(guest):
    info = json.loads(guest.run("litepcie_util --json info"))
    link = info["link"]
    assert {name: link[name] for name in SPEED} == SPEED
    assert (link["mps_bytes"], link["mrrs_bytes"]) == (256, 512)
    assert info["memory_bytes"] == 64 << 20


def test_every_size_at_some_pairs_of_alignments(guest):
    """23 and 16 have no common divisor: each alignment of the host occurs."""
    assert "checks passed" in guest.run("alignments 1048577 23", timeout=600)


@pytest.mark.full
def test_every_size_at_every_alignment(guest):
    assert "checks passed" in guest.run("alignments", timeout=600)


def test_errors_leave_the_card_usable(guest):
    assert "checks passed" in guest.run("errors")


@pytest.mark.parametrize("how", ["fixed", "vector"])
def test_pieces_are_moved_without_a_copy_or_a_waiting_thread(guest, how):
    assert "checks passed" in guest.run(f"pieces {how}")
    guest.works()


@pytest.mark.parametrize("sequence", ["read-then-write", "read-and-write",
    pytest.param("write-then-read", marks=pytest.mark.full)])
def test_dma_test(guest, sequence):
    text = guest.run(f"litepcie_util --json dma_test --sequence {sequence} --iterations 5")
    row  = json.loads(text)
    assert row["ok"]
    for direction in ("read", "write"):
        if direction in sequence:
            assert row[direction]["transfers"] == 5
            assert row[direction]["counter_bytes"] == 5*row["transfer_bytes"]
            rate = row[direction]["counter_bytes_per_second"]["average"]
            # No faster than the link: a counter that stops early shows here.
            assert 0 < rate < row["gen"]*row["lanes"]*250e6


@pytest.mark.parametrize("size, write_block, read_block",
    [pytest.param(1 << 30, 12345, 65537, marks=pytest.mark.full), (300007, 100003, 777), (500, 1, 3)])
def test_file_through_the_card(guest, size, write_block, read_block):
    """dd of a real file in odd block sizes: parts of it, in make test-all also the whole."""
    reads  = f"$(( ($(stat -c %s /tmp/file) + {read_block - 1}) / {read_block} ))"
    guest.run(f"head -c {size} /boot/vmlinuz > /tmp/file")
    guest.run(f"dd if=/tmp/file of=/dev/litepcie0 bs={write_block}")
    guest.run(f"dd if=/dev/litepcie0 bs={read_block} count={reads} 2>/dev/null"
        " | head -c $(stat -c %s /tmp/file) > /tmp/back", timeout=600)
    before, after = guest.run("sha256sum /tmp/file /tmp/back").splitlines()
    assert before.split()[0] == after.split()[0]


@pytest.mark.parametrize("engine", [engine if engine in ("mmap", "io_uring") else
    pytest.param(engine, marks=pytest.mark.full) for engine in ENGINES])
def test_fio_verify(guest, engine):
    guest.run(fio_verify(engine), timeout=600)


def test_example_async_copy(guest):
    """Eight transfers in flight by io_uring, back into a registered buffer."""
    assert guest.run("async_copy 2") == "2097152 bytes moved to the card and back: equal\n"
