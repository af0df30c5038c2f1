# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""bench on the mock card: its points, what it verifies, the fitted lines; and liblitepcie.plot, which draws them. With
--depth 1 the mock counts bytes."""

import csv
import json
import os
import re
import subprocess
import sys

import pytest

from test.software.user.conftest import ROOT

QUICK = ("-t", 1, "--depth", 1)


def bench(card, *arguments, **settings):
    result = card("--json", "bench", *arguments, **settings)
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def test_every_point(card):
    told   = bench(card, "--min", 100, "--max", "8K", "--depth", 5, "-t", 1)
    points = [(one["direction"], one["in_flight"], one["length_bytes"]) for one in told["points"]]
    assert points == [(direction, depth, length) for direction in ("read", "write") for depth in (1, 2, 4)
        for length in (100, 400, 1600, 6400)]
    assert all(one["transfers"] >= one["in_flight"] and one["elapsed_seconds"] > 0 for one in told["points"])
    assert told["ok"] and not told["disturbed"]


def test_one_direction_counts_what_moved(card):
    """The mock's counters move 10 bytes per cycle of 8 ns; a transfer begins a cycle."""
    told = bench(card, "-s", "write", "--min", "1K", "--max", "64K", *QUICK)
    assert {one["direction"] for one in told["points"]} == {"write"}
    for one in told["points"]:
        cycles = -(-one["length_bytes"] // 10)
        assert one["counter_bytes_per_second"] == pytest.approx(one["length_bytes"]*125e6/cycles, rel=1e-6)
    fit = next(one for one in told["fits"] if one["clock"] == "card")
    assert fit["peak_bytes_per_second"] == pytest.approx(1.25e9, rel=1e-3)


def test_the_fitted_line(card):
    """A call that lasts 2 ms, whatever its length, has a start-up time of at least that."""
    told = bench(card, "-s", "read", "--min", 64, "--max", "64K", *QUICK, delay_us=2000)
    assert all(one["elapsed_seconds"] >= 0.002*one["transfers"] for one in told["points"])
    fits = [one for one in told["fits"] if one["clock"] == "host"]
    # The time may be shorter at a longer length, by chance: then no line is told.
    assert all(one["t0_seconds"] > 0.0015 and one["half_peak_bytes"] == pytest.approx(
        one["t0_seconds"]*one["peak_bytes_per_second"], rel=1e-3, abs=1) for one in fits)


def test_text_and_csv(card, tmp_path):
    result = card("bench", "--max", 256, *QUICK, "--csv", tmp_path / "points.csv")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[:2] == ["mock, Gen2 x4, MPS 256, MRRS 512:",
        "  read 1806 MB/s and write 1806 MB/s are what the link can carry"]
    assert [line for line in lines if "in flight" in line] == ["read, 1 in flight", "write, 1 in flight"]
    bars = [line.split("|")[1] for line in lines if "|" in line]
    # 1142.9 and 1230.8 of 1806 MB/s, by the card.
    assert [len(bar) for bar in bars] == [24]*4 and [len(bar.rstrip()) for bar in bars] == [15, 16]*2
    with (tmp_path / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["direction"], row["length_bytes"]) for row in rows] == [
        ("read", "64"), ("read", "256"), ("write", "64"), ("write", "256")]
    alone = card("bench", "--max", 64, *QUICK, "--csv", "-").out
    assert [line.split(",")[0] for line in alone.splitlines()] == ["direction", "read", "write"]


@pytest.mark.parametrize("direction, fault, depth", [("read", {"lose_from": 3}, 1), ("read", {"flip": 70}, 2),
    ("write", {"lose_reads": 2}, 1), ("write", {"flip": 70}, 1)])
def test_wrong_data_is_found(card, direction, fault, depth):
    """The mock does not see transfers by io_uring: with --depth 2, it flips bits of the bytes that are read back."""
    result = card("bench", "-s", direction, "-t", 1, "--depth", depth, **fault)
    assert result.code == 3
    engine = {"read": "reader", "write": "writer"}[direction]
    assert f"wrong byte after transfers of the {engine}, 1 in flight, of " in result.err
    assert "of the card's memory, expected 0x" in result.err and len(result.err.splitlines()) == 1


def test_without_max_the_memory_is_the_limit(card):
    """1 MiB for 8 transfers in flight; from an offset, less."""
    for offset, most in ((0, 65536), ("1000K", 1024)):
        told = bench(card, "--depth", 8, "-t", 0, "-s", "read", "-o", offset)
        assert max(one["length_bytes"] for one in told["points"]) == most


