#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Moves a capture from a source to a sink. One thread reads, the other writes, so that neither waits for the other."""

from __future__ import annotations

import contextlib
import queue
import threading

from dataclasses import replace

from liblitepcie.capture.block import Block, Limits, Sink, Source, Stopped, Summary
from liblitepcie.errors        import LitePCIeError

DEPTH = 8  # blocks between the threads


def explain(error: BaseException) -> str:
    """One line."""
    if isinstance(error, OSError) and not isinstance(error, LitePCIeError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error).split("\n")[0]


class _Reader(threading.Thread):
    """Reads a source into a queue, whose last item is None."""

    def __init__(self, source: Source, stopped: Stopped) -> None:
        super().__init__(daemon=True)
        self.source, self.stopped, self.ended = source, stopped, False
        self.queue: queue.Queue[Block | None] = queue.Queue(DEPTH)
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for block in self.source.blocks(self.stopped):
                self.queue.put(block)
        except BaseException as error:
            self.error = error
        finally:
            self.queue.put(None)

    def next(self, end: Stopped) -> Block | None:
        """The next block; None if none came for a while, or at the end, when ``ended`` is True."""
        try:
            block = self.queue.get(timeout=0.05)
        except queue.Empty:
            if end():
                self.source.cancel()
            return None
        self.ended = block is None
        return block


def transfer(source: Source, sink: Sink, stopped: Stopped = lambda: False, limits: Limits | None = None) -> Summary:
    """Moves all blocks until the source ends, a limit is reached, or ``stopped``. Closes both.

    What was read before an error of the source is written, and the sink is finished, before the error is raised.
    """
    limits, moved, over = limits or Limits(), Summary(), threading.Event()

    def end() -> bool:
        return over.is_set() or stopped() or limits.reached(moved.packets)
    source.most = limits.packets
    reader = _Reader(source, end)
    reader.start()
    try:
        _write_all(reader, sink, moved, limits, end, stopped)
        known = source.summary
        moved = replace(known, packets=moved.packets, bytes=moved.bytes,
            error=explain(reader.error) if reader.error else known.error)
        sink.finish(moved, stopped)
        if reader.error:
            raise reader.error
        return moved
    finally:
        over.set()
        while reader.is_alive():
            reader.next(end)
        sink.close()
        source.close()


def _write_all(reader: _Reader, sink: Sink, moved: Summary, limits: Limits, end: Stopped, stopped: Stopped) -> None:
    while not reader.ended:
        block = reader.next(end)
        if block is None or (limits.packets is not None and moved.packets >= limits.packets):
            continue
        if limits.packets is not None:
            block = block.head(limits.packets - moved.packets)
        try:
            sink.write(block, stopped)
        except OSError as error:
            # What was written before is kept, if the sink can.
            with contextlib.suppress(OSError):
                sink.finish(replace(moved, source=reader.source.summary.source, error=explain(error)), stopped)
            raise
        moved.packets += block.packets
        moved.bytes   += block.data.nbytes
