#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Exceptions. The text of each is one line that says what failed and why."""

from __future__ import annotations


class LitePCIeError(OSError):
    """A call that failed: ``errno`` as in C, ``filename`` the device, and the library's text."""

    def __init__(self, number: int, text: str, device: str) -> None:
        super().__init__(number, text, device)

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class LibraryMissing(ImportError):
    """The C library cannot be loaded, or is older than this package."""


class WrongRegister(KeyError):
    """No register of the user's logic has this name, or it cannot be used so."""

    def __str__(self) -> str:
        return str(self.args[0])
