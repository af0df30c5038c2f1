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

from liblitepcie.capture.block import Block, CaptureError, Limits, Sink, Source, Stopped, Summary, explain

DEPTH = 8  # blocks between the threads


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
        try:
            sink.finish(moved, stopped)
        except OSError as error:
            raise _kept(sink, error) from None
        if reader.error:
            raise reader.error
        return moved
    finally:
        over.set()
        while reader.is_alive():
            reader.next(end)
        sink.close()
        source.close()


def _kept(sink: Sink, error: OSError) -> CaptureError:
    return CaptureError(f"{explain(error)}; {sink.name} has what was written before")


def _write_all(reader: _Reader, sink: Sink, moved: Summary, limits: Limits, end: Stopped, stopped: Stopped) -> None:
    while not reader.ended:
        block = reader.next(end)
        if block is not None and limits.packets is not None:
            if moved.packets >= limits.packets:
                continue
            block = block.head(limits.packets - moved.packets)
        try:
            if block is None:
                sink.idle()
                continue
            sink.write(block, stopped)
        except OSError as error:
            with contextlib.suppress(OSError):
                sink.finish(replace(reader.source.summary, packets=moved.packets, bytes=moved.bytes,
                    error=explain(error)), stopped)
            raise _kept(sink, error) from None
        moved.packets += block.packets
        moved.bytes   += block.data.nbytes
