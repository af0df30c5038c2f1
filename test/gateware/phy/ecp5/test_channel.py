#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The channel against the behavioural DCU: resets, clocks, alignment, detection.

The waits are 256 times shorter: the transmitter is ready after 20 to 31 us, the receiver about 13 us later.
"""

import pytest

from migen import ClockDomainsRenamer, Constant, Instance, Record, Signal

from litex.gen import LiteXContext, LiteXModule

from litepcie_soc.phy.ecp5.channel import ECP5Channel
from litepcie_soc.phy.ecp5.code import codes, encode
from litepcie_soc.phy.ecp5.coded import STUCK, CodedReceiver
from litepcie_soc.phy.ecp5.reset import Waits
from litepcie_soc.phy.ecp5.words import MODES
from litepcie_soc.phy.soft.symbols import COM, UNDECODABLE

from test.gateware.phy.ecp5.simulator import PADS, Simulation, decode_tables, simulation
from test.gateware.simulation import simulate

full = pytest.mark.full

# What must hold in every mode of the channel. The interface lies behind the elastic buffer, if the mode has one.
each_mode = pytest.mark.parametrize("mode", MODES)
# The elastic buffers: in the fabric, in the DCU, and in the fabric with a received clock that is twice as fast.
each_buffer = pytest.mark.parametrize("mode", ["pcie", "ctc", "no-gear"])

# Mode, clock offset, bits of shift. The DCU finds the comma, except in raw mode: there every shift is another case.
ALIGNMENTS = [(mode, 300 - 600*(bits % 2), bits) for mode in MODES for bits in range(0, 20, 1 if mode == "raw" else 5)]


def assert_receives(seen, errors=0, idle=0):
    """The counter of the partner arrives without a gap, and each wrong symbol is flagged."""
    assert seen["rx_ready"] == 1 and seen["rx_idle"] == idle
    assert seen["coms"] > 20 and seen["wrong"] == seen["stream_errors"] == 0 and seen["synced"] == 1
    assert seen["errors"] == errors


@pytest.mark.parametrize("mode, ppm, bits", [alignment if alignment == ALIGNMENTS[0] else
    pytest.param(*alignment, marks=full) for alignment in ALIGNMENTS])
def test_receives_at_any_alignment_and_clock_offset(mode, ppm, bits):
    """Every third one with an inverted lane."""
    flags = ("INVERT", "POLARITY")*(bits % 3 == 0)
    assert_receives(simulation(mode=mode).run(*flags, PPM=ppm, SHIFT_PS=400*bits + 77, END_NS=48000))


@full
def test_is_simulated_after_a_soc_was_built_in_the_same_process(monkeypatch):
    """LiteX writes the hierarchy of that SoC into every later Verilog, with characters beyond ASCII."""
    soc   = LiteXModule()
    soc.a = LiteXModule()
    monkeypatch.setattr(LiteXContext, "top", soc)
    assert_receives(Simulation().run(END_NS=48000))


@full
@each_buffer
def test_no_symbol_is_lost_while_skp_are_removed_and_added(mode):
    """Each way for so long that more than 30 symbols must go or come."""
    fast, slow = (simulation(mode=mode, elastic=True).run("SKP", PPM=ppm, END_NS=300000) for ppm in (600, -600))
    for seen in (fast, slow):
        assert_receives(seen)
        assert seen["overflows"] == 0
    assert fast["skips"] + 50 < slow["skips"]


@full
@each_buffer
def test_symbols_without_skp_overflow_and_the_receiver_goes_on(mode):
    seen = simulation(mode=mode, elastic=True).run(PPM=600, END_NS=300000)
    assert seen["overflows"] >= 2 and seen["rx_ready"] == 1 and seen["coms"] > 1000


@full
@each_mode
def test_interface_sends_what_it_receives_after_detection_found_the_partner(mode):
    seen = simulation(mode=mode, elastic=True).run("LOOPBACK", DETECT_NS=33000, START_NS=44000, END_NS=62000)
    assert seen["detect_done"] == seen["present"] == 1 and seen["missing"] == 0
    assert_receives(seen)


@full
@each_mode
def test_the_compliance_pattern_has_its_disparity(mode):
    """As bits of the lane. It begins again every 256 words, and the words before have turned the disparity."""
    seen = simulation(mode=mode).run("COMPLIANCE", END_NS=48000)
    assert seen["patterns"] > 900 and seen["reversed"] == 0


@full
def test_the_compliance_pattern_without_its_disparity():
    without = Simulation(faults={"CH0_FF_TX_D_9": Constant(0)}).run("COMPLIANCE", END_NS=48000)
    assert without["patterns"] > 300 and without["reversed"] > 300


@full
@each_mode
def test_an_inverted_lane_without_inversion_is_not_the_partner_data(mode):
    seen = simulation(mode=mode).run("INVERT", END_NS=48000)
    assert seen["stream_errors"] > 100


@full
@pytest.mark.parametrize("flags, values, present, missing", [
    ((),           {},             1, 0),
    ((),           {"PRESENT": 0}, 0, 0),
    (("NO_DONE",), {},             1, 1),
])
def test_receiver_detection(flags, values, present, missing):
    seen = simulation().run(*flags, DETECT_NS=33000, START_NS=60000, END_NS=50000, **values)
    assert (seen["detect_done"], seen["present"], seen["missing"]) == (1, present, missing)


@full
def test_detection_can_be_ignored():
    seen = simulation(receiver_detect=False).run(DETECT_NS=33000, START_NS=60000, END_NS=35000, PRESENT=0)
    assert (seen["detect_done"], seen["present"]) == (1, 1)


@full
def test_raw_mode_cannot_detect_and_says_present():
    seen = simulation(mode="raw").run(DETECT_NS=33000, START_NS=60000, END_NS=35000, PRESENT=0)
    assert (seen["detect_done"], seen["present"]) == (1, 1)


@full
@each_mode
def test_a_bit_error_is_flagged_and_the_link_stays_aligned(mode):
    seen = simulation(mode=mode).run(ERROR_AT_NS=46000, END_NS=52000)
    assert 1 <= seen["errors"] <= 2
    assert_receives(seen, seen["errors"])


@full
@pytest.mark.parametrize("status", [4, 7])
def test_a_status_that_always_tells_an_error_is_none(status):
    assert_receives(simulation().run(STATUS=status, END_NS=60000))


def test_when_the_status_of_a_symbol_counts():
    """Only while the link is up, and no longer after 64 errors in a row."""
    dut = ClockDomainsRenamer({"pcie_rx": "sys"})(CodedReceiver(geared=True))

    def script():
        for strict, status, data, cycles, error in (
            (0, 7, COM,         20,    0),
            (0, 0, UNDECODABLE, 20,    1),
            (1, 7, COM,         20,    1),
            (1, 0, COM,         20,    0),
            (1, 4, COM,         STUCK, 1),
            (1, 4, COM,         20,    0),
            (1, 4, UNDECODABLE, 20,    1),
            (1, 0, COM,         20,    0),
            (1, 4, COM,         20,    1)):
            yield dut.strict.eq(strict)
            yield dut.bus.eq((status << 9 | 1 << 8 | data) << 12)
            for cycle in range(cycles):
                yield
                if cycle > 3:
                    assert (yield dut.error) == error << 1, (strict, status, data, cycle)
    simulate(dut, [script()])


@full
@each_mode
def test_receiver_restarts_after_the_signal_was_lost(mode):
    seen = simulation(mode=mode).run(GAP_NS=45000, END_NS=65000)
    assert seen["resets"] == 1 and seen["rx_ready_ns"] > 56000
    assert_receives(seen)


@full
def test_receiver_is_reset_again_while_the_link_finds_no_ordered_set():
    seen = simulation().run("ALIGN", END_NS=65000)
    assert seen["resets"] >= 2


@full
@pytest.mark.parametrize("flags, values, idle", [
    (("NO_SIGNAL",), {},                   1),
    ((),             {"CHATTER_NS": 5000}, 0),
    ((),             {"CHATTER_NS": 2000}, 0)])
def test_loss_of_signal_that_is_wrong_only_delays_the_receiver(flags, values, idle):
    seen = simulation().run(*flags, END_NS=130600, **values)
    assert_receives(seen, idle=idle)
    assert 60000 < seen["rx_ready_ns"] < 100000 and seen["resets"] == 0


@full
@each_mode
def test_slot_reset_makes_the_lane_idle_and_keeps_the_receiver(mode):
    seen = simulation(mode=mode).run(PERST_NS=45000, END_NS=50000)
    assert seen["tx_lane"] == 0 and seen["ready"] == 0 and seen["rx_ready"] == 1


@full
@pytest.mark.parametrize("measure_refclk, flags, values, ready, refclk_ok", [
    (True,  (),            {},                        1, 1),
    (True,  ("DEAD_TX",),  {},                        0, 1),
    (True,  (),            {"PLL_LOCK_NS": 1000000},  0, 1),
    (True,  (),            {"REFCLK_STOP_NS": 1},     0, 0),
    (True,  (),            {"REFCLK_STOP_NS": 5000},  0, 0),
    (True,  (),            {"REFCLK_STOP_NS": 46000}, 0, 0),
    (True,  (),            {"REFCLK_PS": 6400},       0, 0),
    (True,  (),            {"REFCLK_PS": 20000},      0, 0),
    (True,  (),            {"REFCLK_PS": 10025},      1, 1),
    # Logic does not get the reference clock, though nextpnr has routed it.
    (True,  ("NO_ROUTE",), {},                        1, 0),
    (False, ("DEAD_TX",),  {},                        0, 0),
    (False, (),            {"REFCLK_STOP_NS": 46000}, 0, 0),
    (False, (),            {"REFCLK_PS": 6400},       0, 0),
    (False, (),            {"REFCLK_PS": 10025},      1, 1),
])
def test_dead_and_wrong_clocks(measure_refclk, flags, values, ready, refclk_ok):
    """The count sees the transmit clock only, which follows a wrong reference clock."""
    seen = simulation(measure_refclk=measure_refclk).run(*flags, END_NS=60000, **values)
    assert (seen["ready"], seen["refclk_ok"]) == (ready, refclk_ok)
    if not seen["ready"]:
        assert seen["tx_lane"] == 0 and seen["rx_ready"] in (0, "x")
    stands = "NO_ROUTE" in flags or "REFCLK_STOP_NS" in values
    assert (seen["refclk_cycles"] != 0) == (measure_refclk and not stands)


@full
@pytest.mark.parametrize("measure_refclk", [True, False])
def test_pll_that_locks_late(measure_refclk):
    seen = simulation(measure_refclk=measure_refclk).run(PLL_LOCK_NS=12000, END_NS=50000)
    assert seen["ready"] == 1


@full
def test_pll_that_does_not_lock_is_reset_until_it_does():
    """The model's PLL loses its lock when its clock goes, and when it is reset. It may try the other rate between."""
    seen = simulation(measure_refclk=False).run("LOOPBACK", REFCLK_STOP_NS=30000, REFCLK_START_NS=40000, END_NS=130000)
    assert seen["ready_ns"] > 40000
    assert_receives(seen)


