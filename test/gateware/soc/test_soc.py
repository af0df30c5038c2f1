# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The SoC: its engines, the files that it exports, tags and lengths of requests, and what it takes from its PHY."""

import json
import re
from functools import partialmethod

import pytest
from litex.soc.integration.soc_core import SoCMini
from migen import ClockDomain

from litepcie_soc.board.identity import identify, pci_id
from litepcie_soc.build.regs import ReferenceSoC
from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.dma.engine import DMAEngine
from litepcie_soc.phy.hard_block import blocks_of_bytes, completion_blocks
from litepcie_soc.phy.series7 import Series7PHY
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from litepcie_soc.soc import export, regs
from litepcie_soc.soc import soc as soc_module
from litepcie_soc.soc.card import LitePCIe
from litepcie_soc.soc.link import PCI_ID, link_of, longest_read, share_tags
from litepcie_soc.soc.soc import LitePCIeSoC
from litepcie_soc.stream_dma.engine import StreamEngine
from litepcie_soc.stream_dma.stream import Stream
from test.gateware.phy.bench import pads, Platform
from test.gateware.soc.test_regs import finalised


def test_room_for_completions_is_that_of_the_phy():
    """Blocks of the fabric's buffer if the PHY has one, else of the hard block; or of the bytes given."""
    assert ReferenceSoC().tlp.completion_blocks == completion_blocks(SimPHY(64))
    assert blocks_of_bytes(5000) == (62, 34)


def test_a_soc_with_a_cpu_before_changes_no_address(monkeypatch):
    monkeypatch.setitem(SoCMini.mem_map, "csr", 0xf000_0000)
    assert ReferenceSoC().mem_map["csr"] == 0


def test_engines_of_a_fast_link_make_short_requests(monkeypatch):
    add = LitePCIeSoC.add_litepcie
    monkeypatch.setattr(LitePCIeSoC, "add_litepcie", lambda soc, phy, **options: add(soc, phy,
        **{**options, "lanes": 8, "completion_buffer_bytes": 72*80}))
    assert {engine.longest_read for engine in ReferenceSoC(256).engines} == {256}


def test_streams_stand_behind_the_channels():
    """Without streams, engines are those of memory channels alone."""
    plain, soc = ReferenceSoC(channels=2), ReferenceSoC(channels=2, streams=1)
    assert [type(engine) for engine in plain.engines] == 4 * [DMAEngine] and plain.streams == []
    assert [type(engine) for engine in soc.engines] == 4 * [DMAEngine] + 2 * [StreamEngine]
    stream = soc.streams[0]
    assert (stream.source, stream.sink) == (soc.reader2.source, soc.writer2.sink)
    assert (stream.source_active, stream.sink_active) == (soc.reader2.active, soc.writer2.active)


def test_streams_only():
    soc = ReferenceSoC(64, channels=0, streams=2, memory_size=4 << 10)
    assert [type(engine) for engine in soc.engines] == 4 * [StreamEngine]
    assert (soc.streams[0].source, soc.streams[1].sink) == (soc.reader0.source, soc.writer1.sink)
    assert (soc.constants["CONFIG_PCIE_CHANNELS"], soc.constants["CONFIG_PCIE_STREAMS"]) == (0, 2)
    assert soc.identity.geometry.fields.channels.reset.value == 0
    soc.finalize()
    assert regs.moved(soc) == []


def test_streams_with_one_direction():
    """Each has the engine, the RAM and the tags of its direction only, and the identity says so."""
    soc = ReferenceSoC(64, channels=0, memory_size=4 << 10, streams=[
        Stream("adc", to_host=True, depth=64 << 10, width=32, clock_domain="adc", ends="last_be"),
        Stream("both", to_host=True, from_host=True)])
    soc.cd_adc = ClockDomain()
    assert [(engine.direction, engine.words) for engine in soc.engines] == [
        ("writer", 8192), ("reader", 512), ("writer", 512)]
    assert soc.streams["both"] is soc.streams[1] and soc.streams[1].source is soc.reader1.source
    assert len(soc.streams["adc"].sink.data) == 32 and not hasattr(soc.streams["adc"], "source")
    lacks = soc.identity.streams.fields
    assert (lacks.no_reader.reset.value, lacks.no_writer.reset.value) == (1, 0)
    assert soc.constants["CONFIG_PCIE_STREAM_BOTH"] == 1
    with pytest.raises(KeyError, match="no stream 'dac'; there are adc, both"):
        soc.streams["dac"]
    soc.finalize()
    assert regs.moved(soc) == []
    capture = ReferenceSoC(64, channels=0, memory_size=4 << 10, streams=[Stream("adc", to_host=True)])
    assert capture.identity.capabilities.fields.reader.reset.value == 0
    assert capture.identity.capabilities.fields.writer.reset.value == 1


