#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the command lines of targets and programs have in common: bad input is one line. Standard library only."""

import argparse
import signal
import sys


class Parser(argparse.ArgumentParser):
    """Errors are one line, what is wrong and what is allowed, and exit status 2."""
    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message}\n")


def number(text):
    """Type of an argument: a whole number, also as 0x..."""
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


# Interrupts ---------------------------------------------------------------------------------------

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(signal_number, _):
    """Ends the program, once: what tidies up is not interrupted by another signal, not even of the same instant."""
    for each in INTERRUPTS:
        signal.signal(each, lambda *_: None)  # Not SIG_IGN, which children would inherit.
    if signal_number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + signal_number)


def run(main, program):
    """The exit status of a program whose body is ``main``, which returns it.

    130 interrupted, 143 terminated, 129 its terminal closed, all with ``finally`` and ``with`` done; 1 and one line if
    the system refused something (``OSError``: a full disk, a folder that may not be written).
    """
    for each in INTERRUPTS:
        if signal.getsignal(each) != signal.SIG_IGN:  # As it is for what a shell has in the background.
            signal.signal(each, _interrupt)
    try:
        return main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"{program}: error: {place}{error.strerror or error}", file=sys.stderr)
        return 1
