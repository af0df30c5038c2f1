# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The channel against the behavioural DCU: resets, clocks, alignment; misbehaviours.py has what a link shows.

The waits are 256 times shorter: the transmitter is ready after 20 to 31 us, the receiver about 13 us later.
"""

import pytest
from migen import ClockDomainsRenamer, Instance, Record, Signal

from litepcie_soc.endpoint.serdes.ecp5.coded import STUCK, CodedReceiver
from litepcie_soc.endpoint.serdes.ecp5.reset import Waits
from litepcie_soc.endpoint.serdes.ecp5.serdes import ECP5Channel
from litepcie_soc.endpoint.serdes.ecp5.words import MODES
from litepcie_soc.endpoint.serdes.interface import COM, UNDECODABLE
from test.gateware.endpoint.serdes.ecp5.simulator import PADS, simulation
from test.gateware.simulation import simulate

full = pytest.mark.full

# What must hold in every mode of the channel. The interface lies behind the elastic buffer, if the mode has one.
each_mode = pytest.mark.parametrize("mode", MODES)
# 8b/10b in the DCU, and in the fabric.
each_code = pytest.mark.parametrize("mode", ["pcie", "raw"])

# Mode, clock offset, bits of shift. In raw mode the fabric finds the comma, at every shift in test_raw.py.
ALIGNMENTS = [("pcie", 300, 0), ("ctc", -300, 5), ("no-gear", 300, 12), ("raw", -300, 7), ("raw", 300, 18)]


def assert_receives(seen, errors=0):
    """The counter of the partner arrives without a gap, and each wrong symbol is flagged."""
    assert seen["rx_ready"] == 1 and seen["rx_idle"] == 0
    assert seen["coms"] > 20 and seen["wrong"] == seen["stream_errors"] == 0 and seen["synced"] == 1
    assert seen["errors"] == errors


# Rules: PHY.2.1#1
@pytest.mark.parametrize("mode, ppm, bits", [alignment if alignment == ALIGNMENTS[0] else
    pytest.param(*alignment, marks=full) for alignment in ALIGNMENTS])
def test_receives_at_any_alignment_and_clock_offset(mode, ppm, bits):
    """Every third one with an inverted lane."""
    flags = ("INVERT", "POLARITY")*(bits % 3 == 0)
    assert_receives(simulation(mode=mode).run(*flags, PPM=ppm, SHIFT_PS=400*bits + 77, END_NS=48000))


@full
@pytest.mark.parametrize("mode", ["pcie", "ctc"])
def test_no_symbol_is_lost_while_skp_are_removed_and_added(mode):
    """Each way for so long that more than 30 symbols must go or come."""
    fast, slow = (simulation(mode=mode, elastic=True).run("SKP", PPM=ppm, END_NS=300000) for ppm in (600, -600))
    for seen in (fast, slow):
        assert_receives(seen)
        assert seen["overflows"] == 0
    assert fast["skips"] + 50 < slow["skips"]


@full
def test_symbols_without_skp_overflow_and_the_receiver_goes_on():
    seen = simulation(mode="ctc", elastic=True).run(PPM=600, END_NS=300000)
    assert seen["overflows"] >= 2 and seen["rx_ready"] == 1 and seen["coms"] > 1000


@full
@each_mode
def test_interface_sends_what_it_receives_after_detection_found_the_partner(mode):
    seen = simulation(mode=mode, elastic=True).run("LOOPBACK", DETECT_NS=33000, START_NS=44000, END_NS=62000)
    assert seen["detect_done"] == seen["present"] == 1 and seen["missing"] == 0
    assert_receives(seen)


@full
@each_code
def test_the_compliance_pattern_has_its_disparity(mode):
    """As bits of the lane. It begins again every 256 words, and the words before have turned the disparity."""
    seen = simulation(mode=mode).run("COMPLIANCE", END_NS=48000)
    assert seen["patterns"] > 900 and seen["reversed"] == 0


@full
@pytest.mark.parametrize("options", [{"receiver_detect": False}, {"mode": "raw"}])
def test_receiver_detection_can_be_ignored_and_raw_mode_has_none(options):
    seen = simulation(**options).run(DETECT_NS=33000, START_NS=60000, END_NS=50000, PRESENT=0)
    assert (seen["detect_done"], seen["present"], seen["missing"]) == (1, 1, 0)


# Rules: PHY.2.1#1
@full
@each_code
def test_a_bit_error_is_flagged_and_the_link_stays_aligned(mode):
    seen = simulation(mode=mode).run(ERROR_AT_NS=46000, END_NS=52000)
    assert 1 <= seen["errors"] <= 2
    assert_receives(seen, seen["errors"])


def test_when_the_status_of_a_symbol_counts():
    """Only while the link is up, and no longer after 64 errors in a row."""
    dut = ClockDomainsRenamer({"pcie_rx": "sys"})(CodedReceiver(geared=True))
    def script():
        for strict, status, data, cycles, error in ((0, 7, COM, 20, 0), (0, 0, UNDECODABLE, 20, 1), (1, 7, COM, 20, 1),
                (1, 0, COM, 20, 0), (1, 4, COM, STUCK, 1), (1, 4, COM, 20, 0), (1, 4, UNDECODABLE, 20, 1),
                (1, 0, COM, 20, 0), (1, 4, COM, 20, 1)):
            yield [dut.strict.eq(strict), dut.bus.eq((status << 9 | 1 << 8 | data) << 12)]
            for cycle in range(cycles):
                yield
                if cycle > 3:
                    assert (yield dut.error) == error << 1, (strict, status, data, cycle)
    simulate(dut, [script()])


@full
@each_code
def test_receiver_restarts_after_the_signal_was_lost(mode):
    seen = simulation(mode=mode).run(GAP_NS=45000, END_NS=65000)
    assert seen["resets"] == 1 and seen["rx_ready_ns"] > 56000
    assert_receives(seen)


@full
def test_receiver_is_reset_again_while_the_link_finds_no_ordered_set():
    seen = simulation().run("ALIGN", END_NS=65000)
    assert seen["resets"] >= 2


@full
@each_code
def test_slot_reset_makes_the_lane_idle_and_keeps_the_receiver(mode):
    seen = simulation(mode=mode).run(PERST_NS=45000, END_NS=50000)
    assert seen["tx_lane"] == 0 and seen["ready"] == 0 and seen["rx_ready"] == 1


@full
@pytest.mark.parametrize("measure_refclk, flags, values, ready, refclk_ok", [
    (True,  (),            {},                        1, 1),
    (True,  ("DEAD_TX",),  {},                        0, 1),
    (True,  (),            {"PLL_LOCK_NS": 12000},    1, 1),
    (True,  (),            {"PLL_LOCK_NS": 1000000},  0, 1),
    (True,  (),            {"REFCLK_STOP_NS": 46000}, 0, 0),
    (True,  (),            {"REFCLK_PS": 6400},       0, 0),
    (True,  (),            {"REFCLK_PS": 10025},      1, 1),
    # Logic does not get the reference clock, though nextpnr has routed it.
    (True,  ("NO_ROUTE",), {},                        1, 0),
    (False, (),            {"REFCLK_STOP_NS": 46000}, 0, 0),
    (False, (),            {"REFCLK_PS": 6400},       0, 0),
    (False, (),            {"REFCLK_PS": 10025},      1, 1)])
def test_dead_and_wrong_clocks(measure_refclk, flags, values, ready, refclk_ok):
    """The count sees the transmit clock only, which follows a wrong reference clock."""
    seen = simulation(measure_refclk=measure_refclk).run(*flags, END_NS=60000, **values)
    assert (seen["ready"], seen["refclk_ok"]) == (ready, refclk_ok)
    if not seen["ready"]:
        assert seen["tx_lane"] == 0 and seen["rx_ready"] in (0, "x")
    stands = "NO_ROUTE" in flags or "REFCLK_STOP_NS" in values
    assert (seen["refclk_cycles"] != 0) == (measure_refclk and not stands)


@full
def test_pll_that_does_not_lock_is_reset_until_it_does():
    """The model's PLL loses its lock when its clock goes, and when it is reset. It may try the other rate between."""
    seen = simulation(measure_refclk=False).run("LOOPBACK", REFCLK_STOP_NS=30000, REFCLK_START_NS=40000, END_NS=130000)
    assert seen["ready_ns"] > 40000
    assert_receives(seen)