@pytest.mark.parametrize("options, message", [
    (dict(streams=[("adc", True)]), "streams must be a number or a list of Stream, not of ..adc., True."),
    (lambda: dict(streams=[Stream("adc")]), "stream adc has no direction; give to_host=True, from_host=True or both"),
    (lambda: dict(streams=[Stream("ADC", to_host=True)]), "stream name 'ADC' is not supported"),
    (lambda: dict(streams=[Stream("adc", to_host=True, width=24)]), "a stream of 24 bits is not supported"),
    (lambda: dict(streams=[Stream("adc", to_host=True)]*2), "stream name 'adc' is taken"),
    (lambda: dict(streams=[Stream("adc", to_host=True, depth=4096)]), "depth 4096 of stream adc is not supported with "
        "128 bits; give a power of two of bytes from 8192 to 1048576"),
    (dict(channels=7, streams=1), "streams must be 0..0 with 7 channels, not 1"),
    (dict(channels=1, streams=-1), "streams must be 0..6 with 1 channels, not -1"),
    (dict(channels=0, streams=0), "streams must be 1..7 with 0 channels, not 0"),
    (dict(channels=-1, streams=2), "channels must be 0..7, not -1"),
    (dict(host_buffers=-1), "host_buffers -1 is not supported"),
    (dict(user_bus={"origin": 0x1000, "size": 0x2000}), "user_bus origin 0x1000 is not a multiple of the size 0x2000"),
    (dict(user_bus={"size": 0x800}), "user_bus size 0x800 is not supported; give a power of two from 0x1000 to "
        "0x80000"),
    (dict(user_bus={"size": 1 << 20}), "user_bus size 0x100000 is not supported"),
    (dict(user_bus={"origin": 1 << 32, "size": 0x1000}), "user_bus origin 0x100000000 is not on the bus, which ends at "
        "0x100000000"),
    (dict(user_bus={"timeout_us": 0}), "user_bus timeout_us 0 is not supported; give 1 to 10000"),
    (dict(user_bus={"base": 0}), "user_bus has no key 'base'; give origin, size, timeout_us")])
def test_what_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        ReferenceSoC(**(options() if callable(options) else options))


def test_attributes_are_for_data_only(monkeypatch):
    monkeypatch.setattr(LitePCIeSoC, "add_litepcie",
        partialmethod(LitePCIeSoC.add_litepcie, relaxed_ordering=True, no_snoop=True))
    tlp = ReferenceSoC(64, 2, 1 << 16, 1).tlp
    assert {port.name for port in tlp.read_ports + tlp.write_ports if port.attributes} == {
        f"{direction}{n}" for direction in ("reader", "writer") for n in range(3)}


@pytest.fixture(scope="module")
def soc():
    return finalised(ReferenceSoC())


