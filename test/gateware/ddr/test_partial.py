#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""PartialWrites: alone, and in DRAMMemory with LiteDRAM's controller and a model of DDR3 without data masks."""

import random

from collections import deque

import pytest

from migen import passive

from litepcie_soc.ddr.partial import PartialWrites

from test.gateware.ddr.dram_bench import WRITERS, build, counts
from test.gateware.simulation import simulate
from test.gateware.steps import wait

# Bits of a word and of the module; LiteDRAM's access is eight times as wide as the module.
SHAPES = {
    "two words a line":     dict(width=64,  data_bits=16),
    "a word a line":        dict(width=512, data_bits=64),
    "four accesses a word": dict(width=512, data_bits=16),
}
CHIPS  = dict(crossing=True, clk_freq=156.25e6, byte_mask=False)
# Half the periods of sys, at 125, 166.7 and 250 MHz, and of the controller's clock.
CLOCKS = [(5, 4), (15, 16), (5, 8)]
first, *others = SHAPES


@pytest.fixture(scope="module", params=[first, *[pytest.param(name, marks=pytest.mark.full) for name in others]])
def bench(request, tmp_path_factory):
    """Function that runs the bench of a shape with (seed, cycles, mode, clocks) and returns the counts it prints."""
    program = build(tmp_path_factory.mktemp("partial"), **SHAPES[request.param], **CHIPS)

    def run(seed, cycles, mode, clocks):
        status, lines = program(seed, cycles, mode, clocks)
        assert (status, len(lines)) == (0, 1), lines
        return counts(lines)
    run.shape = request.param
    return run

# PartialWrites alone ------------------------------------------------------------------------------

