# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""pio_test on a mock card, whose window is a mapped file."""

import csv
import json

import pytest

from test.software.user.conftest import ROOT


@pytest.mark.parametrize("count", [1, 1023, 1024, 5000])
def test_the_bytes_of_the_window_come_back(card, count):
    data = bytes(range(256))*4096
    card.file.write_bytes(data)
    told = json.loads(card("pio_test", "--json", "-n", count, "-o", 4096).out)
    assert told["ok"] and told["accesses"] == count and all(len(way["runs"]) == 3 for way in told["ways"])
    assert card.file.read_bytes() == data


def test_text(card):
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
