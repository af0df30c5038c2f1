# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A card with streams and without memory channels: all works but what needs such a channel.

Its second and third stream have one direction each, another depth and another width than the data path.
"""

import pytest

from litepcie_sim.user import SimSoC, build
from litepcie_soc.board.user_options import user_options
from litepcie_soc.stream_dma.stream import Stream
from test.guest.conftest import BDF, BUILD, DRIVER

pytestmark = [pytest.mark.guest, pytest.mark.full]

NO_CHANNELS = "the card has no memory channels; its streams are for the command stream"


class StreamsOnly(SimSoC):
    """What a program writes to stream 2 comes from stream 1."""
    card = {"streams": [Stream("adc", to_host=True, depth=64 << 10, width=32),
        Stream("dac", from_host=True, depth=16 << 10, width=32)]}

    def __init__(self):
        SimSoC.__init__(self, channels=0, user=user_options({"streams": 1, "user_core": True}))
        self.comb += self.streams["dac"].source.connect(self.streams["adc"].sink)


@pytest.fixture(scope="module")
def guest(boot):
    board = BUILD / "streams-only"
    build(StreamsOnly(), board)
    with boot("streams-only", board=board) as guest:
        yield guest


def loops(guest):
    assert "loopback: " in guest.run("litepcie_util stream loopback -n 20")


def test_streams_registers_and_window(guest):
    loops(guest)
    assert "engines   0 channels, 3 streams, " in guest.run("litepcie_util info")
    assert "/dev/litepcie0 at " in guest.run("litepcie_util list")
    guest.run("litepcie_util pio_test -n 200")
    guest.run("litepcie_util mem fill --pio --pattern counter -o 64 -l 301 && "
        "litepcie_util mem verify --pio --pattern counter -o 64 -l 301")
    guest.run("litepcie_util scratch_test")
    guest.run("dd if=/dev/litepcie0_user of=/dev/null bs=4 count=1")
    guest.run("echo 5 > /sys/class/litepcie/litepcie0/moderation_us")
    guest.run("test -d /sys/kernel/debug/litepcie/litepcie0")


def test_streams_with_one_direction(guest):
    """Each byte arrives; the other direction is EOPNOTSUPP, and has no counters."""
    said = guest.run("litepcie_util info")
    assert "stream 1  to the host only\nstream 2  from the host only\n" in said
    guest.run("head -c 300001 /dev/urandom > /tmp/sent; "
        "record_play record /dev/litepcie0_stream1 /tmp/got 300001 & "
        "record_play play /dev/litepcie0_stream2 /tmp/sent; wait; cmp /tmp/sent /tmp/got")
    assert guest.run("cd /sys/class/litepcie_stream; grep . litepcie0_stream[12]/*/bytes").split() == [
        "litepcie0_stream1/writer/bytes:300001", "litepcie0_stream2/reader/bytes:300001"]
    for call in ("record -s 2 -f /dev/null", "play -s 1 -f /etc/passwd", "loopback -s 1", "loopback -s 2"):
        assert "the stream lacks a direction that " in guest.run(f"litepcie_util stream {call} 2>&1", status=1)
    assert "not supported" in guest.run("dd if=/dev/litepcie0_stream2 of=/dev/null count=1 2>&1", status=1)


def test_what_needs_a_memory_channel_says_so(guest):
    """EOPNOTSUPP for calls; a line of the tool."""
    for call in ("dd if=/dev/litepcie0 of=/dev/null bs=4k count=1", "dd if=/dev/zero of=/dev/litepcie0 bs=4k count=1"):
        assert "not supported" in guest.run(f"{call} 2>&1", status=1)
    for command in ("dma_test -n 1", "bench", "reset engines"):
        assert NO_CHANNELS in guest.run(f"litepcie_util {command} 2>&1", status=1)


def test_it_survives_a_reset_and_another_bind(guest):
    guest.run("litepcie_util reset function")
    loops(guest)
    guest.run(f"echo {BDF} > {DRIVER}/unbind; test ! -e /dev/litepcie0; echo {BDF} > {DRIVER}/bind")
    loops(guest)
