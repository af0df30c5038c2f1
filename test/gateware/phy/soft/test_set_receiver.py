# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The receiver of ordered sets against a decoder of one symbol at a time, and with a recorded link."""

import itertools
import random

import pytest

from migen import passive

from litepcie_soc.phy.soft.set_receiver import SetReceiver
from litepcie_soc.phy.soft.symbols      import COM, FTS, IDL, PAD, SKP, STP, TS1, TS2

from test.gateware.simulation import simulate

K, ERROR = 0x100, 0x200
MOST     = 15


def training_set(kind=TS1, link=K | PAD, lane=K | PAD, n_fts=4, rate=2, control=0):
    return [K | COM, link, lane, n_fts, rate, control, *[kind]*10]


def receive(symbols, pauses=0.0, clear=()):
    """Events of the receiver: (cycle, name, values), and the count of idle symbols in each cycle."""
    dut, rng, events, idle = SetReceiver(), random.Random(1), [], []
    symbols = [*symbols, *[0]*(len(symbols) % 2 + 12)]
    def drive():
        at = 0
        while at < len(symbols):
            go   = rng.random() >= pauses
            pair = symbols[at:at + 2] if go else [rng.randrange(1024), rng.randrange(1024)]
            yield [dut.clear.eq(at in clear), dut.valid.eq(go), dut.data.eq(pair[0] & 0xff | (pair[1] & 0xff) << 8),
                dut.k.eq((pair[0] >> 8 & 1) | (pair[1] >> 8 & 1) << 1), dut.error.eq(pair[0] >> 9 | pair[1] >> 9 << 1)]
            at += 2*go
            yield
    @passive
    def watch():
        for cycle in itertools.count():
            for name in ("skp", "eios", "damaged"):
                if (yield getattr(dut, name)):
                    events.append((cycle, name))
            if (yield dut.ts):
                said = []
                for name in ("link", "lane", "n_fts", "rate", "control"):
                    said.append((yield getattr(dut.fields, name)))
                kind = (TS2 if (yield dut.ts2) else TS1) ^ (0xff if (yield dut.inverted) else 0)
                events.append((cycle, "ts", kind, *said, (yield dut.in_a_row)))
            idle.append((yield dut.idle))
            yield
    simulate(dut, [drive(), watch()], cycles=10**6)
    return events, idle


def sets(events):
    return [event[2:] for event in events if event[1] == "ts"]


@pytest.mark.parametrize("shift", [0, 1])
def test_a_recorded_link(trace, shift):
    """Its way through training, as its event list has it."""
    events, _ = receive(trace["down"][1 + shift:1300])
    found     = [(one, len(list(group))) for one, group in itertools.groupby(said[:-1] for said in sets(events))]
    pad       = K | PAD
    assert found == [
        ((TS1, pad, pad, 4, 2, 0), 17), ((TS2, pad, pad, 4, 2, 0), 17), ((TS1, 0, pad, 4, 2, 0), 3),
        ((TS1, 0, 0, 4, 2, 0), 5), ((TS2, 0, 0, 4, 2, 0), 18)]
    assert [event[1] for event in events if event[1] != "ts"] == ["skp"]


@pytest.mark.parametrize("shift", [0, 1])
def test_sets_in_a_row(shift):
    """SKP sets of any length do not count; a set that differs in any symbol, or is damaged, begins a new row."""
    skip  = [K | COM, *[K | SKP]*3]
    first = training_set(TS1, 5, 0)
    said, symbols = [], [0]*shift
    for length in range(1, 6):
        symbols += first + [K | COM, *[K | SKP]*length]
        said.append((TS1, 5, 0, 4, 2, 0, length))
    for other in (training_set(TS1, 6, 0), training_set(TS1, 6, 1), training_set(TS1, 6, 1, 5),
            training_set(TS1, 6, 1, 5, 6), training_set(TS1, 6, 1, 5, 6, 1), training_set(TS2, 6, 1, 5, 6, 1),
            training_set(TS1 ^ 0xff, 6, 1, 5, 6, 1), training_set(TS2 ^ 0xff, 6, 1, 5, 6, 1)):
        symbols += other + skip + other
        said    += [(other[6], *other[1:6], 1), (other[6], *other[1:6], 2)]
    for at in range(1, 16):
        damaged      = training_set()
        damaged[at] ^= ERROR | 0x40
        symbols     += training_set() + training_set() + damaged
        said        += [(TS1, K | PAD, K | PAD, 4, 2, 0, n) for n in (1, 2)]
    events, _ = receive(symbols, pauses=0.2)
    assert sets(events) == said
    assert sum(event[1] == "damaged" for event in events) >= 14


def test_the_count_stays_at_its_end():
    assert [one[-1] for one in sets(receive(training_set()*20)[0])] == [*range(1, MOST + 1), *[MOST]*5]


@pytest.mark.parametrize("between", [[0, 0], [K | COM, *[K | FTS]*3], [K | STP, 1], [K | COM, *[K | IDL]*3]])
def test_what_ends_a_row(between):
    events, _ = receive(training_set()*3 + between + training_set()*2)
    assert [one[-1] for one in sets(events)] == [1, 2, 3, 1, 2]
    assert sum(event[1] == "eios" for event in events) == (between[-1] == K | IDL)


def test_logical_idle():
    """SKP sets do not count; other symbols begin anew."""
    skip    = [K | COM, *[K | SKP]*3]
    _, idle = receive(training_set() + [0]*6 + skip + [0]*4 + [1, 1]*8)
    assert max(idle[:16]) == 6 and max(idle) == 10
    _, idle = receive([0]*6 + [0, 1] + [0]*4, pauses=0.3)
    assert idle[-1] >= 8  # The zeros at the end of the test follow.
    assert 6 in idle and 8 not in idle[:idle.index(0, idle.index(6))]
    _, idle = receive([0]*40)
    assert max(idle) >= 14


def test_clear():
    events, _ = receive(training_set()*6, clear=(48,))
    assert [one[-1] for one in sets(events)][-1] in (3, 4)


@pytest.mark.parametrize("seed, count", [(1, 2000), pytest.param(2, 20000, marks=pytest.mark.full)])
def test_random_sets(seed, count):
    """Sets of all kinds, whole and cut, with packets between them, in both alignments."""
    rng, symbols, said, row = random.Random(seed), [], [], 0
    last = None
    while len(symbols) < count:
        choice = rng.randrange(10)
        if choice < 6:
            one = training_set(rng.choice([TS1, TS2]), rng.choice([K | PAD, 3]), rng.choice([K | PAD, 0]), 4, 2, 0)
            for _ in range(rng.randrange(1, 5)):
                row  = row + 1 if one == last and row else 1
                last = one
                said.append((one[6], *one[1:6], min(row, MOST)))
                symbols += one
        elif choice < 8:
            # The last symbol of an odd set is dropped, or makes a pair with the next one, if that begins no set.
            symbols += [K | COM, *[K | SKP]*rng.randrange(1, 6)]
            if len(symbols) % 2 and rng.random() < 0.5:
                symbols += [0, 0, 0]
                row      = 0
        elif choice == 8:
            symbols += [K | COM, 3, K | PAD, 4, 2, 0, *[TS1]*rng.choice([0, 2, 6, 8])]
            row      = 0
        else:
            symbols += [rng.randrange(256) for _ in range(rng.choice([4, 6]))]
            row      = 0
    assert sets(receive(symbols, pauses=0.1)[0]) == said
