#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Command lines of targets and programs: one-line errors, interrupts, exit status. Standard library only."""

import argparse
import re
import signal
import sys

# Sizes --------------------------------------------------------------------------------------------
# The syntax of sizes in targets and configurations. The tool and the simulator read the same.

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}

EXAMPLES = "4096, 0x1000, 4K, 4KiB or 64M"


def parse_size(text):
    """Returns the bytes that ``text`` names, such as 4096, 0x1000, 4K, 4KiB or 64M, or None.

    K, M and G are powers of 1024, in upper or lower case; one space may be before them.
    """
    match = re.fullmatch(r"(0x[0-9a-f]+|[0-9]+)(?: ?([kmg])(?:ib)?)?", text, re.IGNORECASE | re.ASCII)
    if not match:
        return None
    digits, unit = match.groups(default="")
    return int(digits, 16 if digits[:2].lower() == "0x" else 10) * UNITS[unit.lower()]

# Programs -----------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """Parser whose errors are one line, with exit status 2."""
    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message}\n")


def number(text):
    """Argument type: a whole number, also in hexadecimal as 0x..."""
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def size(text):
    """Argument type: a size in bytes."""
    bytes_ = parse_size(text)
    if bytes_ is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; give bytes, such as {EXAMPLES} "
            "(K, M, G: powers of 1024)")
    return bytes_


INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(signal_number, _):
    """Ends the program once. Further signals do not interrupt the clean-up, even if they arrive at the same time."""
    for each in INTERRUPTS:
        signal.signal(each, lambda *_: None)  # Not SIG_IGN, because children would inherit it.
    if signal_number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + signal_number)


def run(main, program):
    """Runs ``main``, which returns an exit status, and returns the exit status of the program.

    The status is 130 after an interrupt, 143 after SIGTERM and 129 after the terminal closed; ``finally`` and ``with``
    blocks run before. An ``OSError`` (a full disk, a folder without permission) prints one line and gives status 1.
    """
    for each in INTERRUPTS:
        if signal.getsignal(each) != signal.SIG_IGN:  # A shell ignores some signals for background jobs.
            signal.signal(each, _interrupt)
    try:
        return main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"{program}: error: {place}{error.strerror or error}", file=sys.stderr)
        return 1
