# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The identity bank, read and written at its offsets over the CSR bus."""

import pytest
from migen import Signal
from litex.gen import LiteXModule
from litex.soc.interconnect import csr_bus
from litepcie_soc.soc.identity import Identity, target_words
from test.gateware.simulation import simulate

WHAT = {
    "channels": 2, "data_width": 256, "ring_log2": 12, "tags": 32, "memory_size": 5 << 32,
    "window_size": 1 << 20, "clk_freq": 250e6, "gen": 3, "lanes": 8, "streams": 3}


class Bench(LiteXModule):
    def __init__(self, target="sim gen3"):
        self.identity = Identity(target, **WHAT)
        self.bus      = csr_bus.Interface(data_width=32, address_width=14)
        self.bank     = csr_bus.CSRBank(self.identity.get_csrs(sort=True), bus=self.bus)

    def read(self, offset):
        yield from self.bus.read(offset // 4)
        yield  # The bank registers its output.
        return (yield self.bus.dat_r)

    def write(self, offset, value):
        yield from self.bus.write(offset // 4, value)


def run(process):
    bench = Bench()
    simulate(bench, [process(bench)])


def test_constants():
    expected = {0x00: 0x4c504953, 0x04: 0x00010008, 0x08: 0x7f, 0x0c: 31 << 24 | 12 << 16 | 8 << 8 | 2, 0x10: 0,
        0x14: 5, 0x18: 1 << 20, 0x1c: 1 << 20, 0x20: 250000000, 0x24: 8 << 8 | 3, 0x28: 0, 0x2c: 0, 0x30: 10000,
        0x3c: 3, 0x40: int.from_bytes(b"sim ", "little"), 0x44: int.from_bytes(b"gen3", "little"), 0x48: 0, 0x7c: 0}
    def process(bench):
        for offset, value in expected.items():
            assert (yield from bench.read(offset)) == value, f"0x{offset:02x}"
        # Constants are not writable.
        for offset in (0x00, 0x04, 0x0c, 0x40):
            yield from bench.write(offset, 0xffffffff)
            yield
            assert (yield from bench.read(offset)) == expected[offset]
    run(process)


def test_a_memory_that_is_not_initialised_has_no_bytes():
    def process(bench):
        yield bench.identity.memory_ready.eq(0)
        yield
        assert (yield from bench.read(0x10)) == (yield from bench.read(0x14)) == 0
        yield bench.identity.memory_ready.eq(1)
        yield
        assert (yield from bench.read(0x14)) == 5
    run(process)


def test_memory_and_hard_block_tell_their_state():
    """Where the PHY has no state, the register is 0."""
    def process(bench):
        assert (yield from bench.read(0x90)) == (yield from bench.read(0x94)) == 0
        yield bench.identity.memory_failed.eq(0b1010)
        yield
        assert (yield from bench.read(0x90)) == 0b1010
    run(process)
    bench, state = Bench(), Signal(6)
    bench.identity.has_ltssm(state)
    def with_state():
        yield state.eq(0x16)
        yield
        assert (yield from bench.read(0x94)) == 1 << 31 | 0x16
    simulate(bench, [with_state()])


def test_link():
    def process(bench):
        identity = bench.identity
        yield [identity.max_payload_size.eq(256), identity.max_request_size.eq(4096), identity.link_up.eq(1),
            identity.extended_tag.eq(1)]
        yield
        assert (yield from bench.read(0x34)) == 4096 << 16 | 256
        assert (yield from bench.read(0x38)) == 0b0101
        yield [identity.link_up.eq(0), identity.bus_master.eq(1), identity.msi_enable.eq(1)]
        yield
        assert (yield from bench.read(0x38)) == 0b1110
    run(process)


def test_reset_reads_as_one_until_every_engine_has_drained():
    def process(bench):
        identity = bench.identity
        yield from bench.write(0x2c, 1)
        pulses = 0
        for _ in range(5):
            if (yield identity.reset):
                pulses += 1
                yield
                yield identity.resetting.eq(1)
            yield
        assert pulses == 1
        for _ in range(20):
            assert (yield from bench.read(0x2c)) == 1
            assert not (yield identity.reset)
        yield identity.resetting.eq(0)
        yield
        yield
        yield
        assert (yield from bench.read(0x2c)) == 0
    run(process)


@pytest.mark.parametrize("target", ["", "x" * 64, "gen\u00b2", "a\nb"])
def test_target_that_cannot_be(target):
    with pytest.raises(ValueError, match="target must be 1..63 printable ASCII characters, not"):
        target_words(target)
