# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Ordered sets: their receiver against a decoder of one symbol at a time and with a recorded link, and what is sent:
whole sets, SKP sets in time, packets between them."""

import itertools
import random

import pytest
from migen import passive

from litepcie_soc.endpoint.physical.framing       import FrameTransmitter
from litepcie_soc.endpoint.physical.ordered_sets  import (
    SEND_DATA, SEND_EIOS, SEND_NOTHING, SEND_TS1, SEND_TS2, SKP_INTERVAL, SetReceiver, SetTransmitter,
)
from litepcie_soc.endpoint.serdes.interface       import COM, FTS, IDL, PAD, SKP, STP, TS1, TS2
from test.gateware.endpoint.packets               import drive_pairs, unpacked, words
from test.gateware.endpoint.physical.test_framing import decoded, random_packet
from test.gateware.simulation                     import drive, simulate
from test.gateware.steps                          import wait

K, ERROR   = 0x100, 0x200
MOST       = 15
NOTHING    = None
SKP_SET    = [K | COM, *[K | SKP]*3]
FIELDS     = {"link": 0x1f7, "lane": 0x1f7, "n_fts": 4, "rate": 2, "control": 0}


def training_set(kind=TS1, link=K | PAD, lane=K | PAD, n_fts=4, rate=2, control=0):
    return [K | COM, link, lane, n_fts, rate, control, *[kind]*10]


def receive(symbols, pauses=0.0, clear=()):
    """Events of the receiver: (cycle, name, values), and the count of idle symbols in each cycle."""
    dut, events, idle = SetReceiver(), [], []
    symbols = [*symbols, *[0]*(len(symbols) % 2 + 12)]
    @passive
    def watch():
        for cycle in itertools.count():
            for name in ("skp", "eios", "damaged"):
                if (yield getattr(dut, name)):
                    events.append((cycle, name))
            if (yield dut.ts):
                said = yield [getattr(dut.fields, name) for name in FIELDS]
                kind = (TS2 if (yield dut.ts2) else TS1) ^ (0xff if (yield dut.inverted) else 0)
                events.append((cycle, "ts", kind, *said, (yield dut.in_a_row)))
            idle.append((yield dut.idle))
            yield
    simulate(dut, [drive_pairs(dut, symbols, pauses, clear=lambda at: at in clear), watch()], cycles=10**6)
    return events, idle


def sets(events):
    return [event[2:] for event in events if event[1] == "ts"]


@pytest.mark.parametrize("shift", [0, 1])
def test_a_recorded_link(trace, shift):
    """Its way through training, as its event list has it."""
    events, _ = receive(trace["down"][1 + shift:1300])
    found     = [(one, len(list(group))) for one, group in itertools.groupby(said[:-1] for said in sets(events))]
    pad       = K | PAD
    assert found == [((TS1, pad, pad, 4, 2, 0), 17), ((TS2, pad, pad, 4, 2, 0), 17), ((TS1, 0, pad, 4, 2, 0), 3),
        ((TS1, 0, 0, 4, 2, 0), 5), ((TS2, 0, 0, 4, 2, 0), 18)]
    assert [event[1] for event in events if event[1] != "ts"] == ["skp"]


# Rules: 4.2.4.1
@pytest.mark.parametrize("shift", [0, 1])
def test_sets_in_a_row(shift):
    """SKP sets of any length do not count; a set that differs in any symbol, or is damaged, begins a new row."""
    first = training_set(TS1, 5, 0)
    said, symbols = [], [0]*shift
    for length in range(1, 6):
        symbols += first + [K | COM, *[K | SKP]*length]
        said.append((TS1, 5, 0, 4, 2, 0, length))
    for other in (training_set(TS1, 6, 0), training_set(TS1, 6, 1), training_set(TS1, 6, 1, 5),
            training_set(TS1, 6, 1, 5, 6), training_set(TS1, 6, 1, 5, 6, 1), training_set(TS2, 6, 1, 5, 6, 1),
            training_set(TS1 ^ 0xff, 6, 1, 5, 6, 1), training_set(TS2 ^ 0xff, 6, 1, 5, 6, 1)):
        symbols += other + SKP_SET + other
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
    _, idle = receive(training_set() + [0]*6 + SKP_SET + [0]*4 + [1, 1]*8)
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


def send(script, packets=(), interval=SKP_INTERVAL):
    """Symbols that are sent; counts of the pulses. `script` is a list of (cycles, send, fields)."""
    dut, frames = SetTransmitter(interval), FrameTransmitter()
    dut.submodules += frames
    out, counts = [], {"ts_sent": 0, "eios_sent": 0, "idle_sent": 0}
    dut.comb += [frames.hold.eq(dut.hold), frames.active.eq(dut.send == SEND_DATA), dut.packet.eq(frames.valid),
        dut.packet_data.eq(frames.data), dut.packet_k.eq(frames.k)]
    def drive_sets():
        for length, what, fields in script:
            yield dut.send.eq(what)
            yield [getattr(dut.fields, name).eq(value) for name, value in {**FIELDS, **fields}.items()]
            yield from wait(length)
    @passive
    def give():
        while not (yield dut.send) == SEND_DATA:
            yield
        yield from drive(frames.sink, [beat for packet in packets
            for beat in words(packet.data, dllp=packet.dllp, edb=packet.edb)])
    @passive
    def watch():
        while True:
            plain, idle = yield [dut.plain, dut.idle]
            for n, symbol in enumerate(unpacked((yield dut.data), (yield dut.k))):
                out.append(NOTHING if idle >> n & 1 else symbol)
                # Data of training sets only.
                assert not plain >> n & 1 or symbol in (TS1, TS2, *range(16), K | PAD)
            for name in counts:
                counts[name] += yield getattr(dut, name)
            yield
    simulate(dut, [drive_sets(), give(), watch()])
    return out[4:], counts


def split(out):
    """Returns (symbols without SKP sets, places of the SKP sets), all in the lower half."""
    rest, places, at = [], [], 0
    while at < len(out):
        if out[at:at + 4] == SKP_SET:
            assert at % 2 == 0
            places.append(at)
            at += 4
        else:
            rest.append(out[at])
            at += 1
    return rest, places


def test_training_sets():
    """All that were begun are whole, also if what is to be sent changes in their middle."""
    out, counts = send([(9, SEND_NOTHING, {}), (30, SEND_TS1, {}), (21, SEND_TS1, {"link": 7, "control": 1}),
        (20, SEND_TS2, {"link": 7, "lane": 0}), (20, SEND_EIOS, {}), (20, SEND_NOTHING, {})])
    assert out[:12] == [NOTHING]*12
    out = out[out.index(K | COM):]
    for many, one in ((4, training_set(TS1)), (3, training_set(TS1, 7, control=1)), (2, training_set(TS2, 7, 0))):
        for _ in range(many):
            assert out[:16] == one
            out = out[16:]
    # EIOS is sent as long as it is asked for; the sender stops after the first one.
    assert out[:4] == [K | COM, *[K | IDL]*3] and counts["eios_sent"] in (9, 10) and counts["ts_sent"] == 9
    assert out[-30:] == [NOTHING]*30


# Rules: 4.2.7, transmitter
@pytest.mark.parametrize("what", [SEND_TS1, SEND_DATA])
def test_skp_sets_are_in_time(what):
    """As often as the specification wants, on average and from one to the next."""
    out, counts = send([(8000, what, {})])
    rest, places = split(out)
    gaps = [then - now for now, then in zip(places, places[1:])]
    assert len(places) >= 9 and all(1180 <= gap <= 1538 + 16 for gap in gaps)
    assert sum(gaps)/len(gaps) <= 1538
    if what == SEND_TS1:
        assert rest[:len(rest)//16*16] == training_set(TS1)*(len(rest)//16)
    else:
        assert set(rest) == {0} and abs(2*counts["idle_sent"] - len(rest)) <= 4


# Rules: 4.2.7, transmitter
def test_packets_and_skp_sets():
    """No set is inside a packet; sets that a packet held up follow it; packets follow each other without a gap."""
    rng     = random.Random(3)
    packets = [random_packet(rng) for _ in range(60)]
    out, _  = send([(10, SEND_TS2, {}), (3000, SEND_DATA, {})], packets, interval=60)
    out     = out[out.index(K | COM):]
    rest, places = split(out)
    data    = rest[32:]
    begin   = next(at for at, symbol in enumerate(data) if symbol)
    sent    = [symbol for packet in packets for symbol in packet.symbols()]
    assert data[begin:begin + len(sent)] == sent and set(data[begin + len(sent):]) == {0}
    assert len(places) >= len(out)//60 - 2
    assert any(then - now == 4 for now, then in zip(places, places[1:]))


def test_the_link_goes_in_the_middle_of_a_packet():
    """Training sets begin at once; the rest of the packet is dropped, and the next one is whole."""
    rng     = random.Random(4)
    packets = [random_packet(rng) for _ in range(10)]
    for cycles in range(10, 30):
        out, _  = send([(cycles, SEND_DATA, {}), (9, SEND_TS1, {}), (900, SEND_DATA, {})], packets)
        got, _  = decoded(out)
        whole   = [packet for packet in got if not packet.error]
        assert training_set(TS1) == out[out.index(K | COM):][:16]
        assert len(got) - len(whole) <= 1 and whole == [packet for packet in packets if packet in whole]
        assert packets[-1] in whole and len(whole) >= 6
