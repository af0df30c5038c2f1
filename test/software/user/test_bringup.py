# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""link with the image for bring-up, on a board that answers as told.

test/gateware/endpoint/serdes/ecp5/test_bringup.py has the image itself."""

import json

import pytest

from litepcie_soc.endpoint.lane_view.layout import CAPTURE_WORDS, LINK_WINDOW, LOG_AT, state_word
from litepcie_soc.endpoint.physical.states import State
from test.gateware.simulation import macros
from test.software.user.conftest import USER
from test.software.user.test_link import FAILED, GONE, USAGE, Board, link, receiver, status  # noqa: F401

REGS     = macros((USER / "util" / "litepcie_lane.h").read_text(encoding="utf-8"))
LOS, LOL = REGS["LANE_LEVELS_LOS"], REGS["LANE_LEVELS_LOL"]
TS1      = [0x1bc, 0x1f7, 0x1f7, 0x0ff, 0x002, 0x000, *[0x04a]*10]
QUICK    = "--seconds", "0.001"


class Image(Board):
    """A board with the image for bring-up: all is well, but for what is given.

    counts : {register: what it grows by while the counters run}, for 10 ms.
    """
    def __init__(self, symbols=TS1, logged=(), levels=0, detected=3, recorded=True, **counts):
        self.counts   = {"CYCLES": 10**6, "TRANSMIT": 156_250, "RECEIVE": 156_250, "STATUS_0": 2_500_000} | counts
        self.recorded = recorded
        Board.__init__(self, image=1, locks=0b111111, refclk_hz=100_000_000, refclk_window=65536, refclk_cycles=65536)
        pairs     = [symbols[n % len(symbols)] | symbols[(n + 1) % len(symbols)] << 12 for n in range(0, 1024, 2)]
        self.page = {address: 0 for address in range(REGS["LANE_TEST"], REGS["LANE_SCI_RESULT"] + 4, 4)}
        self.page |= {REGS["LANE_CAPTURE_MEMORY"] + 4*((n + 100) % CAPTURE_WORDS): pair for n, pair in enumerate(pairs)}
        self.page |= {REGS[f"LANE_{name}"]: value for name, value in (("LEVELS", levels), ("DETECTIONS", 5),
            ("DETECTED", detected*0b0101010101), ("CAPTURED", 100 << 8))}  # Word 100 is the oldest.
        self.words[state_word("status")]     = status(ltssm=State.POLLING_ACTIVE, ready=1)
        self.words[state_word("logged")]     = len(logged)
        self.words[LOG_AT:LOG_AT + 2*len(logged):2] = logged
        self.words[state_word("link_clock")] = round(LINK_WINDOW*1.25)
        self.words[state_word("receiver")]   = receiver(1.25)

    def write(self, offset, value):
        if offset not in self.page:
            Board.write(self, offset, value)
            return
        self.page[offset] = value
        if offset == REGS["LANE_TEST"] and value & REGS["LANE_TEST_RUN"]:
            for name, growth in self.counts.items():
                self.page[REGS[f"LANE_{name}"]] += growth
        if offset == REGS["LANE_CAPTURE"]:
            self.page[REGS["LANE_CAPTURED"]] = 100 << 8 | (not self.recorded)


@pytest.fixture
def image():
    images = []

    def make(kind=Image, **given):
        images.append(kind(**given))
        return images[-1]
    yield make
    for one in images:
        one.close()


@pytest.mark.parametrize("given, advice", [
    (dict(), "no training sets were understood"),
    (dict(levels=LOS), "Loss of signal is set while the receiver is locked and the symbols are good"),
    (dict(LOS=50), "Loss of signal comes and goes while the symbols are good"),
    (dict(levels=LOL, symbols=[0xff]), "A signal comes, but the receiver does not lock to it"),
    (dict(LOL=50), "The lock of the receiver comes and goes"),
    (dict(RECEIVE=0, recorded=False), "says that it is locked, but its clock stands still"),
    (dict(STATUS_0=0, STATUS_5=2_500_000), "Almost every symbol has the same status, and the symbols are good"),
    (dict(STATUS_0=0, STATUS_4=2_500_000, symbols=[0x1ee]), "many symbols are codes that do not exist"),
    (dict(detected=0), "Receiver detection gets no answer of the SerDes"),
    (dict(detected=1), "Receiver detection finds nobody (CON stays 0), though a signal comes"),
    (dict(detected=1, levels=LOS | LOL, symbols=[0]), "No receiver is at the other end, and no signal comes"),
    (dict(logged=[State.L0, State.RECOVERY_LOCK]), "The lane has reached L0: SerDes and link training work"),
])
def test_the_likeliest_cause(image, link, given, advice):  # noqa: F811
    code, out, _ = link("--serial", image(**given).name, "--json", *QUICK)
    assert code == 0 and advice in json.loads(out)["advice"]


def test_text(image, link):  # noqa: F811
    one = image(LOS=4, RECEIVE=156_259, STATUS_4=3)
    code, out, err = link("--serial", one.name, *QUICK, "--capture", "comma", "--test", "hold")
    assert (code, err, one.page[REGS["LANE_TEST"]]) == (0, "", 1)
    for line in ("bring-up           measured for 0.01 s, lane: hold", "transmit clock   125.000 MHz, +0 ppm",
        "receive clock    125.007 MHz, +58 ppm", "loss of signal   no, 400.0 changes per second",
        "5; the last ones, newest first (DONE CON): 11 11 11 11 11\n", "4 wrong code               3    0.00 %",
        " 0   K28.5   K23.7   K23.7   D31.7    D2.0    D0.0   D10.2"):
        assert line in out, line


@pytest.mark.parametrize("arguments, code, message", [
    (("--test", "loop"),          USAGE, "--test: loop is not supported; choose train, hold, d10.2 or compliance"),
    (("--capture", "status:8"),   USAGE, "--capture: status:8 is not supported; choose now, comma, status:N"),
    (("--capture", "state:L9"),   USAGE, "--capture: state:L9 is not supported"),
    (("--registers", "0x40"),     USAGE, "--registers: 0x40 is not supported; give a list such as"),
    (("--registers", "1=256"),    USAGE, "--registers: 1=256 is not supported"),
    (("--registers", "1,"),       USAGE, "--registers: 1, is not supported"),
    (("--save", "/nowhere/file"), FAILED, "--save: /nowhere/file: No such file or directory"),
])
def test_wrong_command_lines(image, link, arguments, code, message):  # noqa: F811
    got, out, err = link("--serial", image().name, *QUICK, *arguments)
    assert (got, out) == (code, "") and message in err and err.count("\n") == 1


class Noisy(Image):
    """The magic number is right once, then it is noise."""
    def word(self, address):
        word = Image.word(self, address)
        if address == REGS["LANE_MAGIC"]:
            self.registers["magic"] = 0x55
        return word


@pytest.mark.parametrize("kind, silent, code, message", [
    (Board, 0, USAGE,  "is a card; build and load the image for bring-up: targets/BOARD.py --build --bringup --load"),
    (Image, 9, GONE,   "no answer: check the port"),
    (Noisy, 0, FAILED, "other bytes are between the answers")], ids=["card", "silent", "noise"])
def test_ports_without_this_image(image, link, kind, silent, code, message):  # noqa: F811
    for asked in ([], ["--test", "hold"]):  # QUICK asks for a measurement, too.
        one = image(kind)
        one.silent = silent
        got, out, err = link("--serial", one.name, *QUICK, *asked)
        assert (got, out) == (code, "") and message in err and err.count("\n") == 1
