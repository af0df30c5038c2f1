#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Sends records to a card that returns their CRC-32 (examples/gateware/stream_crc.py), and compares with zlib's.

stream_crc.py [DEVICE [RECORDS [BYTES]]]
"""

import os
import struct
import sys
import zlib

WINDOW = 32  # Records on the way: results that nobody reads would stop the card.


def send(fd, record):
    view = memoryview(record)
    while view:
        view = view[os.write(fd, view):]


def main():
    arguments = sys.argv[1:]
    device    = arguments[0] if arguments else "/dev/litepcie0_stream0"
    count     = int(arguments[1], 0) if len(arguments) > 1 else 100
    length    = int(arguments[2], 0) if len(arguments) > 2 else 10000
    records   = [os.urandom(1 + n * 7919 % length) for n in range(count)]
    sent = done = 0
    try:
        fd = os.open(device, os.O_RDWR)
        while done < count:
            while sent < count and sent - done < WINDOW:
                send(fd, records[sent])
                sent += 1
            results = os.read(fd, 4 * WINDOW)
            for (crc,) in struct.iter_unpack("<I", results):
                if crc != zlib.crc32(records[done]):
                    sys.exit(f"record {done} differs")
                done += 1
    except OSError as error:
        sys.exit(f"{device}: {error}")
    print(f"{count} records: CRCs equal")


if __name__ == "__main__":
    main()
