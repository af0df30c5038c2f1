# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""calc prints every calculated cell of AN 456, AN 855 and the MSC8156 and MSC8157 notes, digit by digit."""

import csv
import ctypes
import json

import pytest

from test.software.user.conftest import ROOT, SANITIZE

PUBLISHED = ROOT / "bench" / "published"

# Longest ACK distance in symbol times: PCI Express Base Specification 3.0, tables 3-7 ff.
# (gen, MPS) -> x1, x4, x8, x16.
ACK_LIMITS = {
    (1, 128): (237,  73,  67,  48), (1, 256): (416, 118, 107,  72),
    (2, 128): (288, 124, 118,  99), (2, 256): (467, 169, 158, 123),
    (3, 128): (333, 169, 163, 144), (3, 256): (512, 214, 203, 168),
}

# Measured cells that exceed the theory printed beside them: table, gen, lanes, column.
ABOVE_THEORY = {("8", "2", "1", "write_mbs"), ("8", "2", "1", "simul_read_mbs")}


def rows(name):
    with (PUBLISHED / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def calc(card, *arguments):
    result = card("calc", "--json", *arguments)
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def test_application_notes(card):
    table = rows("an456_throughput")
    for row in table:
        told = calc(card, "--gen", row["gen"], "--lanes", row["lanes"])["application_note_printed_mb_per_second"]
        assert told == int(row["theory_mbs"]), row
    above = {(row["table"], row["gen"], row["lanes"], column) for row in table
        for column in ("read_mbs", "write_mbs", "simul_read_mbs", "simul_write_mbs")
        if int(row[column]) > int(row["theory_mbs"])}
    assert len(table) == 26 and above == ABOVE_THEORY


COLUMNS = {
    "msc815x_calculated_gbps": {
        "msc8156_x4_write"       : (1, 4, 256, "write"), "msc8157_x4_write" : (2, 4, 256, "write"),
        "msc8156_x4_read"        : (1, 4, 256, "read"),  "msc8157_x4_read"  : (2, 4, 256, "read"),
        "msc8156_x4_write_mps128": (1, 4, 128, "write"), "msc8156_x4_read_mps128": (1, 4, 128, "read"),
    },
    "msc8157_measured_gbps": {f"calc_{direction}_x{lanes}": (2, lanes, 256, direction)
        for direction in ("read", "write") for lanes in (1, 2, 4)},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_msc_notes(card, name):
    """The read column for MPS 128 needs the other rule of ACKs. No calculated cell is a misprint."""
    table = rows(name)
    for row in table:
        for column, (gen, lanes, mps, direction) in COLUMNS[name].items():
            acks = "all" if mps == 128 else "data"
            told = calc(card, "--gen", gen, "--lanes", lanes, "--mps", mps, "--mrrs", 256, "--length", row["bytes"],
                "--acks", acks)["msc815x_printed_gbit_per_second"][direction]
            assert told == float(row[column]), (name, row["bytes"], column)
    assert len(table) == 13


@pytest.mark.parametrize("gen, lanes, mps, write, read, both", [
    (1, 1, 128,  196,  201,  188), (1, 4, 128,  794,  815,  764), (2, 4, 128, 1626, 1669, 1564),
    (2, 4, 256, 1781, 1806, 1707), (2, 8, 256, 3601, 3654, 3453), (3, 8, 256, 7112, 7215, 6820)])
def test_by_lanes(card, gen, lanes, mps, write, read, both):
    told = calc(card, "--gen", gen, "--lanes", lanes, "--mps", mps, "--header", 16, "--length", "64M")
    rates = told["pcie_bench_bytes_per_second"]
    assert [rates[key]/1e6 for key in ("write", "read", "both")] == pytest.approx([write, read, both], abs=1)


def test_ecrc_and_completion_size(card):
    plain = calc(card)["application_note_bytes_per_second"]
    small = calc(card, "--completion", 64)["application_note_bytes_per_second"]
    ecrc  = calc(card, "--ecrc")["application_note_bytes_per_second"]
    assert small["read"] == round(2e9*64/84) and small["write"] == plain["write"] == round(2e9*256/276)
    assert ecrc["read"] == ecrc["write"] == round(2e9*256/280)
    assert calc(card, "--completion", 64)["pcie_bench_bytes_per_second"]["read"] < 0.83*plain["read"]


@pytest.mark.skipif(bool(SANITIZE), reason="Python is not built for sanitizers")
def test_ack_limits(build):
    library = ctypes.CDLL(str(build / "liblitepcie.so"))
    for (gen, mps), limits in ACK_LIMITS.items():
        assert tuple(library.litepcie_ack_limit(gen, lanes, mps) for lanes in (1, 4, 8, 16)) == limits, (gen, mps)


def test_short_transfers(card):
    """One byte costs a whole header; one request per byte limits reads too. The rate of the link has no headers."""
    told  = calc(card, "--header", 16, "--length", "1G")
    rate  = told["pcie_bench_bytes_per_second"]["write"]*280/256
    short = calc(card, "--header", 16, "--length", 1)["pcie_bench_bytes_per_second"]
    assert [short[key] for key in ("write", "read", "both")] == pytest.approx([rate/25, rate/24, rate/49], rel=1e-6)
    notes = told["application_note_bytes_per_second"]
    assert notes["write"] == notes["both"] == round(2e9*256/280) and notes["read"] == round(2e9*256/276)
    for gen, lanes in ((3, 16), (4, 8)):
        assert calc(card, "--gen", gen, "--lanes", lanes)["raw_bytes_per_second"] == pytest.approx(15753.8e6, rel=1e-5)


def test_bound_by_requests_in_flight(card):
    told = calc(card, "--tags", 2, "--latency-ns", 1024)["bound_bytes_per_second"]
    assert told["read"] == told["both"] == 1000000000 and told["write"] > 1.7e9
    assert calc(card, "--tags", 2, "--latency-ns", 1024, "--length", 64)["bound_bytes_per_second"]["read"] == 125000000
    assert calc(card, "--latency-ns", 0)["bound_bytes_per_second"] == calc(card)["pcie_bench_bytes_per_second"]


@pytest.mark.parametrize("line", ["--lanes 3", "--mps 192", "--mrrs 200", "--completion 512", "--completion 65"])
def test_no_such_link(card, line):
    result = card("calc", *line.split())
    assert result.code == 2 and result.err.startswith("litepcie_util: these values are no link; lanes are 1, 2, 4, ")
