# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

import pytest
from litex.soc.cores.timer import Timer

from litepcie_soc.build.regs import ReferenceSoC
from litepcie_soc.common import abi
from litepcie_soc.soc import regs
from litepcie_soc.soc.card import LitePCIe
from test.gateware.simulation import macros

# A register never moves within a major version. These registers of version 1 must keep their addresses.
VERSION_1 = {
    "MAGIC": 0x0000, "VERSION": 0x0004, "CAPABILITIES": 0x0008, "GEOMETRY": 0x000c,
    "SCRATCH": 0x0028, "CONTROL": 0x002c, "TIMEOUT_US": 0x0030, "LINK_STATUS": 0x0038,
    "TARGET": 0x0040, "ERROR_UNSUPPORTED_REQUEST": 0x0800, "ERROR_TIMEOUT": 0x0810,
    "ERROR_REFUSED": 0x0818, "ENGINE_CONTROL": 0x00, "ENGINE_STATUS": 0x04,
    "ENGINE_DOORBELL": 0x1c, "ENGINE_COMPLETED": 0x20, "ENGINE_STOPPED_BYTES": 0x28,
    "ENGINE_ACTIVE_LO": 0x40, "ENGINE_WAIT_DATA": 0x64, "ENGINE_STATUS_REASON_MASK": 0xff00,
    "DESCRIPTOR_INTERRUPT": 0x01000000, "DESCRIPTOR_LINK": 0x80000000, "REASON_BUS_MASTER": 11,
    # Since 1.1.
    "STREAMS": 0x003c, "DESCRIPTOR_LAST": 0x02000000, "REPORT_OFFSET": 64,
    # Since 1.3.
    "ENGINE_INTERRUPT": 0x6c,
    # Since 1.4.
    "INTERRUPT_COUNT": 0x8000, "INTERRUPT_VECTOR": 0x8008, "INTERRUPT_ARM": 0x800c, "INTERRUPT_DISARM": 0x8010,
    "INTERRUPT_FORGET": 0x8014, "INTERRUPT_FIRED": 0x8020,
    # Since 1.5.
    "HOST_COUNT": 0x8800, "HOST_LIMIT": 0x8804, "HOST_BASE_LO": 0x8808, "HOST_SIZE": 0x8810, "HOST_SET": 0x8814,
    "HOST_CLEAR": 0x8818, "HOST_BUSY": 0x8820, "HOST_ERRORS": 0x8824, "HOST_ERROR": 0x8828,
    # Since 1.6.
    "CAPABILITY_LANE": 0x800,
    # Since 1.7.
    "ENGINE_PASSED": 0x70,
    # Since 1.8.
    "MEMORY_FAILED": 0x90, "PHY_STATE": 0x94, "PHY_STATE_LTSSM_MASK": 0x3f, "PHY_STATE_KNOWN": 0x80000000}


def finalised(soc):
    soc.finalize()
    return soc


@pytest.fixture(scope="module")
def committed():
    return regs.COMMITTED.read_text(encoding="ascii")


def test_version_1_stays(committed):
    have = macros(committed)
    assert have["VERSION_MAJOR"] == 1
    assert {name: have.get(name) for name in VERSION_1} == VERSION_1


@pytest.mark.parametrize("data_width, channels, memory_size, streams", [(64, 1, 1 << 16, 0), (256, 2, 1 << 26, 1)])
def test_pinned_map_is_the_same_in_every_soc(committed, data_width, channels, memory_size, streams):
    soc = finalised(ReferenceSoC(data_width, channels, memory_size, streams))
    assert regs.header(soc) == committed
    assert len(soc.streams) == streams
    for channel in range(channels + streams):
        assert soc.litepcie.banks.regions[f"reader{channel}"].origin == 0x1000 * (channel + 1)
        assert soc.litepcie.banks.regions[f"writer{channel}"].origin == 0x1000 * (channel + 1) + 0x800


def test_registers_of_the_user_are_on_another_bus():
    soc = ReferenceSoC()
    soc.timer0 = Timer()
    finalised(soc)
    assert set(soc.csr.regions) == {"timer0"}
    assert set(soc.litepcie.banks.regions) <= set(abi.csr_map())
    assert soc.bus.masters == {}


def test_bank_that_moved_is_an_error(monkeypatch):
    monkeypatch.setattr(LitePCIe, "csr_map", abi.csr_map() | {"tlp": 20})
    with pytest.raises(ValueError, match="bank tlp is at 0xa000, but must be at 0x800"):
        regs.header(finalised(ReferenceSoC()))


def test_bank_without_a_pinned_address_is_an_error():
    soc = ReferenceSoC()
    soc.litepcie.timer0 = Timer()
    with pytest.raises(ValueError, match="bank timer0 has registers, but no pinned address"):
        soc.finalize()


def test_moved_says_what(committed, tmp_path):
    soc   = finalised(ReferenceSoC())
    other = tmp_path / "litepcie_regs.h"
    other.write_text(committed.replace("0x001c", "0x0020").replace("/* ", "/* reworded: "))
    assert regs.moved(soc) == []
    assert regs.moved(soc, other) == ["LITEPCIE_WINDOW_SIZE is 0x001c, committed 0x0020"]
