#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A card with several memory channels: the driver runs all of their engines."""

import os

import pytest

from test.guest.conftest import BUILD

pytestmark = pytest.mark.guest

CHANNELS = 4
ENGINES  = [f"{kind}{channel}" for kind in ("reader", "writer") for channel in range(CHANNELS)]
DEBUGFS  = "/sys/kernel/debug/litepcie/litepcie0"


@pytest.fixture(scope="module")
def faults():
    """Named pipe through which completions are made to fail."""
    pipe = BUILD / "several-channels" / "faults"
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    return pipe


@pytest.fixture(scope="module")
def guest(boot, build_board, faults):
    # Calls that read into the same bytes at once make mappings that overlap, as any direct I/O of a program does.
    with boot("several-channels", board=build_board(channels=CHANNELS), cpus=2,
            simulator_arguments=["--inject-pipe", str(faults)], parameters=("dma_debug=off",)) as guest:
        yield guest


def moved(guest):
    """{engine: bytes it moved since its reset}."""
    return {line.split()[0]: int(line.split()[1]) for line in guest.run("channels counters").splitlines()}


def test_every_engine_runs(guest):
    said = guest.run(f"cd {DEBUGFS} && grep state reader* writer*")
    assert said.split("\n")[:-1] == [f"{engine}:state running" for engine in ENGINES]


def test_every_engine_is_reset_while_transfers_run(guest):
    """Also the errors of all system calls on this card."""
    assert "checks passed" in guest.run("errors")
    guest.works()


@pytest.mark.parametrize("how, kind", [("write", "reader"), ("read", "writer")])
def test_short_calls_use_all_channels(guest, how, kind):
    before = moved(guest)
    assert guest.run(f"channels load {how} 32 4096 256") == "0 failed\n"
    after = moved(guest)
    share = {name: after[name] - before[name] for name in after if name.startswith(kind)}
    assert len(share) == CHANNELS
    assert all(bytes >= 256*4096 // CHANNELS // 4 for bytes in share.values()), share


@pytest.mark.parametrize("how, kind", [("write", "reader"), ("read", "writer")])
def test_long_calls_share_one_channel(guest, how, kind):
    before = moved(guest)
    guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=8M count=1" if how == "write" else
        "dd if=/dev/litepcie0 of=/dev/null bs=8M count=1")
    after = moved(guest)
    assert [name for name in after if name.startswith(kind) and after[name] > before[name]] == [f"{kind}0"]


def test_a_fault_on_one_channel_does_not_touch_the_others(guest, faults):
    """One of 256 calls fails, and the bytes of the others are right: those behind it on its channel are moved again."""
    for completion in (5000, 6000, 7000):  # The program first writes zeros, with about 4200 completions.
        faults.write_text(f"ur@{completion}\n")
        assert guest.run("channels load write 32 4096 256") == "1 failed\n"
    guest.works()


def test_a_reset_of_one_channel_does_not_touch_the_others(guest):
    before = moved(guest)
    for direction, how in enumerate(("write", "read")):
        guest.run(f"(for i in $(seq 40); do channels reset {CHANNELS - 1} {direction} || echo bad; done > /tmp/resets)"
            f" & channels load {how} 32 4096 512 && wait && ! grep -q bad /tmp/resets")
    assert moved(guest) != before
    guest.works()


@pytest.mark.parametrize("files", [1, 16])
def test_a_byte_does_not_wait_behind_long_calls(guest, files):
    """They have 2 MiB on channel 0, and the byte goes to another one. With one channel, up to 2 MiB pass before it.

    The median of several calls: the card also moves bytes between each call and the reads of its counters.
    """
    guest.run(f"(queue flood {files} > /tmp/flood 2>&1) & sleep 1; cat /tmp/flood")
    try:
        passed = sorted(map(int, guest.run("queue ahead 15").split()))
    finally:
        guest.run("killall -9 queue; for i in $(seq 100); do killall -0 queue 2>/dev/null || break; sleep 0.1; done")
    assert passed[-1] > 0, "there was no flood"
    assert passed[len(passed)//2] <= 512 << 10, passed
    guest.works()
