# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The logic behind stock LitePCIe and its host program find each wrong byte."""

import subprocess

from pathlib import Path

import pytest
from migen import run_simulation

from litepcie_bench.stock.soc import CountingCheck, CountingSource
from litepcie_bench.synth.designs import STOCK, Design

ROOT = Path(__file__).resolve().parents[3]


def word(first, data_width):
    return sum(first + lane << 32*lane for lane in range(data_width//32))


@pytest.mark.parametrize("data_width", [64, 128, 512])
def test_source_counts_dwords(data_width):
    dut   = CountingSource(data_width)
    found = []

    def take():
        for ready in (1, 1, 0, 1, 0, 0, 1):
            yield dut.source.ready.eq(ready)
            yield
            if (yield dut.source.ready) and (yield dut.source.valid):
                found.append((yield dut.source.data))
    run_simulation(dut, take())
    assert found == [word(n*data_width//32, data_width) for n in range(len(found))] and len(found) >= 3


@pytest.mark.parametrize("damage, wrong", [
    (lambda words: words, 0),
    (lambda words: [words[0] ^ 1 << 127, *words[1:]], 1),
    (lambda words: words[:3] + words[4:], 6),                  # A lost word: all later ones are wrong.
    (lambda words: words[:2] + [words[3], words[2]] + words[4:], 2),
], ids=["right", "a bit", "lost", "swapped"])
def test_check_counts_wrong_words(damage, wrong):
    dut   = CountingCheck(128)
    words = damage([word(4*(n % 5), 128) for n in range(10)])  # Two descriptors of five words.

    def send():
        yield from dut.length.write(20)
        for data in words:
            yield dut.sink.data.eq(data)
            yield dut.sink.valid.eq(1)
            yield
        yield dut.sink.valid.eq(0)
        yield
        yield
        assert (yield dut.words.status) == len(words)
        assert (yield dut.wrong.status) == wrong
        yield from dut.length.write(20)
        yield
        assert (yield dut.words.status) == 0 and (yield dut.wrong.status) == 0
    run_simulation(dut, send())


@pytest.fixture(scope="module")
def write_check(tmp_path_factory):
    """The host's check as a program: address, length, then address and dwords of each write."""
    program = tmp_path_factory.mktemp("check") / "write_check"
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/sim/src", f"-I{ROOT}/bench/stock",
        f"-I{ROOT}/software/kernel", "-o", program, Path(__file__).parent / "write_check_main.cpp"], check=True)
    return program


@pytest.mark.parametrize("writes, text", [
    ("100:5,6 108:7,8 100:9,10 108:11,12", ""),                # Twice the same 16 bytes, counting on.
    ("100:5,6 108:7,9", "a dword of a write at offset 12 is 9, not 8"),
    ("100:5,6 104:7,8", "begins at offset 4, not at 8"),
    ("100:5,6 108:7,8,9", "passes the end of its descriptor at offset 8"),
    ("100:5,6 108:7,8 100:10,11", "a dword of a write at offset 0 is 10, not 9"),
])
def test_host_checks_every_write(write_check, writes, text):
    done = subprocess.run([write_check, "100", "16", *writes.split()], capture_output=True, text=True)
    assert text in done.stderr and done.returncode == bool(text)


def test_area_of_stock_is_that_of_its_defaults():
    """The design that `make synth` maps has 8 pending requests, as the measured one."""
    soc = Design(STOCK, 64).soc()
    assert soc.pcie_endpoint.max_pending_requests == 8 and not hasattr(soc, "pcie_check")
