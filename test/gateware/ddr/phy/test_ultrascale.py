#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR4 of UltraScale and UltraScale+ boards as a whole: training, LiteDRAM's PHY and controller, with models of cells,
of chips, and of the register of an RDIMM."""

import pytest

from litex_boards.platforms import xilinx_alveo_u200, xilinx_kcu105

from litedram.modules import EDY4016A, MTA18ASF2G72PZ

from litepcie_soc.build.numbering import numbered_alike

from test.gateware.ddr.phy.bench import ULTRASCALE, build, check, check_margins, fly_by, wrong_bytes
from test.gateware.ddr.phy.boards import UltraScale

# Picoseconds. A beat is 800. The margin of reads is half of it, less the chips' and the deserializers' uncertainty and
# the skew of bits: 220. Read positions are 8 taps apart, 120 with long taps. DQS is in the middle of write data: 320.
# It may be 432 away from the chips' clock.
READ, WRITE, DQSS = 100, 220, 350

# Two chips of four bits share one setting; here the clock reaches one of them 100 later than the other.
PAIR_DQSS = 290


@pytest.fixture(scope="module")
def kcu105(tmp_path_factory):
    with numbered_alike():
        return build(tmp_path_factory.mktemp("kcu105"), UltraScale(xilinx_kcu105.Platform(), 125e6, EDY4016A, False),
            **ULTRASCALE)


@pytest.fixture(scope="module")
def u200(tmp_path_factory):
    with numbered_alike():
        return build(tmp_path_factory.mktemp("u200"),
            UltraScale(xilinx_alveo_u200.Platform(), 300e6, MTA18ASF2G72PZ, True, registered=True),
            **{**ULTRASCALE, "registered": 1, "masks": 0, "rfc_ns": 350})


def test_ultrascale_is_trained_along_the_clock_except_a_dead_chip(kcu105):
    """With the longest taps; the cells need many more cycles after EN_VTC than UG571 says, so they complain."""
    result = kcu105(clock_ps=fly_by(900, 2400, 8), tap_ps=15, dead=[0, 0, 0, 0, 1, 0, 0, 0], vtc_cycles=100000)
    assert result["failed"] == 0b10000
    assert wrong_bytes(result, 8) == {4}
    assert result["complaints"] == ["a delay moves too early after EN_VTC"]
    check_margins(result, but=(4,), read_ps=READ, write_ps=WRITE, dqss_ps=DQSS)


def test_ultrascale_plus_is_trained_with_an_rdimm(u200):
    check(u200(clock_ps=fly_by(900, 2400, 16), tap_ps=2.5), read_ps=READ, write_ps=WRITE, dqss_ps=PAIR_DQSS)
