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
    with boot("several-channels", board=build_board(channels=CHANNELS), cpus=2,
            simulator_arguments=["--inject-pipe", str(faults)]) as guest:
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
    # The program also moves all of it once in one call.
    assert len(share) == CHANNELS and sum(share.values()) >= 2*256*4096 - 256*4096
    assert all(bytes >= 256*4096 // CHANNELS // 4 for bytes in share.values()), share


@pytest.mark.parametrize("how, kind", [("write", "reader"), ("read", "writer")])
def test_a_long_call_uses_several_channels(guest, how, kind):
    """It has two requests under way, and each goes to the engine with the least to do."""
    before = moved(guest)
    guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=8M count=1" if how == "write" else
        "dd if=/dev/litepcie0 of=/dev/null bs=8M count=1")
    after = moved(guest)
    assert sum(after[name] > before[name] for name in after if name.startswith(kind)) >= 2


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
