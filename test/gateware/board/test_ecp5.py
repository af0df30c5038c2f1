#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Parts of the ECP5 boards that need no bitstream."""

from migen import Module, Signal, run_simulation

from litepcie_soc.board.ecp5 import state_leds
from litepcie_soc.phy.soft.ltssm_states import STATE_BITS, State


def test_leds_tell_the_states_apart():
    """No two states look alike, and one that blinks is dark half of the time."""
    module = Module()
    state, heartbeat, lit = Signal(STATE_BITS), Signal(), Signal(4)
    module.comb += lit.eq(state_leds(state, heartbeat))
    seen = {}

    def look():
        for number in range(2**STATE_BITS - 1):
            yield state.eq(number)
            shown = []
            for beat in (0, 1):
                yield heartbeat.eq(beat)
                yield
                yield
                shown.append((yield lit))
            seen[number] = tuple(shown)
    run_simulation(module, look())
    assert len(set(seen.values())) == len(seen) > max(State)
    assert all(shown == (number, number) for number, shown in seen.items() if number < 16)
    assert all(shown == (0, number - 15) for number, shown in seen.items() if number >= 16)
