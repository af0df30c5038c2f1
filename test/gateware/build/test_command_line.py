#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""All command lines report an error in one line and with the same exit status."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
from litepcie_soc.build.command_line import Parser, number, run

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
    ("os.kill(os.getpid(), signal.SIGHUP)",  129, ""),
])
def test_the_end_of_a_program(body, status, text):
    assert program(body) == (status, "tidied up\n", text)


# Both are pending when the first is handled; more come while it tidies up.
TWICE = """
import os, signal, sys
from litepcie_soc.build.command_line import run

def send(*signals):
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    for each in signals:
        os.kill(os.getpid(), each)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)

def main():
    try:
        send(signal.SIGINT, signal.SIGTERM)
    finally:
        send(signal.SIGTERM, signal.SIGINT)
        print("tidied up")

sys.exit(run(main, "program"))
"""


def test_tidying_up_is_not_interrupted():
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "tidied up\n", "")


def test_an_interrupt_that_is_ignored_stays_ignored():
    """A shell starts background jobs with interrupts ignored."""
    body = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + PROGRAM
    done = subprocess.run([sys.executable, "-c", body, "os.kill(os.getpid(), signal.SIGINT) or 3"], timeout=60)
    assert done.returncode == 3


def test_numbers():
    assert program("--size", "0x10", "0")[0] == 0
    assert program("--size", "ten", "0") == (2, "", "program: error: argument --size: 'ten' is not a whole number\n")
