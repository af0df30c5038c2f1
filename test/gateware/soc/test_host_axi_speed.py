# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Cycles of bursts of 256 bytes at the AXI4 slave onto host memory, on a PHY that moves the bytes of its link."""

import pytest

from litepcie_soc.common.pcie import HEADER_3DW, HEADER_4DW
from test.gateware.axi.master import OKAY
from test.gateware.simulation import full
from test.gateware.soc.test_host_axi import LIMIT, Logic
from test.gateware.tlp.host import Host

BYTES, SHARE = 256, 0.95
FRAMING = 8         # Bytes of a TLP on the link beside header and payload: STP token, LCRC.
BURSTS, FIRST = 160, 40     # Of each direction; the first ones fill the path.
LATENCY_US = 1
PHY_BYTES  = 320    # Of TLPs that the PHY takes ahead of the link.


class Pace:
    """One direction of a link that carries ``rate`` bytes per cycle, in the time that ``left`` counts."""
    def __init__(self, rate):
        self.rate, self.left, self.share = rate, 0, 1

    def tick(self):
        self.left = min(self.left + self.rate, PHY_BYTES)

    def next(self):
        """Whether it takes no beat in this cycle, as a ``Stalls`` of the bench."""
        return self.left <= 0

    def carry(self, tlp):
        self.left -= FRAMING + tlp.header_bytes + 4*tlp.length*(tlp.fmt >> 1)


class Root(Host):
    """A host at the end of a link: ``up`` are the TLPs of the card."""
    def __init__(self, rate, latency):
        Host.__init__(self, split=BYTES, latency=latency)
        self.up, self.down = Pace(rate), Pace(rate)

    def take(self, tlp):
        self.up.carry(tlp)
        Host.take(self, tlp)

    def next_completion(self):
        tlp = None if self.down.next() else Host.next_completion(self)
        if tlp:
            self.down.carry(tlp)
        return tlp

    def clock(self):
        while True:
            self.up.tick()
            self.down.tick()
            yield


def bound(ways, rate, width):
    """Bytes of payload per cycle and direction: what link and data path carry of TLPs of 256 bytes.

    With both directions, writes share theirs with the requests of as many reads: each of these takes a beat.
    """
    header   = HEADER_4DW if "write" in ways else HEADER_3DW
    requests = len(ways) == 2
    beats    = -(-(header + BYTES)//width) + requests
    return BYTES/max((FRAMING + header + BYTES + requests*(FRAMING + HEADER_3DW))/rate, beats)


@pytest.mark.parametrize("name, data_width, rate, clk_mhz, ways", [
    ("Gen2 x4", 128, 16.0, 125, ("read", "write")),
    *full(("Gen2 x4", 128, 16.0, 125, ("read",)), ("Gen2 x4", 128, 16.0, 125, ("write",)),
        *[("Gen3 x8", 256, 8e9*128/130/250e6, 250, ways) for ways in (("read",), ("write",), ("read", "write"))])])
def test_bursts_of_256_bytes_reach_the_link(name, data_width, rate, clk_mhz, ways):
    host  = Root(rate, LATENCY_US*clk_mhz)
    logic = Logic(data_width, host=host, tags=64, port_tags=56, buffer_blocks=256)
    logic.bench.tx_stalls = host.up
    beats = BYTES // logic.width
    load  = {"read": [], "write": []}
    def process():
        for n in range(BURSTS):
            at = n*BYTES % LIMIT
            if "read" in ways:
                load["read"].append(logic.gets(at, beats))
            if "write" in ways:
                load["write"].append(logic.puts(LIMIT + at, beats, strobes=2**logic.width - 1))
        yield from logic.master.wait()
    logic.run_with(process(), extended_tag=1, more=[host.clock()])
    for way in ways:
        ends   = [beat["cycle"] for beat in logic.master.watch["r" if way == "read" else "b"].beats
            if beat["last"] or way == "write"]
        cycles = ends[-1] - ends[FIRST - 1]
        moved  = (BURSTS - FIRST)*BYTES/cycles
        share  = moved/bound(ways, rate, logic.width)
        print(f"{name}, {data_width} bit, {' and '.join(ways)}: {way} {moved:.2f} bytes per cycle, "
            f"{moved*clk_mhz:.0f} MB/s, {100*share:.1f} % of the link's bound")
        assert all(set(burst.resp) == {OKAY} for burst in load[way])
        assert share >= SHARE
