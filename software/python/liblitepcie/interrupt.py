#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Interrupts of the user's logic."""

from __future__ import annotations

import re

from ctypes import byref, c_uint32

from liblitepcie._library import Handle, milliseconds


class Interrupt(Handle):
    """An open interrupt. Threads that wait at the same time each open one of their own."""

    _close = "interrupt_close"

    def __init__(self, device: str, name: str) -> None:
        found = re.search(r"(\d+)$", device)
        if not found:
            raise ValueError(f"{device}: interrupts are found by the card's number; open the card as 'litepcie0'")
        super().__init__(f"{device}, interrupt {name!r}", "interrupt_open", int(found[1]), name.encode())

    def fileno(self) -> int:
        """For select: readable after an interrupt."""
        return self._call("interrupt_fd")

    def arm(self, on: bool = True) -> None:
        """Arms the interrupt for its next event, or disarms it."""
        self._call("interrupt_arm", int(on))

    def wait(self, timeout: float | None = None) -> int:
        """Arms the interrupt, waits ``timeout`` seconds for it, and returns the number of events since the driver was
        bound. ``LitePCIeError`` with errno ETIMEDOUT if it did not come.
        """
        count = c_uint32()
        self._call("interrupt_wait", milliseconds(timeout), byref(count))
        return count.value
