#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs a command with a mock card, to try the tool, the library and Python without a card, a driver and a guest.

    build/venv/bin/python -m tools.mock_card python3 program.py

/dev/litepcie0 is then a file of 1 MiB, `build/mock/memory`, and stream 0 always has packets of 64 KiB of random bytes.
Nothing of it is the driver or the link: rates are those of the program. Exit status: that of the command; 1 if the mock
cannot be compiled; 2 without a command, and 127 if there is none of that name.
"""

import os
import random
import struct
import subprocess
import sys

from pathlib import Path

HERE   = Path(__file__).resolve().parent
ROOT   = HERE.parent
BUILD  = ROOT / "build" / "user"
CARD   = ROOT / "build" / "mock"
PACKET = 64 << 10


def compile_mock(folder):
    """Writes `mock_card.so` into a folder, where programs may be using the old one."""
    new = folder / "mock_card.new"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-fPIC", "-shared",
        f"-I{ROOT}/software/kernel/include/uapi", "-o", new, HERE / "mock_card.c", HERE / "mock_stream.c"], check=True)
    new.rename(folder / "mock_card.so")


def environment():
    paths = (BUILD, Path(sys.executable).parent, os.environ.get("PATH", os.defpath))
    return os.environ | {"MOCK_FILE": str(CARD / "memory"), "MOCK_AIO": "1", "MOCK_STREAMS": "1",
        "MOCK_STREAM_IN": str(CARD / "stream"), "MOCK_STREAM_OUT": "/dev/null", "MOCK_STREAM_AGAIN": "1",
        "LD_PRELOAD": str(BUILD / "mock_card.so"), "LITEPCIE_LIBRARY": str(BUILD / "liblitepcie.so"),
        "PYTHONPATH": str(ROOT / "software" / "python"), "PATH": ":".join(map(str, paths))}


def make_card():
    """The bytes of the memory stay from one run to the next."""
    CARD.mkdir(parents=True, exist_ok=True)
    with open(CARD / "memory", "ab") as memory:
        memory.truncate(1 << 20)
    bytes_of = random.Random(1).randbytes
    (CARD / "stream").write_bytes(b"".join(struct.pack("<II", PACKET, 0) + bytes_of(PACKET) for _ in range(64)))


def prepare():
    """Builds tool, library and mock, and makes the card."""
    subprocess.run(["make", "-C", ROOT / "software" / "user", f"BUILD={BUILD}"], check=True, stdout=subprocess.DEVNULL)
    compile_mock(BUILD)
    make_card()


def main(command):
    if not command:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        prepare()
    except subprocess.CalledProcessError:
        return 1
    try:
        os.execvpe(command[0], command, environment())
    except OSError as error:
        print(f"mock_card: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
