#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Polling.Compliance: when it begins and ends, and what is sent."""

import pytest

from migen import passive

from test.gateware.phy.soft.line import POLLS, UP, Line, told, trained
from test.gateware.phy.soft.port import COM, Port

PATTERN = [COM, 0xb5, COM, 0x4a]


def modified(status):
    return [*PATTERN, status, status, COM, COM]


def watch_disparity(line):
    """Records the pairs in which the disparity is forced."""
    line.forced = []

    @passive
    def watch():
        serdes = line.serdes
        while True:
            if (yield serdes.tx_negative):
                line.forced.append(((yield serdes.tx_data), (yield serdes.tx_k), line.states[-1]))
            yield
    return watch()


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


def test_without_an_answer():
    """A receiver is there, and nobody sends: the pattern without an end, until there is a signal."""
    port = Port(15, polls=POLLS)

    def script(line):
        port.enter("off")
        yield from line.until("POLLING_ACTIVE", 1000)
        yield from line.expire()
        yield from line.until("POLLING_COMPLIANCE", 30)
        line.sent.clear()
        for _ in range(12):
            yield
        assert None not in line.sent
        # No SKP sets.
        for _ in range(900):
            yield
        assert last(line, PATTERN) >= 440
        yield from line.expire()
        for _ in range(20):
            yield
        assert line.states[-1] == "POLLING_COMPLIANCE"
        port.enter("polling")
        yield from line.until("POLLING_ACTIVE", 40)
        line.sent.clear()
        for _ in range(30):
            yield
        assert None not in line.sent
        yield from trained(line)
    line = Line(port, script, others=(watch_disparity,))
    assert line.states[-8:] == UP[2:]
    assert len(line.forced) > 440
    assert {(data, k) for data, k, _ in line.forced} == {(0xb5bc, 1)}
    # The last ones leave while the state has changed.
    assert {state for *_, state in line.forced} == {"POLLING_COMPLIANCE", "POLLING_ACTIVE"}


@pytest.mark.full
@pytest.mark.parametrize("shift", [0, 1])
def test_asked_for_by_the_port(shift):
    """After 24 ms, the modified pattern with the errors of what the port sends; it ends with the signal."""
    port = Port(16, polls=10**6, says=told(4, ["polling"]))

    def hear(line, symbols, status):
        port.raw = list(symbols)
        port.enter("raw")
        for _ in range(len(symbols)//2 - 20):
            yield
        assert last(line, modified(status)) > 1
        assert line.states[-1] == "POLLING_COMPLIANCE"

    def script(line):
        yield from line.until("POLLING_ACTIVE", 1000)
        for _ in range(400):
            yield
        yield from line.expire()
        yield from line.until("POLLING_COMPLIANCE", 30)
        yield from hear(line, [17]*200, 0)
        yield from hear(line, modified(0x80)*40, 0x80)
        yield from hear(line, [0x200 | 33, 0x211, 0x212, *modified(0x80)*40], 0x83)
        yield from hear(line, [0x200]*150 + modified(0x80)*40, 0xff)
        port.raw = []
        port.enter("off")
        for _ in range(200):
            yield
        assert line.states[-1] == "POLLING_COMPLIANCE"
        yield line.dut.ltssm.silence.eq(1)
        yield from line.until("DETECT_QUIET", 40)
        port.says, port.polls, port.queue = told(4, []), POLLS, []
        port.enter("polling")
        yield from trained(line)
    assert Line(port, script, shift, others=(watch_disparity,)).states[-8:] == UP[2:]


@pytest.mark.full
@pytest.mark.parametrize("says, after", [
    (told(2, ["polling"]), "POLLING_CONFIGURATION"),
    (lambda state, fields: fields.update(control=0x14 if state == "polling" else 0), "POLLING_CONFIGURATION"),
    (lambda state, fields: fields.update(control=0x10, lane=0), "DETECT_QUIET"),
])
def test_sets_that_do_not_ask_for_it(says, after):
    """Loopback goes first, and sets with a lane number do not count."""
    def script(line):
        yield from line.until("POLLING_ACTIVE", 1000)
        for _ in range(700):
            yield
            if line.states[-1] != "POLLING_ACTIVE":
                break
        yield from line.expire()
        for _ in range(20):
            yield
        assert after in line.states[1:] and "POLLING_COMPLIANCE" not in line.states
    Line(Port(17, polls=10**6, says=says), script)