def test_headers(soc, tmp_path):
    export.export_headers(soc, tmp_path / "generated")
    text = {path.name: path.read_text() for path in (tmp_path / "generated").iterdir()}
    assert sorted(text) == ["csr.h", "csr.json", "litepcie_regs.h", "soc.h"]
    assert text["litepcie_regs.h"] == regs.COMMITTED.read_text()
    assert "#define CSR_READER0_DOORBELL_ADDR (CSR_BASE + 0x101cL)" in text["csr.h"]
    assert json.loads(text["csr.json"])["csr_registers"]["writer0_completed"]["addr"] == 0x1820
    constants = dict(re.findall(r"#define (CONFIG_\w+) (\d+)", text["soc.h"]))
    assert {name: int(constants[f"CONFIG_{name}"]) for name in (
        "PCIE_GEN", "PCIE_LANES", "PCIE_DATA_WIDTH", "CLOCK_FREQUENCY", "PCIE_BAR0_SIZE",
        "PCIE_VENDOR_ID", "PCIE_DEVICE_ID", "PCIE_SUBSYSTEM_VENDOR_ID",
        "PCIE_SUBSYSTEM_DEVICE_ID", "PCIE_CLASS_CODE", "MEMORY_SIZE")} == {
        "PCIE_GEN": 2, "PCIE_LANES": 4, "PCIE_DATA_WIDTH": 128, "CLOCK_FREQUENCY": 125000000,
        "PCIE_BAR0_SIZE": 2 << 20, "PCIE_VENDOR_ID": 0x1234, "PCIE_DEVICE_ID": 0x1ce0,
        "PCIE_SUBSYSTEM_VENDOR_ID": 0x1234, "PCIE_SUBSYSTEM_DEVICE_ID": 0x1ce0,
        "PCIE_CLASS_CODE": 0x058000, "MEMORY_SIZE": 65536}


