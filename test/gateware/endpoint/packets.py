# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Symbols in pairs, packets of the data link layer as words, and their checks from other sources than the gateware."""

import random
import zlib
from itertools import zip_longest

from test.gateware.simulation import fail


def packed(pair):
    """Data, K and errors of two symbols. Bit 8 of a symbol is K, bit 9 an error."""
    return [sum((symbol >> low & (1 << width) - 1) << width*n for n, symbol in enumerate(pair))
        for low, width in ((0, 8), (8, 1), (9, 1))]


def unpacked(data, k):
    return [data >> 8*n & 0xff | (k >> n & 1) << 8 for n in range(2)]


def drive_pairs(dut, symbols, pauses=0.0, **fields):
    """Gives symbols; `fields` are functions of a place that return the values of further signals of `dut`."""
    rng, at = random.Random(1), 0
    signals = [dut.data, dut.k, *([dut.error] if hasattr(dut, "error") else [])]
    while at < len(symbols):
        go   = rng.random() >= pauses
        pair = symbols[at:at + 2] if go else [rng.randrange(1024), rng.randrange(1024)]
        yield dut.valid.eq(go)
        yield [signal.eq(value) for signal, value in zip(signals, packed(pair))]
        yield [getattr(dut, name).eq(value(at)) for name, value in fields.items()]
        at += 2*go
        yield


def words(data, **fields):
    """Beats of an even number of bytes, the first byte in bits 7:0."""
    pairs = [data[n] | data[n + 1] << 8 for n in range(0, len(data), 2)]
    return [dict(data=pair, first=n == 0, last=n == len(pairs) - 1, **fields) for n, pair in enumerate(pairs)]


def send_words(dut, packets):
    """Gives packets (bytes, {signal: its value with the last word}), with a cycle between two."""
    idle = {name: 0 for _, fields in packets for name in fields}
    for data, fields in packets:
        for beat in words(data, valid=1):
            for name, value in {**beat, **idle, **(fields if beat["last"] else {})}.items():
                if hasattr(dut, name):
                    yield getattr(dut, name).eq(value)
            yield
        yield [dut.valid.eq(0), dut.last.eq(0)]
        yield


def record(dut, names, events):
    """Appends the names of signals to `events` in each cycle in which they are 1."""
    while True:
        for name in names:
            if (yield getattr(dut, name)):
                events.append(name)
        yield


def joined(beats):
    """The bytes of beats."""
    return b"".join(beat["data"].to_bytes(2, "little") for beat in beats)


def lcrc(data):
    """The four bytes that follow sequence number and TLP."""
    return zlib.crc32(data).to_bytes(4, "little")


def framed(dword):
    """A dword with its CRC, bit by bit from the polynomial of the specification (PCIe 2.1 3.4.1)."""
    register = 0xffff
    for byte in dword:
        for bit in range(8):
            feedback = (register >> 15 ^ byte >> bit) & 1
            register = register << 1 & 0xffff ^ (0x100b if feedback else 0)
    mapped = sum((register >> 15 - bit & 1) << bit for bit in range(16))
    return dword + (mapped ^ 0xffff).to_bytes(2, "little")


def numbered(sequence, tlp):
    """A TLP with sequence number and LCRC."""
    data = sequence.to_bytes(2, "big") + tlp
    return data + lcrc(data)


def inverted(data):
    return bytes(byte ^ 0xff for byte in data)


def check_same(found, expected, what):
    """Fails with the first packet that differs: its number, the first wrong byte, and both."""
    for number, (one, other) in enumerate(zip_longest(found, expected)):
        if one != other:
            place = next((at for at, (a, b) in enumerate(zip(one or b"", other or b"")) if a != b), "the length")
            text  = [f"{len(data)} bytes {data.hex()}" if data is not None else "no packet" for data in (other, one)]
            fail(f"{what}: wrong bytes", expected=text[0], found=text[1],
                packet=f"{number} of {len(expected)}", byte=place)
