# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The host's accesses and buffers in host memory on LiteX's own interconnects, above all those of AXI."""

import random

from types import SimpleNamespace

import pytest
from migen import Module, passive
from litex.soc.integration.soc import SoCBusHandler, SoCRegion
from litex.soc.interconnect import wishbone
from litex.soc.interconnect.axi import RESP_OKAY, RESP_SLVERR

from litepcie_soc.axi.beats import AXISlave
from litepcie_soc.common import abi
from litepcie_soc.board.user_logic import HostCopier
from litepcie_soc.soc.user_bus import BusGuard
from litepcie_soc.tlp.completer_user import UserAccess, UserBus
from test.gateware.axi.master import Master
from test.gateware.simulation import full, simulate
from test.gateware.soc.test_bar0 import Host
from test.gateware.soc.test_host_axi import Logic
from test.gateware.steps import pulse, wait

RAM, SLOW      = 0x0000, 0x1000  # Slaves; the second one answers when the test says.
TIMEOUT        = 20              # Cycles that an access has, and that the bus has.
BUS_TIMEOUT    = 100
BUSES          = [("axi-lite", "crossbar", 32), ("axi-lite", "shared", 32), ("bridge", "crossbar", 32),
    *full(("axi-lite", "crossbar", 64), ("axi", "crossbar", 32), ("axi", "shared", 32), ("wishbone", "crossbar", 32),
        ("wishbone", "shared", 32), ("bridge", "shared", 32))]


def word(address):
    return 0x5a00_0000 + address


class Rig(Module):
    """The unit that makes the host's accesses, the guard, and LiteX's bus with two slaves: "bridge" is a Wishbone bus
    with a slave of AXI-Lite."""
    def __init__(self, standard, interconnect, width):
        user = UserBus(0, 0x4000, TIMEOUT)
        soc  = SimpleNamespace(bus=SoCBusHandler(standard=standard.replace("bridge", "wishbone"),
            interconnect=interconnect, data_width=width, timeout=BUS_TIMEOUT))
        self.submodules.access = UserAccess(user)
        self.submodules.guard  = BusGuard(soc, user, self.access.bus)
        self.submodules.ram    = wishbone.SRAM(0x400, init=[word(4*n) for n in range(0x100)])
        self.slow  = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self.wrote, self.interconnect = [], interconnect
        soc.bus.add_master("pcie", self.guard.bus)
        soc.bus.add_slave("ram", self.ram.bus, SoCRegion(origin=RAM, size=0x400))
        slow = self.slow
        if standard == "bridge":
            self.submodules.bridge = bridge = AXISlave(lite=True)
            self.comb += bridge.bus.connect(self.slow)
            slow = bridge.axi
        soc.bus.add_slave("slow", slow, SoCRegion(origin=SLOW, size=0x1000))
        self.submodules.bus = soc.bus

    @passive
    def slave(self):
        """Takes an access when it begins and answers it after ``delay``, unless its cycle has ended, as HostPort."""
        bus = self.slow
        while True:
            yield
            if not ((yield bus.cyc) and (yield bus.stb)):
                continue
            address, we, value, mine = 4*(yield bus.adr) & 0xffff, (yield bus.we), (yield bus.dat_w), True
            for _ in range(self.delay):
                yield
                mine = mine and (yield bus.cyc) and (yield bus.stb)
            if we:
                self.wrote.append((address, value))
            yield bus.dat_r.eq(word(address))
            if mine:
                yield from pulse(bus.ack)

    def make(self, address, value=None, abort=None):
        """An access; returns the data, or None if it failed. The function is reset after ``abort`` cycles."""
        access = self.access
        yield [access.dword.eq(address >> 2), access.we.eq(value is not None), access.dat_w.eq(value or 0)]
        yield [access.be.eq(0b1111), access.start.eq(1)]
        yield
        cycles = 0
        while not (yield access.done):
            yield access.abort.eq(cycles == abort)
            cycles += 1
            assert cycles < TIMEOUT + 10
            yield
        data = None if (yield access.failed) else (yield access.dat_r)
        yield [access.start.eq(0), access.abort.eq(0)]
        yield
        return data


def accesses(rig, delay, write, abort, pause):
    """An access that fails, with a pause after its cycle, then others; returns the addresses where these were right."""
    good, rig.delay = [], delay
    assert (yield from rig.make(SLOW + 0x40, 0x1234 if write else None, abort)) is None
    while (yield rig.access.bus.cyc):
        yield
    yield from wait(pause)
    rig.delay = 2
    for n in range(40):
        address = SLOW + 0x80 + 4*n if n % 4 < 3 else RAM + 4*n
        value   = 0x5678 + n if write and n % 2 else None
        data    = yield from rig.make(address, value)
        if value is None:
            assert data in (None, word(address)), f"{hex(data)} read at {hex(address)}, delay {delay}"
        elif data is not None and address >= SLOW:
            assert rig.wrote[-1] == (address, value), f"{hex(address)} not written, delay {delay}"
        if data is not None:
            good.append(address)
        yield from wait(n)
    assert good[-1] == RAM + 4*39
    assert any(one >= SLOW for one in good) or (delay > BUS_TIMEOUT and rig.interconnect == "shared")


@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize("standard, interconnect, width", BUSES)
def test_a_late_answer_is_never_that_of_another_access(standard, interconnect, width, write):
    """The slave answers after the access has failed, before and after the bus itself has ended its cycle, or the
    function was reset meanwhile. Each access that follows has its own answer or fails, and those to the other slave
    work again soon."""
    for delay in (25, 60, 101, 110, 120, 300):
        for abort, pause in ((None, 0), (5, 0), (5, BUS_TIMEOUT - 8)):
            rig = Rig(standard, interconnect, width)
            simulate(rig, [accesses(rig, delay, write, abort, pause), rig.slave()], cycles=4000)


