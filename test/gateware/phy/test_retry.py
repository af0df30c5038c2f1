#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Repeated link training: the reset of the hard block, against a link that comes up at one of the trainings."""

import pytest

from litepcie_soc.phy.retry import LinkRetry

from test.gateware.simulation import simulate

HZ = 2000  # A training may take 200 cycles, a reset takes 2.


@pytest.mark.parametrize("training, slot_reset, resets", [
    (0, None, []),                       # The first training succeeds.
    (2, None, [(200, 2), (402, 2)]),
    (1, 150,  [(154, 20), (374, 2)]),    # The slot's reset, in cycles 150 to 169, begins the time again.
])
def test_the_block_is_reset_until_its_link_is_up(training, slot_reset, resets):
    dut  = LinkRetry(HZ)
    seen = []  # (first cycle, length) of each reset of the block.

    def bench():
        trainings, since, low = 0, 0, 0
        for cycle in range(1000):
            in_slot_reset = slot_reset is not None and slot_reset <= cycle < slot_reset + 20
            yield dut.slot_rst_n.eq(not in_slot_reset)
            yield dut.link_up.eq(trainings >= training and since > 60)
            yield
            if (yield dut.rst_n):
                if low:
                    seen.append((cycle - low, low))
                    trainings, since = trainings + (low == 2), 0
                low, since = 0, since + 1
            else:
                low, since = low + 1, 0
    simulate(dut, [bench()])
    print(seen)
    assert [length for _, length in seen] == [length for _, length in resets]
    assert all(abs(at - expected) <= 6 for (at, _), (expected, _) in zip(seen, resets))
