# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Polling.Compliance and Loopback slave: entry, what is sent, exit, and the link after it."""

import random

import pytest

from test.gateware.endpoint.line import COM, IDL, PAD, POLLS, TS1, UP, Line, Port, told, trained
from test.gateware.steps import wait

PATTERN = [COM, 0xb5, COM, 0x4a]


def modified(status):
    return [*PATTERN, status, status, COM, COM]


def last(line, part):
    """How often a pattern was sent in a row at the end."""
    symbols, count = line.sent[:len(line.sent)//len(part)*len(part)], 0
    shift   = next((n for n in range(len(part)) if symbols[-len(part):] == part[n:] + part[:n]), None)
    if shift is None:
        return 0
    rotated = part[shift:] + part[:shift]
    while symbols[-len(part)*(count + 1):][:len(part)] == rotated:
        count += 1
    return count


# Rules: 4.2.6.2
def test_without_an_answer():
    """A receiver is there, and nobody sends: the pattern without an end, until there is a signal."""
    port = Port(15)
    def script(line):
        port.enter("off")
        yield from line.until("POLLING_ACTIVE", 1000)
        yield from line.expire()
        yield from line.until("POLLING_COMPLIANCE", 30)
        line.sent.clear()
        yield from wait(12)
        assert None not in line.sent
        # No SKP sets.
        yield from wait(900)
        assert last(line, PATTERN) >= 440
        yield from line.expire()
        yield from wait(20)
        assert line.states[-1] == "POLLING_COMPLIANCE"
        port.enter("polling")
        yield from line.until("POLLING_ACTIVE", 40)
        line.sent.clear()
        yield from wait(30)
        assert None not in line.sent
        yield from trained(line)
    line = Line(port, script)
    assert line.states[-8:] == UP[2:]
    assert len(line.forced) > 440
    assert {(data, k) for data, k, _ in line.forced} == {(0xb5bc, 1)}
    # The last ones leave while the state has changed.
    assert {state for *_, state in line.forced} == {"POLLING_COMPLIANCE", "POLLING_ACTIVE"}


# Rules: 4.2.6.2
@pytest.mark.full
def test_asked_for_by_the_port():
    """After 24 ms, the modified pattern with the errors of what the port sends; it ends with the signal."""
    port = Port(16, polls=10**6, says=told(4, ["polling"]))
    def hear(line, symbols, status):
        port.raw = list(symbols)
        port.enter("raw")
        yield from wait(len(symbols)//2 - 20)
        assert last(line, modified(status)) > 1
        assert line.states[-1] == "POLLING_COMPLIANCE"
    def script(line):
        yield from line.until("POLLING_ACTIVE", 1000)
        yield from wait(400)
        yield from line.expire()
        yield from line.until("POLLING_COMPLIANCE", 30)
        yield from hear(line, [17]*200, 0)
        yield from hear(line, modified(0x80)*40, 0x80)
        yield from hear(line, [0x200 | 33, 0x211, 0x212, *modified(0x80)*40], 0x83)
        yield from hear(line, [0x200]*150 + modified(0x80)*40, 0xff)
        port.raw = []
        port.enter("off")
        yield from wait(200)
        assert line.states[-1] == "POLLING_COMPLIANCE"
        yield line.dut.ltssm.silence.eq(1)
        yield from line.until("DETECT_QUIET", 40)
        port.says, port.polls = told(4, []), POLLS
        yield from line.begin_anew()
    assert Line(port, script, shift=1).states[-8:] == UP[2:]


@pytest.mark.full
@pytest.mark.parametrize("says, after", [(told(2, ["polling"]), "POLLING_CONFIGURATION"),
    (lambda state, fields: fields.update(control=0x14 if state == "polling" else 0), "POLLING_CONFIGURATION"),
    (lambda state, fields: fields.update(control=0x10, lane=0), "DETECT_QUIET")])
def test_sets_that_do_not_ask_for_it(says, after):
    """Loopback goes first, and sets with a lane number do not count."""
    def script(line):
        yield from line.until("POLLING_ACTIVE", 1000)
        for _ in range(700):
            yield
            if line.states[-1] != "POLLING_ACTIVE":
                break
        yield from line.expire()
        yield from wait(20)
        assert after in line.states[1:] and "POLLING_COMPLIANCE" not in line.states
    Line(Port(17, polls=10**6, says=says), script)


EDB  = 0x1fe
EIOS = [COM, IDL, IDL, IDL, 0, 0, 0, 0]  # With what comes until the lane is idle.
ANY  = [*range(256), PAD, 0x1fb, 0x15c, 0x1fd, EDB, 0x13c]  # Without COM, IDL and SKP.


def pattern(seed, count=300):
    """Any symbols, with ordered sets between them; a hot reset among them asks for nothing in Loopback."""
    rng   = random.Random(seed)
    reset = [COM, PAD, PAD, 20, 2, 1, *[TS1]*10]
    return [*(rng.choice(ANY) for _ in range(count)), *reset*4, *(rng.choice(ANY) for _ in range(count))]


def contains(symbols, part):
    return any(symbols[n:n + len(part)] == part for n in range(len(symbols) - len(part) + 1))


def enter(line, recovery=False):
    """The port asks for Loopback, in Configuration or in Recovery."""
    if recovery:
        yield from trained(line)
        yield line.dut.retrain.eq(1)
        yield from line.until("RECOVERY_CONFIG", 900)
        yield line.dut.retrain.eq(0)
        yield from line.until("RECOVERY_IDLE", 900)
    else:
        yield from line.until("LINKWIDTH_START")
    line.port.says = told(2, ["loopback"])
    line.port.enter("loopback")
    yield from line.until("LOOPBACK_ACTIVE", 200)


def send(line, symbols, cycles):
    """The port sends them, then it is silent."""
    line.port.raw, line.sent, line.port.queue = list(symbols), [], []
    line.port.enter("raw")
    yield from wait(cycles)


def leave(line):
    """2 ms of silence, then the next link."""
    yield from line.until("LOOPBACK_EXIT", 40)
    yield from wait(20)
    assert line.sent[-20:] == [None]*20 and not (yield line.dut.link_up)
    assert (yield line.dut.ltssm.timer) > 249_000
    yield from line.expire()
    yield from line.until("DETECT_QUIET", 40)
    line.port.says  = told(2, [])
    yield from line.begin_anew()


# Rules: 4.2.6.10
@pytest.mark.parametrize("seed, recovery", [(1, False), pytest.param(2, True, marks=pytest.mark.full)])
def test_what_is_received_comes_back(seed, recovery):
    """In both alignments, from Configuration and from Recovery, with SKP sets, and the EIOS at the end as well. Wrong
    symbols come back as EDB."""
    sent = [*pattern(seed), 0x200 | 77, *range(40), 0x300, *range(41)]
    def script(line):
        yield from enter(line, recovery)
        yield from send(line, sent + EIOS, len(sent)//2 + 40)
        given  = line.port.given[:line.port.given.index(IDL) + 3]
        wanted = [EDB if symbol & 0x200 else symbol for symbol in given]
        assert wanted[-4:] == EIOS[:4] and wanted != given and contains(line.sent, wanted)
        yield from leave(line)
    line = Line(Port(seed), script, seed % 2)
    assert line.states[-8:] == UP[2:]


@pytest.mark.full
def test_a_port_that_falls_silent_without_eios():
    """Electrical idle is inferred after 128 us of silence, and not before."""
    def script(line):
        yield from enter(line, recovery=True)
        yield from send(line, pattern(5, 40), 100)
        yield from wait(200)
        assert line.states[-1] == "LOOPBACK_ACTIVE"
        assert 15_000 < (yield line.dut.ltssm.silence) < 16_000
        yield line.dut.ltssm.silence.eq(1)
        yield from leave(line)
    assert Line(Port(22), script).states[-8:] == UP[2:]


@pytest.mark.full
def test_a_port_that_never_leaves():
    """It keeps Loopback as long as it sends, also without any ordered set; the receiver is not reset meanwhile."""
    def script(line):
        yield from enter(line)
        yield line.dut.ltssm.silence.eq(20)
        line.port.to_skip = 10**6
        for n in range(8):
            line.port.raw = [n]*400
            line.port.enter("raw")
            yield line.dut.ltssm.silence.eq(20)
            for _ in range(100):
                yield
                assert not (yield line.serdes.rx_align)
        assert line.states[-1] == "LOOPBACK_ACTIVE" and not (yield line.dut.ltssm.rx_align)
        line.port.raw = EIOS
        line.port.enter("raw")
        yield from leave(line)
    Line(Port(23), script)


@pytest.mark.full
def test_one_set_that_asks_is_not_enough():
    def script(line):
        yield from line.until("LINKWIDTH_START")
        said = []
        def once(state, fields):
            if state == "width" and not said:
                said.append(fields.__setitem__("control", 4))
        line.port.says = once
        yield from trained(line)
        assert said
    assert Line(Port(24), script).states == UP