@pytest.mark.parametrize("standard", ["axi", *full("axi-lite")])
def test_errors_of_host_memory_reach_the_master(standard):
    """The card has no buffer: each access fails once, and the master goes on."""
    place = 0x9000_0000
    host  = Host(64, user_bus={"origin": 0, "size": 0x40000}, host_buffers=1,
        soc_options={"bus_standard": standard, "bus_interconnect": "crossbar"})
    soc   = host.soc
    port  = soc.litepcie.host
    soc.copier = HostCopier(32)
    soc.bus.add_slave("host", port.bus, SoCRegion(origin=place, size=port.bytes, cached=False))
    soc.bus.add_master("copier", soc.copier.bus)

    def process(host):
        registers = abi.USER_OFFSET + soc.csr.regions["copier"].origin
        while (yield soc.function_reset.active):   # The link has just come up.
            yield
        for n, value in enumerate((place, place + 0x100, 5, 1)):
            yield from host.write(registers + 4*n, value)
        yield from wait(300)
        for n, value in enumerate((0, 5, 0)):   # BUSY, errors and copied dwords.
            assert (yield from host.read(registers + 16 + 4*n)) == value
        assert (yield port.errors.status) == 5
    host.run(process)


def test_each_transaction_of_axi_lite_is_one_cycle():
    """Reads and writes at the same time, of which every third one fails."""
    dut, cycles, seen = AXISlave(lite=True), [], {"read": [], "write": []}
    steps = {"read": lambda n: dut.axi.read(4*n), "write": lambda n: dut.axi.write(4*n, 0xb000 + n, strb=1 + n % 15)}

    def master(name):
        for n in range(20):
            yield from wait(n % 4)
            seen[name].append((yield from steps[name](n)))

    @passive
    def slave():
        bus = dut.bus
        while True:
            yield
            if (yield bus.cyc) and (yield bus.stb):
                n = yield bus.adr
                yield from wait(n % 3)
                cycles.append(((yield bus.we), n, (yield bus.sel), (yield bus.dat_w) if (yield bus.we) else None))
                yield bus.dat_r.eq(word(n))
                yield from pulse(bus.ack if n % 3 else bus.err)
                yield

    simulate(dut, [master("read"), master("write"), slave()])
    answers = [RESP_OKAY if n % 3 else RESP_SLVERR for n in range(20)]
    assert seen == {"read": [(word(n), answers[n]) for n in range(20)], "write": answers}
    assert [one for one in cycles if not one[0]] == [(0, n, 0xf, None) for n in range(20)]
    assert [one for one in cycles if one[0]] == [(1, n, 1 + n % 15, 0xb000 + n) for n in range(20)]


class Bursts(Logic):
    """Random bursts at a Wishbone bus, whose slave has a memory."""
    def __init__(self):
        self.width, self.random = 4, random.Random(4)
        self.dut    = AXISlave()
        self.master = Master(self.dut.axi, 0.2)
        self.memory, self.cycles, self.bad = {}, [], set()

    @passive
    def slave(self):
        bus = self.dut.bus
        while True:
            yield
            if (yield bus.cyc) and (yield bus.stb):
                address, sel, data = 4*(yield bus.adr), (yield bus.sel), (yield bus.dat_w)
                yield from wait(self.random.randrange(4))
                self.cycles.append(address)
                if (yield bus.we):
                    self.memory.update((address + lane, data >> 8*lane & 0xff) for lane in range(4) if sel >> lane & 1)
                yield bus.dat_r.eq(word(address))
                yield from pulse(bus.err if address in self.bad else bus.ack)
                yield


def test_each_beat_of_axi4_is_one_cycle():
    """Bursts of all kinds with several IDs; after a beat that fails, the burst has no further cycle."""
    rig, given, memory = Bursts(), [], {}

    def process():
        for n in range(60):
            address, options = rig.anything(0x1000*n)
            give = rig.gets if n % 2 else rig.puts
            given.append(give(address, **{**options, "beats": min(options["beats"], 16)}))
        rig.bad = {burst.address // 4 * 4 for burst in given[::6] + given[3::6]}
        given.append(rig.gets(0x1000 - 4, 2))   # AXI4 does not allow it.
        yield from rig.master.wait()
    simulate(rig.dut, [process(), rig.slave(), *map(passive(lambda one: (yield from one)), rig.master.watchers())],
        cycles=20000)
    for burst in given:
        places = [at // 4 * 4 for at in burst.places()]
        failed = next((n for n, at in enumerate(places) if at in rig.bad), None)
        beats  = len(places)
        if burst is given[-1]:
            assert burst.resp == [RESP_SLVERR]*2
        elif burst.beats[0] is None:
            right = beats if failed is None else failed
            assert burst.resp == [RESP_OKAY]*right + [RESP_SLVERR]*(beats - right)
            assert burst.data[:right] == [word(at) for at in places[:right]]
        else:
            assert burst.resp == [RESP_OKAY if failed is None else RESP_SLVERR]
            memory.update(list(burst.written(4)) if failed is None else [])
    assert len(rig.cycles) == sum(next((n + 1 for n, at in enumerate(burst.places()) if at // 4 * 4 in rig.bad),
        len(burst.beats)) for burst in given[:-1])
    assert memory.items() <= rig.memory.items()
