# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""link: what it makes of an image for bring-up, on a board that answers as told. test/sim/test_bringup.py has the image
itself."""

import json
import re

import pytest

from litepcie_soc.phy.soft.lane_layout import CAPTURE_BEFORE, CAPTURE_WORDS, LINK_WINDOW, TEST_MODES, state_word
from litepcie_soc.phy.soft.ltssm_states import State
from test.gateware.simulation import macros
from test.software.user.conftest import USER
from test.software.user.test_json import check
from test.software.user.test_link import FAILED, GONE, USAGE, Board, link, receiver, status  # noqa: F401

OF_HEADER = {name.removeprefix("LANE_"): value for name, value in macros(
    (USER / "util" / "litepcie_lane.h").read_text(encoding="utf-8")).items()}
LOS, LOL  = OF_HEADER["LEVELS_LOS"], OF_HEADER["LEVELS_LOL"]
RUN, BUSY = OF_HEADER["TEST_RUN"], OF_HEADER["CAPTURED_BUSY"]
TS1       = [0x1bc, 0x1f7, 0x1f7, 0x0ff, 0x002, 0x000, *[0x04a]*10]
NAMES     = ("TEST", "CYCLES", "TRANSMIT", "RECEIVE", "LOS", "LOL", "PLOL", "LEVELS", "DETECTIONS", "DETECTED",
    *[f"STATUS_{n}" for n in range(8)], "CAPTURE", "CAPTURED", "SCI", "SCI_RESULT")


class Image(Board):
    """A board with the image for bring-up: all is well, but for what is given.

    counts : {register: what it grows by while the counters run}, for 10 ms.
    """
    def __init__(self, symbols=TS1, state=State.POLLING_ACTIVE, levels=0, detections=(1, 1), recorded=True, **counts):
        self.counts   = {"CYCLES": 1_000_000, "TRANSMIT": 156_250, "RECEIVE": 156_250, "STATUS_0": 2_500_000} | counts
        self.recorded = recorded
        self.serdes   = {}
        Board.__init__(self, image=1, locks=0b111111, refclk_hz=100_000_000, refclk_window=65536, refclk_cycles=65536)
        self.page     = {OF_HEADER[name]: 0 for name in NAMES} | {OF_HEADER["LEVELS"]: levels,
            OF_HEADER["CAPTURED"]: 100 << 8, OF_HEADER["DETECTIONS"]: 5,
            OF_HEADER["DETECTED"]: sum((detections[0] | detections[1] << 1) << 2*n for n in range(5))}
        for n in range(CAPTURE_WORDS):
            lower, upper = (symbols[(2*n + half) % len(symbols)] for half in range(2))
            # The oldest word is the one with number 100.
            self.page[OF_HEADER["CAPTURE_MEMORY"] + 4*((n + 100) % CAPTURE_WORDS)] = lower | upper << 12
        self.words[state_word("status")]     = status(ltssm=state, ready=1, detect_done=1, detect_present=1)
        self.words[state_word("link_clock")] = round(LINK_WINDOW*1.25)
        self.words[state_word("receiver")]   = receiver(1.25)

    def write(self, offset, value):
        name = next((name for name in NAMES if OF_HEADER[name] == offset), None)
        if name is None:
            return Board.write(self, offset, value)
        if name == "TEST" and value & RUN:
            for counter, growth in self.counts.items():
                self.page[OF_HEADER[counter]] += growth
        if name == "CAPTURE":
            self.page[OF_HEADER["CAPTURED"]] = 100 << 8 | BUSY*(not self.recorded)
        if name == "SCI":
            place = value >> 8 & 0x7f
            if value >> 15:
                self.serdes[place] = value & 0xff
            self.page[OF_HEADER["SCI_RESULT"]] = self.serdes.get(place, 0x80 | place & 0x3f)
        self.page[offset] = value
        return None


@pytest.fixture
def image():
    images = []

    def make(**given):
        images.append(Image(**given))
        return images[-1]
    yield make
    for one in images:
        one.close()


QUICK = "--seconds", "0.001"


def test_all_that_was_measured(image, link, tmp_path):  # noqa: F811
    """In the text, in JSON, and in the file."""
    one  = image(LOS=4, RECEIVE=156_259, STATUS_4=3)
    file = tmp_path / "bringup.json"
    code, out, err = link("--serial", one.name, *QUICK, "--save", file, "--capture", "comma")
    assert (code, err) == (0, "")
    for line in ("bring-up           measured for 0.010 s, lane: train", "transmit clock   125.000 MHz, +0 ppm",
        "receive clock    125.007 MHz, +58 ppm", "loss of signal   no, 400.0 changes per second",
        "detections       5; the last ones, newest first (DONE CON): 11 11 11 11 11",
        "4 wrong code            3    0.00 %", " 0 K28.5   K23.7   K23.7   D31.7    D2.0    D0.0   D10.2"):
        assert line in out, line
    saved = check("link", file.read_text())
    said  = check("link", link("--serial", one.name, "--json", *QUICK)[1])
    found = saved["bringup"]
    assert found.pop("registers_of_channel") == [0x80 | n for n in range(64)] == found.pop("common_registers")
    assert found == said["bringup"] and "fewest_credits" not in saved
    assert found["symbols_by_status"] == [2_500_000, 0, 0, 0, 3, 0, 0, 0]
    assert found["last_detections"] == [{"done": True, "con": True}]*5
    words = found["recording"]["words"]
    assert words[:8] == [TS1[2*n] | TS1[2*n + 1] << 12 for n in range(8)] and len(words) == CAPTURE_WORDS
    assert found["recording"]["words_before_trigger"] == CAPTURE_BEFORE and found["recording"]["triggered"]


@pytest.mark.parametrize("given, advice", [
    (dict(), "no training sets were understood"),
    (dict(levels=LOS), "Loss of signal is set while the receiver is locked and the symbols are good"),
    (dict(LOS=50), "Loss of signal comes and goes while the symbols are good"),
    (dict(levels=LOL, symbols=[0xff]), "A signal comes, but the receiver does not lock to it"),
    (dict(LOL=50), "The lock of the receiver comes and goes"),
    (dict(RECEIVE=0, recorded=False), "says that it is locked, but its clock stands still"),
    (dict(STATUS_0=0, STATUS_5=2_500_000), "Almost every symbol has the same status, and the symbols are good"),
    (dict(STATUS_0=0, STATUS_4=2_500_000, symbols=[0x1ee]), "many symbols are codes that do not exist"),
    (dict(detections=(0, 0)), "Receiver detection gets no answer of the SerDes"),
    (dict(detections=(1, 0)), "Receiver detection finds nobody (CON stays 0), though a signal comes"),
    (dict(detections=(1, 0), levels=LOS | LOL, symbols=[0]), "No receiver is at the other end, and no signal comes"),
    (dict(state=State.L0), "The lane is in L0: SerDes and link training work"),
])
def test_the_likeliest_cause(image, link, given, advice):  # noqa: F811
    code, out, _ = link("--serial", image(**given).name, "--json", *QUICK)
    assert code == 0 and advice in json.loads(out)["advice"]


def test_what_the_lane_does_and_the_registers_of_the_serdes(image, link):  # noqa: F811
    """The mode stays until another one is asked for, also in a later run."""
    one = image()
    for n, mode in enumerate(TEST_MODES):
        assert link("--serial", one.name, *QUICK, "--test", mode)[0] == 0
        assert one.page[OF_HEADER["TEST"]] == n
    code, out, _ = link("--serial", one.name, *QUICK)
    assert "lane: compliance" in out and "--test train lets it train" in out
    code, _, err = link("--serial", one.name, *QUICK, "--registers", "0x15=0x3f,common:0x15,0x15")
    assert code == 0 and one.serdes == {0x15: 0x3f}
    assert re.findall(r"register (\S+) of the SerDes (.*)\n", err) == [("0x15", "now reads as 0x3f"),
        ("common:0x15", "reads as 0x95"), ("0x15", "reads as 0x3f")]


@pytest.mark.parametrize("arguments, code, message", [
    (("--test", "loop"),          USAGE, "--test: loop is not supported; choose train, hold, d10.2 or compliance"),
    (("--capture", "status:8"),   USAGE, "--capture: status:8 is not supported; choose now, comma, status:N"),
    (("--capture", "state:L9"),   USAGE, "--capture: state:L9 is not supported"),
    (("--capture", "comma:1"),    USAGE, "--capture: comma:1 is not supported"),
    (("--registers", "0x40"),     USAGE, "--registers: 0x40 is not supported; give a list such as"),
    (("--registers", "1=256"),    USAGE, "--registers: 1=256 is not supported"),
    (("--registers", "1,"),       USAGE, "--registers: 1, is not supported"),
    (("--seconds", "11"),         USAGE, "11 is too large"),
    (("--save", "/nowhere/file"), FAILED, "--save: /nowhere/file: No such file or directory"),
])
def test_wrong_command_lines(image, link, arguments, code, message):  # noqa: F811
    got, out, err = link("--serial", image().name, *QUICK, *arguments)
    assert (got, out) == (code, "") and message in err and err.count("\n") == 1


def test_a_trigger_that_does_not_come_and_a_clock_that_stands_still(image, link):  # noqa: F811
    one = image(recorded=False)
    code, out, _ = link("--serial", one.name, *QUICK, "--capture", "state:L0")
    assert code == 0 and "recording        none: the receive clock stands still" in out
    assert one.page[OF_HEADER["CAPTURE"]] == 0


def test_ports_without_this_image(link):  # noqa: F811
    """The card's own image, a board that says nothing, and one that talks of its own accord."""
    card = Board()
    code, out, err = link("--serial", card.name, "--test", "hold")
    assert (code, out) == (USAGE, "") and "--test: the bitstream at" in err and "--build --bringup --load" in err
    card.close()
    other = Image()
    other.silent = 9
    code, out, err = link("--serial", other.name, *QUICK)
    assert (code, out) == (GONE, "") and "no answer: check the port" in err and err.count("\n") == 1
    other.close()
    # The magic number is right once, then it is noise.
    noisy = Image()
    magics, word = [], noisy.word
    def with_noise(address):
        if address == 0xf000:
            magics.append(address)
        return 0x55 if address == 0xf000 and len(magics) > 1 else word(address)
    noisy.word = with_noise
    code, out, err = link("--serial", noisy.name, *QUICK)
    assert (code, out) == (FAILED, "") and "other bytes are between the answers" in err and err.count("\n") == 1
    noisy.close()
