# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""stream: files, packets and their ends, lost and wrong data, signals."""

import errno
import json
import random
import re
import signal
import struct
import subprocess

import pytest

from test.software.user.conftest import LIMIT, framed

MISMATCH = 3


@pytest.fixture
def packets(tmp_path):
    """Those that the card sends: the file `in`."""
    rng  = random.Random(1)
    made = [rng.randbytes(rng.randrange(1, 9000)) for _ in range(50)]
    (tmp_path / "in").write_bytes(framed(made))
    return made


def run(card, *arguments, **settings):
    return card("stream", *arguments, **settings)


def test_record(card, tmp_path, packets):
    data, settings = b"".join(packets), {"stream_in": tmp_path / "in"}
    result = run(card, "record", "-f", tmp_path / "out", "-n", 50, **settings)
    assert result.code == 0 and (tmp_path / "out").read_bytes() == data
    assert result.out.startswith(f"record: {len(data)} bytes in 50 packets, ")
    for piece in (1000, 1 << 20):
        result = json.loads(run(card, "record", "--json", "-f", tmp_path / "out", "-l", 12345, stream_piece=piece,
            **settings).out)
        assert (result["ok"], result["bytes"], result["action"]) == (True, 12345, "record")
        assert (tmp_path / "out").read_bytes() == data[:12345]
    piped = subprocess.run([card.build / "litepcie_util", "stream", "record", "-f", "-", "-n", "50"], check=True,
        capture_output=True, env=card.environment(**settings))
    assert piped.stdout == data and b"in 50 packets" in piped.stderr


def test_ring(card, tmp_path, packets):
    out, settings = tmp_path / "out", {"stream_in": tmp_path / "in"}
    result = run(card, "record", "-f", out, "-n", 50, "--ring", "130M", **settings)
    assert result.code == 0 and out.read_bytes() == b"".join(packets)
    assert result.err == "ring: 268435456 bytes, 134.2 ms of a full link (Gen2 x4)\n"
    result = run(card, "record", "-f", out, "--ring", "1G", **settings)
    assert result.code == 1 and "echo 1073741824 > /sys/module/litepcie/parameters/stream_bytes\n" in result.err


def test_data_lost_in_a_recording(card, tmp_path, packets):
    """What came is in the file."""
    data   = b"".join(packets)
    result = run(card, "record", "-f", tmp_path / "out", stream_in=tmp_path / "in")
    assert result.code == MISMATCH and (tmp_path / "out").read_bytes() == data
    assert result.err == (f"litepcie_util: /dev/litepcie0_stream0: reading after {len(data)} bytes: data was lost, "
        "because the card was reset or suspended, or its logic cut a packet\n")
    result = run(card, "record", "--json", "-f", tmp_path / "out", "-n", 3, stream_in=tmp_path / "in", stream_lost=77)
    assert result.code == MISMATCH and json.loads(result.out).items() >= \
        {"ok": False, "lost_bytes": 77, "cuts": 1}.items()
    assert result.err == "litepcie_util: /dev/litepcie0_stream0: the driver counted 77 lost bytes and 1 cuts\n"


def test_play(card, tmp_path):
    data = random.Random(2).randbytes(200001)
    (tmp_path / "in").write_bytes(data)
    for arguments, expected in [(["--packet-bytes", 1000], 201), ([], 4), (["-l", "64K"], 1), (["-n", 2], 2)]:
        result = json.loads(run(card, "play", "--json", "-f", tmp_path / "in", *arguments,
            stream_out=tmp_path / "out").out)
        size = arguments[1] if arguments[:1] == ["--packet-bytes"] else 65536
        sent = [data[i:i + size] for i in range(0, len(data), size)][:expected]
        assert (result["ok"], result["packets"]) == (True, expected)
        assert (tmp_path / "out").read_bytes() == framed(sent)
    piped = subprocess.run([card.build / "litepcie_util", "stream", "play", "-f", "-"], check=True, input=b"abc",
        capture_output=True, env=card.environment(stream_out=tmp_path / "out"))
    assert piped.stdout.startswith(b"play: 3 bytes") and (tmp_path / "out").read_bytes() == framed([b"abc"])
    result = run(card, "play", "-f", tmp_path / "in", "-l", "1M", stream_out=tmp_path / "out")
    assert (result.code, result.err) == (1, f"litepcie_util: {tmp_path}/in: the file ended after 200001 bytes\n")


def test_limits_of_time(card, tmp_path):
    """All at once, as each waits for a second. Bytes that stayed with the driver do not count as played."""
    (tmp_path / "in").write_bytes(bytes(100000))
    stuck   = dict(stream_stuck=1, stream_out=tmp_path / "out")
    play    = ("play", "--timeout", 1, "-f", tmp_path / "in")
    started = [card.start("stream", *arguments, **settings) for arguments, settings in (
        (play, stuck), ((*play, "-n", 1), stuck),    # The first one waits for a write, the second one for the end.
        (("loopback", "-n", 50, "--timeout", 1), {"stream_drop": 50}),
        (("loopback", "-n", 50, "--timeout", 1), {"stream_fail": 5}),
        (("record", "-f", tmp_path / "recorded", "-t", 1), {"stream_in": "/dev/zero", "stream_still": 1}))]
    ended = [(*process.communicate(timeout=LIMIT), process.returncode) for process in started]
    for out, err, code in ended[:2]:
        assert code == MISMATCH and out.startswith("play: 0 bytes in "), out
        assert "  65536 bytes more did not reach the card's logic, and are lost\n" in out
        assert err == "litepcie_util: /dev/litepcie0_stream0: the card's logic took nothing for 1 s\n"
    (_, lost, code), (out, failed, status), (recorded, _, good) = ended[2:]
    assert code == MISMATCH and ": nothing came for 1 s; 49 packets came" in lost and lost.count("\n") == 1
    assert status == 1 and ": writing after " in failed and "in 4 packets" in out
    seconds = re.match(r"record: 0 bytes in 0 packets, ([0-9.]+)", recorded)
    assert good == 0 and float(seconds[1]) >= 1