WIDTH, LINES = 64, 16
WHOLE        = 2**(WIDTH // 8) - 1


def merged(line, dat, be):
    """The line after a write of the enabled bytes of ``dat``."""
    mask = sum(0xff << 8 * n for n in range(WIDTH // 8) if be >> n & 1)
    return line & ~mask | dat & mask


class Path:
    """PartialWrites between a client and a memory that writes only whole lines.

    beats : (we, address, dat, be), as the client sends them.
    stall : probability that the memory, or the client's side of the data, does not accept in a cycle.
    idle  : probability that the client pauses.
    """
    def __init__(self, beats, stall=0.0, idle=0.0, latency=12, seed=0):
        self.dut     = PartialWrites(WIDTH, 4)
        self.beats   = beats
        self.stall   = stall
        self.idle    = idle
        self.latency = latency
        self.rng     = random.Random(seed)
        self.image   = [0] * LINES
        self.moved   = []  # Cycle and access at the memory: (we, address, dat, be).
        self.data    = []  # Lines that the client got.

    def run(self):
        simulate(self.dut, [self.client(), self.memory(), self.taker()])
        return self

    def chance(self, p):
        return self.rng.random() < p

    def client(self):
        sink = self.dut.sink
        for beat in self.beats:
            while self.chance(self.idle):
                yield sink.valid.eq(0)
                yield
            yield sink.valid.eq(1)
            for signal, value in zip((sink.we, sink.address, sink.dat, sink.be), beat):
                yield signal.eq(value)
            yield
            waited = 0
            while not (yield sink.ready):
                waited += 1
                assert waited < 500, "no beat was accepted in 500 cycles"
                yield
        yield sink.valid.eq(0)
        yield from wait(200)

    @passive
    def memory(self):
        source, lines = self.dut.source, self.dut.lines
        waiting, cycle = deque(), 0
        while True:
            if (yield source.valid) and (yield source.ready):
                we, address, dat = (yield source.we), (yield source.address), (yield source.dat)
                self.moved.append((cycle, we, address, dat, (yield source.be)))
                if we:
                    self.image[address] = dat
                else:
                    waiting.append((cycle + self.latency, self.image[address]))
            if (yield lines.valid) and (yield lines.ready):
                waiting.popleft()
            yield source.ready.eq(not self.chance(self.stall))
            here = waiting and waiting[0][0] <= cycle
            yield lines.valid.eq(int(bool(here)))
            yield lines.dat.eq(waiting[0][1] if here else self.rng.getrandbits(WIDTH))
            yield
            cycle += 1

    @passive
    def taker(self):
        data = self.dut.data
        while True:
            if (yield data.valid) and (yield data.ready):
                self.data.append((yield data.dat))
            yield data.ready.eq(not self.chance(self.stall))
            yield


def random_beats(rng, count):
    for _ in range(count):
        be = rng.choice((0, WHOLE, WHOLE, rng.getrandbits(WIDTH // 8)))
        yield (rng.randrange(2), rng.randrange(LINES), rng.getrandbits(WIDTH), be)


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("stall, idle", [(0, 0), (0.5, 0), (0, 0.5), (0.3, 0.3)])
@pytest.mark.parametrize("latency", [1, 3, 12])
def test_reads_and_writes_of_all_kinds(stall, idle, latency):
    beats = list(random_beats(random.Random(latency), 600))
    path  = Path(beats, stall, idle, latency).run()
    image, wanted = [0] * LINES, []
    for we, address, dat, be in beats:
        if we:
            image[address] = merged(image[address], dat, be)
        else:
            wanted.append(image[address])
    assert path.data  == wanted
    assert path.image == image
    assert {be for _, we, _, _, be in path.moved if we} == {WHOLE}
    # One access each, two for a partial write, none for an empty write.
    assert len(path.moved) == sum(1 if not we or be == WHOLE else 2 * (be != 0) for we, _, _, be in beats)


@pytest.mark.parametrize("be", [WHOLE, 0])
def test_one_line_per_cycle(be):
    """Reads and whole writes move one line per cycle, with empty writes between them."""
    beats = [(n % 3 != 0, n % LINES, n, be if n % 3 == 1 else WHOLE) for n in range(120)]
    path  = Path(beats).run()
    first, last = path.moved[0][0], path.moved[-1][0]
    assert last - first == len(beats) - 1


def test_partial_write_adds_one_read():
    """A partial write adds a read, its latency, and the merged write."""
    beats  = [(1, n % LINES, n, 1 if n == 5 else WHOLE) for n in range(10)]
    path   = Path(beats, latency=20).run()
    cycles = [cycle for cycle, *_ in path.moved]
    assert len(cycles) == 11
    assert cycles[-1] - cycles[0] == 10 + path.latency + 1

# In DRAMMemory ------------------------------------------------------------------------------------


# Each mode with each shape; the clocks take turns.
@pytest.mark.parametrize("mode, clocks", [("pieces", CLOCKS[0]), *[pytest.param(mode, CLOCKS[n], marks=pytest.mark.full)
    for n, mode in enumerate(("busy", "calm", "stop"))]])
def test_bytes_not_written_stay(bench, mode, clocks):
    """Random accesses give the same data as with masks, also while parts of the same lines are written."""
    _, *accesses = bench(CLOCKS.index(clocks), 20000, mode, clocks)
    assert sum(accesses[:WRITERS]) > 300
    assert min(accesses) > 100


@pytest.mark.full
@pytest.mark.parametrize("clocks", CLOCKS)
def test_whole_lines_at_the_rate_of_the_ports_or_of_the_memory(bench, clocks):
    cycles, *accesses = bench(1, 20000, "stream", clocks)
    shape = SHAPES[bench.shape]
    # A word per cycle each way; or an access per controller cycle, less refreshes, bus turnarounds and row changes.
    ports = 2 * shape["width"]
    dram  = 8 * shape["data_bits"] * clocks[0] / clocks[1]
    share = sum(accesses) * shape["width"] / cycles / min(ports, dram)
    assert share > 0.7


@pytest.mark.full
def test_bench_finds_missing_read_modify_write(tmp_path):
    """Without the read-modify-write, the bench finds wrong data on chips without masks."""
    program = build(tmp_path, **SHAPES["two words a line"], **CHIPS, merged=False)
    for mode in ("busy", "calm", "pieces"):
        status, lines = program(1, 20000, mode, CLOCKS[0])
        assert status == 1
        assert "is not what was written" in lines[-1]