@full
def test_cdr_that_does_not_lock_is_reset_and_the_receiver_not_ready():
    seen = simulation().run(CDR_LOCK_NS=30000, END_NS=80000)
    assert seen["rx_ready"] == 0 and seen["words"] == 0


@full
@pytest.mark.parametrize("mode, measure_refclk", [("pcie", True), ("raw", False)])
@pytest.mark.parametrize("built, given", [(100e6, 200e6), (200e6, 100e6)])
def test_either_reference_clock(built, given, measure_refclk, mode):
    """The PLL tries the one of the build first, then the other one."""
    seen = simulation(mode=mode, refclk_freq=built, measure_refclk=measure_refclk).run(
        REFCLK_PS=round(1e12/given), END_NS=80000)
    assert seen["ready"] == seen["refclk_ok"] == 1 and seen["ready_ns"] > 35000
    assert_receives(seen)


def test_constant_inputs_are_those_of_the_generator():
    """As Lattice's generator writes them today for PCI Express."""
    channel = ECP5Channel(Record([(name, 1) for name in PADS]), Signal(), 100e6)
    found   = {item.name: item.expr for item in channel.block.items if not isinstance(item, Instance.Parameter)}
    for name, value in {"D_FFC_MACROPDB": 1, "D_FFC_MACRO_RST": 0, "D_FFC_DUAL_RST": 0, "D_SCIWSTN": 1, "D_SCIRD": 0,
        "CH0_FFC_TXPWDNB": 1, "CH0_FFC_RXPWDNB": 1, "CH0_FFC_ENABLE_CGALIGN": 0}.items():
        assert found[name].value == value, name


def test_waits_of_the_reset_sequence():
    assert Waits.at(100e6) == Waits()
    assert (Waits.at(75e6).pll, Waits.at(75e6).pulse, Waits.at(125e6).pulse) == (375000, 4, 5)


def test_wrong_reference_clock_is_refused():
    with pytest.raises(ValueError, match="^a reference clock of 1.25e\\+08 Hz is not supported; choose 1e\\+08 or 2e"):
        ECP5Channel(None, None, 100e6, refclk_freq=125e6)
