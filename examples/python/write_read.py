#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writes random bytes into the card's memory by DMA, reads them back and compares.

write_read.py [DEVICE [BYTES [OFFSET]]]
"""

import os
import sys


def write_all(fd, data, offset):
    """os.pwrite() may move less than asked, after an error or a signal: the next call says why."""
    view = memoryview(data)
    while view:
        moved   = os.pwrite(fd, view, offset)
        view    = view[moved:]
        offset += moved


def read_all(fd, length, offset):
    """os.preadv() reads into a buffer without a copy."""
    data = bytearray(length)
    done = 0
    while done < length:
        moved = os.preadv(fd, [memoryview(data)[done:]], offset + done)
        if not moved:
            raise EOFError(f"the card's memory ends at offset {offset + done}")
        done += moved
    return data


def main():
    arguments = sys.argv[1:]
    device    = arguments[0] if arguments else "/dev/litepcie0"
    length    = int(arguments[1], 0) if len(arguments) > 1 else 65536
    offset    = int(arguments[2], 0) if len(arguments) > 2 else 0
    data      = os.urandom(length)
    try:
        fd = os.open(device, os.O_RDWR)
        write_all(fd, data, offset)
        back = read_all(fd, length, offset)
    except (OSError, EOFError) as error:
        sys.exit(f"{device}: {error}")
    if back != data:
        sys.exit("the data differs")
    print(f"{length} bytes written and read back at offset {offset}: equal")


if __name__ == "__main__":
    main()
