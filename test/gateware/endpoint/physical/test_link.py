# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Training against a port that shares no code with the gateware. test_scan.py has packets."""

import random

import pytest

from litepcie_soc.endpoint.physical.states import State
from test.gateware.endpoint.line import COM, IDL, PAD, UP, Line, Port, trained
from test.gateware.steps import wait


# Rules: 4.2.4.4; 4.2.6.3
@pytest.mark.parametrize("shift, inverted, seed", [(0, False, 1), (1, True, 2),
    *[pytest.param(n % 2, n % 4 > 1, n, marks=pytest.mark.full) for n in (4, 7)]])
def test_the_link_comes_up(shift, inverted, seed):
    """In both alignments, and with an inverted lane."""
    line = Line(Port(seed, link=seed, inverted=inverted), trained, shift)
    assert line.states == UP and line.port.states[-1] == "L0"


def test_extended_synch():
    """1024 training sets in Recovery.RcvrLock; here the last 60 of them."""
    def script(line):
        yield from trained(line)
        yield line.dut.ltssm.extended.eq(1)
        line.port.enter("recovery")
        yield from line.until("RECOVERY_LOCK", 300)
        yield line.dut.ltssm.sent.eq(1024 - 60)
        begun = line.cycle
        yield from trained(line)
        assert line.cycle - begun > 60*8
    Line(Port(), script)


# Rules: 4.2.6.4; 4.2.4.3
@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_recovery(seed):
    """Asked for by us, by the port, by a loss of symbols, and by silence; LinkUp stays."""
    def script(line):
        serdes, ltssm = line.serdes, line.dut.ltssm
        yield from trained(line)
        for signal in (line.dut.retrain, serdes.rx_overflow):
            yield signal.eq(1)
            yield from line.until("RECOVERY_LOCK", 9)
            yield signal.eq(0)
            yield from trained(line)
        line.port.enter("recovery")
        yield from line.until("RECOVERY_LOCK", 300)
        yield from trained(line)
        yield ltssm.silence.eq(1)
        yield from line.until("RECOVERY_LOCK", 9)
        yield from trained(line)
        assert (yield line.dut.link_up) and not (yield serdes.rx_align)
    line = Line(Port(seed), script, seed % 2)
    assert line.states == UP + ["RECOVERY_LOCK", "RECOVERY_CONFIG", "RECOVERY_IDLE", "L0"]*4


@pytest.mark.parametrize("state", ["LANENUM", *[pytest.param(state, marks=pytest.mark.full)
    for state in ("POLLING_ACTIVE", "COMPLETE", "L0")]])
def test_a_port_that_falls_silent(state):
    """The link goes to Detect in the end, and comes up with a port that begins anew."""
    def script(line):
        yield from line.until(state)
        line.port.enter("off")
        for _ in range(9):
            # A state's time, or the silence in L0.
            yield [line.dut.ltssm.timer.eq(1), line.dut.ltssm.silence.eq(1)]
            yield from wait(300)
            if line.states[-1] in UP[:3] or line.states[-1] == "POLLING_COMPLIANCE":
                break
        assert line.states[-1] in (*UP[:3], "POLLING_COMPLIANCE"), line.states
        assert not (yield line.dut.link_up)
        yield line.dut.ltssm.timer.eq(1)
        yield from line.begin_anew()
    assert Line(Port(7), script).states[-8:] == UP[2:]


@pytest.mark.full
def test_a_lane_number_that_we_cannot_have():
    """The answer is lane 0, and the link waits for the port to agree; if it does not, it goes to Detect."""
    def says(state, fields):
        if state in ("lane", "complete"):
            fields["lane"] = 3
    def script(line):
        yield from line.until("LANENUM")
        yield from wait(100)
        sent = [symbol for symbol in line.sent if symbol is not None]
        at   = max(n for n in range(len(sent) - 16) if sent[n] == 0x1bc and sent[n + 1] != 0x11c)
        assert sent[at + 1:at + 3] == [5, 0]
        yield from line.expire()
        yield from line.until("DETECT_QUIET", 30)
        line.port.says = lambda state, fields: None
        yield from line.begin_anew()
    Line(Port(13, says=says), script)


def test_a_lane_that_always_seems_idle():
    """Loss of signal is told although the port sends: the card trains nevertheless, also from Polling.Compliance."""
    def script(line):
        line.port.enter("off")
        yield from line.until("POLLING_ACTIVE")
        yield from line.expire()
        yield from line.until("POLLING_COMPLIANCE", 20)
        yield from line.begin_anew()
    line = Line(Port(5), script, seems_idle=True)
    assert line.states == UP[:3] + ["POLLING_COMPLIANCE"] + UP[2:]


# Rules: 4.2.6.1
def test_without_a_receiver():
    """Detection again and again, and nothing is sent. After 8 of them the card polls, as the result may be wrong."""
    def script(line):
        for _ in range(11):
            yield from wait(20)
            yield from line.expire()
    line = Line(Port(14), script, present=False)
    assert line.states == ["DETECT_QUIET", "DETECT_ACTIVE"]*9 + ["POLLING_ACTIVE", *UP[:2], "DETECT_QUIET"]
    assert set(line.sent) > {None} and line.sent[-20:] == [None]*20


