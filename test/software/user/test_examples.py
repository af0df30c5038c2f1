# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The Python examples on the mock card: the guest has no Python. test/guest runs the C examples on the whole path."""

import os
import re
import subprocess
import sys

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def run(card, name, *arguments, **settings):
    command = [sys.executable, EXAMPLES / "python" / name, *map(str, arguments)]
    return subprocess.run(command, env=card.python(**settings), capture_output=True, text=True)


@pytest.mark.parametrize("arguments, length, offset", [((), 65536, 0), (("/dev/litepcie0", 77, "0x1001"), 77, 0x1001)])
def test_write_read(card, arguments, length, offset):
    result = run(card, "write_read.py", *arguments, short=4096)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"{length} bytes written and read back at offset {offset}: equal\n"
    memory = card.file.read_bytes()
    assert any(memory[offset:offset + length])
    assert not any(memory[:offset]) and not any(memory[offset + length:])


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


@pytest.mark.parametrize("written, status, wrong", [pytest.param("packet", 0, 0, marks=pytest.mark.full),
    ("packet + (packet[0] == 2)", 3, 1)])
def test_record_and_plot(card, tmp_path, written, status, wrong):
    """The stream of the mock sends back what it gets. A packet that is not what the program verifies is wrong."""
    program = (EXAMPLES / "python" / "record_and_plot.py").read_text()
    assert program.count("write_packet(packet)") == 1
    (tmp_path / "program.py").write_text(program.replace("write_packet(packet)", f"write_packet({written})"))
    picture = tmp_path / "record.svg"
    result  = run(card, tmp_path / "program.py", "/dev/litepcie0", 20, picture)
    said    = f"20 packets of 1024 samples recorded; {wrong} wrong, 0 bytes lost\n{picture}\n"
    assert (result.returncode, result.stdout, result.stderr) == (status, said, "")
    assert "<!-- packet 3 -->" in picture.read_text()


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Folder with the C examples."""
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run(["make", "-s", "-C", EXAMPLES, f"BUILD={folder}", f"{folder}/h2c_c2h", f"{folder}/record_play",
        f"{folder}/async_copy", f"{folder}/write_read", f"{folder}/rate"], check=True, capture_output=True)
    return folder


def run_program(path, *arguments, **options):
    return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=30, **options)


def test_h2c_c2h(card, programs, tmp_path):
    """At an address that is not aligned; calls move less than asked; what is around the bytes stays."""
    data = os.urandom(300001)
    (tmp_path / "out").write_bytes(data)
    tool = programs / "h2c_c2h"
    sent = run_program(tool, "h2c", "/dev/litepcie0", tmp_path / "out", "0x1005", env=card.environment(short=4096))
    assert (sent.returncode, sent.stdout, sent.stderr) == (0, "300001 bytes moved, host to card\n", "")
    memory = card.file.read_bytes()
    assert memory[0x1005:][:len(data)] == data and not any(memory[:0x1005]) and not any(memory[0x1005 + len(data):])
    back = run_program(tool, "c2h", "/dev/litepcie0", tmp_path / "in", "0x1005", len(data),
        env=card.environment(short=4096))
    assert (back.returncode, back.stdout, back.stderr) == (0, "300001 bytes moved, card to host\n", "")
    assert (tmp_path / "in").read_bytes() == data


@pytest.mark.parametrize("memory", [64 << 10, *(pytest.param(size, marks=pytest.mark.full)
    for size in (1 << 20, 64 << 20))])
def test_defaults_follow_the_card(card, build, programs, tmp_path, memory):
    """What the documents say first, as they say it, on the smallest boards and on the simulated one."""
    card.file.write_bytes(bytes(memory))
    documents = {name: (EXAMPLES.parent / name).read_text() for name in ("docs/python.md", "docs/library.md",
        "examples/README.md", "docs/from-xdma.md")}
    environment = card.python(memory=memory, aio=1) | {
        "PATH": f"{build}:{programs}:{EXAMPLES}/python:{os.environ['PATH']}"}
    shown  = [line[6:] for name in ("examples/README.md", "docs/from-xdma.md") for line in documents[name].splitlines()
        if re.match(r"    [$#] (write_read|rate|h2c_c2h|async_copy)", line) and "0x4000000" not in line]
    shown += ["litepcie_util dma_test --depth 16", "litepcie_util bench --time-ms 1", "litepcie_util scratch_test"]
    assert len(shown) > 6, shown
    for command in shown:
        command = command.replace("/tmp/", f"{tmp_path}/")
        result  = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=60)
        assert result.returncode == 0 or "not permitted" in result.stderr, (command, result.stdout, result.stderr)
    first = re.search(r"```python\n(.*?)```", documents["docs/python.md"], re.DOTALL)[1]
    result = subprocess.run([sys.executable, "-c", first], env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "") and "bytes per second" in result.stdout
    pieces = re.findall(r"^#define (?:PIECES|BYTES) +(\d+)$", documents["docs/library.md"], re.M)
    assert int(pieces[0])*int(pieces[1]) <= 64 << 10


def test_record_play(programs, tmp_path):
    """A file takes what is played; a FIFO gives the recorder more than it is asked for."""
    data = os.urandom(200001)
    (tmp_path / "out").write_bytes(data)
    (tmp_path / "stream").touch()
    tool = programs / "record_play"
    played = run_program(tool, "play", tmp_path / "stream", tmp_path / "out")
    assert (played.returncode, played.stdout, played.stderr) == (0, "200001 bytes played\n", "")
    assert (tmp_path / "stream").read_bytes() == data
    os.mkfifo(tmp_path / "endless")
    with subprocess.Popen(["sh", "-c", f"cat {tmp_path}/stream {tmp_path}/stream > {tmp_path}/endless"],
            stderr=subprocess.DEVNULL):
        recorded = run_program(tool, "record", tmp_path / "endless", tmp_path / "in", 200001)
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, "200001 bytes recorded\n", "")
    assert (tmp_path / "in").read_bytes() == data


@pytest.mark.parametrize("name, arguments", [("h2c_c2h", ("h2c", "/dev/none", "/dev/null", 0)),
    ("record_play", ("record", "/dev/none", "/dev/null", 1))])
def test_a_missing_device_and_wrong_usage(programs, name, arguments):
    result = run_program(programs / name, *arguments)
    assert (result.returncode, result.stderr) == (1, "/dev/none: No such file or directory\n")
    result = run_program(programs / name, *arguments[:2])
    assert result.returncode == 2 and result.stderr.startswith(f"usage: {name} ")


def test_an_error_is_one_line(card):
    for name in ("write_read.py", "info.py", "stream_packets.py"):
        result = run(card, name, "/dev/litepcie7")
        assert result.returncode == 1
        assert result.stderr == "/dev/litepcie7: [Errno 2] No such file or directory: '/dev/litepcie7'\n"
    result = run(card, "write_read.py", "/dev/litepcie0", 100, 1 << 20)  # Past the end.
    assert (result.returncode, result.stdout, result.stderr) == (1, "",
        "/dev/litepcie0: [Errno 28] No space left on device\n")


def test_every_example_is_in_the_readme():
    text = (EXAMPLES / "README.md").read_text()
    for path in [*EXAMPLES.glob("c/*.c"), *EXAMPLES.glob("python/*.py"), *EXAMPLES.glob("gateware/*.py")]:
        assert f"{path.relative_to(EXAMPLES)}`" in text
        assert len(path.read_text().splitlines()) <= 120, path
