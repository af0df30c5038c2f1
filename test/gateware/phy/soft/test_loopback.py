#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Loopback slave: entry, what comes back, exit, and the link after it."""

import random

import pytest

from test.gateware.phy.soft.line import POLLS, UP, Line, told, trained
from test.gateware.phy.soft.port import COM, IDL, PAD, TS1, Port

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


def sent_until_eios(port):
    return port.given[:port.given.index(IDL) + 3]


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
    for _ in range(cycles):
        yield


def leave(line):
    """2 ms of silence, then the next link."""
    yield from line.until("LOOPBACK_EXIT", 40)
    for _ in range(20):
        yield
    assert line.sent[-20:] == [None]*20 and not (yield line.dut.link_up)
    assert (yield line.dut.ltssm.timer) > 249_000
    yield from line.expire()
    yield from line.until("DETECT_QUIET", 40)
    line.port.says  = told(2, [])
    line.port.queue = []
    line.port.enter("polling")
    yield from trained(line)


@pytest.mark.parametrize("seed", [1, *[pytest.param(n, marks=pytest.mark.full) for n in range(2, 8)]])
def test_what_is_received_comes_back(seed):
    """In both alignments, from Configuration and from Recovery, with SKP sets, and the EIOS at the end as well."""
    sent = pattern(seed)

    def script(line):
        yield from enter(line, recovery=seed % 4 > 1)
        yield from send(line, sent + EIOS, len(sent)//2 + 40)
        given = sent_until_eios(line.port)
        assert given[-4:] == EIOS[:4] and contains(line.sent, given)
        yield from leave(line)
    line = Line(Port(seed, polls=POLLS), script, seed % 2)
    assert line.states[-8:] == UP[2:]


@pytest.mark.full
def test_a_symbol_that_is_wrong_comes_back_as_edb():
    sent = [*range(40), 0x200 | 77, *range(40), 0x300, *range(41)]

    def script(line):
        yield from enter(line)
        yield from send(line, sent + EIOS, 150)
        wanted = [EDB if symbol & 0x200 else symbol for symbol in sent_until_eios(line.port)]
        assert wanted.count(EDB) == 2 and contains(line.sent, wanted)
        yield from leave(line)
    Line(Port(21, polls=POLLS), script)


@pytest.mark.full
@pytest.mark.parametrize("recovery", [False, True])
def test_a_port_that_falls_silent_without_eios(recovery):
    """Electrical idle is inferred after 128 us of silence, and not before."""
    def script(line):
        yield from enter(line, recovery)
        yield from send(line, pattern(5, 40), 100)
        for _ in range(200):
            yield
        assert line.states[-1] == "LOOPBACK_ACTIVE"
        assert 15_000 < (yield line.dut.ltssm.silence) < 16_000
        yield line.dut.ltssm.silence.eq(1)
        yield from leave(line)
    assert Line(Port(22, polls=POLLS), script).states[-8:] == UP[2:]


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
    Line(Port(23, polls=POLLS), script)


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
    assert Line(Port(24, polls=POLLS), script).states == UP
