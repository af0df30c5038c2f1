#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Progress on standard error: one changing line on a terminal, a line every few seconds elsewhere."""

import sys
import time


class Progress:
    """Counts ``total`` steps of ``what`` on standard error."""
    QUIET_S = 5   # Seconds between lines if standard error is not a terminal.

    def __init__(self, what, total):
        self.what, self.total, self.count = what, total, 0
        self.began = self.said = time.monotonic()
        self.live  = sys.stderr.isatty()

    def step(self, text):
        self.count += 1
        self._say(text, "", self.count == self.total)

    def waiting(self, items):
        """Says what is being worked on; called every second while steps take long."""
        if items:
            text = ", ".join(map(str, items))
            self._say(text, f"; now {text}", False)

    def _say(self, text, more, last):
        now = time.monotonic()
        if self.live:
            line = f"{self.what}: {self.count}/{self.total} {now - self.began:4.0f} s  {text}"
            print(f"\r\033[K{line[:100]}", end="", file=sys.stderr, flush=True)
        elif now - self.said >= self.QUIET_S or last:
            self.said = now
            print(f"{self.what}: {self.count}/{self.total} after {now - self.began:.0f} s{more}", file=sys.stderr,
                flush=True)

    def end(self):
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
