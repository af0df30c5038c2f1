# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Theory of liblitepcie against published figures: AN 456, AN 855, pcie-bench, specification."""

import csv
import ctypes
import errno

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Longest ACK distance in symbol times: PCI Express Base Specification 3.0, tables 3-7 ff.
# (gen, MPS) -> x1, x4, x8, x16.
ACK_LIMITS = {
    (1, 128): (237,  73,  67,  48), (1, 256): (416, 118, 107,  72),
    (2, 128): (288, 124, 118,  99), (2, 256): (467, 169, 158, 123),
    (3, 128): (333, 169, 163, 144), (3, 256): (512, 214, 203, 168),
}

# pcie-bench with DLLPs spread over the lanes: 64-bit addresses, MRRS 512, long transfers, MB/s.
# (gen, lanes, MPS) -> write, read, each direction while both run.
PCIE_BENCH = {
    (1, 1, 128): ( 196,  201,  188),
    (1, 4, 128): ( 794,  815,  764),
    (2, 4, 128): (1626, 1669, 1564),
    (2, 4, 256): (1781, 1806, 1707),
    (2, 8, 256): (3601, 3654, 3453),
    (3, 8, 256): (7112, 7215, 6820),
}


class Link(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in
        ("gen", "lanes", "max_payload_bytes", "max_read_request_bytes", "request_header_bytes",
        "completion_bytes", "ecrc_bytes")]


class Rates(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("read", "write", "both")]


@pytest.fixture(scope="module")
def library(build):
    return ctypes.CDLL(str(build / "liblitepcie.so"))


def application_note(library, *link):
    rates = Rates()
    error = library.litepcie_theory_application_note(ctypes.byref(Link(*link)), ctypes.byref(rates))
    return error or rates


def pcie_bench(library, length, *link):
    rates = Rates()
    error = library.litepcie_theory_pcie_bench(ctypes.byref(Link(*link)), ctypes.c_uint64(length),
        ctypes.byref(rates))
    return error or rates


def published():
    """Links and theory column of the notes, MB/s; the note rounds, sometimes down, sometimes up."""
    path = ROOT / "bench" / "published" / "an456_throughput.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return sorted({(int(r["gen"]), int(r["lanes"]), int(r["theory_mbs"])) for r in rows
        # For some 64-bit data paths, the note gives the rate of the data path, not of the link.
        if int(r["gen"])*int(r["lanes"])*231 <= int(r["theory_mbs"])*1.01})


@pytest.mark.parametrize("gen, lanes, theory", published())
def test_application_note(library, gen, lanes, theory):
    rates = application_note(library, gen, lanes, 256, 512, 12)
    assert rates.write == rates.read == rates.both
    assert abs(rates.write/1e6 - theory) < 1.5


def test_published_rows_are_there():
    assert {(1, 1), (1, 4), (1, 8), (2, 1), (2, 4), (2, 8)} <= {row[:2] for row in published()}


def test_application_note_header_counts_for_writes_only(library):
    rates = application_note(library, 2, 4, 256, 512, 16)
    assert rates.write == pytest.approx(2e9*256/280)
    assert rates.read  == pytest.approx(2e9*256/276)
    assert rates.both  == rates.write


@pytest.mark.parametrize("link", PCIE_BENCH, ids=lambda link: "gen%d-x%d-mps%d" % link)
def test_pcie_bench(library, link):
    rates = pcie_bench(library, 1 << 30, *link, 512, 16)
    got = (rates.write, rates.read, rates.both)
    assert [round(rate/1e6) for rate in got] == pytest.approx(PCIE_BENCH[link], abs=1)


def test_pcie_bench_short_transfers(library):
    """One byte costs a whole header; one request per byte limits reads too."""
    long  = pcie_bench(library, 1 << 30, 2, 4, 256, 512, 16)
    short = pcie_bench(library, 1,       2, 4, 256, 512, 16)
    rate  = long.write*280/256
    assert short.write == pytest.approx(rate/25, rel=1e-6)
    assert short.read  == pytest.approx(rate/24, rel=1e-6)
    assert short.both  == pytest.approx(rate/49, rel=1e-6)


@pytest.mark.parametrize("gen, mps", ACK_LIMITS)
def test_ack_limits(library, gen, mps):
    got = tuple(library.litepcie_ack_limit(gen, lanes, mps) for lanes in (1, 4, 8, 16))
    assert got == ACK_LIMITS[gen, mps]


@pytest.mark.parametrize("gen, lanes, raw", [(1, 1, 250e6), (2, 8, 4000e6), (3, 16, 15753.8e6)])
def test_raw(library, gen, lanes, raw):
    rate = ctypes.c_double()
    assert library.litepcie_theory_raw(gen, lanes, ctypes.byref(rate)) == 0
    assert rate.value == pytest.approx(raw, rel=1e-5)


@pytest.mark.parametrize("link", [
    (0, 4, 256, 512, 12), (4, 4, 256, 512, 12), (2, 0, 256, 512, 12), (2, 3, 256, 512, 12),
    (2, 4,  64, 512, 12), (2, 4, 300, 512, 12), (2, 4, 8192, 512, 12), (2, 4, 256,   0, 12),
    (2, 4, 256, 512, 14),
])
def test_links_that_are_none(library, link):
    assert application_note(library, *link) == -errno.EINVAL
    assert pcie_bench(library, 4096, *link) == -errno.EINVAL


def test_no_bytes_have_no_rate(library):
    assert pcie_bench(library, 0, 2, 4, 256, 512, 12) == -errno.EINVAL
