# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A model of UltraScale's hard blocks at their AXI streams: encodes and decodes packets.

It follows the tables of PG156 and PG213 (dword-aligned mode; straddling on RC at 256 and 512 bits), and shares no code
with the gateware.
"""

from dataclasses import dataclass

from test.gateware.simulation import TLP, byte_enables


REQUEST = {     # Requester request.
    "address_type": (0, 2), "address": (2, 62), "count": (64, 11), "type": (75, 4), "poisoned": (79, 1),
    "requester": (80, 16), "tag": (96, 8), "completer": (104, 16), "requester_enable": (120, 1), "tc": (121, 3),
    "attr": (124, 3), "ecrc": (127, 1)}
COMPLETER_REQUEST = {
    "address_type": (0, 2), "address": (2, 62), "count": (64, 11), "type": (75, 4), "requester": (80, 16),
    "tag": (96, 8), "function": (104, 8), "bar": (112, 3), "aperture": (115, 6), "tc": (121, 3), "attr": (124, 3)}
COMPLETION = {
    "lower_address": (0, 7), "address_type": (8, 2), "byte_count": (16, 13), "locked": (29, 1), "count": (32, 11),
    "status": (43, 3), "poisoned": (46, 1), "requester": (48, 16), "tag": (64, 8), "completer": (72, 16),
    "completer_enable": (88, 1), "tc": (89, 3), "attr": (92, 3), "ecrc": (95, 1)}
REQUESTER_COMPLETION = {
    "lower_address": (0, 12), "error": (12, 4), "byte_count": (16, 13), "locked": (29, 1), "completed": (30, 1),
    "count": (32, 11), "status": (43, 3), "poisoned": (46, 1), "requester": (48, 16), "tag": (64, 8),
    "completer": (72, 16), "tc": (89, 3), "attr": (92, 3)}

# Type of the header: request type of the descriptor without data, and with data.
TYPES = {
    0b00000: (0, 1), 0b00010: (2, 3), 0b00001: (7, None),
    0b01100: (None, 4), 0b01101: (None, 5), 0b01110: (None, 6)}
MESSAGE = 0b1100


def pack(table, **fields):
    value = 0
    for name, field in fields.items():
        low, width = table[name]
        assert 0 <= field < 1 << width, f"{name} = {field:#x}"
        value |= field << low
    return value


def unpack(table, value):
    known = 0
    for low, width in table.values():
        known |= (1 << width) - 1 << low
    assert value & ~known == 0, f"reserved bits of the descriptor are set: {value:x}"
    return {name: value >> low & (1 << width) - 1 for name, (low, width) in table.items()}


@dataclass
class Interface:
    """An AXI stream interface of a block; `plus`: UltraScale+."""
    data_width: int
    plus:       bool

    @property
    def dwords(self):
        return self.data_width//32

    def beats(self, dwords, first=0, every=lambda beat, lanes: 0):
        """Beats of a packet to the card. `first` is `tuser` of the first beat; `every` returns that of each beat."""
        for start in range(0, len(dwords), self.dwords):
            part = dwords[start:start + self.dwords]
            yield dict(data = sum(dword << 32*n for n, dword in enumerate(part)),
                keep = 2**len(part) - 1,
                last = int(start + self.dwords >= len(dwords)),
                user = (first if start == 0 else 0) | every(start, len(part)))

    def packet(self, beats):
        """Dwords of a packet of the card, and `tuser` of its first beat."""
        found = []
        for beat in beats:
            count = beat["keep"].bit_count()
            assert beat["keep"] == 2**count - 1 and (beat["last"] or count == self.dwords), "gap in tkeep"
            found += [beat["data"] >> 32*n & 0xffffffff for n in range(count)]
        return found, beats[0]["user"]

    def delimiters(self, beats, sop, eop, pointer):
        """Checks the bits of `tuser` at 512 bits that mark where a TLP begins and ends."""
        for n, beat in enumerate(beats):
            user  = beat["user"]
            final = n == len(beats) - 1
            assert user >> sop & 0xf == (n == 0), "is_sop"
            assert user >> eop & 3 == final, "is_eop"
            assert not final or user >> pointer & 0xf == beat["keep"].bit_count() - 1, "is_eop_ptr"

# From the Card ------------------------------------------------------------------------------------

    def request(self, beats):
        """(TLP, sequence number) of a packet on RQ; below 4 GiB the TLP has three header dwords."""
        dwords, user = self.packet(beats)
        fields       = unpack(REQUEST, sum(dword << 32*n for n, dword in enumerate(dwords[:4])))
        if self.data_width == 512:
            self.delimiters(beats, 20, 26, 28)
            first_be, last_be, sequence = user & 0xf, user >> 8 & 0xf, user >> 61 & 0x3f
            assert user & ~(0xf0f | 0x3f << 61 | 1 << 20 | 0xff << 26) == 0, f"tuser {user:x}"
        else:
            first_be, last_be = user & 0xf, user >> 4 & 0xf
            sequence          = user >> 24 & 0xf | (user >> 60 & 3) << 4
            assert user & ~(0xff | 0xf << 24 | 3*self.plus << 60) == 0, f"tuser {user:x}"
        for name in ("address_type", "completer", "requester_enable", "ecrc"):
            assert fields[name] == 0, name
        assert fields["type"] in (0, 1)
        write   = fields["type"]
        address = fields["address"] << 2
        data    = b"".join(dword.to_bytes(4, "little") for dword in dwords[4:])
        assert len(data) == 4*write*fields["count"]
        return TLP(fmt=write << 1 | (address >> 32 != 0), type=0, length=fields["count"], address=address,
            first_be=first_be, last_be=last_be, data=data, ep=fields["poisoned"],
            **{name: fields[name] for name in ("tag", "requester", "tc", "attr")}), sequence

    def completion(self, beats):
        """The TLP of a packet on CC."""
        dwords, user = self.packet(beats)
        fields       = unpack(COMPLETION, sum(dword << 32*n for n, dword in enumerate(dwords[:3])))
        if self.data_width == 512:
            self.delimiters(beats, 0, 6, 8)
        else:
            assert user == 0
        for name in ("address_type", "completer_enable", "ecrc"):
            assert fields[name] == 0, name
        assert 0 < fields["byte_count"] <= 4096
        data = b"".join(dword.to_bytes(4, "little") for dword in dwords[3:])
        assert len(data) == 4*fields["count"]
        same = ("tag", "requester", "completer", "status", "tc", "attr", "lower_address")
        return TLP(fmt=2*(len(data) > 0), type=0b01010 | fields["locked"], length=fields["count"], data=data,
            byte_count=fields["byte_count"] % 4096, ep=fields["poisoned"], **{name: fields[name] for name in same})

# To the Card --------------------------------------------------------------------------------------

    def completer_request(self, tlp, function=0, bar=0, aperture=21):
        """Beats on CQ for a request of the host."""
        kind   = MESSAGE if tlp.type >> 3 == 0b10 else TYPES[tlp.type][tlp.fmt >> 1]
        fields = dict(address=tlp.address >> 2, count=tlp.length, type=kind, requester=tlp.requester, tag=tlp.tag,
            function=function, bar=bar, aperture=aperture, tc=tlp.tc, attr=tlp.attr)
        descriptor = pack(COMPLETER_REQUEST, **fields)
        dwords     = [descriptor >> 32*n & 0xffffffff for n in range(4)]
        dwords    += [int.from_bytes(tlp.data[n:n + 4], "little") for n in range(0, len(tlp.data), 4)]
        wide       = self.data_width == 512
        first      = tlp.first_be | tlp.last_be << (8 if wide else 4) | 1 << (80 if wide else 40)
        enables    = [0]*4 + [tlp.first_be, *[0xf]*(tlp.length - 2), tlp.last_be][:tlp.length]*(len(tlp.data) > 0)
        def byte_en(start, count):
            return sum(enable << 4*n for n, enable in enumerate(enables[start:start + count])) << (16 if wide else 8)
        return self.beats(dwords, first, byte_en)

    def requester_completion(self, tlp, error=None, completed=1):
        """Beats on RC for a completion of the host. `error` overrides the error code that follows from the TLP."""
        dwords, byte_en = self.requester_completion_dwords(tlp, error, completed)
        if self.data_width >= 256:
            return self.straddled([dwords], lambda: False)
        return self.beats(dwords, 1 << 32, byte_en)

    def straddled(self, packets, follows):
        """Beats with the straddle option. `follows()`: whether a packet begins in the beat in which the one before it
        ends, if there is room for it: at the next multiple of 16 bytes."""
        beats = []
        at    = self.dwords     # Next free dword of the last beat.
        for dwords in packets:
            at = -(-at//4)*4
            if at >= self.dwords or not follows():
                at = self.dwords
            for n, dword in enumerate(dwords):
                if at == self.dwords:
                    beats.append((dict(data=0, keep=2**self.dwords - 1, last=0), [], []))
                    at = 0
                beat, begins, ends = beats[-1]
                beat["data"] |= dword << 32*at
                if n == 0:
                    begins.append(at)
                if n == len(dwords) - 1:
                    ends.append(at)
                at += 1
        return [beat | {"user": self.marks(begins, ends)} for beat, begins, ends in beats]

    def marks(self, begins, ends):
        """`tuser` of a beat with the straddle option: dwords at which TLPs begin and end."""
        if self.data_width == 512:
            return sum(1 << 64 + n | at//4 << 68 + 2*n for n, at in enumerate(begins)) | \
                sum(1 << 76 + n | at << 80 + 4*n for n, at in enumerate(ends))
        return sum(1 << 32 + n for n, _ in enumerate(begins)) | \
            sum((1 | at << 1) << 34 + 4*n for n, at in enumerate(ends))

    def requester_completion_dwords(self, tlp, error=None, completed=1):
        """Dwords of a completion on RC, and the function that gives the byte enables of its beats."""
        if error is None:
            error = 0b0010 if tlp.status else 0b0001 if tlp.ep else 0
        fields = dict(lower_address=tlp.lower_address | 0xa80*(error == 0), error=error, completed=completed,
            byte_count=tlp.byte_count or 4096, locked=tlp.type & 1, count=tlp.length, status=tlp.status,
            poisoned=tlp.ep, requester=tlp.requester, tag=tlp.tag, completer=tlp.completer, tc=tlp.tc, attr=tlp.attr)
        descriptor = pack(REQUESTER_COMPLETION, **fields)
        dwords     = [descriptor >> 32*n & 0xffffffff for n in range(3)]
        dwords    += [int.from_bytes(tlp.data[n:n + 4], "little") for n in range(0, len(tlp.data), 4)]
        # Bytes that were not requested are not enabled, but their dword is counted.
        asked      = min(tlp.byte_count or 4096, len(tlp.data) - (tlp.lower_address & 3))
        enables    = [0]*3
        if tlp.data:
            first, last, count = byte_enables(tlp.lower_address & 3, asked)
            enables += [first, *[0xf]*(count - 2), last][:count]
        def byte_en(start, count):
            return sum(enable << 4*n for n, enable in enumerate(enables[start:start + count]))
        return dwords, byte_en
