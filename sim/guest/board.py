#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The build folder of a simulated board, and the simulator process that serves the board to QEMU."""

import json
import os
import re
import tempfile
import time

from pathlib import Path

from litepcie_sim.guest.errors import GuestError, GuestTimeout
from litepcie_soc.build import processes

START_SECONDS = 30  # The simulator creates its socket at once, but a machine under load may be slow.


class BuiltBoard:
    """The build folder of a simulated board. Raises GuestError if the board is not built.

    Attributes
    ----------
    simulator  : path of the program litepcie_simulator.
    gen, lanes : of the board's link.
    card       : what goes into the guest for somebody else's card (`litepcie_sim.card`), as a dict; None: the driver
                 and the tool of this project.
    """

    def __init__(self, folder):
        self.folder    = Path(folder)
        self.simulator = self.folder / "simulator" / "litepcie_simulator"
        header         = self.folder / "software" / "include" / "generated" / "soc.h"
        if not self.simulator.is_file() or not header.is_file():
            raise GuestError(f"no board is built in {folder}; type: ./targets/sim.py --build")
        self._header = header.read_text()
        self.gen     = self.constant("CONFIG_PCIE_GEN")
        self.lanes   = self.constant("CONFIG_PCIE_LANES")
        card         = self.folder / "card.json"
        self.card    = json.loads(card.read_text()) if card.is_file() else None

    def constant(self, name):
        """Returns the integer constant `name` of the board's soc.h."""
        match = re.search(rf"^#define\s+{name}\s+(0x[0-9a-fA-F]+|\d+)", self._header, re.MULTILINE)
        if match is None:
            raise GuestError(f"soc.h of {self.folder} does not define {name}; "
                "build it again: ./targets/sim.py --build")
        return int(match[1], 0)


class Simulator:
    """The simulator process. Its output goes to the file `log`."""

    def __init__(self, board, socket, arguments=(), log=None):
        self.log     = Path(log)
        self.socket  = Path(socket)
        self.command = [board.simulator, "--socket", socket, *arguments]
        self.process = None

    def start(self):
        """Starts the process, and returns when its socket accepts connections."""
        with open(self.log, "wb") as log:
            self.process = processes.start(self.command, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not listening(self.socket):
            if self.process.poll() is not None:
                raise self.error()
            if time.monotonic() > deadline:
                raise GuestTimeout(
                    f"the simulator created no socket within {START_SECONDS} s{self._last_lines()}")
            time.sleep(0.01)

    def ended(self):
        """Returns the exit status, or None while the process runs."""
        return self.process.poll() if self.process else None

    def error(self):
        """Returns the error for a simulator that ended unexpectedly."""
        status = self.process.wait()
        how    = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return GuestError(f"the simulator {how}{self._last_lines()}")

    def broken_rules(self):
        """Returns the lines with rules of PCI Express that the card broke, once the process has ended."""
        return [line for line in self.log.read_text(errors="replace").splitlines() if line.startswith("broken rule: ")]

    def _last_lines(self, count=8):
        lines = self.log.read_text(errors="replace").strip().splitlines()[-count:]
        return ": " + "\n".join(lines) if lines else " without output"

    def kill(self):
        """Ends the process at once, like a crash."""
        processes.stop(self.process, grace=0)

    def stop(self, grace=2.0):
        """Waits `grace` seconds for the process to end by itself, as QEMU has closed the socket, then ends it."""
        if self.process is None:
            return None
        deadline = time.monotonic() + grace
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        return processes.stop(self.process)


def listening(path):
    """Returns whether a process listens on the UNIX socket `path`.

    It reads /proc/net/unix (proc(5): 00010000 in the fourth column is __SO_ACCEPTCON). It does not connect, because the
    simulator serves only one connection.
    """
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split(None, 7)
        if len(fields) == 8 and fields[7] == str(path) and int(fields[3], 16) & 0x10000:
            return True
    return False


def socket_folder():
    """Makes a temporary folder with a short path, as the path of a UNIX socket has at most 107 bytes."""
    return tempfile.TemporaryDirectory(prefix=f"litepcie-{os.getpid()}-", dir="/tmp")
