#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The protocol between the runner and the guest, on the guest's second serial port.

    runner   TOKEN MODE CODE newline      MODE is run, shell or off; CODE is the command in base64
    guest    the command's output, then   TOKEN STATUS newline

TOKEN is new and random for each command, and only the guest's init knows it. So no output of a
command can be mistaken for its end. The first serial port is the kernel's console and is not parsed.
"""

import base64
import re
import secrets


class Reply:
    """Splits the bytes from the guest into the output of a command and its status."""

    def __init__(self, token=None):
        self.token  = token or secrets.token_hex(16)
        self.status = None
        self.rest   = b""  # Bytes after the status; a working guest sends none.
        self._held  = b""
        self._mark  = self.token.encode()

    def request(self, mode, command=""):
        """Returns the line that makes the guest run `command` and reply with this token."""
        return f"{self.token} {mode} {base64.b64encode(command.encode()).decode()}\n".encode()

    def feed(self, data):
        """Takes bytes from the guest; returns those that are output. Bytes that may begin the token are held back."""
        self._held += data
        at = self._held.find(self._mark)
        if at < 0:
            keep = self._partial()
            sure = len(self._held) - keep
            output, self._held = self._held[:sure], self._held[sure:]
            return output
        if match := re.compile(rb" (\d+)\n").match(self._held, at + len(self._mark)):
            self.status = int(match[1])
            self.rest   = self._held[match.end():]
        output, self._held = self._held[:at], self._held[at:]
        return output

    def _partial(self):
        """Returns how many of the last bytes may be the beginning of the token."""
        for length in range(min(len(self._mark) - 1, len(self._held)), 0, -1):
            if self._mark.startswith(self._held[-length:]):
                return length
        return 0