def test_nothing_is_dated_and_nothing_written_twice(soc, tmp_path):
    export.export_headers(soc, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for path in before:
        assert not re.search(r"\d{4}-\d\d-\d\d", path.read_text()), path.name
    export.export_headers(soc, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_another_map_is_refused_and_nothing_written(tmp_path, monkeypatch):
    monkeypatch.setattr(LitePCIe, "csr_map", abi.csr_map() | {"tlp": 20})
    with pytest.raises(export.PinnedMapError, match="bank tlp is at"):
        export.export_headers(finalised(ReferenceSoC()), tmp_path / "generated")
    assert not (tmp_path / "generated").exists()


@pytest.mark.parametrize("channels, tags, shares", [
    (1, 32, (30, 4)), (7, 32, (12, 1)), (2, 64, (59, 4)), (4, 64, (53, 2)), (7, 256, (236, 4))])
def test_share_tags(channels, tags, shares):
    assert share_tags(channels, tags) == shares


@pytest.mark.parametrize("channels, tags, message", [
    (0, 32, "channels must be 1..7, not 0"), (8, 32, "channels must be 1..7, not 8"),
    (1, 48, "tags must be one of .32, 64, 128, 256., not 48")])
def test_channels_that_cannot_be(channels, tags, message):
    with pytest.raises(ValueError, match=message):
        share_tags(channels, tags)


@pytest.mark.parametrize("blocks, link, longest", [
    (72, (2, 8), 256), (72, (2, 4), 4096), (72, (1, 8), 4096), (170, (3, 8), 4096), (256, (3, 16), 1024),
    (20, (2, 4), 128)])
def test_requests_are_short_where_the_completion_buffer_limits_reads(blocks, link, longest):
    """A buffer smaller than what the link carries in a round trip holds at least 16 requests, if that is possible."""
    assert longest_read(blocks, link_rate(*link)) == longest


def test_another_litex_is_named_in_one_line(monkeypatch, caplog):
    """Once, however many cards there are."""
    real = soc_module.metadata.version
    assert soc_module.required().keys() >= {"litex", "litepcie", "migen"}
    monkeypatch.setattr(soc_module.metadata, "version", lambda name: "2024.8" if name == "litex" else real(name))
    soc_module.warn_of_other_versions.cache_clear()
    for _ in range(2):
        ReferenceSoC()
    soc_module.warn_of_other_versions.cache_clear()
    said = [record.getMessage() for record in caplog.records if record.name == "litepcie_soc"]
    assert len(said) == 1 and said[0].startswith("not tested with litex 2024.8 instead of 2024.12: the Verilog")


# PHYs: (class, family, lanes, data_width).
ARTIX       = Series7PHY,        "artix7",          4,  128
ULTRASCALE  = UltraScalePHY,     "ultrascale",      8,  256
ULTRASCALE_PLUS = UltraScalePlusPHY, "ultrascale_plus", 16, 512


def make(phy_class, family, lanes, data_width, identified=True, **options):
    phy = phy_class(Platform(), pads(lanes), data_width=data_width, **options)
    if identified:
        identify(phy, family)
    return phy


def card_of(phy, **options):
    return LitePCIe(phy, **{"sys_clk_freq": 125e6, "target": "card", "memory_size": 1 << 16, **options})


@pytest.mark.parametrize("shape, gen", [(ARTIX, 2), (ULTRASCALE, 3), (ULTRASCALE_PLUS, 3)])
def test_the_phy_knows_its_link(shape, gen):
    link = link_of(make(*shape))
    assert (link.gen, link.lanes, link.pci_id) == (gen, shape[2], pci_id(shape[1]))


def test_a_card_needs_to_be_told_nothing_twice():
    constants = card_of(make(*ARTIX)).constants
    assert [constants[f"PCIE_{name}"] for name in ("gen", "lanes", "data_width", "device_id")] == [2, 4, 128, 0x1ce1]
    assert constants == card_of(make(*ARTIX), gen=2, lanes=4, pci_id=pci_id("artix7")).constants


def test_a_generation_that_the_ip_was_changed_to():
    phy = make(*ARTIX)
    phy.update_config({"Link_Speed": "2.5_GT/s"})
    assert link_of(phy).gen == 1


def test_the_simulation_is_told():
    link = link_of(SimPHY(64), 3, 8)
    assert (link.gen, link.lanes, link.pci_id) == (3, 8, PCI_ID)


def test_an_identity_of_the_users_own():
    """A product sets it in the IP, and names it for `soc.h`."""
    own = {**PCI_ID, "vendor_id": 0xabcd}
    assert link_of(make(*ARTIX, identified=False), pci_id=own).pci_id == own
    assert link_of(SimPHY(64), 1, 1, pci_id=own).pci_id == own


def test_bar0_in_the_ip_has_the_size_of_the_register_map():
    assert make(*ARTIX, identified=False).config["Bar0_Size"] == 2
    assert make(*ULTRASCALE, identified=False).config["pf0_bar0_size"] == 2


@pytest.mark.parametrize("phy, options, message", [
    (ARTIX, {"gen": 3}, "gen 3 contradicts Series7PHY, which is built for 2; leave gen out"),
    (ARTIX, {"lanes": 16}, "lanes 16 contradicts Series7PHY, which is built for 4; leave lanes out"),
    (ARTIX, {"tags": 256}, "tags 256 is not supported by Series7PHY, which has at most 32 requests outstanding"),
    (ARTIX, {"pci_id": PCI_ID}, "pci_id contradicts the identity that Series7PHY has; leave pci_id out"),
    (ARTIX, {"completion_buffer_bytes": 16384}, "completion_buffer_bytes 16384 is more than Series7PHY holds, 72 "
        "completions of 64 bytes and 72 of 128; leave it out"),
    (ULTRASCALE, {"tags": 256}, r"tags 256 is not supported by UltraScalePHY, .* 64 .*; choose one of \(32, 64\)"),
    ((*ULTRASCALE, False), {}, r"UltraScalePHY has the identity of LitePCIe's, .* call identify\(phy, "),
    (None, {"lanes": 4}, r"gen is missing: SimPHY does not know it; choose one of \(1, 2, 3, 4\)"),
    (None, {"gen": 2}, r"lanes is missing: SimPHY does not know it; choose one of \(1, 2, 4, 8, 16\)"),
    (None, {"gen": 5, "lanes": 4}, "gen 5 is not supported; choose one of"),
    (None, {"gen": 2, "lanes": 3}, "lanes 3 is not supported; choose one of")])
def test_what_a_phy_cannot_do(phy, options, message):
    with pytest.raises(ValueError, match=message):
        card_of(make(*phy) if phy else SimPHY(64), **options)


def test_a_bar0_that_is_too_small():
    with pytest.raises(ValueError, match="BAR0 of 0x100000 bytes is not supported; give Series7PHY bar0_size=0x200000"):
        card_of(make(*ARTIX, bar0_size=1 << 20))
