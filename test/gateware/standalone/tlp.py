#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""TLPs of a card, held to what a card may send."""

from test.gateware.simulation import TLP


def check_card(tlp):
    """Fails on what no card may send, by the PCIe specification and the integration sheet."""
    assert (tlp.tc, tlp.td, tlp.ep, tlp.attr >> 2) == (0, 0, 0, 0), f"TC, TD, EP or Attr[2] of {tlp}"
    if tlp.is_completion:
        assert tlp.type == 0b01010, f"a locked completion: {tlp}"
        return
    assert tlp.type == 0, f"type {tlp.type:x}"
    assert bool(tlp.fmt & 1) == (tlp.address >= 1 << 32), f"size of the header: {tlp}"
    assert bool(tlp.last_be) == (tlp.length > 1) and tlp.first_be, f"byte enables: {tlp}"
    assert tlp.address % 4096 + 4*tlp.length <= 4096, f"it crosses 4 KiB: {tlp}"


class Assembler:
    """Beats of a stream port to TLPs, held to first, last and be."""
    def __init__(self, data_width, endianness, take):
        self.data_width = data_width
        self.endianness = endianness
        self.take       = take
        self.beats      = []

    def beat(self, beat):
        assert bool(beat["first"]) == (not self.beats), f"`first` is wrong in beat {len(self.beats)}: {beat}"
        assert beat["be"], f"beat {len(self.beats)} is empty: {beat}"
        self.beats.append(beat)
        if beat["last"]:
            beats, self.beats = self.beats, []
            tlp = TLP.from_beats(beats, self.data_width, self.endianness)
            check_card(tlp)
            self.take(tlp)
