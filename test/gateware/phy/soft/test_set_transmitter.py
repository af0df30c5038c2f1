# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""What is sent: whole sets, SKP sets in time, packets between them."""

import random

import pytest

from migen import passive

from litepcie_soc.phy.soft.framing         import FrameTransmitter
from litepcie_soc.phy.soft.set_transmitter import (SEND_DATA, SEND_EIOS, SEND_NOTHING, SEND_TS1, SEND_TS2,
    SKP_INTERVAL, SetTransmitter)
from litepcie_soc.phy.soft.symbols         import COM, IDL, PAD, SKP, TS1, TS2

from test.gateware.phy.soft.packets import words
from test.gateware.phy.soft.test_framing import decoded, random_packet
from test.gateware.phy.soft.test_set_receiver import training_set
from test.gateware.simulation import simulate
from test.gateware.steps import wait

K, NOTHING = 0x100, None
SKP_SET    = [K | COM, *[K | SKP]*3]
FIELDS     = {"link": 0x1f7, "lane": 0x1f7, "n_fts": 4, "rate": 2, "control": 0}


def send(script, packets=(), interval=SKP_INTERVAL):
    """Symbols that are sent; counts of the pulses. `script` is a list of (cycles, send, fields)."""
    dut, frames = SetTransmitter(interval), FrameTransmitter()
    dut.submodules += frames
    out, counts = [], {"ts_sent": 0, "eios_sent": 0, "idle_sent": 0}
    dut.comb += [
        frames.hold.eq(dut.hold),
        frames.active.eq(dut.send == SEND_DATA),
        dut.packet.eq(frames.valid),
        dut.packet_data.eq(frames.data),
        dut.packet_k.eq(frames.k)]
    def drive():
        for length, what, fields in script:
            yield dut.send.eq(what)
            for name, value in {**FIELDS, **fields}.items():
                yield getattr(dut.fields, name).eq(value)
            yield from wait(length)
    @passive
    def give():
        while not (yield dut.send) == SEND_DATA:
            yield
        for packet in packets:
            for beat in words(packet.data):
                yield frames.sink.valid.eq(1)
                for name in ("data", "first", "last"):
                    yield getattr(frames.sink, name).eq(beat[name])
                yield [frames.sink.dllp.eq(packet.dllp), frames.sink.edb.eq(packet.edb)]
                yield
                while not (yield frames.sink.ready):
                    yield
            yield frames.sink.valid.eq(0)
    @passive
    def watch():
        while True:
            data, k, plain, idle = (yield dut.data), (yield dut.k), (yield dut.plain), (yield dut.idle)
            for n in range(2):
                symbol = data >> 8*n & 0xff | (k >> n & 1) << 8
                out.append(NOTHING if idle >> n & 1 else symbol)
                # Data of training sets only.
                assert not plain >> n & 1 or symbol in (TS1, TS2, *range(16), K | PAD)
            for name in counts:
                counts[name] += yield getattr(dut, name)
            yield
    simulate(dut, [drive(), give(), watch()])
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


def test_packets_and_skp_sets():
    """No set is inside a packet; sets that a packet held up follow it; no packet is lost."""
    rng     = random.Random(3)
    packets = [random_packet(rng) for _ in range(60)]
    out, _  = send([(10, SEND_TS2, {}), (3000, SEND_DATA, {})], packets, interval=60)
    out     = out[out.index(K | COM):]
    rest, places = split(out)
    data    = rest[32:]
    assert decoded(data) == (packets, 0)
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
