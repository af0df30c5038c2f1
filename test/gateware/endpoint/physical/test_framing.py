# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Framing against a decoder of one symbol at a time, with a recorded link, and with every kind of broken packet."""

import random
from dataclasses import dataclass

import pytest

from litepcie_soc.endpoint.physical.framing import FrameReceiver
from litepcie_soc.endpoint.serdes.interface import COM, EDB, END, PAD, SDP, SKP, STP
from test.gateware.endpoint.packets import drive_pairs, joined, lcrc
from test.gateware.simulation import Watch, forever, simulate

K, ERROR = 0x100, 0x200


@dataclass
class Packet:
    data  : bytes
    dllp  : bool = False
    edb   : bool = False
    error : bool = False

    def symbols(self):
        return [K | (SDP if self.dllp else STP), *self.data, K | (EDB if self.edb else END)]


def decoded(symbols):
    """Returns the packets in symbols, and the number of malformed ones. Bit 9 of a symbol is an error of it.

    A packet that begins in an upper half, where another one has no end after a word in the same pair, is lost.
    """
    packets, malformed, now = [], 0, None
    for at, symbol in enumerate(symbols):
        control = symbol & 0x1ff if symbol & K and not symbol & ERROR else None
        late    = at % 2 and now is not None and now.data and len(now.data) % 2 == 0
        if control is not None and now is not None:
            broken     = control not in (K | END, K | EDB) or len(now.data) % 2 or len(now.data) < 2
            malformed += bool(broken)
            now.edb    = control == K | EDB
            now.error |= bool(broken)
            now.data   = now.data[:len(now.data)//2*2]
            packets   += [now] if now.data else []
            now        = None
        if control in (K | STP, K | SDP) and not late:
            now = Packet(b"", control == K | SDP)
        elif control is None and now is not None:
            now.data  += bytes([symbol & 0xff])
            now.error |= bool(symbol & ERROR)
    return packets, malformed


def receive(symbols, pauses=0.0, listen=lambda at: True):
    """Packets that the receiver finds, and how many were malformed."""
    dut, malformed = FrameReceiver(), [0]
    watch = Watch(dut.source, handshake=False)
    def count():
        while True:
            malformed[0] += (yield dut.malformed).bit_count()
            yield
    simulate(dut, [drive_pairs(dut, [*symbols, *[0]*(len(symbols) % 2 + 16)], pauses, listen=listen),
        forever(watch.watch()), forever(count())], cycles=10**6)
    # Two packets have a cycle between them.
    assert watch.beats[-1]["last"] and all(then["cycle"] > now["cycle"] + then["first"]
        for now, then in zip(watch.beats, watch.beats[1:]))
    return [Packet(joined(beats), *[bool(beats[-1][name]) for name in ("dllp", "edb", "error")])
        for beats in watch.packets()], malformed[0]


def random_packet(rng):
    dllp = rng.random() < 0.4
    return Packet(rng.randbytes(6 if dllp else 6 + 4*rng.randrange(3, 20)), dllp, not dllp and rng.random() < 0.2)


def test_a_recorded_link(trace):
    """All its packets: 26 TLPs with a right LCRC, and 111 DLLPs."""
    found = []
    for way, shift in ("down", 0), ("up", 1):
        symbols = trace[way][900 + shift:]
        packets, malformed = receive(symbols)
        assert (packets, malformed) == decoded(symbols)
        assert malformed == 0 and not any(packet.error for packet in packets)
        found += packets
    tlps = [packet.data for packet in found if not packet.dllp]
    assert len(tlps) == 26 and len(found) - len(tlps) == 111
    assert all(lcrc(data[:-4]) == data[-4:] for data in tlps)


# Rules: 4.2.2
@pytest.mark.parametrize("seed, count", [(3, 1500), pytest.param(4, 20000, marks=pytest.mark.full)])
def test_broken_packets(seed, count):
    """Packets, ends and beginnings that are missing or damaged, odd lengths, ordered sets inside."""
    rng, symbols = random.Random(seed), []
    while len(symbols) < count:
        one = random_packet(rng).symbols()[:rng.choice([500, 500, 500, 30, 9])]
        if rng.random() < 0.5:
            at = rng.randrange(len(one))
            one[at:at + rng.randrange(3)] = rng.choice([[], [rng.randrange(256)], [ERROR | rng.randrange(512)],
                [K | COM, K | SKP], [K | STP], [K | SDP], [K | END], [K | EDB], [K | PAD], [K | STP, K | END]])
        symbols += [*one, *[0]*rng.choice([0, 0, 1, 2, 5])]
    symbols.append(K | COM)
    assert receive(symbols, pauses=0.2) == decoded(symbols)


def test_the_end_of_listening_ends_a_packet():
    """Whenever it comes, what was begun has an end, with an error, and the next packet is whole."""
    one, two = Packet(bytes(range(18))), Packet(bytes(range(100, 122)))
    symbols  = [0, 0, *one.symbols(), 0, 0, 0, 0, 0, 0, *two.symbols(), 0, 0]
    for at in range(2, 26, 2):
        packets, _ = receive(symbols, listen=lambda place: not at <= place < at + 4)
        assert packets[-1] == two and len(packets) <= 2
        for packet in packets[:-1]:
            assert packet == one or (packet.error and one.data.startswith(packet.data))
