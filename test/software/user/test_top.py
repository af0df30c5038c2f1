# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""top: differences of the counters, interrupts, and what it costs."""

import errno
import json
import re
import resource
import signal
import time

import pytest

from test.software.user.conftest import LIMIT, write

INTERRUPTS = """\
           CPU0       CPU1
  0:         44          0   IO-APIC    2-edge      timer
 24:       {0}          5   PCI-MSI 524288-edge      litepcie0-0
 25:          7          0   PCI-MSI 524289-edge      litepcie0-1
 26:       {0}          0   PCI-MSI 524289-edge      litepcie10-1
 27:       {0}          0   PCI-MSI 524289-edge      litepcie00
NMI:          0          0   Non-maskable interrupts
"""


def lines(card, *arguments, **settings):
    result = card("top", "--json", *arguments, **settings)
    assert result.code == 0, result
    return [json.loads(line) for line in result.out.splitlines()]


def test_intervals(card):
    """10 MB between two looks, half of the active cycles waiting for a tag."""
    for one in lines(card, "-n", 3, "--interval-ms", 50, traffic=10_000_000):
        assert [(e["engine"], e["channel"]) for e in one["engines"]] == [("reader", 0), ("writer", 0)]
        for engine in one["engines"]:
            rate = engine["counter_bytes_per_second"]
            assert 0 < rate < 1.01*10e6/0.05
            # 10 bytes in a cycle of 125 MHz.
            assert abs(engine["active_percent"] - 100*rate/10/125e6) < 0.1
            assert engine["wait_percent_of_active_cycles"] == {"descriptor": 0, "tag": 50, "link": 0, "data": 0}
        assert abs(one["link_use_percent"]["write"] - 100*rate/1806.3e6) < 1
        assert "card_errors" not in one


def test_idle_and_text(card):
    """Errors from before are not shown."""
    result = card("top", "-n", 2, "--interval-ms", 20, ur_from=0)
    assert (result.code, result.err) == (0, "") and result.out.count("\n") == 10 and "errors" not in result.out
    assert "\nreader 0         0.0       0.0         0.0   0.0   0.0   0.0     0\n" in result.out
    assert "\nlink use: read 0.0 %, write 0.0 %; 0 interrupts per second\n" in result.out
    head, *rows = card("top", "-n", 1, "--interval-ms", 10, traffic=123456789).out.splitlines()[1:4]
    assert {len(row) for row in rows} == {len(head)} and re.match("engine +MB/s", head)


def test_channels(card):
    """Of two channels, one has traffic. Streams are not counted."""
    one, = lines(card, "-n", 1, "--interval-ms", 20, channels=2, channel=1, traffic=1000)
    assert [(e["engine"], e["channel"], e["counter_bytes_per_second"] > 0) for e in one["engines"]] == [
        ("reader", 0, False), ("writer", 0, False), ("reader", 1, True), ("writer", 1, True)]
    result = card("top", "-n", 1, "--interval-ms", 20, channels=0, streams=1)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[1:] == ["no memory channels; top does not count streams", "0 interrupts per second"]
    assert lines(card, "-n", 1, "--interval-ms", 20, channels=0)[0]["engines"] == []


def test_interrupts_of_this_card(card, tmp_path):
    """Those of litepcie0, on all processors; not those of litepcie10."""
    file = tmp_path / "interrupts"
    file.write_text(INTERRUPTS.format(100))
    with card.start("top", "--json", "--interval-ms", 200, interrupts=file) as process:
        first = json.loads(process.stdout.readline())
        file.write_text(INTERRUPTS.format(160))
        after = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT) == 130 and process.stderr.read() == ""
    assert first["interrupts_per_second"] == 0
    # By the times of the lines: an interval can be longer on a busy machine.
    times = [one["time_seconds"] for one in (first, *after)]
    count = sum((b - a)*one["interrupts_per_second"] for a, b, one in zip(times, times[1:], after))
    assert count == pytest.approx(60, rel=0.05)


