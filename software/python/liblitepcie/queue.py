#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Asynchronous transfers: several in flight, results as they come."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any

import numpy

from liblitepcie._library import CDone, CVector, Handle, bytes_of, check, milliseconds

if TYPE_CHECKING:
    from liblitepcie.card import Card


class Queue(Handle):
    """Up to ``depth`` transfers in flight. One thread uses a queue at a time. It keeps the buffers alive."""

    _close = "queue_close"

    def __init__(self, card: Card, depth: int = 8) -> None:
        self._card = card
        self._in_flight: dict[int, numpy.ndarray] = {}
        self._next = 0
        super().__init__(card.device, "queue_open", card._handle, depth)

    def __len__(self) -> int:
        """Transfers in flight."""
        return len(self._in_flight)

    def register(self, *buffers: Any) -> None:
        """Pins buffers for the life of the queue, so that their transfers cost less. Once per queue."""
        self._known = [bytes_of(buffer) for buffer in buffers]
        vectors = (CVector * len(buffers))(*[CVector(one.ctypes.data, one.nbytes) for one in self._known])
        self._call("queue_register", vectors, len(buffers))

    def _submit(self, function: str, data: numpy.ndarray, offset: int) -> int:
        tag = self._next
        self._call(function, data.ctypes.data, data.nbytes, offset, tag)
        self._next += 1
        self._in_flight[tag] = data
        return tag

    def read_into(self, buffer: Any, offset: int = 0) -> int:
        """Starts to fill a writable buffer from ``offset`` and returns the tag of the transfer."""
        return self._submit("queue_read", bytes_of(buffer, writable=True), offset)

    def write(self, buffer: Any, offset: int = 0) -> int:
        """Starts to write a buffer at ``offset`` and returns the tag of the transfer."""
        return self._submit("queue_write", bytes_of(buffer), offset)

    def wait(self, timeout: float | None = None) -> tuple[int, int] | None:
        """Waits ``timeout`` seconds (0: not at all) for a transfer to end: its tag and the bytes moved, fewer than
        asked at the end of the memory. None after the time, or if nothing is in flight. Raises the error of a
        transfer, once, as `LitePCIeError` with the attribute ``tag``.
        """
        done = CDone()
        if not self._call("queue_wait", byref(done), 1, milliseconds(timeout)):
            return None
        del self._in_flight[done.tag]
        try:
            return done.tag, check(done.result, self.device)
        except OSError as error:
            error.tag = done.tag  # type: ignore[attr-defined]
            raise

    def close(self) -> None:
        """Waits for what is in flight, and drops its results."""
        super().close()
        self._in_flight.clear()
