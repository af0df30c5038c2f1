#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""``litex_server`` for a card: LiteX's RemoteClient, litex_cli and litescope_cli reach the user's bus by the driver.

`python3 -m litepcie_soc.build.user_server` serves /dev/litepcie0_user on port 1234 of this machine. It needs the
permission to open the device file, and no more: `litex_server --pcie` needs root and maps all of BAR0.
"""

import os
import sys
import time

from argparse import ArgumentParser
from pathlib import Path

from litex.tools.litex_server import RemoteServer

SYSFS = Path("/sys/class/litepcie_user")

# Comm ---------------------------------------------------------------------------------------------


class CommUser:
    """Accesses to the user's bus at the addresses of the SoC, with the methods that LiteX's server calls.

    Parameters
    ----------
    path   : device file of the driver.
    origin : int, address of its first byte on the bus of the SoC.
    """
    def __init__(self, path, origin):
        self.path   = path
        self.origin = origin

    def open(self):
        self.file = os.open(self.path, os.O_RDWR)

    def close(self):
        os.close(self.file)

    def read(self, addr, length=None, burst="incr"):
        """Returns a value, or a list of ``length``. What could not be read is all ones, as on the bus of a host."""
        values = [self.access(addr + 4*n*(burst == "incr"), self.read_word) for n in range(length or 1)]
        return values[0] if length is None else values

    def write(self, addr, data):
        """Writes a value or a list to consecutive addresses."""
        for n, value in enumerate(data if isinstance(data, list) else [data]):
            self.access(addr + 4*n, lambda offset, value=value: os.pwrite(self.file, value.to_bytes(4, sys.byteorder),
                offset))

    def read_word(self, offset):
        data = os.pread(self.file, 4, offset)
        if len(data) < 4:
            raise OSError("beyond the range")
        return int.from_bytes(data, sys.byteorder)

    def access(self, addr, function):
        """Calls ``function`` with an offset. The server would stop at an exception, so this reports an error itself."""
        try:
            if addr < self.origin:
                raise OSError("below the range")
            return function(addr - self.origin)
        except OSError as error:
            print(f"user_server: 0x{addr:08x}: {error.strerror or error}", file=sys.stderr)
            return 0xffffffff

# Main ---------------------------------------------------------------------------------------------


def origin_of(path):
    """Returns the bus address of the first byte of a device file, as the driver says."""
    return int((SYSFS / Path(path).resolve().name / "origin").read_text(), 0)


def main(argv=None):
    parser = ArgumentParser(prog="user_server", description="Serves a card's user bus to LiteX's RemoteClient.")
    parser.add_argument("--device", default="/dev/litepcie0_user", metavar="PATH", help="device file (%(default)s)")
    parser.add_argument("--origin", type=lambda text: int(text, 0), metavar="ADDRESS",
        help="bus address of its first byte (as the driver says)")
    parser.add_argument("--bind-ip", default="localhost", help="address to listen at (%(default)s)")
    parser.add_argument("--bind-port", default=1234, type=int, help="port to listen at (%(default)s)")
    args = parser.parse_args(argv)
    try:
        origin = origin_of(args.device) if args.origin is None else args.origin
        server = RemoteServer(CommUser(args.device, origin), args.bind_ip, args.bind_port)
        server.open()
    except OSError as error:
        print(f"user_server: {error}", file=sys.stderr)
        return 1
    server.start(4)
    try:
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
