#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors and progress messages of the guest runner."""

import sys


class GuestError(Exception):
    """A failure of the guest runner. The message is one line for the user; lines of a log may follow."""


class GuestTimeout(GuestError):
    """The boot or a command did not end in time."""


class GuestUnsupported(GuestError):
    """This machine cannot do it, and says why; tests that need it are skipped with this reason."""


class GuestOff(GuestError):
    """The guest powered off, or its kernel crashed."""


def say(message):
    """Prints a line of progress on the error stream, as the output stream is for the guest's commands."""
    print(f"guest: {message}", file=sys.stderr, flush=True)
