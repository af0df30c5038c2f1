# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Packets of the data link layer as words, and their checks from other sources than the gateware."""

import zlib

from itertools import zip_longest

from test.gateware.simulation import fail


def words(data, **fields):
    """Beats of an even number of bytes, the first byte in bits 7:0."""
    pairs = [data[n] | data[n + 1] << 8 for n in range(0, len(data), 2)]
    return [dict(data=pair, first=n == 0, last=n == len(pairs) - 1, **fields) for n, pair in enumerate(pairs)]


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
