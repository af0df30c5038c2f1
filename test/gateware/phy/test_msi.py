#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import random

from litepcie_soc.phy.msi import OrderedMSI

from test.gateware.common import Stalls, Watch, accept, drive, forever, simulate

# Tests --------------------------------------------------------------------------------------------

def test_msi_stay_behind_their_tlps():
    """TLPs enter and leave at random; each MSI comes when as many left as had entered before it, and no later."""
    rng     = random.Random(1)
    dut     = OrderedMSI()
    output  = Watch(dut.source, framed=False)
    entered, left = [0], [0]
    offered, seen = [], []      # TLPs entered when an MSI was offered; TLPs left when it came.

    def tlps():
        while True:
            enter = entered[0] - left[0] < 40 and rng.random() < 0.3
            leave = left[0] < entered[0] and rng.random() < 0.3
            yield dut.entered.eq(enter)
            yield dut.left.eq(leave)
            yield
            entered[0] += enter
            left[0]    += leave

    def source():
        for vector in range(60):
            for _ in range(rng.randrange(30)):
                yield
            offered.append(entered[0])
            yield from drive(dut.sink, [{"dat": vector}])

    def watch():
        while True:
            while len(seen) < len(output.beats):
                seen.append(left[0])
            yield

    simulate(dut, [source(), forever(tlps()), forever(accept(dut.source, Stalls(0.2, 3))), forever(output.watch()),
        forever(watch())])
    assert [beat["dat"] for beat in output.beats] == list(range(60))
    late = [after - before for before, after in zip(offered, seen)]
    assert all(n >= -1 for n in late) and sum(late)/len(late) < 15, late


def test_nothing_is_waited_for_when_nothing_is_there():
    dut    = OrderedMSI()
    output = Watch(dut.source, framed=False)
    simulate(dut, [drive(dut.sink, [{"dat": 5}]), forever(accept(dut.source)), forever(output.watch())], cycles=10)
    assert [beat["dat"] for beat in output.beats] == [5]


def test_link_down_lets_an_msi_go():
    """What was in between is lost with the link."""
    dut    = OrderedMSI()
    output = Watch(dut.source, framed=False)

    def lose():
        yield dut.source.ready.eq(1)
        yield dut.entered.eq(1)
        for _ in range(5):
            yield
        yield dut.entered.eq(0)
        yield dut.sink.dat.eq(1)
        yield dut.sink.valid.eq(1)
        for _ in range(20):
            yield
        assert not output.beats
        yield dut.reset.eq(1)
        yield
        yield dut.reset.eq(0)
        yield from drive(dut.sink, [{"dat": 1}])

    simulate(dut, [lose(), forever(output.watch())])
    assert len(output.beats) == 1
