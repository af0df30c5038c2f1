# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""LitePCIe in SoCs of any kind, and the range of their bus that the host reaches."""

import subprocess

import pytest
from migen import ClockDomain, Signal
from litex.build.generic_platform import GenericPlatform
from litex.soc.cores.timer import Timer
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import wishbone

from litepcie_soc.build.regs import ReferenceSoC
from litepcie_soc.common import abi
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc import regs
from litepcie_soc.soc.soc import LitePCIeSoC, add_litepcie
from litepcie_soc.soc.user_bus import host_cycles_of
from litepcie_soc.tlp.completer_user import UserBus
from test.examples.conftest import example
from test.gateware.simulation import full, simulate
from test.gateware.soc.test_bar0 import Host
from test.gateware.standalone.test_gen import MIGEN_HABITS
from test.gateware.steps import wait

LINK = dict(target="any", gen=2, lanes=4, memory_size=1 << 16)


def platform():
    return GenericPlatform("none", [], name="any")


def with_card(soc, add=None, **options):
    soc.pcie_phy = SimPHY(128)
    card         = add_litepcie(soc, soc.pcie_phy, **LINK, **options)
    if add:
        add(card)
    soc.finalize()
    return soc


def two_cards():
    """A SoC with two cards: streams, user's bus, buffers and descriptors, and an interrupt with the same name."""
    sram    = dict(origin=0x01000000, size=0x1000)
    soc     = ReferenceSoC(64, streams=1, user_bus=sram, host_buffers=1, host_descriptors=True,
        soc_options={"integrated_sram_size": 0x1000, "bus_interconnect": "crossbar"})
    soc.second_phy = SimPHY(64)
    second  = add_litepcie(soc, soc.second_phy, name="second", gen=1, lanes=1, memory_size=1 << 15, streams=2,
        user_bus=sram, host_buffers=2, host_descriptors=True)
    assert [card.add_interrupt("done", Signal()) for card in (soc.litepcie, second)] == [0, 0]
    return soc


@pytest.mark.full
def test_two_cards_in_one_soc():
    """Each host has its own card, and both reach the bus of the SoC at the same time."""
    soc   = two_cards()
    with pytest.raises(ValueError, match="name 'second' of a card is taken"):
        add_litepcie(soc, soc.second_phy, name="second", **LINK)
    hosts = Host(64, soc), Host(64, soc, "second", "second_phy")
    soc.finalize()
    seen  = [[], []]

    def process(n):
        def run(host):
            yield from host.write(0x0028, 0x1111*(n + 1))
            for at in range(16):
                yield from host.write(abi.USER_OFFSET + 8*at + 4*n, 0x5a000000 + 2*at + n)
            for address in (0x0028, 0x0010, 0x003c, abi.INTERRUPTS_BASE):
                seen[n].append((yield from host.read(address)))
            for at in range(0, 8):
                seen[n].append((yield from host.read(abi.USER_OFFSET + 8*at + 4*n)))
        return run

    simulate(soc, [host.begin(process(n)) for n, host in enumerate(hosts)])
    # Scratch, bytes of memory, streams, and who has written to the memory on the bus.
    assert [values[:3] for values in seen] == [[0x1111, 1 << 16, 1], [0x2222, 1 << 15, 2]]
    assert [values[4:] for values in seen] == [[0x5a000000 + 2*at + n for at in range(8)] for n in range(2)]
    wanted = {"CONFIG_PCIE_GEN": 2, "CONFIG_SECOND_PCIE_GEN": 1, "CONFIG_PCIE_INTERRUPT_DONE": 0,
        "CONFIG_SECOND_PCIE_INTERRUPT_DONE": 0, "CONFIG_SECOND_MEMORY_SIZE": 1 << 15}
    assert {name: int(str(soc.constants[name])) for name in wanted} == wanted


