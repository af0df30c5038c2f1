# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Symbols: the elastic buffer between two clocks, scrambler and descrambler."""

import random

import pytest

from litepcie_soc.endpoint.physical.scrambler import Descrambler, Scrambler
from litepcie_soc.endpoint.serdes.elastic import ElasticBuffer
from litepcie_soc.endpoint.serdes.interface import COM, FTS, IDL, PAD, SKP, STP
from test.gateware.endpoint.line import Whitener
from test.gateware.endpoint.packets import drive_pairs, unpacked
from test.gateware.simulation import forever, simulate

K = CONTROL = 0x100


def symbols(offset, skips, count, every):
    """A counter with an ordered set before every ``every`` symbols of it, COM in half ``offset`` of a pair."""
    sent = [0] * offset
    for n in range(count):
        if n % every == 0:
            sent += [CONTROL | COM] + [CONTROL | SKP] * skips
        sent.append(n & 0xff)
    return sent


def passed(sent, rx_period, stop=None):
    """Returns the received symbols, and the number of overflows, of added and of removed pairs."""
    buffer, got, events = ElasticBuffer(), [], [0, 0, 0]
    pairs               = list(zip(sent[::2], sent[1::2]))
    def line():
        for low, high in pairs:
            yield [buffer.sink_data.eq(low & 0xff | (high & 0xff) << 8), buffer.sink_k.eq(low >> 8 | high >> 8 << 1)]
            events[2] += yield buffer.removed
            yield
    def endpoint():
        yield buffer.enable.eq(1)
        for n in range(len(pairs) * rx_period // 10000 - 20):
            if stop and n in stop:
                yield buffer.enable.eq(stop[n])
            if (yield buffer.valid):
                got.extend(unpacked((yield buffer.data), (yield buffer.k)))
            events[0] += yield buffer.overflow
            events[1] += yield buffer.added
            yield
    simulate(buffer, {"pcie": [endpoint()], "pcie_rx": [line()]}, clocks={"pcie": 10000, "pcie_rx": rx_period})
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


# Rules: 4.2.7, receiver
@pytest.mark.parametrize("offset, rx_period, added, removed", [(1, 10000, 0, 0), (0, 9900, 0, 1), (1, 9900, 0, 1),
    (0, 10100, 1, 0)])
def test_compensates_the_difference_of_the_clocks(offset, rx_period, added, removed):
    # Clocks that differ by 1 % need a pair in 100; there is a set every 52.
    got, overflows, repeated, dropped = passed(symbols(offset, 3, 1600, every=100), rx_period)
    sets = check(got[2:])
    assert overflows == 0 and len(got) > 1400
    assert (repeated > 0, dropped > 0) == (added, removed)
    assert set(sets) <= {3, 5 if added else 1} and set(sets) != set()


def test_short_sets_pass_unchanged_until_the_buffer_is_full():
    got, overflows, repeated, dropped = passed(symbols(0, 1, 3000, every=100), 9900)
    assert overflows >= 1 and dropped == repeated == 0


def test_long_sets_lose_one_pair_only():
    got, overflows, _, dropped = passed(symbols(1, 5, 1600, every=100), 9900)
    assert overflows == 0 and dropped > 0 and set(check(got[2:])) <= {5, 3}


def test_begins_again_after_it_was_disabled():
    got, overflows, *_ = passed(symbols(0, 3, 600, every=100), 10000, stop={150: 0, 160: 1})
    first = got[:2*(150 - 40)]
    assert overflows == 0 and 350 < len(got) < 500
    check(first[2:])


def in_sets(symbols):
    """Whether each symbol is one that follows the COM of a training set."""
    plain = [False]*len(symbols)
    for at, (now, then) in enumerate(zip(symbols, symbols[1:])):
        if now == K | COM and (not then & K or then == K | PAD):
            plain[at + 1:at + 16] = [True]*len(plain[at + 1:at + 16])
        elif now == K | COM:
            # A set that another one cuts short.
            plain[at:at + 16] = [False]*len(plain[at:at + 16])
    return plain


def through(dut, symbols, plain=None, pauses=0.0, errors=()):
    """The symbols behind a unit, and the places with an error."""
    symbols = [*symbols, *[0]*(len(symbols) % 2 + 8)]
    symbols, got, wrong = [symbol | (at in errors) << 9 for at, symbol in enumerate(symbols)], [], []
    fields  = {"plain": lambda at: sum(flag << n for n, flag in enumerate(plain[at:at + 2]))} if plain else {}
    def watch():
        while True:
            if (yield dut.out_valid):
                error = 0 if plain else (yield dut.out_error)
                wrong.extend(len(got) + n for n in range(2) if error >> n & 1)
                got.extend(unpacked((yield dut.out_data), (yield dut.out_k)))
            yield
    simulate(dut, [drive_pairs(dut, symbols, pauses, **fields), forever(watch())], cycles=10**6)
    return got, wrong


@pytest.mark.parametrize("way, shift", [("down", 0), ("up", 1)])
def test_a_recorded_link(trace, way, shift):
    """From the first TS1 on, with COM in each half of a pair. It begins before the first COM, inside a set."""
    plain, scrambled = trace[way][2 - shift:], trace[f"{way}_scrambled"][2 - shift:]
    got, _ = through(Descrambler(), scrambled)
    first  = plain.index(K | COM)
    assert got[first:len(plain) - 8] == plain[first:-8]
    got, _ = through(Scrambler(), plain, in_sets(plain))
    assert got[first:len(plain) - 8] == scrambled[first:-8]


# Rules: 4.2.3
@pytest.mark.parametrize("seed, count", [(1, 600), pytest.param(2, 8000, marks=pytest.mark.full)])
def test_random_symbols(seed, count):
    """Sets and symbols in any order and alignment, sets that are cut, and cycles without symbols."""
    rng, symbols = random.Random(seed), [K | COM, K | SKP]
    while len(symbols) < count:
        symbols += rng.choice([[K | COM, *[K | SKP]*rng.randrange(1, 6)],
            [K | COM, *rng.choice([[K | PAD]*2, [5, K | PAD], [255, 3]]), *[0x4a]*rng.choice([13, 13, 13, 1, 6])],
            [K | COM, *[K | rng.choice([IDL, FTS])]*3],
            [K | COM],
            [rng.randrange(256) for _ in range(rng.randrange(30))],
            [K | STP, K | SKP, 0]])
    plain     = in_sets(symbols)
    scrambled = list(map(Whitener(), symbols, plain))
    assert through(Scrambler(), symbols, plain, pauses=0.2)[0][:len(symbols) - 1] == scrambled[:-1]
    errors     = set(rng.sample(range(len(symbols)), len(symbols)//9))
    got, wrong = through(Descrambler(), scrambled, pauses=0.2, errors=errors)
    assert got[:len(symbols) - 8] == symbols[:-8]
    assert wrong == sorted(at for at in errors if at < len(got))
