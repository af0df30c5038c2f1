#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""TLPs as lists of dwords and as beats, from the PCIe specification and the integration sheet alone."""

from dataclasses import dataclass

MRD, MWR, CPL, CPLD = "MRd", "MWr", "Cpl", "CplD"


@dataclass
class Tlp:
    """A TLP. ``data`` is the payload, bytes from the first dword's byte 0 on."""
    kind: str
    length: int = 0        # Dwords.
    requester: int = 0
    tag: int = 0
    address: int = 0       # Of the first dword.
    first_be: int = 0xf
    last_be: int = 0
    attr: int = 0
    completer: int = 0
    status: int = 0
    byte_count: int = 0
    lower_address: int = 0
    data: bytes = b""

    def dwords(self, endianness):
        payload = [int.from_bytes(self.data[n:n + 4], endianness) for n in range(0, len(self.data), 4)]
        if self.kind in (CPL, CPLD):
            return [0x0a << 24 | (self.kind == CPLD) << 30 | self.length & 0x3ff,
                self.completer << 16 | self.status << 13 | self.byte_count & 0xfff,
                self.requester << 16 | self.tag << 8 | self.lower_address, *payload]
        wide    = self.address >> 32 != 0
        address = [self.address >> 32] * wide + [self.address & 0xffffffff]
        return [(self.kind == MWR) << 30 | wide << 29 | self.length & 0x3ff,
            self.requester << 16 | self.tag << 8 | self.last_be << 4 | self.first_be, *address, *payload]


def parse(dwords, endianness):
    """The TLP of a list of dwords; raises AssertionError on what no card may send."""
    dw0, dw1, dw2 = dwords[:3]
    fmt, kind, length = dw0 >> 29, dw0 >> 24 & 0x1f, dw0 & 0x3ff or 1024
    assert dw0 & 0x00cf8c00 == 0, f"reserved bits, TC, TD or EP in {dw0:08x}"
    attr = dw0 >> 12 & 3
    if kind == 0x0a:
        with_data = fmt == 2
        payload   = dwords[3:]
        tlp = Tlp(CPLD if with_data else CPL, length * with_data, dw2 >> 16, dw2 >> 8 & 0xff, attr=attr,
            completer=dw1 >> 16, status=dw1 >> 13 & 7, byte_count=dw1 & 0xfff or 4096, lower_address=dw2 & 0x7f)
    else:
        assert kind == 0, f"type {kind:x}"
        wide      = fmt & 1
        with_data = fmt & 2
        address   = dw2 << 32 | dwords[3] if wide else dw2
        payload   = dwords[3 + wide:]
        assert bool(wide) == (address >= 1 << 32), "header size"
        assert address % 4 == 0
        tlp = Tlp(MWR if with_data else MRD, length, dw1 >> 16, dw1 >> 8 & 0xff, address, dw1 & 0xf, dw1 >> 4 & 0xf,
            attr)
        assert bool(tlp.last_be) == (length > 1) and tlp.first_be, "byte enables"
        assert address % 4096 + 4 * length <= 4096, "crosses 4 KiB"
    assert len(payload) == (length if with_data else 0), f"length {length}, payload of {len(payload)}"
    tlp.data = b"".join(dword.to_bytes(4, endianness) for dword in payload)
    return tlp


def beats(dwords, data_width):
    """A TLP's beats as fields of a stream port."""
    lanes = data_width // 32
    for n in range(0, len(dwords), lanes):
        piece = dwords[n:n + lanes]
        yield {
            "dat":   sum(dword << 32 * lane for lane, dword in enumerate(piece)),
            "be":    (1 << 4 * len(piece)) - 1,
            "first": int(n == 0),
            "last":  int(n + lanes >= len(dwords)),
        }


class Assembler:
    """Beats of a stream port to TLPs, held to first, last and be."""
    def __init__(self, endianness, take):
        self.endianness = endianness
        self.take       = take
        self.dwords     = []

    def beat(self, beat):
        assert bool(beat["first"]) == (not self.dwords), "first"
        count = beat["be"].bit_length() // 4
        assert beat["be"] == (1 << 4 * count) - 1 and count, f"be {beat['be']:x}"
        self.dwords += [beat["dat"] >> 32 * lane & 0xffffffff for lane in range(count)]
        if beat["last"]:
            dwords, self.dwords = self.dwords, []
            self.take(parse(dwords, self.endianness))
