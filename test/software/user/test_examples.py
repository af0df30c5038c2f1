#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The Python examples on the mock card: the guest has no Python. test/guest runs the C examples on the whole path."""

import os
import subprocess
import sys

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def run(card, name, *arguments, **settings):
    command = [sys.executable, EXAMPLES / "python" / name, *map(str, arguments)]
    return subprocess.run(command, env=card.environment(**settings), capture_output=True, text=True)


@pytest.mark.parametrize("arguments, length, offset", [
    ((),                                100000, 0),
    (("/dev/litepcie0", 77, "0x1001"),  77,     0x1001),
])
def test_write_read(card, arguments, length, offset):
    result = run(card, "write_read.py", *arguments, short=4096)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"{length} bytes written and read back at offset {offset}: equal\n"
    memory = card.file.read_bytes()
    assert any(memory[offset:offset + length])
    assert not any(memory[:offset]) and not any(memory[offset + length:])


def test_write_read_past_the_end(card):
    result = run(card, "write_read.py", "/dev/litepcie0", 100, 1 << 20)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "/dev/litepcie0: [Errno 28] No space left on device\n"


def test_info(card):
    result = run(card, "info.py")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "mock at 0000:01:00.0", "link Gen2 x4, built for Gen2 x4", "memory 1048576 bytes, window 65536 bytes"]


def test_stream_packets(card, tmp_path):
    """A FIFO that is open for both directions gives back what is written, as the card's loop does."""
    os.mkfifo(tmp_path / "loop")
    result = run(card, "stream_packets.py", tmp_path / "loop", 20, 3000)
    assert (result.returncode, result.stdout, result.stderr) == (0, "20 packets sent and received: equal\n", "")


def test_a_missing_card_is_one_line(card):
    for name in ("write_read.py", "info.py", "stream_packets.py"):
        result = run(card, name, "/dev/litepcie7")
        assert result.returncode == 1
        assert result.stderr == "/dev/litepcie7: [Errno 2] No such file or directory: '/dev/litepcie7'\n"


def test_every_example_is_in_the_readme():
    text = (EXAMPLES / "README.md").read_text()
    for path in [*EXAMPLES.glob("c/*.c"), *EXAMPLES.glob("python/*.py")]:
        assert f"`{path.relative_to(EXAMPLES)}`" in text
        assert len(path.read_text().splitlines()) <= 80, path
