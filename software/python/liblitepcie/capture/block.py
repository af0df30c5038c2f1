#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What all sources and sinks have in common: blocks of pieces of packets, limits, and what a capture says of itself."""

from __future__ import annotations

import re
import time

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy

from liblitepcie.errors import LitePCIeError

# A piece of a packet: when this machine received it, its bytes, and whether its packet goes on in the next piece.
PIECE       = numpy.dtype([("time_ns", "<u8"), ("bytes", "<u4"), ("more", "<u4")])
BLOCK_BYTES = 4 << 20
PIECE_BYTES = 1 << 20

# A source or a sink calls it often, and ends soon after it has returned True.
Stopped = Callable[[], bool]


class CaptureError(Exception):
    """One line that says what failed, and the exit status."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


@dataclass
class Summary:
    """What is known of a capture besides its packets. ``error`` says what ended it, if it was no limit or signal."""
    format_version: int = 1
    source: str         = ""
    packets: int        = 0
    bytes: int          = 0
    lost_bytes: int     = 0
    cuts: int           = 0
    overruns: int       = 0
    error: str          = ""
    meta: dict[str, str] = field(default_factory=dict)  # What the user says of the data, such as its sample rate.

    @staticmethod
    def of(values: dict[str, Any]) -> Summary:
        """That of a file. Raises ValueError if it has another format."""
        if values.get("format_version") != 1:
            raise ValueError(f"format_version {values.get('format_version')!r} is not supported; this program has 1")
        return Summary(**{name: value for name, value in values.items() if name in asdict(Summary())})


@dataclass
class Block:
    """Bytes of consecutive pieces, and an array of `PIECE`."""
    data: numpy.ndarray
    pieces: numpy.ndarray

    @property
    def packets(self) -> int:
        """Packets that end in the block."""
        return int(numpy.count_nonzero(self.pieces["more"] == 0))

    def head(self, packets: int) -> Block:
        """The block up to the end of its packet number ``packets``, counted from 1."""
        if packets >= self.packets:
            return self
        count = int(numpy.flatnonzero(self.pieces["more"] == 0)[packets - 1]) + 1
        return Block(self.data[:int(self.pieces["bytes"][:count].sum())], self.pieces[:count])

    def each(self) -> Iterator[tuple[numpy.ndarray, int, bool]]:
        """Bytes, time and ``more`` of each piece."""
        ends = numpy.cumsum(self.pieces["bytes"], dtype=numpy.int64).tolist()
        for at, end, one in zip([0, *ends], ends, self.pieces.tolist()):
            yield self.data[at:end], one[0], bool(one[2])


class Source:
    """Where blocks come from. ``summary`` has what is lost; it is complete after the last block.

    Nobody takes more than ``most`` packets: what happens after them is of no interest.
    """
    summary: Summary
    most: int | None = None

    def blocks(self, stopped: Stopped) -> Iterator[Block]:
        raise NotImplementedError

    def cancel(self) -> None:
        """Ends a wait of `blocks`, from another thread. Those that wait never longer than 0.1 s need it not."""

    def close(self) -> None:
        raise NotImplementedError


class Sink:
    """Where blocks go, with a name for people. ``finish`` makes a file a complete one."""
    name: str

    def write(self, block: Block, stopped: Stopped) -> None:
        raise NotImplementedError

    def idle(self) -> None:
        """Is called several times per second while no block comes."""

    def finish(self, summary: Summary, stopped: Stopped) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Rotation(Sink):
    """A series of files: FILE-0001, FILE-0002 and so on. A packet is in one file.

    The next file begins with the first packet after ``most_bytes`` or ``most_seconds``. Each file says what
    the source lost while it was written.
    """

    def __init__(self, make: Callable[[Path], Sink], path: Path, source: Source, most_bytes: int | None,
            most_seconds: float | None) -> None:
        self.name = str(numbered(path, "*"))
        self._make, self._path, self._source = make, path, source
        self._most_bytes, self._most_seconds = most_bytes, most_seconds
        self._number, self._more = 0, False
        self._sink: Sink | None  = None
        self._next()

    def _next(self) -> Sink:
        self._number += 1
        self._sink   = self._make(numbered(self._path, f"{self._number:04}"))
        self._began  = time.monotonic()
        self._before = replace(self._source.summary)
        self._has    = Summary()
        return self._sink

    def _room(self, block: Block) -> int:
        """Pieces of a block up to the packet that fills the file. 0: the file is full, and no packet is open."""
        if self._most_seconds is not None and time.monotonic() - self._began >= self._most_seconds:
            left = 0
        elif self._most_bytes is not None:
            left = self._most_bytes - self._has.bytes
        else:
            return len(block.pieces)
        if left <= 0 and self._has.bytes and not self._more:
            return 0
        ends  = numpy.flatnonzero(block.pieces["more"] == 0)
        count = int(numpy.searchsorted(numpy.cumsum(block.pieces["bytes"], dtype=numpy.int64)[ends], left))
        return int(ends[count]) + 1 if count < len(ends) else len(block.pieces)

    def write(self, block: Block, stopped: Stopped) -> None:
        while len(block.pieces):
            room = self._room(block)
            sink = self._sink
            if sink is None or not room:
                self.finish(self._source.summary, stopped)
                self._next()
                continue
            part  = Block(block.data[:int(block.pieces["bytes"][:room].sum())], block.pieces[:room])
            block = Block(block.data[part.data.nbytes:], block.pieces[room:])
            sink.write(part, stopped)
            self._more = bool(part.pieces["more"][-1])
            self._has.packets += part.packets
            self._has.bytes   += part.data.nbytes

    def idle(self) -> None:
        if self._sink:
            self._sink.idle()

    def finish(self, summary: Summary, stopped: Stopped) -> None:
        if self._sink:
            lost = {name: getattr(summary, name) - getattr(self._before, name)
                for name in ("lost_bytes", "cuts", "overruns")}
            self._sink.finish(replace(summary, packets=self._has.packets, bytes=self._has.bytes, **lost), stopped)
        self.close()

    def close(self) -> None:
        if self._sink:
            self._sink.close()
        self._sink = None


def numbered(path: Path, number: str) -> Path:
    return path.with_name(f"{path.stem}-{number}{path.suffix}")


def explain(error: BaseException) -> str:
    """One line."""
    if isinstance(error, OSError) and not isinstance(error, LitePCIeError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error).split("\n")[0]


@dataclass
class Limits:
    """What ends a capture; None: nothing."""
    packets: int | None   = None
    seconds: float | None = None
    began: float          = field(default_factory=time.monotonic)

    def reached(self, packets: int) -> bool:
        """Whether a capture with so many packets is at its end."""
        return (self.packets is not None and packets >= self.packets) or \
            (self.seconds is not None and time.monotonic() - self.began >= self.seconds)


def size(text: str) -> int:
    """Bytes, as litepcie_util reads them: 4096, 0x1000, 4K, 4KiB, 64M. Raises ValueError."""
    found = re.fullmatch(r"(0x[0-9a-fA-F]+|[0-9]+)(?:([KMG])(?:iB)?)?", text)
    if not found:
        raise ValueError(f"{text!r} is not a size; give bytes, such as 4096, 0x1000, 4K, 4KiB or 64M")
    return int(found[1], 0 if found[1].startswith("0x") else 10) << 10*(" KMG".index(found[2]) if found[2] else 0)
