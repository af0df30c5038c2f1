#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Records samples of a data logger (examples/gateware/data_logger.py) into a file, without their headers.

data_logger.py FILE [RECORDS [DEVICE [USER]]]
"""

import os
import select
import struct
import sys

RATE   = 0            # Register in /dev/litepcie0_user: beats in 65536 cycles.
HEADER = struct.Struct("<IIQ")
BYTES  = 1024


def read(fd, length):
    data = b""
    while len(data) < length:
        data += os.read(fd, length - len(data))
    return data


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: data_logger.py FILE [RECORDS [DEVICE [USER]]]")
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    device  = sys.argv[3] if len(sys.argv) > 3 else "/dev/litepcie0_stream0"
    user    = sys.argv[4] if len(sys.argv) > 4 else "/dev/litepcie0_user"
    lost    = 0
    try:
        registers, stream = os.open(user, os.O_RDWR), os.open(device, os.O_RDONLY)
        os.pwrite(registers, struct.pack("<I", 0), RATE)
        poll = select.poll()
        poll.register(stream, select.POLLIN)
        poll.poll(0)  # The ring begins before the samples.
        os.pwrite(registers, struct.pack("<I", 32768), RATE)
        with open(sys.argv[1], "wb") as samples:
            for n in range(records):
                record = read(stream, BYTES)
                sequence, lost, _ = HEADER.unpack_from(record)
                if sequence != n + lost:
                    sys.exit(f"record {n} has the number {sequence}")
                samples.write(record[HEADER.size:])
        os.pwrite(registers, struct.pack("<I", 0), RATE)
    except OSError as error:
        sys.exit(str(error))
    print(f"{records} records, {lost} lost")


if __name__ == "__main__":
    main()
