#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a user asks of a stream: its name, directions, depth, width and clock domain. Standard library only."""

import re

from dataclasses import dataclass

from litepcie_soc.common import abi

WORDS      = 512      # Least words of a RAM: the depth of one block RAM at full width, on every FPGA family.
DEPTH_MAX  = 1 << 20  # Bytes of a RAM.
WIDTHS     = (8, 16, 32, 64, 128, 256, 512)
ENDS       = ("be", "last_be")


def check_port(data_width, ends):
    """Raises ``ValueError`` if an argument is not supported."""
    if data_width not in WIDTHS:
        raise ValueError(f"a stream of {data_width!r} bits is not supported; "
            f"choose {', '.join(map(str, WIDTHS[:-1]))} or {WIDTHS[-1]}")
    if ends not in ENDS:
        raise ValueError(f"ends {ends!r} of a stream is not supported; choose {' or '.join(ENDS)}")


@dataclass(frozen=True)
class Stream:
    """A stream channel of the parameter ``streams`` of ``add_litepcie``.

        add_litepcie(soc, phy, streams=[Stream("adc", to_host=True, depth=64 << 10, width=32, clock_domain="adc")], ...)
        soc.comb += adc.source.connect(soc.litepcie.streams["adc"].sink, omit={"be"})

    A stream with one direction has one engine and one RAM instead of two.

    Parameters
    ----------
    name         : str, a lower-case letter, then up to 14 of a-z, 0-9 and _.
    to_host      : bool, the logic sends and programs read: the stream has ``sink``.
    from_host    : bool, programs write and the logic receives: the stream has ``source``.
    depth        : bytes of the RAM of each direction, a power of two from 512 words of the data path to 1 MiB: what the
        card holds while the host or the logic is late. None: 512 words.
    width        : bits of a beat at the logic's side, 8 to 512, a power of two. None: the data path's.
    clock_domain : str, clock domain of the logic's side.
    ends         : "be" or "last_be", how a beat says where a packet ends; see ``StreamPort``.

    Raises ``ValueError`` if an argument is not supported.
    """
    name:         str
    to_host:      bool       = False
    from_host:    bool       = False
    depth:        int | None = None
    width:        int | None = None
    clock_domain: str        = "sys"
    ends:         str        = "be"

    def __post_init__(self):
        if not isinstance(self.name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,14}", self.name):
            raise ValueError(f"stream name {self.name!r} is not supported; give a lower-case letter, then up to 14 of "
                "a-z, 0-9 and _")
        if not (self.to_host or self.from_host):
            raise ValueError(f"stream {self.name} has no direction; give to_host=True, from_host=True or both")
        check_port(WIDTHS[0] if self.width is None else self.width, self.ends)

    def has(self, direction):
        """Whether the stream has the engine ``direction``, "reader" (from the host) or "writer" (to the host)."""
        return self.from_host if direction == "reader" else self.to_host

    @property
    def converted(self):
        """Whether the logic's side differs from that of the engines."""
        return self.width is not None or self.clock_domain != "sys" or self.ends != "be"

    def words(self, data_width):
        """Returns the words of each RAM. Raises ``ValueError`` if the depth is not supported with this data path."""
        if self.depth is None:
            return WORDS
        least = WORDS * data_width // 8
        if self.depth not in [1 << n for n in range(least.bit_length() - 1, DEPTH_MAX.bit_length())]:
            raise ValueError(f"depth {self.depth!r} of stream {self.name} is not supported with {data_width} bits; "
                f"give a power of two of bytes from {least} to {DEPTH_MAX}")
        return self.depth * 8 // data_width


def streams_of(choice):
    """Returns the list of ``Stream`` for a number of streams with both directions, or for an iterable of ``Stream``.

    Raises ``ValueError`` if two have the same name.
    """
    if isinstance(choice, int):
        return [Stream(f"stream{n}", to_host=True, from_host=True) for n in range(choice)]
    streams = list(choice)
    for n, stream in enumerate(streams):
        if not isinstance(stream, Stream):
            raise ValueError(f"streams must be a number or a list of Stream, not of {stream!r}")
        if stream.name in [other.name for other in streams[:n]]:
            raise ValueError(f"stream name {stream.name!r} is taken; give another one")
    return streams


def check_number(streams, channels):
    """Raises ``ValueError`` for a number of streams that does not fit beside the memory channels."""
    least, most = int(channels == 0), abi.MAX_CHANNELS - channels
    if channels < 0:
        raise ValueError(f"channels must be 0..{abi.MAX_CHANNELS}, not {channels!r}")
    if not least <= streams <= most:
        raise ValueError(f"streams must be {least}..{most} with {channels} channels, not {streams!r}")