@full
def test_receives_without_a_reference_clock_in_the_fabric():
    assert_receives(simulation(measure_refclk=False).run(PPM=-300, END_NS=52000))


@full
def test_no_received_word_counts_while_the_received_clock_is_dead():
    assert simulation().run("DEAD_RX", END_NS=50000)["words"] == 0


@full
def test_cdr_that_does_not_lock_is_reset_and_the_receiver_not_ready():
    seen = simulation().run(CDR_LOCK_NS=30000, END_NS=80000)
    assert seen["rx_ready"] == 0 and seen["words"] == 0


@full
@pytest.mark.parametrize("mode, measure_refclk", [(mode, n % 2 == 0) for n, mode in enumerate(MODES)])
@pytest.mark.parametrize("built, given", [(200e6, 200e6), (100e6, 200e6), (200e6, 100e6)])
def test_either_reference_clock(built, given, measure_refclk, mode):
    """The PLL tries the one of the build first, then the other one."""
    seen = simulation(mode=mode, refclk_freq=built, measure_refclk=measure_refclk).run(
        REFCLK_PS=round(1e12/given), END_NS=80000)
    assert seen["ready"] == seen["refclk_ok"] == 1 and (seen["ready_ns"] > 35000) == (built != given)
    assert_receives(seen)


