#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Streams of packets."""

from __future__ import annotations

import errno
import itertools
import os

from collections.abc import Iterator
from ctypes import byref, c_int
from dataclasses import dataclass
from typing import Any

import numpy

from liblitepcie._library import (CSetup, CStreamInfo, FROM_CARD, Handle, TO_CARD, as_samples, bytes_of,
    direction_number)

_MODES = {"r": (os.O_RDONLY, (FROM_CARD,)), "w": (os.O_WRONLY, (TO_CARD,)), "rw": (os.O_RDWR, (TO_CARD, FROM_CARD))}
_GROW  = 65536


@dataclass(frozen=True)
class StreamInfo:
    """A direction since the driver was bound. ``lost_bytes`` and ``cuts`` count data that nobody got."""
    bytes: int
    packets: int
    overruns: int
    underruns: int
    waits: int
    lost_bytes: int
    cuts: int
    ready: int


class Stream(Handle):
    """An open stream. ``mode`` is "r" (card to host), "w" (host to card) or "rw".

    ``depth`` and ``buffer_bytes`` are those of the driver's rings; ``flush_us`` is how long a part of a buffer waits
    for more (see <linux/litepcie_stream.h>). 0 keeps what the driver has.
    """

    _close = "stream_close"

    def __init__(self, path: str, mode: str = "rw", depth: int = 0, buffer_bytes: int = 0, flush_us: int = 0) -> None:
        if mode not in _MODES:
            raise ValueError(f"mode {mode!r} is not supported; choose 'r', 'w' or 'rw'")
        flags, directions = _MODES[mode]
        super().__init__(path, "stream_open", path.encode(), flags)
        self._buffer, self._begun = numpy.empty(_GROW, numpy.uint8), 0
        for direction in directions:
            setup = CSetup(direction=direction, depth=depth, buffer_bytes=buffer_bytes,
                flush_us=flush_us if direction == FROM_CARD else 0)
            if depth or buffer_bytes or setup.flush_us:
                try:
                    self._call("stream_setup", byref(setup))
                except OSError:
                    self.close()
                    raise

    def fileno(self) -> int:
        """For select."""
        return self._call("stream_fd")

    def read_into(self, buffer: Any) -> tuple[int, bool]:
        """Fills a writable buffer with bytes of one packet: their number, and whether the packet goes on."""
        target, more = bytes_of(buffer, writable=True), c_int()
        return self._call("stream_read", target.ctypes.data, target.nbytes, byref(more)), bool(more.value)

    def read_packet(self) -> numpy.ndarray:
        """The next packet, as a new array of bytes.

        A call that a signal or EAGAIN ends keeps what it has for the next one. Any other error drops it, since the
        first byte after an error begins a packet.
        """
        more = True
        while more:
            if self._begun == len(self._buffer):
                self._buffer = numpy.concatenate([self._buffer, numpy.empty_like(self._buffer)])
            try:
                count, more = self.read_into(self._buffer[self._begun:])
            except OSError as error:
                if error.errno not in (errno.EINTR, errno.EAGAIN):
                    self._begun = 0
                raise
            self._begun += count
        count, self._begun = self._begun, 0
        return self._buffer[:count].copy()

    def samples(self, dtype: Any, packets: int | None = None) -> Iterator[numpy.ndarray]:
        """The next packets as arrays of samples, such as "<i2": ``packets`` of them, or without end.

        A packet with a part of a sample is a ValueError.
        """
        for _ in range(packets) if packets is not None else itertools.count():
            yield as_samples(self.read_packet(), dtype, "the packet")

    def write_packet(self, data: Any, more: bool = False) -> None:
        """Writes a packet, or a part of one that goes on."""
        source = bytes_of(data)
        if not source.nbytes:
            raise ValueError("a packet has at least one byte")
        at = 0
        while at < source.nbytes:
            at += self.write_from(source[at:], more)

    def write_from(self, buffer: Any, more: bool = False) -> int:
        """Writes bytes of one packet in one call: the number of those that the driver took, at least one.

        If it took fewer, the packet goes on. See ``more`` of `write_packet`.
        """
        source = bytes_of(buffer)
        return self._call("stream_write", source.ctypes.data, source.nbytes, int(more))

    def info(self, direction: str) -> StreamInfo:
        """Counters of a direction: "reader" (host to card) or "writer"."""
        raw = CStreamInfo()
        self._call("stream_get_info", direction_number(direction), byref(raw))
        return StreamInfo(**{name: getattr(raw, name) for name in StreamInfo.__dataclass_fields__})
