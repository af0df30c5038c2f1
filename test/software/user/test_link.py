# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""link: the state of the lane from a serial port that answers, and from ports and cards that do not."""

import fcntl
import json
import os
import pty
import re
import subprocess
import threading
import tty

import pytest

from litepcie_soc.endpoint.lane_view.layout import (
    CAUSES, COUNTERS, LINK_WINDOW, LOG_AT, LOG_ENTRIES, MAGIC, STATE, STATE_NAMES, VERSION, WORDS, state_word,
)
from litepcie_soc.endpoint.physical.states import State
from test.software.user.conftest import user_bus, write
from test.software.user.test_json import check

FAILED, USAGE, GONE = 1, 2, 4
LANE = 1 << 11

REGISTERS, SNAPSHOT = 0xf000, 0xf800
NAMES = "magic", "version", "control", "busy", "clock_hz", "locks", "refclk_hz", "refclk_window", "refclk_cycles",\
    "ignore", "image"


def status(**fields):
    """The word of this name."""
    return sum(fields.get(name, 0) << low for name, low, _, _ in STATE["status"])


class Board:
    """The other end of a serial port: LiteX's UARTBone in front of registers of a lane."""

    def __init__(self, base=0, **registers):
        self.registers = dict.fromkeys(NAMES, 0) | dict(magic=MAGIC, version=VERSION, clock_hz=100_000_000) | registers
        self.base, self.words, self.controls = base, [0]*WORDS, []
        self.page      = {}    # Other registers by offset.
        self.answers   = None  # Bytes that are still answered. None: all.
        self.silent    = 0     # Commands without an answer.
        self.terminal, self.port = pty.openpty()
        tty.setraw(self.port)
        self.name      = os.ttyname(self.port)
        self.server    = threading.Thread(target=self.serve, daemon=True)
        self.server.start()

    def close(self):
        """Ends the thread before its descriptor: the next board gets the same number."""
        os.close(self.port)  # With no port open, reading the terminal fails.
        self.server.join(60)
        assert not self.server.is_alive()
        os.close(self.terminal)

    def take(self, count):
        data = b""
        while len(data) < count:
            data += os.read(self.terminal, count - len(data))
        return data

    def word(self, address):
        offset = address - self.base
        if SNAPSHOT <= offset < SNAPSHOT + 4*WORDS:
            return self.words[(offset - SNAPSHOT)//4]
        place = (offset - REGISTERS)//4
        if offset in self.page:
            return self.page[offset]
        return self.registers[NAMES[place]] if 0 <= place < len(NAMES) else 0xffffffff

    def write(self, offset, value):
        assert offset == REGISTERS + 4*NAMES.index("control")
        self.controls.append(value)

    def serve(self):
        try:
            while True:
                command, count = self.take(2)
                address        = 4*int.from_bytes(self.take(4), "big")
                if command == 1:
                    assert count == 1
                    self.write(address - self.base, int.from_bytes(self.take(4), "big"))
                    continue
                answer = b"".join(self.word(address + 4*n).to_bytes(4, "big") for n in range(count))
                if self.silent:
                    self.silent -= 1
                else:
                    if self.answers is not None:
                        answer, self.answers = answer[:self.answers], max(0, self.answers - len(answer))
                    os.write(self.terminal, answer)
        except OSError:
            pass


@pytest.fixture
def board():
    boards = []

    def make(*args, **registers):
        boards.append(Board(*args, **registers))
        return boards[-1]
    yield make
    for one in boards:
        one.close()


@pytest.fixture
def link(build):
    def run(*arguments):
        result = subprocess.run([build/"litepcie_util", "link", *map(str, arguments)], capture_output=True, text=True,
            timeout=60)
        return result.returncode, result.stdout, result.stderr
    return run


def receiver(clock):
    """A clock in 100 MHz."""
    return round(LINK_WINDOW*clock/8) << 8


def in_l0(one, transitions=3):
    """Lets the board say that its link is up; every counter has another value."""
    for place, _ in enumerate(COUNTERS):
        one.words[place] = place
    one.words[state_word("status")] = status(ltssm=State.L0, link_up=1, dl_up=1, detect_done=1, detect_present=1,
        ready=1, infinite=0b110000, inverted=1)
    one.words[state_word("time_lo")], one.words[state_word("time_hi")] = 0x100, 1
    one.words[state_word("link_clock")] = round(LINK_WINDOW*1.25)
    one.words[state_word("receiver")]   = receiver(1.25)
    one.words[state_word("posted")]     = 5 | 0xfff << 16
    one.words[state_word("nonposted")]  = 0xff | 7 << 16
    one.words[state_word("logged")]     = transitions
    for n in range(max(0, transitions - LOG_ENTRIES), transitions):
        at = LOG_AT + 2*(n % LOG_ENTRIES)
        one.words[at:at + 2] = [(State.RECOVERY_LOCK if n & 1 else State.L0) | (n % 2**len(CAUSES)) << 8, 1000*n]


def test_everything_that_the_board_says(board, link):
    one = board(locks=0b111111, refclk_hz=100_000_000, refclk_window=65536, refclk_cycles=65500)
    in_l0(one)
    code, out, err = link("--serial", one.name, "--json")
    said = check("link", out)
    assert (code, err) == (0, "") and said["port"] == one.name
    assert said["state"] == "L0" and said["link_up"] and said["lane_inverted"] and said["flow_control_initialized"]
    assert said["counters"] == {name: place for place, name in enumerate(COUNTERS)}
    assert said["link_clock_hz"] == 125_000_000 and said["reference_clock_hz"] == 65536*100_000_000//65500
    assert said["reference_clock_measured"] is True
    assert said["receiver_clock_hz"] == 125_000_000
    assert said["time_ns"] == 8*(2**32 + 0x100)
    assert said["fewest_credits"] == {
        "posted":     {"infinite_headers": False, "infinite_data": False, "headers": 5},
        "nonposted":  {"infinite_headers": False, "infinite_data": False, "data": 7},
        "completion": {"infinite_headers": True, "infinite_data": True},
    }
    causes = list(CAUSES)
    assert said["transitions"] == [
        {"time_ns": 8000*n, "state": "Recovery.RcvrLock" if n & 1 else "L0",
            "causes": [name for bit, name in enumerate(causes) if n >> bit & 1]} for n in range(3)]
    assert one.controls == [1]


def test_text_names_all_and_shows_the_log(board, link):
    one = board()
    in_l0(one, transitions=100)
    code, out, _ = link("--serial", one.name)
    assert code == 0
    for place, (name, (_, meaning)) in enumerate(COUNTERS.items()):
        assert re.search(rf"^  {name} +{place}  {re.escape(meaning)}$", out, flags=re.MULTILINE)
    assert "state              L0; link up, flow control initialized" in out and "lane inverted" in out
    assert "link clock         125.000 MHz" in out and "reference" not in out
    assert "transitions        100, of which the last 64" in out
    assert re.search(r"^ +792\.000  Recovery.RcvrLock  \(the time .* was over; four replays", out, re.MULTILINE)
    assert len(re.findall(r"^ +\d+\.\d{3}  ", out, re.MULTILINE)) == LOG_ENTRIES


@pytest.mark.parametrize("nominal, link_clock, reference", [(100_000_000, 125_000_000, 100_000_000),
    (200_000_000, 124_968_750, 199_950_000)])
def test_the_link_clock_tells_a_reference_clock_that_is_not_measured(board, link, nominal, link_clock, reference):
    """While the PLL is locked: then the link's clock is that of the reference clock, multiplied."""
    one = board(locks=0b000111, refclk_hz=nominal)
    in_l0(one)
    one.words[state_word("link_clock")] = round(LINK_WINDOW*link_clock/1e8)
    said = check("link", link("--serial", one.name, "--json")[1])
    assert said["reference_clock_measured"] is False and abs(said["reference_clock_hz"] - reference) < 2000
    shown = f"reference clock    {said['reference_clock_hz']/1e6:.3f} MHz by the link clock, nominal {nominal/1e6:.3f}"
    assert f"{shown}\n" in link("--serial", one.name)[1]
    # Without the lock it has no frequency: not 0, which would be a clock that stands still.
    one = board(locks=0b000001, refclk_hz=nominal)
    in_l0(one)
    said = check("link", link("--serial", one.name, "--json")[1])
    assert said["reference_clock_measured"] is False and "reference_clock_hz" not in said
    assert "reference clock    not measured\n" in link("--serial", one.name)[1]


def test_every_state_has_a_name():
    states = {"Detect.Quiet": State.DETECT_QUIET, "Configuration.Lanenum.Wait": State.LANENUM, "L0": State.L0,
        "Recovery.Idle": State.RECOVERY_IDLE, "Disabled": State.DISABLED, "Loopback.Exit": State.LOOPBACK_EXIT}
    assert len(STATE_NAMES) == len(State) and [STATE_NAMES[state] for state in states.values()] == list(states)


def test_a_state_without_a_name(board, link):
    """In the registers and in the log."""
    one = board()
    in_l0(one)
    one.words[state_word("status")] = status(ltssm=31)
    one.words[LOG_AT] = 31
    code, out, _ = link("--serial", one.name)
    assert code == 0 and "state              unknown; " in out
    assert re.search(r"^ +0\.000  unknown", out, re.MULTILINE)


def test_clear_and_baud_and_address(board, link):
    one = board(base=0xf0000000)
    in_l0(one)
    assert link("--serial", one.name, "--clear", "--address", "0xf0000000", "--baud", 9600)[0] == 0
    assert one.controls == [1, 2]
    code, _, err = link("--serial", one.name, "--baud", 12345)
    assert code == USAGE and "12345 is not supported; choose 9600" in err


@pytest.mark.parametrize("fields, advice", [
    (dict(ltssm=State.DETECT_QUIET, ready=1, detect_done=1, rx_idle=1), "No receiver is at the other end"),
    (dict(ltssm=State.POLLING_ACTIVE, ready=1, detect_done=1, rx_idle=1), "No receiver is at the other end"),
    (dict(ltssm=State.DETECT_QUIET, ready=0), "The transmitter is not ready"),
    (dict(ltssm=State.POLLING_ACTIVE, ready=1, detect_done=1, detect_present=1, rx_idle=1), "but it sends nothing"),
    (dict(ltssm=State.POLLING_ACTIVE, ready=1, detect_done=1, detect_present=1), "no training sets were understood"),
    (dict(ltssm=State.POLLING_COMPLIANCE, ready=1, rx_idle=1), "it sends nothing: the compliance pattern is sent"),
    (dict(ltssm=State.POLLING_COMPLIANCE, ready=1), "asked for the modified compliance pattern"),
    (dict(ltssm=State.LOOPBACK_ACTIVE, ready=1), "asked for Loopback"),
    (dict(ltssm=State.LANENUM, ready=1, detect_done=1, detect_present=1), "the host does not go on"),
    (dict(ltssm=State.L0, link_up=1, ready=1, detect_done=1, detect_present=1), "flow control is not initialized"),
    (dict(ltssm=State.L0, link_up=1, dl_up=1, ready=1, detect_done=1, detect_present=1), None),
])
def test_advice_by_state(board, link, fields, advice):
    one = board()
    one.words[state_word("status")] = status(**fields)
    code, out, _ = link("--serial", one.name, "--json")
    said = json.loads(out).get("advice")
    assert code == 0 and (said is None if advice is None else advice in said)


@pytest.mark.parametrize("locks, clock, losses, advice", [
    (0b111111, 0,      0,  "the receiver's clock stands still"),
    (0b110111, 1.25,   0,  "the receiver does not lock to it"),
    (0b111111, 1.2518, 0,  "off by more than 1000 ppm"),
    (0b111111, 1.2482, 0,  "off by more than 1000 ppm"),
    (0b111111, 1.2508, 11, "loses the lock again"),
    (0b111111, 1.2508, 10, "no training sets were understood"),
])
def test_advice_by_what_the_receiver_does(board, link, locks, clock, losses, advice):
    """With a signal, of which the link makes nothing. A board whose locks are not known gets no such advice, above."""
    one = board(locks=locks, refclk_hz=100_000_000, refclk_window=65536, refclk_cycles=65536)
    one.words[state_word("status")]     = status(ltssm=State.POLLING_ACTIVE, ready=1, detect_done=1, detect_present=1)
    one.words[state_word("link_clock")] = round(LINK_WINDOW*1.25)
    one.words[state_word("receiver")]   = receiver(clock)
    one.words[list(COUNTERS).index("lock_losses")] = losses
    code, out, _ = link("--serial", one.name)
    assert code == 0 and advice in out
    shown = round(LINK_WINDOW*clock/8)*8/LINK_WINDOW*100
    assert f"receiver clock     {shown:.3f} MHz\n" in out


@pytest.mark.parametrize("registers, advice", [
    (dict(locks=0b100001, refclk_cycles=0), "The reference clock stands still"),
    (dict(locks=0b100001, refclk_cycles=32768), "has another frequency"),
    (dict(locks=0b100011, refclk_cycles=65536), "PLL does not lock, though"),
    (dict(locks=0b000001), "PLL does not lock. The reference clock, which this FPGA cannot measure"),
    # The reference clock gets to the SerDes only.
    *[pytest.param(registers, "The link's clock stands still", marks=pytest.mark.full) for registers in (
        dict(locks=0b100101, refclk_cycles=0), dict(locks=0b100111, refclk_cycles=65536), dict(locks=0b000111))],
    (dict(), "The link's clock stands still"),
])
def test_clocks_that_stand_still(board, link, registers, advice):
    """A snapshot never comes, but the registers answer."""
    one = board(busy=3, refclk_hz=100_000_000, refclk_window=65536, **registers)
    code, out, err = link("--serial", one.name)
    assert (code, err) == (0, "") and advice in out and "counters" not in out
    if registers:
        return
    said = check("link", link("--serial", one.name, "--json")[1])
    assert said["link_clock_runs"] is False and "counters" not in said
    code, _, err = link("--serial", one.name, "--clear")
    assert code == FAILED and "stands still" in err and err.count("\n") == 1


@pytest.mark.full
@pytest.mark.parametrize("answers", [0, 10, 100])
def test_a_board_that_stops_to_answer(board, link, answers):
    """A lost answer is asked for again."""
    one = board()
    in_l0(one)
    one.silent = 1
    assert link("--serial", one.name)[0] == 0
    one.answers = answers
    code, out, err = link("--serial", one.name)
    assert (code, out) == (GONE, "") and re.fullmatch(r"litepcie_util: .*: no answer: check the port, --baud.*\n", err)


def test_a_board_of_another_kind(board, link):
    """Or one whose port is in use."""
    for registers, said in ((dict(magic=0), "there are no registers of a lane: 0x00000000"),
            (dict(version=9), f"version 9, this program has version {VERSION}")):
        code, out, err = link("--serial", board(**registers).name)
        assert (code, out) == (FAILED, "") and said in err
    one = board()
    with open(one.name, "rb", buffering=0) as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        code, _, err = link("--serial", one.name)
    assert code == FAILED and "another program uses the port" in err


@pytest.mark.parametrize("arguments, code, message", [
    (("--serial", "/nowhere"), GONE, "/nowhere: No such file"),
    (("--serial", "/dev/null"), USAGE, "/dev/null is not a serial port; give one such as"),
    (("--serial", "/dev/null", "--device", "0"), USAGE, "give --serial or a card"),
    (("--baud", "9600"), USAGE, "give --serial PORT too"),
    (("--address", "0x10000"), USAGE, "give --serial PORT too"),
    (("--serial", "/dev/null", "--address", "0x1000"), USAGE, "0x1000 is not a multiple of 0x10000"),
    (("--serial", "/dev/null", "--baud", "2000000"), USAGE, "2000000 is too large"),
])
def test_wrong_command_lines(link, arguments, code, message):
    got, out, err = link(*arguments)
    assert (got, out) == (code, "") and message in err and err.count("\n") == 1


def test_cards_whose_lane_programs_cannot_reach(card, tmp_path):
    """A hard block tells its state at most."""
    result = card("link", sysfs=tmp_path, capabilities=0x1f | LANE)
    assert result.code == GONE and result.err.startswith("litepcie_util: /dev/litepcie0_user: ")
    result = card("link")
    assert result.code == USAGE and "a hard block, whose lanes cannot be seen" in result.err
    write(tmp_path / "sys" / "class" / "litepcie" / "litepcie0", {"ltssm": "0x16"})
    result = card("link", sysfs=tmp_path / "sys")
    assert (result.code, result.err) == (0, "") and result.out.startswith("state of the hard block  0x16; L0 is 0x16 ")
    said = check("link", card("link", "--json", sysfs=tmp_path / "sys").out)
    assert said["hard_block_ltssm"] == 0x16 and said["port"] == "/dev/litepcie0"
    assert card("link", "--clear", sysfs=tmp_path / "sys").code == USAGE


def test_through_the_driver(card, board, tmp_path):
    """The same registers behind the user's bus, whose origin the driver tells."""
    one = board()
    in_l0(one)
    words    = [one.word(address) for address in range(REGISTERS, SNAPSHOT + 4*WORDS, 4)]
    settings = user_bus(tmp_path, bytes(REGISTERS) + b"".join(word.to_bytes(4, "little") for word in words)) | {
        "capabilities": 0x1f | LANE}
    file     = settings["user"]
    result   = card("link", "--json", **settings)
    said     = check("link", result.out)
    assert (result.code, result.err) == (0, "") and said["port"] == "/dev/litepcie0_user" and said["state"] == "L0"
    assert said["counters"] == {name: place for place, name in enumerate(COUNTERS)}
    control = REGISTERS + 4*NAMES.index("control")
    assert file.read_bytes()[control:control + 4] == b"\1\0\0\0"
    assert card("link", "--clear", **settings).code == 0
    assert file.read_bytes()[control:control + 4] == b"\2\0\0\0"
