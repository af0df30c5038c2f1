#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writes words into a memory on the card's bus and lets the card add them up (examples/gateware/own_registers.py).

own_registers.py [COUNT [USER]]
"""

import os
import random
import struct
import sys

COUNT, SUM, BUSY, MEMORY = 0, 4, 8, 0x10000  # Places in /dev/litepcie0_user; csr.h of the board has those of registers.


def main():
    count = int(sys.argv[1], 0) if len(sys.argv) > 1 else 1024
    user  = sys.argv[2] if len(sys.argv) > 2 else "/dev/litepcie0_user"
    words = [random.getrandbits(32) for _ in range(count)]
    try:
        fd = os.open(user, os.O_RDWR)
        os.pwrite(fd, struct.pack(f"<{count}I", *words), MEMORY)
        os.pwrite(fd, struct.pack("<I", count), COUNT)
        while os.pread(fd, 4, BUSY)[0]:
            pass
        (total,) = struct.unpack("<I", os.pread(fd, 4, SUM))
    except OSError as error:
        sys.exit(f"{user}: {error}")
    if total != sum(words) % 2**32:
        sys.exit(f"the sum of {count} words is wrong")
    print(f"{count} words: the card's sum is right")


if __name__ == "__main__":
    main()
