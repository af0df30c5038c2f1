#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import random

import pytest

from litex.soc.interconnect import stream
from migen import passive

from litepcie_soc.soc.msi import MSIMerger, msi_layout
from litepcie_soc.soc.msix import MSIX
from litepcie_soc.tlp.ports import MemoryWritePort

from test.gateware.simulation import simulate
from test.gateware.steps import wait


def run(engines, messages, enable=1, stall=0.0, held=0):
    """Vectors that reach the PHY when every engine sends ``messages`` of its own vector.

    Bus mastering is off for ``held`` cycles.
    """
    rng     = random.Random(engines)
    sources = [stream.Endpoint(msi_layout()) for _ in range(engines)]
    dut     = MSIMerger(sources)
    seen    = []

    def engine(source, vector):
        yield source.dat.eq(vector)
        yield source.valid.eq(1)
        for _ in range(messages):
            yield
            while not (yield source.ready):
                yield
        yield source.valid.eq(0)
        yield from wait(100)  # Values that are still in the registers.

    @passive
    def phy():
        yield dut.enable.eq(enable)
        for _ in range(held):
            assert not (yield dut.source.valid)
            yield
        yield dut.master.eq(1)
        offered = None
        while True:
            yield dut.source.ready.eq(int(rng.random() >= stall))
            yield
            valid, ready = (yield dut.source.valid), (yield dut.source.ready)
            if offered is not None:
                assert valid and (yield dut.source.dat) == offered, "taken back or changed"
            offered = (yield dut.source.dat) if valid and not ready else None
            if valid and ready:
                seen.append((yield dut.source.dat))

    simulate(dut, [engine(source, n) for n, source in enumerate(sources)] + [phy()])
    return seen


@pytest.mark.parametrize("engines, stall", [(1, 0), (4, 0.7)])
def test_every_message_once(engines, stall):
    seen = run(engines, 20, stall=stall)
    assert sorted(seen) == sorted(n for n in range(engines) for _ in range(20))


def test_no_engine_waits_behind_another_twice():
    seen = run(3, 20)
    for at in range(0, 54, 3):
        assert set(seen[at:at + 3]) == {0, 1, 2}


def test_dropped_while_disabled_and_engines_go_on():
    assert run(2, 20, enable=0, stall=1) == []


def test_messages_wait_while_bus_mastering_is_off():
    assert sorted(run(3, 1, held=50)) == [0, 1, 2]


@pytest.mark.parametrize("vectors", [0, 33])
def test_number_of_vectors_of_msix(vectors):
    """What MSI-X does: test/formal/test_user.py, test/sim/test_msix.py."""
    with pytest.raises(ValueError, match=f"vectors must be 1..32, not {vectors}"):
        MSIX(MemoryWritePort(128), vectors)
