#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors of LiteX's SoC builder, such as two regions that overlap, as one line."""

import contextlib
import logging
import re
import sys

from litex.soc.integration.soc import SoCError

# Errors of LiteX ----------------------------------------------------------------------------------

COLOURS = re.compile(r"\x1b\[[\d;]*m")


@contextlib.contextmanager
def errors_of_litex():
    """Raises ``ValueError`` with one line where LiteX logs errors as several, hides standard error and gives up."""
    held, stderr = [], sys.stderr

    def holds(record):
        if record.levelno >= logging.ERROR and record not in held:
            held.append(record)
        return record.levelno < logging.ERROR

    handlers = logging.getLogger().handlers or [logging.lastResort]
    for handler in handlers:
        handler.addFilter(holds)
    try:
        yield
    except SoCError:
        sys.stderr = stderr
        lines = [" ".join(COLOURS.sub("", record.getMessage()).split()) for record in held]
        held.clear()
        raise ValueError("; ".join(lines).replace(":; ", ": ") or "LiteX refuses the design") from None
    finally:
        for handler in handlers:
            handler.removeFilter(holds)
        for record in held:  # Errors with which the design was built all the same, or that another exception followed.
            logging.getLogger(record.name).handle(record)
