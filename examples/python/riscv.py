#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lets the card's processor add up words in a memory that it shares with the host (examples/gateware/riscv.py).

riscv.py CSR_JSON [REQUESTS]    CSR_JSON of the board's build has the names of its registers.
"""

import random
import sys

from liblitepcie import Card, LitePCIeError

RAM = 0x10000000  # On the bus of the SoC.
ASKED, ANSWERED, COUNT, SUM, DATA = RAM, RAM + 4, RAM + 8, RAM + 12, RAM + 16
WORDS = 1000


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: riscv.py CSR_JSON [REQUESTS]")
    requests = int(sys.argv[2], 0) if len(sys.argv) > 2 else 10
    try:
        with Card() as card, card.interrupt("answer") as answer:
            shared = card.registers(sys.argv[1])
            for _ in range(requests):
                words  = [random.getrandbits(32) for _ in range(random.randrange(WORDS + 1))]
                number = (shared.read(ASKED)[0] + 1) % 2**32
                answer.arm()
                if words:
                    shared.write(DATA, words)
                shared.write(COUNT, [len(words)])
                shared.write(ASKED, [number])  # Last: the processor begins when it sees the number.
                answer.wait(10)
                if shared.read(ANSWERED) != [number] or shared.read(SUM) != [sum(words) % 2**32]:
                    sys.exit(f"request {number}: the answer is wrong")
    except (LitePCIeError, OSError) as error:
        sys.exit(str(error))
    print(f"{requests} requests: the processor's sums are right")


if __name__ == "__main__":
    main()
