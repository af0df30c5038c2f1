#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors of the guest runner, and its lines of progress."""

import sys


class GuestError(Exception):
    """An error that the user can act on. The message is one line; lines of a log may follow it."""


class GuestTimeout(GuestError):
    """A command, or the boot, did not end in time."""


class GuestOff(GuestError):
    """The guest switched itself off, or its kernel crashed."""


def say(message):
    """A line of progress. On the error stream: the output stream is the guest's commands'."""
    print(f"guest: {message}", file=sys.stderr, flush=True)
