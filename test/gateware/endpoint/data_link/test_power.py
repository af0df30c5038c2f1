# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""When the link is asked to sleep, and when it sleeps."""

import pytest

from litepcie_soc.endpoint.data_link.dllp  import ENTER_L1, ENTER_L23, NOP, REQUEST_ACK
from litepcie_soc.endpoint.data_link.stack import DRAIN_CYCLES, SETTLE_CYCLES, PowerManagement
from litepcie_soc.endpoint.physical.states import TO_L1, TO_L2
from test.gateware.simulation              import simulate
from test.gateware.steps                   import wait


def expect(dut, cycles, expected, step):
    """What is wanted meanwhile: DLLP types, and values of ``hold``, ``sleep`` and ``wake``."""
    types, *others = set(), set(), set(), set()
    for _ in range(cycles):
        if (yield dut.dllp.valid):
            types.add((yield dut.dllp.dword) >> 24)
        for found, signal in zip(others, (dut.hold, dut.sleep, dut.wake)):
            found.add((yield signal))
        yield
    assert (types, *others) == expected, f"step {step}"


def received(kind):
    return [dict(received=1, dword=kind << 24), dict(received=0)]


SETTLED = 2*SETTLE_CYCLES
AGREED  = received(REQUEST_ACK)
ASLEEP  = [SETTLED, *AGREED, DRAIN_CYCLES + 8, dict(active=0, asleep=1), 3]
# What is wanted. In DRAINS, what was begun is sent to its end, and nothing begins.
AWAKE, ASKS, DRAINS, WAKES = (set(), {0}, {0}, {0}), ({ENTER_L1}, {0}, {0}, {0}), (set(), {1}, {0}, {0}), \
    (set(), {0}, {0}, {1})

# Steps are values that stay, cycles, or cycles and what is wanted in them.
CASES = {
    "it asks until the partner agrees": [(SETTLE_CYCLES, AWAKE), (1000, ASKS), *received(NOP), (100, ASKS), *AGREED, 2,
        (DRAIN_CYCLES, DRAINS), 1, (20, (set(), {1}, {1 << TO_L1}, {0})), dict(active=0, asleep=1), 2, (100, AWAKE)],
    # With a TLP to send, without credits for the longest one, outside L0, in D0.
    **{f"it does not ask: {name}": [{name: value}, (500, AWAKE)]
        for name, value in dict(busy=1, credits=0, active=0, low_power=0).items()},
    # An agreement comes that was sent before our TLP arrived. The partner sends no TLP any more, so that the entry goes
    # on even if the function is back in D0.
    "a TLP pauses it but the partner is not left alone": [SETTLED, dict(busy=1, low_power=0), 1, (300, AWAKE), *AGREED,
        (100, AWAKE), dict(busy=0), SETTLED, (100, ASKS), *ASLEEP, (100, WAKES)],
    # In D0 it does not begin again. The second recovery is between the agreement and L1.
    "recovery ends it": [SETTLED, dict(active=0, low_power=0), 10, dict(active=1), (500, AWAKE), dict(low_power=1),
        SETTLED, *AGREED, DRAIN_CYCLES + 8, dict(active=0), 2, (100, AWAKE)],
    "an agreement that nobody asked for": [dict(low_power=0), *AGREED*20, (100, AWAKE)],
    **{f"it wakes the link: {name}": [*ASLEEP, {name: value}, 1, (100, WAKES), dict(asleep=0), 2, (100, AWAKE)]
        for name, value in dict(busy=1, low_power=0).items()},
    # Its answer goes first. Nothing wakes the link.
    "PME_Turn_Off": [dict(low_power=0, turn_off=1, busy=1), dict(turn_off=0), (300, AWAKE), "off", dict(busy=0),
        SETTLE_CYCLES + 4, (300, ({ENTER_L23}, {0}, {0}, {0})), *AGREED, DRAIN_CYCLES + 4,
        (20, (set(), {1}, {1 << TO_L2}, {0})), dict(active=0, asleep=1, busy=1), 2, (100, AWAKE)]}


@pytest.mark.parametrize("case", CASES)
def test_a_function_that_begins_in_d3hot_in_l0_with_nothing_to_send(case):
    dut = PowerManagement()
    def script():
        for number, step in enumerate([dict(low_power=1, credits=1, active=1), *CASES[case]]):
            if isinstance(step, dict):
                yield [getattr(dut, name).eq(value) for name, value in step.items()]
                yield
            elif isinstance(step, tuple):
                yield from expect(dut, *step, number)
            elif step == "off":
                assert (yield dut.off)
            else:
                yield from wait(step)
    simulate(dut, [script()], cycles=5000)
