#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A stream of a card as a source and as a sink. No call waits, so that a signal ends both within 0.1 s."""

from __future__ import annotations

import errno
import os
import select
import threading
import time

from collections.abc import Iterator
from typing import NoReturn

import numpy

from liblitepcie.capture.block import (BLOCK_BYTES, PIECE, PIECE_BYTES, Block, CaptureError, Sink, Source, Stopped,
    Summary)
from liblitepcie.card          import Card
from liblitepcie.errors        import LitePCIeError
from liblitepcie.stream        import Stream

FLUSH_SECONDS = 0.2
LOOK_MS       = 100
LEAST_BUFFER  = 65536  # of a ring with a given size: a packet takes at least one
MOST_DEPTH    = 1024   # <linux/litepcie_stream.h>
GONE          = (errno.ENODEV, errno.ENXIO, errno.ENOENT)


def _raise(stream: Stream, error: LitePCIeError) -> NoReturn:
    if error.errno == errno.ENODATA:
        raise CaptureError(f"{stream.device}: data was lost, because the card was reset or suspended, or its logic "
            "cut a packet", 3) from None
    raise CaptureError(str(error), 4 if error.errno in GONE else 1) from None


def ring_of(size: int) -> dict[str, int]:
    """The settings of a stream for the least ring that has so many bytes, of buffers of a power of two."""
    depth, buffer_bytes = 2, LEAST_BUFFER
    while buffer_bytes*MOST_DEPTH < size:
        buffer_bytes *= 2
    while buffer_bytes*depth < size:
        depth *= 2
    return {"depth": depth, "buffer_bytes": buffer_bytes}


def _open(card: str, number: int, mode: str, ring: int = 0, flush_us: int = 0) -> tuple[str, Stream]:
    """The name of the card for people, and the stream. Raises CaptureError."""
    try:
        with Card(card) as opened:
            name   = f"{opened.device}_stream{number} of {opened.info.target}"
            stream = opened.stream(number, mode, flush_us=flush_us, **(ring_of(ring) if ring else {}))
    except LitePCIeError as error:
        if error.errno == errno.EBUSY:
            raise CaptureError(f"{error.filename}: another program uses this direction of the stream: end it, or give "
                "another --stream") from None
        if error.errno == errno.ENOENT and "_stream" in str(error.filename):
            raise CaptureError(f"{error.filename}: no such stream; litepcie_util info shows how many the card has",
                4) from None
        if error.errno == errno.EPERM and ring:
            raise CaptureError(f"--ring: {ring} bytes are more than root allows: echo {ring} > "
                "/sys/module/litepcie/parameters/stream_bytes") from None
        raise CaptureError(str(error), 4 if error.errno in GONE else 1) from None
    os.set_blocking(stream.fileno(), False)
    return name, stream


def check_card(card: str, number: int) -> str:
    """The name of a stream that can be opened now, such as litepcie0_stream0. Raises CaptureError."""
    stream = _open(card, number, "r")[1]
    stream.close()
    return os.path.basename(stream.device)


def _ready(stream: Stream, event: int) -> None:
    poll = select.poll()
    poll.register(stream.fileno(), event)
    poll.poll(LOOK_MS)


class CardSource(Source):
    """What the card sends on a stream. Counts what the driver lost between the opening and the last block."""

    def __init__(self, card: str, number: int, ring: int = 0, flush_us: int = 0, meta: dict[str, str] | None = None
            ) -> None:
        name, self._stream = _open(card, number, "r", ring, flush_us)
        self.summary = Summary(source=name, meta=meta or {})
        self._before = self._stream.info("writer")

    def blocks(self, stopped: Stopped) -> Iterator[Block]:
        try:
            yield from self._read(stopped)
        finally:
            self._count()

    def _read(self, stopped: Stopped) -> Iterator[Block]:
        data, pieces, at = numpy.empty(BLOCK_BYTES, numpy.uint8), [], 0
        flush = time.monotonic() + FLUSH_SECONDS
        ended: LitePCIeError | None = None
        packets = 0
        while ended is None and packets != self.most:
            try:
                count, more = self._stream.read_into(data[at:at + PIECE_BYTES])
                pieces.append((time.time_ns(), count, more))
                at += count
                packets += not more
            except LitePCIeError as error:
                if error.errno == errno.EAGAIN:
                    _ready(self._stream, select.POLLIN)
                elif error.errno != errno.EINTR:
                    ended = error
            stop, late = stopped(), time.monotonic() >= flush
            # A block that is not full does not wait: somebody may look at it.
            if pieces and (stop or late or ended or packets == self.most or at + PIECE_BYTES > BLOCK_BYTES):
                self._count()
                yield Block(data[:at], numpy.array(pieces, PIECE))
                data, pieces, at = numpy.empty(BLOCK_BYTES, numpy.uint8), [], 0
            if late:
                flush = time.monotonic() + FLUSH_SECONDS
            if stop:
                return
        if ended:
            _raise(self._stream, ended)

    def _count(self) -> None:
        try:
            now = self._stream.info("writer")
        except (OSError, ValueError):
            return  # The card is gone, or the stream is closed: what was counted before remains.
        for name in ("lost_bytes", "cuts", "overruns"):
            setattr(self.summary, name, getattr(now, name) - getattr(self._before, name))

    def close(self) -> None:
        self._stream.close()


class CardSink(Sink):
    """Sends packets to a stream; with ``pace`` at the times at which they were recorded."""

    def __init__(self, card: str, number: int, pace: bool = False) -> None:
        self.name, self._stream = _open(card, number, "w")
        self._pace = pace
        self._error: LitePCIeError | None = None
        self._origin: tuple[float, int] | None = None
        # The last piece of a capture ends its packet: it is sent when the one after it is known.
        self._held: tuple[numpy.ndarray, int, bool] | None = None

    def write(self, block: Block, stopped: Stopped) -> None:
        for piece in block.each():
            if self._held:
                self._send(*self._held, stopped)
            self._held = piece
            if stopped():
                return

    def _wait(self, time_ns: int, stopped: Stopped) -> None:
        if self._origin is None:
            self._origin = time.monotonic(), time_ns
        began, first = self._origin
        while not stopped() and (left := began + (time_ns - first)/1e9 - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_MS/1000))

    def _send(self, data: numpy.ndarray, time_ns: int, more: bool, stopped: Stopped) -> None:
        if self._pace:
            self._wait(time_ns, stopped)
        at = 0
        while at < len(data) and not stopped():
            try:
                at += self._stream.write_from(data[at:], more)
            except LitePCIeError as error:
                if error.errno == errno.EAGAIN:
                    _ready(self._stream, select.POLLOUT)
                elif error.errno != errno.EINTR:
                    _raise(self._stream, error)

    def finish(self, summary: Summary, stopped: Stopped) -> None:
        if self._held:
            self._send(self._held[0], self._held[1], False, stopped)
        if stopped():
            return
        # write() returns when the driver has the bytes, fsync() when the card has them. Another thread waits in it,
        # because Python calls fsync() again after a signal.
        thread = threading.Thread(target=self._drain, daemon=True)
        thread.start()
        while thread.is_alive() and not stopped():
            thread.join(LOOK_MS/1000)
        if self._error:
            _raise(self._stream, self._error)

    def _drain(self) -> None:
        try:
            os.fsync(self._stream.fileno())
        except OSError as error:
            self._error = LitePCIeError(error.errno or 0, error.strerror or "", self._stream.device)

    def close(self) -> None:
        self._stream.close()
