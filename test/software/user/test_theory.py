# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Theory of liblitepcie; test_calc.py compares it with published figures, as the tool prints it."""

import ctypes
import errno

import pytest

# Longest ACK distance in symbol times: PCI Express Base Specification 3.0, tables 3-7 ff.
# (gen, MPS) -> x1, x4, x8, x16.
ACK_LIMITS = {
    (1, 128): (237,  73,  67,  48), (1, 256): (416, 118, 107,  72),
    (2, 128): (288, 124, 118,  99), (2, 256): (467, 169, 158, 123),
    (3, 128): (333, 169, 163, 144), (3, 256): (512, 214, 203, 168),
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


def test_application_note_header_counts_for_writes_only(library):
    rates = application_note(library, 2, 4, 256, 512, 16)
    assert rates.write == pytest.approx(2e9*256/280)
    assert rates.read  == pytest.approx(2e9*256/276)
    assert rates.both  == rates.write


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