@full
@pytest.mark.parametrize("mode, name, value, what", [
    ("pcie",    "CH0_FFC_LANE_RX_RST", Constant(0), "garbage"),
    ("pcie",    "CH0_FFC_LANE_TX_RST", Constant(0), "garbage"),
    ("pcie",    "CH0_FFC_RXPWDNB",     Constant(0), "dead"),
    ("pcie",    "D_SYNC_LOCAL_EN",     "0b0",       "dead"),
    ("pcie",    "D_MACROPDB",          "0b0",       "dead"),
    ("pcie",    "CH0_LSM_DISABLE",     "0b1",       "garbage"),
    ("pcie",    "CH0_UDF_COMMA_A",     "0x0",       "garbage"),
    ("ctc",     "CH0_SEL_SD_RX_CLK",   "0b1",       "garbage"),
    ("ctc",     "CH0_FF_EBRD_CLK",     Constant(1), "garbage"),
    ("no-gear", "CH0_TX_GEAR_MODE",    "0b1",       "dead"),
    ("no-gear", "CH0_FF_RX_F_CLK_DIS", "0b1",       "garbage"),
    ("raw",     "CH0_ENC_BYPASS",      "0b0",       "garbage"),
    ("raw",     "CH0_DEC_BYPASS",      "0b0",       "garbage"),
])
def test_the_model_shows_faults_of_resets_and_words(mode, name, value, what):
    seen = Simulation(faults={name: value}, mode=mode).run("LOOPBACK", END_NS=50000)
    if what == "dead":
        assert seen["ready"] == 0 and seen["words"] == 0
    else:
        assert seen["ready"] == 1 and not (seen["synced"] == 1 and seen["coms"] > 20)


def test_code_words_of_the_model():
    assert [encode(0xbc, 1, disparity)[0] for disparity in (0, 1)] == [0x17c, 0x283]
    for (word, disparity), (_, _, after) in codes().items():
        ones = word.bit_count() - 5
        assert ones in ((0, -1) if disparity else (0, 1)) and after == disparity ^ abs(ones)
    rows, _ = decode_tables()
    assert rows[0x17c] == 0x1bc and rows[1 << 10 | 0x17c] == 1 << 10 | 0x1bc and rows[0] & 1 << 9


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
