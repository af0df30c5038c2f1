# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A card with several memory channels: the driver runs all of their engines. test_vectors.py has four channels."""

import pytest

from test.conftest        import SOFT
from test.guest.test_queue import bytes_before_a_byte

pytestmark = pytest.mark.guest

CHANNELS = 2
DEBUGFS  = "/sys/kernel/debug/litepcie/litepcie0"


@pytest.fixture
def guest(usual, overlapping):
    return usual


def moved(guest):
    """{engine: bytes it moved since its reset}."""
    return {line.split()[0]: int(line.split()[1]) for line in guest.run("channels counters").splitlines()}


def test_every_engine_runs(guest):
    said = guest.run(f"cd {DEBUGFS} && grep state reader* writer*").splitlines()
    assert {f"{kind}{channel}:state running" for kind in ("reader", "writer") for channel in range(CHANNELS)} \
        <= set(said)


@pytest.mark.skipif(SOFT, reason="the card with the endpoint in gateware has one MSI")
def test_each_vector_serves_its_engine(guest):
    """With MSI-X. The kinds of interrupts are in test_vectors.py."""
    def counts():
        lines = [line.split() for line in guest.run("grep 'litepcie0-[0-9]' /proc/interrupts").splitlines()]
        return {words[-1]: int(words[1]) + int(words[2]) for words in lines}
    before = counts()
    for how in ("write", "read"):
        assert guest.run(f"channels load {how} 32 4096 256") == "0 failed\n"
    after = counts()
    assert all(after[name] > before[name] for name in [f"litepcie0-{n}" for n in range(2*CHANNELS)]), after


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
    guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=4M count=1" if how == "write" else
        "dd if=/dev/litepcie0 of=/dev/null bs=4M count=1")
    after = moved(guest)
    assert [name for name in after if name.startswith(kind) and after[name] > before[name]] == [f"{kind}0"]


def test_a_fault_on_one_channel_does_not_touch_the_others(guest, shared_guest):
    """One of 256 calls fails, and the bytes of the others are right: those behind it on its channel are moved again."""
    shared_guest.inject("ur@5000")  # The program first writes zeros, with about 4200 completions.
    assert guest.run("channels load write 32 4096 256") == "1 failed\n"
    guest.works()


def test_a_reset_of_one_channel_does_not_touch_the_others(guest):
    before = moved(guest)
    for direction, how in enumerate(("write", "read")):
        reset = f"channels reset {CHANNELS - 1} {direction}"
        guest.run(f"(for i in $(seq 20); do {reset} || echo bad; done > /tmp/resets)"
            f" & channels load {how} 32 4096 256 && wait && ! grep -q bad /tmp/resets")
    assert moved(guest) != before
    guest.works()


def test_a_byte_does_not_wait_behind_long_calls(guest):
    """They have 2 MiB on channel 0, and the byte goes to another one. With one channel, up to 2 MiB pass before it."""
    assert bytes_before_a_byte(guest, 16) <= 512 << 10
    guest.works()