def test_a_port_that_receiver_detection_does_not_find():
    def script(line):
        yield from wait(20)
        yield from line.begin_anew()
    assert Line(Port(15), script, present=False).states == UP[:2] + UP


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_port_does(seed):
    """States in any order, sets with any numbers and bits, symbols that are wrong, and times that are over: afterwards,
    a port that begins anew gets its link."""
    rng   = random.Random(seed)
    chaos = [True]
    def says(state, fields):
        if chaos[0] and rng.random() < 0.1:
            fields[rng.choice(["link", "lane", "n_fts", "rate", "control"])] = rng.choice([PAD, *range(256)])
    def wrong(symbol):
        if not chaos[0] or rng.random() > 0.01:
            return symbol
        return rng.choice([None, rng.randrange(512), 0x200 | rng.randrange(512)])
    def script(line):
        yield from line.until("POLLING_ACTIVE")
        for _ in range(60):
            line.port.enter(rng.choice(["off", "polling", "polled", "width", "lane", "complete", "configured", "idle",
                "L0", "recovery", "anything"]))
            yield from wait(rng.choice([3, 40, 300]))
            if rng.random() < 0.4:
                yield line.dut.ltssm.timer.eq(1)
        chaos[0] = False
        line.port.enter("off")
        for _ in range(600):
            yield line.dut.ltssm.timer.eq(min(5, (yield line.dut.ltssm.timer)))
            yield line.dut.ltssm.silence.eq(min(5, (yield line.dut.ltssm.silence)))
            yield
            if line.states[-1] == "POLLING_ACTIVE":
                break
        yield from line.begin_anew()
    assert Line(Port(seed, says=says), script, seed % 2, symbol=wrong).states[-8:] == UP[2:]


def asleep(line, state):
    """From L0 to L1 or L2, with a port that follows. EIOS and idle, as long as nobody wakes the link."""
    yield from trained(line)
    yield line.dut.ltssm.sleep.eq(1 if state == "L1" else 2)
    yield from line.until(state, 9)
    yield line.dut.ltssm.sleep.eq(0)
    yield from wait(20)
    line.port.enter("off")
    line.port.queue = []
    sent = [symbol for symbol in line.sent if symbol is not None][-4:]
    assert sent == [COM, IDL, IDL, IDL]
    for _ in range(600):
        yield
        assert line.sent[-1] is None
    yield from line.expire()
    yield from wait(200)
    assert line.states[-1] == state and (yield line.dut.link_up)


def test_noise_of_a_link_that_sleeps_is_no_error():
    """A receiver that stays locked gives noise while the port is idle."""
    def script(line):
        yield from asleep(line, "L1")
        noise.append(True)
        for _ in range(50):
            yield
            assert not (yield line.dut.symbol_error)
        noise.clear()
        line.port.enter("recovery")
        yield from trained(line)
    noise = []
    Line(Port(), script, symbol=lambda symbol: 0x3ee if noise else symbol, seems_idle=True)


def test_l2_ends_in_detect():
    def script(line):
        yield from asleep(line, "L2")
        yield from line.begin_anew()
    assert Line(Port(), script).states == UP + ["L2"] + UP


@pytest.mark.parametrize("state, partner", [("L1", "sends"), ("L2", "sends"), ("L1", "recovers")])
def test_a_port_that_does_not_follow(state, partner):
    """It goes on sending, or has begun Recovery: the link is brought back."""
    def script(line):
        yield from trained(line)
        yield line.dut.ltssm.sleep.eq(1 if state == "L1" else 2)
        yield from line.until(state, 9)
        yield line.dut.ltssm.sleep.eq(0)
        yield from wait(300)
        assert line.states[-1] == state
        if partner == "recovers":
            line.port.enter("recovery")
        else:
            yield from line.expire()
        yield from trained(line)
        assert (yield line.dut.link_up)
    assert Line(Port(), script).states[len(UP):] == [state, "RECOVERY_LOCK", "RECOVERY_CONFIG",
        "RECOVERY_IDLE", "L0"]


@pytest.mark.parametrize("state", ["L0", pytest.param("DETECT_QUIET", marks=pytest.mark.full)])
def test_polling_active_is_held(state):
    """Though the partner goes on; and the link comes up after it."""
    def script(line):
        yield from line.until(state)
        yield line.dut.ltssm.hold.eq(1)
        yield from line.until("POLLING_ACTIVE", 20000)
        for _ in range(1000):
            assert (yield line.dut.ltssm.state) == State.POLLING_ACTIVE and not (yield line.dut.link_up)
            yield
        yield line.dut.ltssm.hold.eq(0)
        line.port.enter("detect")
        yield from trained(line)
    Line(Port(), script)
