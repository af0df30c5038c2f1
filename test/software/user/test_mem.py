# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""mem: bytes that arrive at their address and nowhere else, files, ranges, mismatches; pio_test, on a mapped file."""

import csv
import errno
import json
import random
import subprocess

import pytest

from test.software.user.conftest import framed, ROOT

USAGE, MISMATCH = 2, 3
SIZE = 3 << 20  # Three chunks of the tool.


@pytest.fixture
def data():
    return random.Random(1).randbytes(SIZE)


def run(card, *arguments, **settings):
    return card("mem", *arguments, **{"memory": SIZE, **settings})


@pytest.fixture(params=[(), ("--pio",)], ids=["dma", "pio"])
def how(request, card, data):
    card.file.write_bytes(data)
    return request.param


def test_read(card, how, data):
    result = run(card, "read", "-o", 3, "-l", 21, *how)
    characters = "".join(chr(one) if 32 <= one < 127 else "." for one in data[3:24])
    assert result == (0, f"0x00000003: {data[3:19].hex(' ')}  |{characters[:16]}|\n"
        f"0x00000013: {data[19:24].hex(' '):47}  |{characters[16:]}|\n", "")
    result = json.loads(run(card, "read", "--json", "-o", 7, "--to", 0x1006, *how).out)
    assert result == {"format_version": 2, "command": "mem", "ok": True, "device": "/dev/litepcie0", "action": "read",
        "access": "pio" if how else "dma", "offset_bytes": 7, "bytes": 4096, "data_hex": data[7:0x1007].hex()}
    assert len(run(card, "read", *how).out.splitlines()) == 16


@pytest.mark.parametrize("width, shown", [
    (2, "3130 3332 3534 3736 3938 6261 6463 6665  |0123456789abcdef|"), (4, "33323130 37363534 62613938 66656463  |"),
    (8, "3736353433323130 6665646362613938  |0123456789abcdef|")])
def test_read_in_words(card, width, shown):
    """As numbers, least significant byte first; what is left at the end is shorter, and its characters line up."""
    card.file.write_bytes(b"0123456789abcdefXYZ" + bytes(SIZE - 19))
    first, last = run(card, "read", "-l", 19, "-w", width).out.splitlines()
    assert shown in first and last.split("  ")[0] == {2: "0x00000010: 5958 5a"}.get(width, "0x00000010: 5a5958")
    assert first.index("|") == last.index("|") and last.endswith("|XYZ|") and len(first) <= 80


@pytest.mark.parametrize("width, value, raw", [(1, 0xff, b"\xff"), (2, 0x1234, b"\x34\x12"),
    (4, 0x12345678, b"\x78\x56\x34\x12"), (8, (1 << 64) - 2, b"\xfe" + b"\xff"*7)])
@pytest.mark.parametrize("offset", [0, 5, 0xfff8])
def test_write(card, how, data, width, value, raw, offset):
    assert run(card, "write", "-o", offset, "--width", width, "--value", value, *how) == \
        (0, f"{width} bytes at offset 0x{offset:x} written; the number before was 0x"
            f"{data[offset:offset + width][::-1].hex()}\n", "")
    assert card.file.read_bytes() == data[:offset] + raw + data[offset + width:]


@pytest.mark.parametrize("offset, length", [(0, 1), (1, 6), (4093, 11), (65000, 536), (0, 65536)])
def test_fill_and_verify(card, how, data, offset, length):
    """Each pattern: only its range changes, and one wrong byte is found."""
    for pattern in ("constant", "counter", "random"):
        arguments = ["--pattern", pattern, "--value", 0xa5, "-w", 2, "-o", offset, "-l", length, *how]
        assert run(card, "fill", *arguments).code == 0
        now = bytearray(card.file.read_bytes())
        assert now[:offset] == data[:offset] and now[offset + length:] == data[offset + length:]
        assert run(card, "verify", *arguments) == (0, f"{length} bytes at offset 0x{offset:x} are right\n", "")
        good = now[offset + length - 1]
        now[offset + length - 1] ^= 0x40
        card.file.write_bytes(now)
        result = run(card, "verify", "--json", *arguments)
        assert result.code == MISMATCH and result.err == ("litepcie_util: /dev/litepcie0: wrong byte at offset "
            f"0x{offset + length - 1:x} of the card's memory: expected 0x{good:02x}, got 0x{good ^ 0x40:02x}; 1 of "
            f"{length} bytes differ\n")
        assert json.loads(result.out)["mismatch"] == {"card_offset_bytes": offset + length - 1, "expected": good,
            "got": good ^ 0x40, "differing_bytes": 1}


