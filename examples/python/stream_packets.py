#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Sends packets to a stream whose card sends them back, and compares.

stream_packets.py [DEVICE [PACKETS [BYTES]]]
"""

import os
import select
import sys


def send(fd, packet):
    """os.write() may take less than asked: the packet then goes on with the next call."""
    view = memoryview(packet)
    while view:
        view = view[os.write(fd, view):]


def receive(fd, length, timeout_ms=60000):
    """Reads a packet of a known length: os.read() returns what has come, and never bytes of two packets."""
    poll   = select.poll()
    poll.register(fd, select.POLLIN)
    packet = bytearray()
    while len(packet) < length:
        if not poll.poll(timeout_ms):
            raise TimeoutError("nothing comes from the card")
        packet += os.read(fd, length - len(packet))
    return packet


def main():
    arguments = sys.argv[1:]
    device    = arguments[0] if arguments else "/dev/litepcie0_stream0"
    packets   = int(arguments[1], 0) if len(arguments) > 1 else 100
    length    = int(arguments[2], 0) if len(arguments) > 2 else 10000
    try:
        fd = os.open(device, os.O_RDWR)
        for n in range(packets):
            packet = os.urandom(1 + n * 7919 % length)
            send(fd, packet)
            if receive(fd, len(packet)) != packet:
                sys.exit(f"packet {n} differs")
    except (OSError, TimeoutError) as error:
        sys.exit(f"{device}: {error}")
    print(f"{packets} packets sent and received: equal")


if __name__ == "__main__":
    main()