@pytest.mark.full
def test_two_cards_in_verilog(tmp_path):
    """No two objects have the same name."""
    path = tmp_path / "two.v"
    soc  = two_cards()
    soc.cd_sys = ClockDomain()
    soc.finalize()
    path.write_text(soc.platform.get_verilog(soc).main_source)
    result = subprocess.run(["verilator", "--lint-only", *[f"-Wno-{habit}" for habit in MIGEN_HABITS], path],
        capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("make", [
    lambda: SoCMini(platform(), 125e6),
    lambda: SoCMini(platform(), 125e6, integrated_sram_size=0x2000, csr_address_width=15, csr_paging=0x1000),
    lambda: SoCMini(platform(), 125e6, bus_standard="axi-lite", integrated_sram_size=0x1000),
    lambda: SoCMini(platform(), 125e6, bus_data_width=64, csr_data_width=8),
    lambda: LitePCIeSoC(platform(), 125e6, with_ctrl=True, integrated_sram_size=0x2000),
], ids=["mini", "other registers", "axi-lite", "64 bit", "with_ctrl"])
def test_the_pinned_map_is_the_same_in_any_soc(make):
    soc = make()
    soc.timer0 = Timer()
    with_card(soc, user_bus=True)
    assert regs.moved(soc) == []
    assert soc.constants["CONFIG_PCIE_GEN"] == 2
    assert "timer0" in soc.csr.regions and not set(soc.csr.regions) & set(abi.csr_map())
    assert list(soc.bus.masters) == ["pcie"]


def test_registers_of_a_soc_at_another_place():
    class Elsewhere(SoCMini):
        mem_map = {"csr": 0x8200_0000}
    soc = with_card(Elsewhere(platform(), 100e6), user_bus=True)
    assert soc.csr.regions["ctrl"].origin == 0x8200_0000
    assert soc.litepcie.tlp.completer.user.bus.adr_width == 30
    identity = soc.litepcie.identity
    assert [csr.status.reset.value for csr in (identity.user_offset, identity.user_size, identity.user_origin)] == \
        [abi.USER_OFFSET, 0x10000, 0x8200_0000]


def test_without_the_option_there_is_none():
    soc      = with_card(SoCMini(platform(), 100e6))
    identity = soc.litepcie.identity
    assert [csr.status.reset.value for csr in (identity.user_offset, identity.user_size, identity.user_origin)] == [0]*3
    assert soc.litepcie.tlp.user is None and identity.capabilities.fields.user.reset.value == 0
    assert ReferenceSoC(user_bus=False).litepcie.user_bus is None
    assert ReferenceSoC(user_bus=True).litepcie.user_bus == UserBus(0, 0x10000, 5000, 32)


def test_no_limit_of_the_soc_changes():
    assert with_card(SoCMini(platform(), 100e6), user_bus={"timeout_us": 10}).bus.timeout == 1e6
    with pytest.raises(ValueError, match="timeout_us 40 is 4000 cycles; give less than the bus_timeout .* 100 cycles"):
        with_card(SoCMini(platform(), 100e6, bus_timeout=100), user_bus=True)
    with pytest.raises(ValueError, match="bus_timeout of 5000 cycles is too short for host_buffers; give 8192 or more"):
        with_card(SoCMini(platform(), 100e6, bus_timeout=5000), host_buffers=1)
    assert host_cycles_of(SoCMini(platform(), 100e6, bus_timeout=20000)) == 10000


@pytest.mark.parametrize("options", [{"bus_interconnect": "crossbar"}, *full({}, {"bus_standard": "axi-lite"})],
    ids=lambda options: "-".join(options.values()) or "shared")
def test_registers_and_a_ram_of_the_user(options):
    """A CSR bank at the start of the SoC's bus and a RAM at its place; an address without a slave, and the DMA."""
    host = Host(64, user_bus={"origin": 0, "size": 0x40000, "timeout_us": 1}, soc_options=options)
    soc  = host.soc
    soc.timer0 = Timer()
    soc.ram    = wishbone.SRAM(0x1000)
    soc.bus.add_slave("ram", soc.ram.bus, SoCRegion(origin=0x2_0000, size=0x1000))
    user = abi.USER_OFFSET
    def process(host):
        bank = soc.csr.regions["timer0"]
        load = user + bank.origin + 4*[csr.name for csr in bank.obj].index("load")
        while (yield soc.function_reset.active):   # The link has just come up.
            yield
        yield from host.write(load, 0x1234_5678)
        assert (yield from host.read(load)) == 0x1234_5678
        yield from host.write(user + 0x2_0000, 0xffff_ffff)
        yield from host.write(user + 0x2_0000, 0x4433_2211, be=0b0101)
        yield from host.write(user + 0x2_0ffc, 0x55)
        assert (yield from host.read(user + 0x2_0000)) == 0xff33_ff11
        assert (yield from host.read(user + 0x2_0ffc)) == 0x55
        assert (yield from host.read(abi.IDENTITY_BASE + 0x8c)) == 0
        yield from host.write(user + 0x3_0000, 1)          # No slave: the write is lost and counted.
        yield from wait(200)
        assert (yield from host.read(abi.IDENTITY_BASE + 0x8c)) == 1
        assert (yield from host.read(user + 0x2_0ffc)) == 0x55
        assert (yield from host.read(abi.IDENTITY_BASE + 0x8c)) == 1
        assert (yield from host.read(abi.READER_BASE + 0x10)) == 0
    host.run(process)


def test_a_processor_beside_the_card():
    """The example with a RISC-V. Its slaves may be slower than the host waits for."""
    soc = example("riscv").SoC()
    soc.finalize()
    assert regs.moved(soc) == []
    assert {"pcie", "cpu_bus0", "cpu_bus1"} == set(soc.bus.masters) and soc.bus.timeout == 1e6
    assert soc.mem_regions["sram"].origin == 0x1000_0000 and soc.csr.regions["mailbox"].origin == 0xf000_4000
