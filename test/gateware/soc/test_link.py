# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""What the card takes from its PHY, and what it refuses because the PHY cannot do it."""

import pytest

from litepcie_soc.board.identity import identify, pci_id
from litepcie_soc.phy.series7 import Series7PHY
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from litepcie_soc.soc.card import LitePCIe
from litepcie_soc.soc.link import PCI_ID, link_of
from test.gateware.phy.bench import Platform, pads

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
    (None, {"lanes": 4}, r"gen is missing: SimPHY does not know it; choose one of \(1, 2, 3\)"),
    (None, {"gen": 2}, r"lanes is missing: SimPHY does not know it; choose one of \(1, 2, 4, 8, 16\)"),
    (None, {"gen": 4, "lanes": 4}, "gen 4 is not supported; choose one of"),
    (None, {"gen": 2, "lanes": 3}, "lanes 3 is not supported; choose one of")])
def test_what_cannot_be(phy, options, message):
    with pytest.raises(ValueError, match=message):
        card_of(make(*phy) if phy else SimPHY(64), **options)


def test_a_bar0_that_is_too_small():
    with pytest.raises(ValueError, match="BAR0 of 0x100000 bytes is not supported; give Series7PHY bar0_size=0x200000"):
        card_of(make(*ARTIX, bar0_size=1 << 20))
