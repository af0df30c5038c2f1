#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The elastic buffer between clocks that differ by up to 1 %, with SKP ordered sets in either alignment."""

import pytest

from migen import run_simulation

from litepcie_soc.phy.soft.elastic import ElasticBuffer
from litepcie_soc.phy.soft.symbols import COM, SKP

CONTROL = 0x100


def symbols(offset, skips, count, every):
    """A counter with an ordered set before every ``every`` symbols of it, COM in half ``offset`` of a pair."""
    sent = [0] * offset
    for n in range(count):
        if n % every == 0:
            sent += [CONTROL | COM] + [CONTROL | SKP] * skips
        sent.append(n & 0xff)
    return sent


def simulate(sent, rx_period, stop=None):
    """Returns the received symbols, and the number of overflows, of added and of removed pairs."""
    buffer, got, events = ElasticBuffer(), [], [0, 0, 0]
    pairs               = list(zip(sent[::2], sent[1::2]))

    def line():
        for low, high in pairs:
            yield buffer.sink_data.eq(low & 0xff | (high & 0xff) << 8)
            yield buffer.sink_k.eq(low >> 8 | high >> 8 << 1)
            events[2] += yield buffer.removed
            yield

    def endpoint():
        yield buffer.enable.eq(1)
        for n in range(len(pairs) * rx_period // 10000 - 20):
            if stop and n in stop:
                yield buffer.enable.eq(stop[n])
            if (yield buffer.valid):
                data, k = (yield buffer.data), (yield buffer.k)
                got.extend([data & 0xff | (k & 1) << 8, data >> 8 | k >> 1 << 8])
            events[0] += yield buffer.overflow
            events[1] += yield buffer.added
            yield
    run_simulation(buffer, {"pcie": endpoint(), "pcie_rx": line()}, clocks={"pcie": 10000, "pcie_rx": rx_period})
    return got, *events


def check(got):
    """Each set has COM and 1 to 5 SKP; the counter has no gap. Returns the numbers of SKP in the sets."""
    skips, last, sets = None, None, []
    for symbol in got:
        if symbol == CONTROL | COM:
            skips = 0
        elif symbol == CONTROL | SKP:
            if skips is not None:
                skips += 1
        else:
            if skips is not None:
                sets.append(skips)
            skips = None
            assert last is None or symbol == (last + 1) & 0xff
            last = symbol
    return sets


@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("rx_period, added, removed", [(10000, 0, 0), (9900, 0, 1), (10100, 1, 0)])
def test_compensates_the_difference_of_the_clocks(offset, rx_period, added, removed):
    # Clocks that differ by 1 % need a pair in 100; there is a set every 52.
    got, overflows, repeated, dropped = simulate(symbols(offset, 3, 1600, every=100), rx_period)
    sets = check(got[2:])
    assert overflows == 0 and len(got) > 1400
    assert (repeated > 0, dropped > 0) == (added, removed)
    assert set(sets) <= {3, 5 if added else 1} and set(sets) != set()


def test_short_sets_pass_unchanged_until_the_buffer_is_full():
    got, overflows, repeated, dropped = simulate(symbols(0, 1, 3000, every=100), 9900)
    assert overflows >= 1 and dropped == repeated == 0


def test_long_sets_lose_one_pair_only():
    got, overflows, _, dropped = simulate(symbols(1, 5, 1600, every=100), 9900)
    assert overflows == 0 and dropped > 0 and set(check(got[2:])) <= {5, 3}


def test_begins_again_after_it_was_disabled():
    got, overflows, *_ = simulate(symbols(0, 3, 600, every=100), 10000, stop={150: 0, 160: 1})
    first = got[:2*(150 - 40)]
    assert overflows == 0 and 350 < len(got) < 500
    check(first[2:])
