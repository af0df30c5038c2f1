# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The port of the user's logic onto host memory: bytes, checks, masters that misbehave, faults of the host."""

import contextlib
import random
from dataclasses import replace

import pytest
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import wishbone

from litepcie_soc.common import abi, pcie
from litepcie_soc.soc import regs
from litepcie_soc.soc.host_buffers import check_buffers
from litepcie_soc.soc.host_port import DESTINATION_BITS, HostPort
from test.gateware.simulation import full, pattern
from test.gateware.soc.test_user_bus import platform, with_card
from test.gateware.steps import pulse, wait
from test.gateware.tlp.bench import Bench
from test.gateware.tlp.host import Host

LIMIT = 0x4000
PAGE  = 0x1000
READ, WRITE = 1 << 8, 1 << 9
LOW, HIGH   = 0x7fff_e000, 0x5_ffff_d000   # Addresses of buffers 0 and 1: headers of three and of four dwords.
SOON = 40        # Cycles within which a check fails.


def values(*signals):
    found = []
    for signal in signals:
        found.append((yield signal))
    return found


class User:
    """The port in a transaction layer, a driver that writes its registers, and a master."""
    def __init__(self, data_width=128, buffers=3, host=None, timeout_cycles=1 << 19, **options):
        self.host  = host or Host(latency=30)
        self.bench = bench = Bench(data_width, host=self.host, **options)
        layer      = bench.layer
        self.dut   = bench.port = HostPort(
            layer.add_read_port("host", 1, ordered=True, destination_bits=DESTINATION_BITS),
            layer.add_write_port("host"), buffers, LIMIT, timeout_cycles)
        bench.comb += self.dut.can_send.eq(layer.enable)
        self.ended = 0      # `ack` and `err`.

    def write(self, register, value):
        """As the register bus does: the value is there in the cycle of ``re``."""
        yield register.storage.eq(value)
        if hasattr(register, "fields"):
            for field in register.fields.fields:
                yield getattr(register.fields, field.name).eq(value >> field.offset & (1 << field.size) - 1)
        yield from pulse(register.re)

    def give(self, number, address, size, flags=READ | WRITE):
        for register, value in ((self.dut.base_lo, address & 0xffffffff), (self.dut.base_hi, address >> 32),
                (self.dut.size, size), (self.dut.set, number | flags)):
            yield from self.write(register, value)
        yield

    def begin(self, address, value=None, sel=0xf):
        bus = self.dut.bus
        yield [bus.cyc.eq(1), bus.stb.eq(1), bus.adr.eq(address // 4), bus.we.eq(value is not None), bus.sel.eq(sel)]
        if value is not None:
            yield bus.dat_w.eq(value)

    def end(self):
        yield [self.dut.bus.cyc.eq(0), self.dut.bus.stb.eq(0)]

    def access(self, address, value=None, sel=0xf, limit=20000):
        """Returns the data, or None after `err`."""
        bus = self.dut.bus
        yield from self.begin(address, value, sel)
        for _ in range(limit):
            yield
            if (yield bus.ack) or (yield bus.err):
                break
        else:
            raise AssertionError(f"no end of the access to {address:#x} in {limit} cycles")
        assert (yield bus.ack) != (yield bus.err)
        data = None if (yield bus.err) else (yield bus.dat_r)
        yield from self.end()
        yield
        assert not (yield bus.ack) and not (yield bus.err)
        return data

    def fails(self, reason, address, value=None, limit=SOON):
        errors = yield self.dut.errors.status
        assert (yield from self.access(address, value, limit=limit)) is None
        fields = self.dut.error.fields
        assert (yield self.dut.errors.status) == errors + 1
        last = yield from values(fields.reason, fields.number, fields.write)
        assert last == [reason, address // LIMIT, int(value is not None)]

    def busy(self):
        return (yield self.dut.busy.status)

    def run(self, process, **options):
        self.bench.run([], [process], **options)

    @property
    def requests(self):
        return [tlp.address for tlp in self.host.reads + self.host.writes]


@pytest.mark.parametrize("data_width, shape, endianness", [(128, "split", "little"), *full((64, "shared", "big"))])
def test_bytes_both_ways(data_width, shape, endianness):
    """All byte enables, at both ends of buffers below and above 4 GiB, with back-pressure."""
    user   = User(data_width, shape=shape, endianness=endianness, stall=0.2)
    rng    = random.Random(data_width)
    memory = {}
    def process():
        yield from user.give(0, LOW, PAGE)
        yield from user.give(1, HIGH, 3*PAGE)
        for n in range(48):
            number, base, size = rng.choice([(0, LOW, PAGE), (1, HIGH, 3*PAGE)])
            offset = rng.choice([0, size - 4, 4*rng.randrange(size // 4)])
            sel, value = n % 16, rng.getrandbits(32)
            assert (yield from user.access(number*LIMIT + offset, value, sel)) is not None
            for byte in range(4):
                if sel >> byte & 1:
                    memory[base + offset + byte] = value >> 8*byte & 0xff
            assert user.host.written == memory, "acknowledged, but not accepted by the PHY"
            data = yield from user.access(number*LIMIT + offset, sel=rng.choice([0xf, 1]))
            assert data.to_bytes(4, "little") == bytes(user.host.memory(base + offset + n) for n in range(4))
        assert (yield user.dut.errors.status) == 0
    user.run(process())


def test_cycles_of_an_access():
    """From `stb` to `ack` of a layer without back-pressure, beside the round trip of the host."""
    user, cycles = User(), []
    user.host.latency = 0
    def process():
        yield from user.give(0, LOW, PAGE)
        for value in (1, None):
            yield from user.begin(0, value)
            count = 0
            while not (yield user.dut.bus.ack):
                count += 1
                yield
            cycles.append(count)
            yield from user.end()
            yield
    user.run(process())
    assert cycles[0] <= 10 and cycles[1] <= 24, cycles


def test_what_is_refused_reaches_no_memory():
    user = User()
    def process():
        yield from user.fails(abi.HOST_REASON_NO_BUFFER, 0)
        yield from user.give(0, LOW, PAGE)
        yield from user.give(1, HIGH, 2*PAGE, READ)
        yield from user.give(2, HIGH + 8*PAGE, LIMIT, WRITE)
        for value in (None, 5):
            yield from user.fails(pcie.REASON_MEMORY_RANGE, PAGE, value)
            yield from user.fails(pcie.REASON_MEMORY_RANGE, LIMIT - 4, value)
            yield from user.fails(abi.HOST_REASON_NO_BUFFER, 3*LIMIT, value)
        yield from user.fails(pcie.REASON_MEMORY_RANGE, LIMIT + 2*PAGE)
        yield from user.fails(abi.HOST_REASON_DENIED, LIMIT, 5)
        yield from user.fails(abi.HOST_REASON_DENIED, 2*LIMIT)
        assert user.requests == []
        assert (yield from user.access(LIMIT + 2*PAGE - 4)) is not None
        assert (yield from user.access(3*LIMIT - 4, 7)) is not None
        yield from user.write(user.dut.clear, 0b010)
        yield
        assert (yield user.dut.valid.status) == 0b101
        yield from user.fails(abi.HOST_REASON_NO_BUFFER, LIMIT)
        assert sorted(user.requests) == [HIGH + 2*PAGE - 4, HIGH + 8*PAGE + LIMIT - 4]
        yield from pulse(user.dut.reset)
        yield
        assert (yield from values(user.dut.valid.status, user.dut.errors.status,
            user.dut.error.fields.reason)) == [0, 0, 0]
    user.run(process())


def test_a_buffer_that_cannot_be_is_not_taken():
    user = User()
    def process():
        for number, address, size in ((3, LOW, PAGE), (0, LOW + 4, PAGE), (0, LOW, PAGE + 4), (0, LOW, LIMIT + PAGE),
                (0, LOW, 1 << 31)):
            yield from user.give(number, address, size)
            assert (yield user.dut.valid.status) == 0
        yield from user.fails(abi.HOST_REASON_NO_BUFFER, 0)
        yield from user.give(0, LOW, 0)             # A buffer without bytes.
        yield from user.fails(pcie.REASON_MEMORY_RANGE, 0)
    user.run(process())


def test_a_cycle_that_is_given_up():
    """After any number of cycles; the next access has its own answer, and no memory but the buffer changes."""
    user = User(stall=0.3)
    def process():
        yield from user.give(0, LOW, PAGE)
        for n in range(30):
            offset = 8*n
            yield from user.begin(offset, n if n % 2 else None)
            for _ in range(n // 2):
                yield
                if (yield user.dut.bus.ack):
                    break
            yield from user.end()
            yield from wait(1 + n % 3)
            assert (yield from user.access(offset + 4, ~n & 0xffffffff)) is not None
            data = yield from user.access(offset + 4)
            assert data == ~n & 0xffffffff
        assert (yield user.dut.errors.status) == 0
    user.run(process())
    assert all(LOW <= address < LOW + PAGE for address in user.host.written)


@pytest.mark.parametrize("limit, gap", [(97, 0), (100, 1)])
def test_a_late_answer_is_that_of_no_other_access(limit, gap):
    """An access that lasts too long fails; so do those that wait for it, and the next one has its own answer."""
    user = User(host=Host(latency=400), timeout_cycles=limit)
    ends = []
    def process():
        bus = user.dut.bus
        yield from user.give(0, LOW, PAGE)
        for offset in range(0, 40, 4):
            yield from user.begin(offset)
            yield
            while not (yield bus.ack) and not (yield bus.err):
                yield
            assert (yield bus.ack) != (yield bus.err)
            ends.append((offset, (yield bus.dat_r) if (yield bus.ack) else None))
            user.host.latency = 20
            if gap:
                yield from user.end()
                yield from wait(gap)
        yield from user.end()
        yield from wait(500)
        assert (yield user.dut.errors.status) == sum(data is None for _, data in ends)
        assert (yield user.dut.error.fields.reason) == pcie.REASON_TIMEOUT
    user.run(process())
    assert ends[0] == (0, None) and ends[-1][1] is not None, f"(address, data or None for err): {ends}"
    for offset, data in ends:
        memory = int.from_bytes(bytes(user.host.memory(LOW + offset + n) for n in range(4)), "little")
        assert data in (None, memory), f"word at {offset:#x}: expected {memory:#010x}, got {data:#010x}"


def test_bus_mastering_is_off():
    user = User()
    def process():
        yield from user.give(0, LOW, PAGE)
        for value in (None, 5):
            yield from user.fails(pcie.REASON_BUS_MASTER, 0, value)
            yield from user.fails(pcie.REASON_BUS_MASTER, PAGE, value)
    user.run(process(), bus_master=0)
    assert user.requests == []


@pytest.mark.parametrize("cause, write", [("link_up", False), *full(("bus_master_enable", True))])
def test_the_link_goes_down_at_any_time(cause, write):
    """Accesses end soon with or without an error, and afterwards work again."""
    user   = User(host=Host(latency=200 if not write else 30))
    signal = getattr(user.bench.phy, cause)
    def process():
        yield from user.give(0, LOW, PAGE)
        for cycles in range(0, 36, 6):
            yield from user.begin(4*cycles, cycles if write else None)
            yield from wait(cycles)
            yield signal.eq(0)
            for _ in range(2000):
                if (yield user.dut.bus.ack) or (yield user.dut.bus.err):
                    break
                yield
            else:
                raise AssertionError(f"no end after {cycles} cycles")
            yield from user.end()
            yield
            yield signal.eq(1)
            yield from wait(300)
            user.host.pending.clear()
            user.host.outstanding.clear()
            assert (yield from user.access(0x800, 3)) is not None
        assert (yield user.dut.errors.status) > 0
    user.run(process())


def unsupported(tlp, completions):
    return [replace(completions[0], fmt=0, length=0, data=b"", status=pcie.COMPLETION_UR)]


def test_errors_of_the_host():
    user = User()
    def process():
        yield from user.give(0, LOW, PAGE)
        user.host.answer = unsupported
        yield from user.fails(pcie.REASON_UNSUPPORTED_REQUEST, 0, limit=200)
        user.host.answer = None
        assert (yield from user.access(4)).to_bytes(4, "little") == bytes(pattern(LOW + 4 + n) for n in range(4))
    user.run(process())


def test_a_host_that_does_not_answer_ends_in_a_timeout():
    user = User(host=Host(latency=10), timeout_us=400)   # 1 MHz: 400 cycles.
    user.host.hold = lambda tlp: len(user.host.reads) == 1
    def process():
        yield from user.give(0, LOW, PAGE)
        yield from user.fails(pcie.REASON_TIMEOUT, 0, limit=2000)
        yield from user.host.let_go(user.host.reads[0].tag)     # Dropped.
        for offset in (4, 8):
            data = yield from user.access(offset)
            assert data.to_bytes(4, "little") == bytes(pattern(LOW + offset + n) for n in range(4))
    user.run(process())


def test_what_software_reads():
    soc = with_card(SoCMini(platform(), 100e6), host_buffers=4, host_buffer_bytes=0x10000)
    assert regs.moved(soc) == []
    host = soc.litepcie.host
    assert (host.count.status.reset.value, host.limit.status.reset.value, host.bytes) == (4, 0x10000, 0x40000)
    assert soc.litepcie.banks.regions["host"].origin == abi.HOST_BASE


def test_on_the_bus_of_a_soc():
    soc = SoCMini(platform(), 100e6, integrated_sram_size=0x1000)
    with_card(soc, host_buffers=3, add=lambda card: soc.bus.add_slave("host", card.host.bus,
        SoCRegion(origin=0x4000_0000, size=card.host.bytes, cached=False)), user_bus=True)
    assert soc.bus.regions["host"].size == 4 << 20


@pytest.mark.parametrize("standard", ["wishbone", "axi-lite"])
@pytest.mark.parametrize("interconnect, origin, master, text", [
    ("crossbar", 0x4000_0000, True,  None),
    ("shared",   0x4000_0000, True,  "region host, and user_bus are on one shared bus with the master dma, where they "
        "would wait for each other; give the SoC bus_interconnect=.crossbar."),
    ("crossbar", 0x1000_0000, False, "user_bus reaches host memory, region host at 0x10000000, which would wait for "
        "the host itself; give another origin or size than 0x10000000 and 0x1000")])
def test_accesses_that_would_wait_for_each_other(standard, interconnect, origin, master, text):
    soc = SoCMini(platform(), 100e6, integrated_sram_size=0x1000, bus_interconnect=interconnect, bus_standard=standard)
    if master:
        soc.bus.add_master("dma", wishbone.Interface())
    with pytest.raises(ValueError, match=text) if text else contextlib.nullcontext():
        with_card(soc, host_buffers=1, user_bus={"origin": 0x1000_0000, "size": 0x1000},
            add=lambda card: soc.bus.add_slave("host", card.host.bus,
                SoCRegion(origin=origin, size=card.host.bytes, cached=False)))


def test_a_card_without_buffers_has_no_port():
    card = with_card(SoCMini(platform(), 100e6)).litepcie
    assert "host" not in card.banks.regions and not hasattr(card, "host")
    assert not [port.name for port in card.tlp.read_ports + card.tlp.write_ports if port.name == "host"]


@pytest.mark.parametrize("buffers, limit, text", [
    (17, 4096, "host_buffers 17 is not supported; give 1 to 16, or 0 for none"),
    (1, 0x3000, "host_buffer_bytes 12288 is not supported; give a power of two from 4096 to 268435456"),
    (1, 2048, "host_buffer_bytes 2048 is not supported"),
    (16, 512 << 20, "host_buffer_bytes 536870912 is not supported")])
def test_what_cannot_be(buffers, limit, text):
    with pytest.raises(ValueError, match=text):
        check_buffers(buffers, limit)
