#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What all command lines have in common: one line, and the exit status."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
from litepcie_soc.command_line import Parser, number, run

def main():
    parser = Parser(prog="program")
    parser.add_argument("--size", type=number)
    parser.parse_args(sys.argv[1:-1])
    try:
        return eval(sys.argv[-1])
    finally:
        print("tidied up")

sys.exit(run(main, "program"))
"""


def program(*arguments):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("body, status, text", [
    ("0",                                 0,   ""),
    ("3",                                 3,   ""),
    ("os.mkdir('/proc/x')",               1,   "program: error: /proc/x: No such file or directory\n"),
    ("os.write(99, b'x')",                1,   "program: error: Bad file descriptor\n"),
    ("os.kill(os.getpid(), signal.SIGINT)",  130, ""),
    ("os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
])
def test_the_end_of_a_program(body, status, text):
    assert program(body) == (status, "tidied up\n", text)


def test_numbers():
    assert program("--size", "0x10", "0")[0] == 0
    assert program("--size", "ten", "0") == (2, "", "program: error: argument --size: 'ten' is not a whole number\n")