def test_bytes_beside_the_area_stay(card):
    card.file.write_bytes(b"\x55"*(1 << 20))
    bench(card, "--offset", 1001, "--max", "1K", "--depth", 4, "-t", 1)
    memory = card.file.read_bytes()
    assert set(memory[:1001]) == set(memory[1001 + 4*1024:]) == {0x55}
    assert len(set(memory[1001:1001 + 4*1024])) > 100


@pytest.mark.parametrize("arguments, code, line", [
    (("--min", "2K", "--max", "1K"), 2, "--min: 2048 is larger than --max, which is 1024"),
    (("--max", "1M", "--depth", 2), 2, "2 transfers of 1048576 bytes at offset 0 do not fit the card's memory, which "
        "has 1048576 bytes: give a smaller --max, --depth or --offset"),
    (("--offset", "1M", "--max", 64), 2, "8 transfers of 64 bytes at offset 1048576 do not fit"),
    (("--json", "--csv", "-", *QUICK), 2, "--csv - and --json both write to standard output: give --csv a file"),
    (("--csv", "/nowhere/points", *QUICK), 1, "/nowhere/points: No such file or directory"),
    (("--depth", 257), 2, "--depth: 257 is too large; the most is 256"),
])
def test_wrong_arguments(card, arguments, code, line):
    result = card("bench", *arguments)
    assert result.code == code and line in result.err and len(result.err.splitlines()) == 1


def test_another_program_is_told(card):
    result = card("bench", "--max", 256, *QUICK, other_read=5)
    assert (result.code, result.err) == (0, "litepcie_util: another program used the card: its counters have more "
        "bytes than bench moved\n")


def test_ctrl_c(card):
    """Each point lasts a minute."""
    assert card.interrupted("signals 0", "bench", "-t", 60000, "--depth", 1).code == 130


def plot(*arguments, prepare=""):
    return subprocess.run([sys.executable, "-c", f"{prepare}\nimport runpy\nrunpy.run_module('liblitepcie.plot', "
        "run_name='__main__')", *map(str, arguments)], env=os.environ | {"PYTHONPATH": str(ROOT / "software/python")},
        capture_output=True, text=True, timeout=60)


def test_three_commands(card, tmp_path):
    """Each command is in the help of the one before."""
    sweep = tmp_path / "sweep.csv"
    assert "  list " in card("--help").out and "  bench " in card("--help").out
    assert card("list").code == 4  # The mock is not in sysfs.
    assert "\npython3 -m liblitepcie.plot FILE\n" in card("bench", "--help").out
    assert card("bench", "--max", "4K", "--depth", 2, "-t", 1, "--csv", sweep).code == 0
    told = plot(sweep, "--title", "a card & its rates")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"{tmp_path}/sweep.svg\n", "")
    picture = (tmp_path / "sweep.svg").read_text()
    # Matplotlib writes each text as a comment before its glyphs.
    texts = re.findall(r"<!-- (.*?) -->", picture)
    assert {"read", "write", "1 in flight", "2 in flight", "bytes of a transfer", "a card &amp; its rates"} <= {
        text.replace("a card & its rates", "a card &amp; its rates") for text in texts}


HEAD = "direction,in_flight,length_bytes,bytes_per_second,counter_bytes_per_second\n"


@pytest.mark.parametrize("text, said", [
    ("", "the column direction is missing; give a file of litepcie_util bench --csv"), (HEAD, "no points"),
    (f"{HEAD}read,1,64\n", "line 2 is not complete, or has no numbers")])
def test_what_is_no_sweep(tmp_path, text, said):
    file = tmp_path / "sweep.csv"
    file.write_text(text)
    told = plot(file)
    assert (told.returncode, told.stdout, told.stderr) == (1, "", f"liblitepcie.plot: {file}: {said}\n")
    assert not (tmp_path / "sweep.svg").exists()


def test_errors_are_one_line(tmp_path):
    assert plot(tmp_path / "nothing.csv").stderr == \
        f"liblitepcie.plot: [Errno 2] No such file or directory: '{tmp_path}/nothing.csv'\n"
    assert "--output sweep.gif is not supported; choose a name that ends in .png, .svg, .pdf" in \
        plot("x.csv", "-o", "sweep.gif").stderr
    file = tmp_path / "sweep.csv"
    file.write_text(f"{HEAD}read,1,64,1,1\n")
    assert plot(file, prepare="import sys\nsys.modules['matplotlib'] = None").stderr == \
        "liblitepcie.plot: Matplotlib is missing; run: pip install 'liblitepcie[plot]'\n"
