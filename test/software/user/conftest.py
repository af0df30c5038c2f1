# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The tool and the library, built once; the tool on a mock card (a file, see tools/mock_card.c)."""

import contextlib
import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import time

from collections import namedtuple
from pathlib import Path

import pytest

from tools import mock_card

ROOT = Path(__file__).resolve().parents[3]
USER = ROOT / "software" / "user"

# test_sanitizers.py sets it: every test runs a tool that finds wrong accesses and undefined behaviour.
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all" if os.environ.get("LITEPCIE_SANITIZE") else ""

Result = namedtuple("Result", "code out err")

LIMIT = 60  # Seconds after which a program hangs. No test expects an end in less.


RUNS       = []  # Command lines of the tool in the present test, with what it said, unless the test itself reads that.
MOST_LINES = 40


def shown(result):
    return f"\nexit status: {result.code}" + "".join(f"\n{name}:\n" + "\n".join(text.splitlines()[:MOST_LINES])
        for name, text in (("stdout", result.out), ("stderr", result.err)) if text)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails shows the tool's last command."""
    report = (yield).get_result()
    if report.failed and RUNS and "card" in getattr(item, "fixturenames", ()):
        report.sections.append(("last command of the tool", RUNS[-1]))


def unwrapped(text, going_on=""):
    """The tool's output with each line that goes on below itself in one piece, where it goes on with `going_on`."""
    return re.sub(rf"\n {{9,}}{going_on}", " ", text)


def until(condition):
    """Waits until a condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"the condition does not hold after {LIMIT} s"
        time.sleep(0.005)


def make(*arguments):
    """Runs make in software/user; returns its output."""
    result = subprocess.run(["make", "-C", str(USER), *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def compiled(folder, text, *flags):
    """A program of C that is linked with the library, from its text; `flags` name the library and its headers."""
    (folder / "program.c").write_text(text)
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", *SANITIZE.split(),
        folder / "program.c", "-o", folder / "program", *flags], check=True)
    return folder / "program"


def of_build(build):
    """Flags for the library of a build, with the headers of the sources."""
    return (f"-I{USER}/lib", f"-I{USER.parent}/kernel/include/uapi", f"-L{build}", "-llitepcie", f"-Wl,-rpath,{build}")


def framed(packets):
    """Packets as a stream of the driver has them, each after its header."""
    return b"".join(struct.pack("<II", len(packet), 0) + packet for packet in packets)


def write(folder, files):
    """Writes files below a folder, {name: text}, each with an end of its line, as those of /sys."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")


def user_bus(folder, data=bytes(4096)):
    """Settings for the user's registers at 0x30000000, whose bytes are in the file `user` of the folder."""
    write(folder / "sys" / "class" / "litepcie_user" / "litepcie0_user", {"origin": "0x30000000"})
    (folder / "user").write_bytes(data)
    return {"sysfs": folder / "sys", "user": folder / "user"}


def sanitizers():
    """Libraries of the sanitizers: they must be loaded before the mock."""
    if not SANITIZE:
        return []
    return [subprocess.check_output(["cc", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libubsan.so")]


@pytest.fixture(scope="session")
def build():
    """Folder with litepcie_util, the libraries and the mock, which all workers use."""
    folder = ROOT / "build" / "test" / ("user-sanitized" if SANITIZE else "user")
    flags  = ["OPTIMIZE=-O1 -g", f"CFLAGS={SANITIZE}", f"LDFLAGS={SANITIZE}"] if SANITIZE else []
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(f"BUILD={folder}", f"-j{os.cpu_count()}", *flags)
        mock_card.compile_mock(folder)
    return folder


class MockCard:
    """Runs the tool on a mock card of `memory` bytes; keyword arguments are its MOCK_* settings."""
    def __init__(self, build, file, memory=1 << 20):
        self.build = build
        self.file  = file
        self.says  = file.with_suffix(".says")
        self.file.write_bytes(bytes(memory))

    def wait_for(self, process, event, count=1):
        """Waits until a program started with `says=card.says` came to an event of the mock card, `count` times."""
        until = time.monotonic() + LIMIT
        while (said := self.says.read_text().splitlines() if self.says.exists() else []).count(event) < count:
            assert process.poll() is None, f"the program ended with status {process.returncode} before {event!r}: " \
                f"events {said[-5:]}, stderr {process.stderr.read()!r}"
            assert time.monotonic() < until, f"no {event!r} within {LIMIT} s: events {said[-5:]}"
            time.sleep(0.005)

    def environment(self, **settings):
        mock = {f"MOCK_{key.upper()}": str(value) for key, value in settings.items()}
        return os.environ | mock | {
            "MOCK_FILE"  : str(self.file),
            "LD_PRELOAD" : " ".join([*sanitizers(), str(self.build / "mock_card.so")]),
            "LC_ALL"     : "C",
            "COLUMNS"    : "80",
        }

    def python(self, **settings):
        """The environment of a Python program that uses the package."""
        return self.environment(**settings) | {"PYTHONPATH": str(ROOT / "software" / "python"),
            "PYTHONDONTWRITEBYTECODE": "1", "LITEPCIE_LIBRARY": str(self.build / "liblitepcie.so"),
            "ASAN_OPTIONS": "detect_leaks=0"}

    def start(self, *arguments, **settings):
        mock = "".join(f"MOCK_{key.upper()}={value} " for key, value in settings.items())
        RUNS.append(f"command: {mock}litepcie_util {shlex.join(map(str, arguments))}")
        return subprocess.Popen([str(self.build / "litepcie_util"), *map(str, arguments)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=self.environment(**settings))

    def __call__(self, *arguments, **settings):
        with self.start(*arguments, **settings) as process:
            return self.result(process)

    def result(self, process):
        out, err = process.communicate(timeout=LIMIT)
        result   = Result(process.returncode, out, err)
        RUNS[-1] += shown(result)
        return result

    def interrupted(self, event, *arguments, number=signal.SIGINT, count=1, **settings):
        """The result of the tool, to which a signal comes when the mock card came to an event `count` times."""
        with self.start(*arguments, says=self.says, **settings) as process:
            self.wait_for(process, event, count)
            process.send_signal(number)
            return self.result(process)

    def on_terminal(self, *arguments, stdout=None, **settings):
        """(status, bytes) that the tool says on a terminal. Its output goes there too, if `stdout` is None."""
        terminal, end = pty.openpty()
        with subprocess.Popen([self.build / "litepcie_util", *map(str, arguments)], stdout=stdout or end, stderr=end,
                env=self.environment(**settings)) as process:
            os.close(end)
            said = b""
            with contextlib.suppress(OSError), open(terminal, "rb", 0) as file:  # EIO is the end of a terminal.
                while part := file.read(4096):
                    said += part
        return process.returncode, said


@pytest.fixture
def card(build, tmp_path):
    RUNS.clear()
    return MockCard(build, tmp_path / "memory.bin")
