# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""DDR of the boards, trained with models of their cells and chips."""

import pytest
from litex_boards.platforms import sqrl_acorn, xilinx_alveo_u200, xilinx_kc705, xilinx_kcu105
from litedram.modules import EDY4016A, MT41K512M16, MT8JTF12864, MTA18ASF2G72PZ

from litepcie_soc.build.emit import numbered_alike
from test.gateware.ddr.phy.bench import (
    SERIES7, ULTRASCALE, Series7, UltraScale, build, check, check_margins, fly_by, wrong_bytes,
)

# `make test` has trainings of DDR3 in test/gateware/ddr/test_training.py.
pytestmark = pytest.mark.full

# Picoseconds. A beat is 1000. The margin of reads is half of it, less the chips' and the deserializers' uncertainty and
# the skew of bits: 270. DQS is in the middle of write data: 400. It may be 500 away from the chips' clock.
READ, WRITE, DQSS = 170, 280, 400

# Without output delays, DQS moves in steps of 1000, so it may be up to 500 off.
COARSE_DQSS = 0


@pytest.fixture(scope="module")
def acorn(tmp_path_factory):
    with numbered_alike():
        return build(tmp_path_factory.mktemp("acorn"), Series7(sqrl_acorn.Platform(), MT41K512M16, 125e6, False),
            **SERIES7, rfc_ns=350)


@pytest.fixture(scope="module")
def kc705(tmp_path_factory):
    with numbered_alike():
        return build(tmp_path_factory.mktemp("kc705"), Series7(xilinx_kc705.Platform(), MT8JTF12864, 125e6, True),
            **SERIES7)


@pytest.mark.parametrize("settings", [dict(clock_ps=[400, 600], deserializer_beats=14, access_ps=[-200, 250]),
    dict(clock_ps=[1900, 2100], deserializer_beats=16, tap_ps=75, seed=2)])
def test_artix7_is_trained_however_late_the_clock_is(acorn, settings):
    check(acorn(**settings), read_ps=READ, write_ps=WRITE, dqss_ps=COARSE_DQSS)


@pytest.mark.parametrize("dqss, most, clock_ps", [(0.33, 500, [800, 900]), (0.49, 601, [1300, 1400])])
def test_artix7_takes_the_better_of_two_positions_that_pass(acorn, dqss, most, clock_ps):
    """Chips that accept DQS further from the clock than 0.25 of their cycle, 2000 ps, may accept two positions of it.

    The better one is at most 500 ps off; near that, the chip's tolerance decides. The phase of DQS is back at its
    start afterwards.
    """
    result = acorn(dqss=dqss, clock_ps=clock_ps, accesses=1000)
    assert result["failed"] == result["wrong"] == 0 and result["complaints"] == []
    assert result["phase"] == 0
    assert max(2000*dqss - margin for margin in result["dqss_ps"]) <= most


def test_artix7_reports_a_chip_whose_data_is_too_late(acorn):
    """The data is late by two controller cycles; the other byte works."""
    result = acorn(access_ps=[0, 16000])
    assert result["failed"] == 0b10
    assert wrong_bytes(result, 2) == {1}
    assert result["complaints"] == []


def test_chip_models_report_violations(acorn):
    """The models complain about times between commands; here they need more than JESD79-3 does."""
    wanted = {
        "reset_us": (300, "RESET# is low for too short a time"),
        "cke_us":   (600, "CKE rises too early after RESET#"),
        "wr_ns":    (30,  "the write recovery is less than tWR"),
        "rcd_ns":   (300, "tRCD")}
    result = acorn(accesses=1, **{name: value for name, (value, _) in wanted.items()})
    assert {complaint for _, complaint in wanted.values()} <= set(result["complaints"])


def test_kintex7_is_trained_along_the_clock(kc705):
    result = kc705(clock_ps=fly_by(900, 2400, 8))
    check(result, read_ps=READ, write_ps=WRITE, dqss_ps=DQSS)


def test_kintex7_reports_dead_and_deaf_chips(kc705):
    """The other bytes work, with other taps, and a clock that comes from the other side and before the data."""
    result = kc705(clock_ps=fly_by(2000, 500, 8), dead=[0, 0, 1, 0, 0, 0, 0, 0], deaf=[0, 0, 0, 0, 0, 1, 0, 0],
        tap_ps=73, deserializer_beats=14, seed=3)
    assert result["failed"] == 0b100100
    assert wrong_bytes(result, 8) == {2, 5}
    assert result["complaints"] == []
    check_margins(result, but=(2, 5), read_ps=READ, write_ps=WRITE, dqss_ps=DQSS)


# Picoseconds. A beat is 800. The margin of reads is half of it, less the chips' and the deserializers' uncertainty and
# the skew of bits: 220. Read positions are 8 taps apart, 120 with long taps. DQS is in the middle of write data: 320.
# It may be 432 away from the chips' clock.
US_READ, US_WRITE, US_DQSS = 100, 220, 350

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
    check_margins(result, but=(4,), read_ps=US_READ, write_ps=US_WRITE, dqss_ps=US_DQSS)


def test_ultrascale_plus_is_trained_with_an_rdimm(u200):
    check(u200(clock_ps=fly_by(900, 2400, 16), tap_ps=2.5), read_ps=US_READ, write_ps=US_WRITE, dqss_ps=PAIR_DQSS)
