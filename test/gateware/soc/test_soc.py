#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

from functools import partialmethod

import pytest

from litepcie_soc.dma.engine import DMAEngine
from litepcie_soc.phy.hard_block import blocks_of_bytes, completion_blocks
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc.reference import ReferenceSoC
from litepcie_soc.soc.soc import LitePCIeSoC
from litepcie_soc.stream_dma.engine import StreamEngine


def test_room_for_completions_is_that_of_the_phy():
    """Blocks of the fabric's buffer if the PHY has one, else of the hard block; or of the bytes given."""
    assert ReferenceSoC().tlp.completion_blocks == completion_blocks(SimPHY(64))
    assert blocks_of_bytes(5000) == (62, 34)


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
    assert soc.streams == [(soc.reader2.source, soc.writer2.sink)]


@pytest.mark.parametrize("channels, streams, message", [
    (1, 7, "streams must be 0..6 with 1 channels, not 7"),
    (7, 1, "streams must be 0..0 with 7 channels, not 1"),
    (1, -1, "streams must be 0..6 with 1 channels, not -1"),
])
def test_streams_that_cannot_be(channels, streams, message):
    with pytest.raises(ValueError, match=message):
        ReferenceSoC(channels=channels, streams=streams)


def test_attributes_are_for_data_only(monkeypatch):
    """Relaxed ordering and no-snoop: no descriptor is read and no status written with them."""
    monkeypatch.setattr(LitePCIeSoC, "add_litepcie",
        partialmethod(LitePCIeSoC.add_litepcie, relaxed_ordering=True, no_snoop=True))
    tlp = ReferenceSoC(64, 2, 1 << 16, 1).tlp
    assert {port.name for port in tlp.read_ports + tlp.write_ports if port.attributes} == {
        f"{direction}{n}" for direction in ("reader", "writer") for n in range(3)}