@pytest.mark.full
def test_a_play_says_that_it_waits(card, tmp_path):
    """After 5 s, once; Ctrl-C ends it."""
    (tmp_path / "in").write_bytes(bytes(100))
    with card.start("stream", "play", "-f", tmp_path / "in", stream_stuck=1, stream_out=tmp_path / "out") as process:
        said = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
    assert said == "litepcie_util: /dev/litepcie0_stream0: the card's logic takes nothing; waiting, until Ctrl-C or " \
        "for --timeout\n"
    assert (process.returncode, err) == (130, "") and "  100 bytes more did not reach the card's logic" in out


@pytest.mark.parametrize("arguments", [[], ["-n", 3], ["--packet-bytes", 1], ["--seed", 7, "-n", 100],
    pytest.param(["-t", 1], marks=pytest.mark.full)])
def test_loopback(card, arguments):
    result = json.loads(run(card, "loopback", "--json", *arguments, stream_piece=5000).out)
    assert result["ok"] and result["bytes"] > 0
    assert "-t" in arguments or result["packets"] == (arguments[1] if arguments[:1] == ["-n"] else
        100 if "-n" in arguments else 1000)


@pytest.mark.parametrize("settings, said", [
    ({"stream_drop": 5},  ": packet 4 has "),  # The next one is longer,
    ({"stream_drop": 7},  ": packet 6 has "),  # and here shorter.
    ({"stream_flip": 5},  ": packet 4, byte "),
    pytest.param({"stream_still": 1}, ": nothing came for 1 s; 0 packets came", marks=pytest.mark.full),
    ({"stream_lost": 5},  ": the driver counted 10 lost bytes and 2 cuts")])
def test_loopback_finds(card, settings, said):
    """In JSON too: one document, with the line that is on standard error."""
    result = run(card, "loopback", "--json", "-n", 50, "--timeout", 1, **settings)
    assert result.code == MISMATCH and said in result.err and result.err.count("\n") == 1
    parsed = json.loads(result.out)
    assert not parsed["ok"] and parsed.get("error", result.err[15:-1]) == result.err[15:-1]


def pattern(first, count, lanes=16):
    """Packets of gateware/stream_dma/pattern.py, from its beat `first` on."""
    made, beat = [], first
    while len(made) < count:
        packet, last = b"", False
        while not last:
            last    = beat & 0xfff == 0xfff or beat & 0x3fff in (0x100, 0x101, 0x117)
            words   = [beat*(lanes//8) + n for n in range(lanes//8)]
            data    = b"".join(struct.pack("<II", n, ~n & 0xffffffff) for n in words)
            packet += data[:(beat >> 14) % lanes + 1] if last else data
            beat   += 1
        made.append(packet)
    return made


@pytest.mark.parametrize("first", [0, 0x50, 0x101, 0x14000, 0x3c101])
def test_pattern(card, tmp_path, first):
    """From any beat; a first packet that is too short to tell where is accepted."""
    made = pattern(first, 30)
    (tmp_path / "in").write_bytes(framed(made))
    assert run(card, "test", "-n", 30, stream_in=tmp_path / "in").code == 0
    del made[7]
    (tmp_path / "in").write_bytes(framed(made))
    result = run(card, "test", "-n", 29, stream_in=tmp_path / "in")
    assert result.code == MISMATCH and ": packet 7" in result.err


def test_ctrl_c(card, tmp_path):
    """While it waits, and just before."""
    result = card.interrupted("poll 0", "stream", "record", "-f", tmp_path / "out", stream_in="/dev/zero",
        stream_still=1)
    assert (result.code, result.err) == (130, "") and result.out.startswith("record: 0 bytes in 0 packets, ")
    result = run(card, "record", "-f", tmp_path / "out", stream_in="/dev/zero", stream_still=1,
        stream_signal=int(signal.SIGTERM))
    assert (result.code, result.err) == (143, "")


@pytest.mark.parametrize("arguments, settings, status, message", [
    ("",                   {}, 2, "stream: no action is given; choose one of record, play, loopback, test"),
    ("send",               {}, 2, "stream: 'send' is not an action; choose one of record, play, loopback, test"),
    ("record",             {}, 2, "stream record: give --file"),
    ("loopback -f x",      {}, 2, "stream loopback: takes no --file"),
    ("loopback --packet-bytes 17M", {}, 2, "--packet-bytes: 17M is too large; the most is 16777216"),
    ("test --stream 3", {}, 4,
        "/dev/litepcie0_stream3: no such stream; litepcie_util info shows how many the card has"),
    ("loopback", {"stream_errno": errno.EOPNOTSUPP}, 1, "/dev/litepcie0_stream0: the stream lacks a direction that "
        "loopback needs; litepcie_util info shows which directions it has"),
    ("test", {"stream_errno": errno.EBUSY}, 1, "/dev/litepcie0_stream0: another program uses this direction of the "
        "stream: end it, or give another --stream"),
    ("test", {"stream_errno": errno.EACCES}, 1, "/dev/litepcie0_stream0: permission denied"),
    ("play -f /nowhere/x", {"stream_out": "/dev/null"}, 1,
        "/nowhere/x: cannot open the file: No such file or directory"),
])
def test_errors(card, arguments, settings, status, message):
    result = card("stream", *arguments.split(), **settings)
    assert (result.code, result.err) == (status, f"litepcie_util: {message}\n")