def test_long_lines_of_interrupts(card, tmp_path):
    """A machine with many processors: lines of more than a page, and one that does not fit."""
    file = tmp_path / "interrupts"
    file.write_text("".join(f"{n}: {'1 '*count} PCI-MSI x litepcie0-{n}\n" for n, count in ((1, 3000), (2, 500))) +
        "9"*20000 + "\n3: 5 litepcie0\n4:\n: litepcie0\n\n5: 3 litepcie0x")
    assert lines(card, "-n", 1, "--interval-ms", 10, interrupts=file)[0]["interrupts_per_second"] == 0


def test_calls_of_an_interval(card, tmp_path):
    """Three ioctls and the reads of one open file: what an interval costs does not depend on the traffic."""
    def counted(intervals):
        assert card("top", "-n", intervals, "--interval-ms", 10, calls=tmp_path / "calls").code == 0
        return [int(n) for n in (tmp_path / "calls").read_text().split()]
    few, many = counted(2), counted(12)
    ioctls, opens, preads = ((b - a)/10 for a, b in zip(few, many))
    assert (ioctls, opens) == (3, 0) and 1 <= preads <= 8


@pytest.mark.full
def test_processor_time(card):
    """By getrusage(), with the start of the program: it sleeps between two looks. Usual is 1 % of a processor."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before, began = spent(), time.monotonic()
    assert card("top", "-n", 2).code == 0
    assert spent() - before < 0.25*(time.monotonic() - began)


@pytest.mark.parametrize("arguments, settings, status, message", [
    ("--interval-ms 9", {}, 2, "--interval-ms: 9 is too small; the least is 10"),
    ("--count x", {}, 2, "--count: 'x' is not a number; give a decimal number, or hexadecimal digits after 0x"),
    ("more", {}, 2, "top: unexpected argument 'more'; see litepcie_util help top"),
    ("", {"open_errno": errno.ENODEV}, 4, "/dev/litepcie0: the card is gone, or the driver was unbound: check that the "
        "card is there (lspci) and read the kernel log (dmesg)")])
def test_errors(card, arguments, settings, status, message):
    assert card("top", *arguments.split(), **settings) == (status, "", f"litepcie_util: {message}\n")


@pytest.fixture
def processes(tmp_path):
    """A /proc: two processes with litepcie0 or its stream, one with litepcie01, and one whose files nobody may see."""
    for pid, name, target in ((71, "fio", "/dev/litepcie0"), (72, "record", "/dev/litepcie0_stream0"),
            (73, "other", "/dev/litepcie01"), (74, "hidden", None), (75, "\x1b[2J", "/dev/litepcie0")):
        write(tmp_path / "proc" / str(pid), {"comm": name})
        if target:
            (tmp_path / "proc" / str(pid) / "fd").mkdir()
            (tmp_path / "proc" / str(pid) / "fd" / "3").symlink_to(target)
    return tmp_path / "proc"


def test_who_uses_the_card(card, processes):
    arguments = ("-n", 1, "--interval-ms", 10)
    users = lines(card, *arguments, proc=processes)[0]["users"]
    assert sorted((one["process_id"], one["name"]) for one in users) == [(71, "fio"), (72, "record"), (75, "?[2J")]
    last = card("top", *arguments, proc=processes).out.splitlines()[-1]
    assert set(last.strip().removeprefix("used by ").split(", ")) == {"fio (71)", "record (72)", "?[2J (75)"}


def test_batch_is_a_line_for_each_interval(card, processes):
    """Also on a terminal, where the other output clears the screen."""
    for options, clears in ((["-b"], False), ([], True)):
        status, said = card.on_terminal("top", "-n", 2, "-i", 10, *options, proc=processes, traffic=1000)
        assert status == 0 and (b"\33[H" in said) == clears
        if not clears:
            assert len(re.findall(rb"^[0-9.]+ s: read [0-9.]+ MB/s, write [0-9.]+ MB/s, 0 interrupts per second; used "
                rb"by \S+ \(7.\), \S+ \(7.\), \S+ \(7.\)\r$", said, re.M)) == said.count(b"\n") == 2