def test_patterns(card):
    run(card, "fill", "--pattern", "counter", "--value", 7, "-w", 4, "-l", 12)
    assert card.file.read_bytes()[:12] == b"\7\0\0\0\10\0\0\0\11\0\0\0"
    run(card, "fill", "--pattern", "counter")
    assert card.file.read_bytes() == b"".join(n.to_bytes(4, "little") for n in range(SIZE//4))
    run(card, "fill", "--value", 0x102, "-w", 2, "-o", 1, "-l", 5)
    assert card.file.read_bytes()[:8] == b"\0\2\1\2\1\2\0\0"
    run(card, "fill", "--pattern", "random")
    one = card.file.read_bytes()
    run(card, "fill", "--pattern", "random", "--seed", 5)
    assert len({one[i:i + 64] for i in range(0, SIZE, 4096)}) == SIZE//4096 and one != card.file.read_bytes()


def test_files(card, data, tmp_path):
    """Of several chunks, at any alignment; by pipe too."""
    card.file.write_bytes(data)
    out, new = tmp_path / "out", random.Random(2).randbytes(2 << 20 | 77)
    assert run(card, "dump", "-f", out, "-o", 5, "-l", (2 << 20) + 3).code == 0
    assert out.read_bytes() == data[5:(2 << 20) + 8]
    (tmp_path / "in").write_bytes(new)
    assert run(card, "load", "-f", tmp_path / "in", "-o", 333) == (0, f"{len(new)} bytes at offset 0x14d loaded\n", "")
    assert card.file.read_bytes() == data[:333] + new + data[333 + len(new):]
    assert run(card, "verify", "-f", tmp_path / "in", "-o", 333).code == 0
    result = run(card, "verify", "-f", tmp_path / "in", "-o", 332)
    assert result.code == MISMATCH and " at offset 0x14c of the card's memory: " in result.err
    tool, environment = card.build / "litepcie_util", card.environment(memory=SIZE)
    assert subprocess.check_output([tool, "mem", "dump", "-f", "-", "-l", "3M"], env=environment) == \
        card.file.read_bytes()
    subprocess.run([tool, "mem", "load", "-f", "-", "-l", "10"], env=environment, input=b"0123456789", check=True,
        stdout=subprocess.DEVNULL)
    assert card.file.read_bytes()[:10] == b"0123456789"


@pytest.mark.parametrize("arguments, status, message", [
    ("", USAGE, "mem: no action is given; choose one of read, write, fill, dump, load, verify"),
    ("peek", USAGE, "mem: 'peek' is not an action; choose one of read, write, fill, dump, load, verify"),
    ("dump", USAGE, "mem dump: give --file"),
    ("load", USAGE, "mem load: give --file"),
    ("load -f /nowhere/x", 1, "/nowhere/x: cannot open the file: No such file or directory"),
    ("dump -f /nowhere/x", 1, "/nowhere/x: cannot open the file: No such file or directory"),
    ("load -f {short} -l 11", USAGE, "--length: 11 is too large; the file {short} has 10 bytes"),
    ("load -f {short} -o 3145720", USAGE, "--length: 10 is too large at offset 3145720; the card's memory has "
        "3145728 bytes"),
    ("load -f {empty}", USAGE, "--file: {empty} is empty"),
    ("verify -f -", USAGE, "give --length: the size of - is not known"),
    ("read -o 3M", USAGE, "--offset: 3145728 is past the end of the card's memory; the most is 3145727"),
    ("read -o 64K --pio", USAGE, "--offset: 65536 is past the end of the card's window; the most is 65535"),
    ("fill --to 3M", USAGE, "--length: 3145729 is too large at offset 0; the card's memory has 3145728 bytes"),
    ("fill -l 65537 --pio", USAGE, "--length: 65537 is too large at offset 0; the card's window has 65536 bytes"),
    ("fill -l 9223372036854775807 -o 5", USAGE, "--length: 9223372036854775807 is too large at offset 5; the card's "
                                                "memory has 3145728 bytes"),
    ("fill -l 5 --to 9", USAGE, "give --length or --to, not both"),
    ("fill -o 5 --to 4", USAGE, "--to: the last address is before --offset"),
    ("write --value 256 -w 1", USAGE, "--value: 256 does not fit in --width 1"),
    ("write -l 8", USAGE, "mem write writes one number: give --width, or use mem fill"),
    ("write -w 3", USAGE, "--width: '3' is not supported; choose one of 1, 2, 4, 8"),
    ("read -l 2M", USAGE, "--length: 2097152 is too large to print; the most is 1048576: use mem dump"),
    ("read -l 4Q", USAGE, "--length: '4Q' is not a size; give bytes, such as 4096, 0x1000, 4K, 4KiB or 64M (K, M, G: "
                          "powers of 1024)"),
])
def test_errors(card, tmp_path, arguments, status, message):
    """One line, and nothing is written."""
    card.file.write_bytes(bytes(SIZE))
    short, empty = tmp_path / "short", tmp_path / "empty"
    short.write_bytes(b"x"*10)
    empty.write_bytes(b"")
    fill = {"short": short, "empty": empty}
    result = run(card, *arguments.format(**fill).split())
    assert result == (status, "", f"litepcie_util: {message.format(**fill)}\n")
    assert card.file.read_bytes() == bytes(SIZE)


@pytest.mark.parametrize("action", ["read", "write", "fill", "verify"])
@pytest.mark.parametrize("error, status", [(errno.EIO, 1), (errno.ENODEV, 4)])
def test_errors_of_the_card(card, action, error, status):
    result = run(card, action, fail_call=1, fail_errno=error)
    assert (result.code, result.out) == (status, "")
    assert " of the card's memory: " in result.err and result.err.count("\n") == 1


def test_a_card_with_streams_only(card):
    assert card("mem", "read", "-l", 4, channels=0, streams=1) == (1, "", "litepcie_util: /dev/litepcie0: the card has "
        "no memory channels; give --pio\n")
    assert card("mem", "read", "-l", 4, "--pio", channels=0, streams=1).code == 0


def test_a_short_pipe_and_a_full_disk(card):
    result = subprocess.run([card.build / "litepcie_util", "mem", "load", "-f", "-", "-l", "10"], input="01234",
        env=card.environment(), capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, "litepcie_util: -: the file ended after 5 bytes\n")
    assert run(card, "dump", "-f", "/dev/full").err.startswith("litepcie_util: /dev/full: cannot write the file: ")


def test_not_while_a_test_runs(card):
    with card.start("dma_test", "-s", "read", "-l", "64K", delay_us=60000000, long_from=5) as first:
        for _ in range(3):
            first.stdout.readline()
        result = card("mem", "fill", "-l", 1)
        apart  = card("mem", "fill", "-o", "128K", "-l", 1)
        looked = card("mem", "read")
        first.kill()
    assert result.code == 1 and f"process {first.pid} (litepcie_util) uses bytes 0 to 65599 " in result.err
    assert apart.code == looked.code == 0


@pytest.mark.parametrize("command, shown", [("mem fill --length 3M", "0.0 of 3.1 MB"),
    ("mem dump -f /dev/null", "0.0 of 3.1 MB"), ("stream record -n 1 -f /dev/null", "record: "),
    ("stream loopback -n 1", "loopback: "),
    ("bench --json --time-ms 1 --max 64 --depth 1 -s write", "write, 1 in flight, 64 bytes")])
def test_progress_on_a_terminal(card, tmp_path, command, shown):
    """A line that is removed again; none if the terminal gets JSON."""
    (tmp_path / "in").write_bytes(framed([b"12345"]))
    card.file.write_bytes(bytes(SIZE))
    settings = {"memory": SIZE, "stream_in": tmp_path / "in"}
    if "--json" in command:
        assert json.loads(card.on_terminal(*command.split(), **settings)[1])["ok"]
    with open(tmp_path / "out", "wb") as out:
        status, said = card.on_terminal(*command.split(), stdout=out, **settings)
    assert status == 0 and (tmp_path / "out").stat().st_size > 0
    assert said.startswith(f"\r\33[K{shown}".encode()) and said.endswith(b"\r\33[K")


@pytest.mark.parametrize("count", [1, 1023, 1024, 5000])
def test_the_bytes_of_the_window_come_back(card, count):
    data = bytes(range(256))*4096
    card.file.write_bytes(data)
    told = json.loads(card("pio_test", "--json", "-n", count, "-o", 4096).out)
    assert told["ok"] and told["accesses"] == count and all(len(way["runs"]) == 3 for way in told["ways"])
    assert card.file.read_bytes() == data


def test_text_of_pio_test(card):
    told = card("pio_test", "-n", 1000)
    lines = [" ".join(line.split()[:2]) for line in told.out.splitlines() if line[:2] == "  " and "MB/s" not in line]
    assert (told.code, told.err, lines[1:6]) == (0, "", ["window write", "window read", "combined write",
        "combined read", "register both"])


def test_published_figures_are_those_of_the_table(card):
    with (ROOT / "bench" / "published" / "pio_2007.csv").open() as file:
        rows = {(row["method"], row["direction"]): float(row["mbs"])*1e6 for row in csv.DictReader(file)}
    told = json.loads(card("pio_test", "--json", "-n", 1).out)["published_2007_gen1_x1"]
    assert {(one["by"], direction): one[f"{direction}_bytes_per_second"] for one in told
        for direction in ("write", "read")} == rows


@pytest.mark.parametrize("arguments, settings, code, line", [
    (("-o", 100), {}, 2, "--offset: 100 is not a multiple of 4096 in the window of 65536 bytes"),
    (("-o", "64K"), {}, 2, "--offset: 65536 is not a multiple of 4096 in the window of 65536 bytes"),
    (("-n", 0), {}, 2, "--count: 0 is too small; the least is 1"),
    (("--user-address", 0), {}, 4, "/dev/litepcie0_user: no such device file"),
    ((), {"no_mmap": 22}, 1, "mapping the window: the driver rejected a value"),
    ((), {"scratch_and": 1}, 1, "register: the host answered a request of the card with an error"),
])
def test_what_cannot_be_done_is_one_line(card, arguments, settings, code, line):
    result = card("pio_test", *arguments, **{"sysfs": "/nowhere", **settings})
    assert result.code == code and line in result.err and result.err.count("\n") == 1


def test_ctrl_c_gives_the_bytes_back(card):
    data = bytes(range(256))*4096
    card.file.write_bytes(data)
    result = card.interrupted("signals 0", "pio_test", "-n", 1000000000)
    assert (result.code, result.err) == (130, "litepcie_util: ended by signal 2\n") and card.file.read_bytes() == data
