# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The log of errors in cycles that random accesses do not meet, and errors that cross to it from the card's clock."""

import pytest

from migen import *

from litex.gen import *

from litepcie_soc.phy.errors                 import REPORTED_ERRORS
from litepcie_soc.phy.soft.config_space      import ConfigSpace
from litepcie_soc.phy.soft.error_crossing    import ErrorCrossing
from litepcie_soc.phy.soft.error_kinds       import KINDS, MALFORMED, MALFORMED_TLP, REQUEST, UNSUPPORTED
from litepcie_soc.phy.soft.error_log         import ErrorLog

from test.gateware.phy.soft.test_config_space import IDENTITY
from test.gateware.simulation import simulate
from test.gateware.steps import wait

HEADER, OTHER = (sum(value << 32*n for n, value in enumerate((0x60000001, first, 3, 4))) for first in (1, 2))


def log(steps):
    """First Error Pointer and Header Log after each step, which is a list of (signal's name, value) for one cycle."""
    dut, found = ErrorLog(), []
    def signal(name):
        return {"load": dut.load[REQUEST], "unknown": dut.unknown[REQUEST], "header": dut.headers[REQUEST],
            "load_malformed": dut.load[MALFORMED], "header_malformed": dut.headers[MALFORMED]}.get(name) \
            if name not in (*KINDS, "cleared", "hold") else dut.logged.get(name, getattr(dut, name, None))
    def drive():
        for step in steps:
            for name, value in step.items():
                yield signal(name).eq(value)
            yield
            for name in step:
                yield signal(name).eq(0)
            words = []
            for word in range(4):
                yield dut.address.eq(word)
                yield
                yield
                words.append((yield dut.data))
            found.append(((yield dut.pointer), sum(value << 32*n for n, value in enumerate(words))))
    simulate(dut, [drive()])
    return found


LOAD, LOG, NOTHING = dict(load=1, header=HEADER), dict(unsupported=1), (0, 0)
CLEAR = dict(cleared=1 << UNSUPPORTED)


def test_a_header_that_came_while_the_log_was_used():
    """It is not that of the error that follows; the one after it is."""
    other = dict(load=1, header=OTHER)
    used  = (UNSUPPORTED, HEADER)
    assert log([LOAD, LOG, other, CLEAR, LOG, CLEAR, other, LOG]) == [NOTHING, used, used, NOTHING, (UNSUPPORTED, 0),
        NOTHING, NOTHING, (UNSUPPORTED, OTHER)]


def test_a_header_that_nobody_has():
    assert log([LOAD, dict(load=1, unknown=1, header=OTHER), LOG])[2] == (UNSUPPORTED, 0)


def test_an_error_with_the_write_that_frees_the_log():
    both = {**CLEAR, **LOG}
    assert log([LOAD, LOG, both]) == [NOTHING, (UNSUPPORTED, HEADER), (UNSUPPORTED, HEADER)]
    assert log([LOAD, LOG, {**CLEAR, "timeout": 1}])[2] == (14, 0)


def test_no_error_during_a_reset():
    assert log([LOAD, dict(unsupported=1, hold=1)])[1] == NOTHING


def test_two_at_once():
    assert log([LOAD, dict(load_malformed=1, header_malformed=OTHER), dict(unsupported=1, malformed=1)])[2] == (
        MALFORMED_TLP, OTHER)


@pytest.mark.parametrize("reset", ["reset", "function_reset"])
def test_a_reset_keeps_the_log_and_takes_no_error(reset):
    dut, found = ConfigSpace(**IDENTITY, bar0_size=2 << 20), []
    def read(offset):
        yield dut.address.eq(offset//4)
        yield from wait(3)
        found.append((yield dut.data_r))
    def drive():
        yield dut.log.headers[REQUEST].eq(HEADER)
        for errors in ({"unsupported_posted"}, {"malformed", "poisoned_posted"}):
            for error in errors:
                yield dut.reports.errors[error].eq(1)
            yield dut.log.load[REQUEST].eq(1)
            yield
            for error in errors:
                yield dut.reports.errors[error].eq(0)
            yield dut.log.load[REQUEST].eq(0)
            yield from wait(6)
            # The second errors come while it is asserted.
            yield getattr(dut, reset).eq(1)
            yield
        yield getattr(dut, reset).eq(0)
        for offset in (0x68, 0x104, 0x118, 0x11c, 0x120):
            yield from read(offset)
    simulate(dut, [drive()])
    assert found == [0x2810, 1 << UNSUPPORTED, UNSUPPORTED, 0x60000001, 1]


def crossed(steps, periods):
    """What arrives: [({errors}, header or None)]. Steps are ({errors}, header) for a cycle each."""
    class Top(LiteXModule):
        def __init__(self):
            for name in ("sys", "pcie", "sys_link", "pcie_link"):
                setattr(self, f"cd_{name}", ClockDomain(name))
            self.dut = ErrorCrossing()
    top, found = Top(), []
    sink, source = top.dut.sink, top.dut.source
    def drive():
        yield from wait(10)
        for errors, header in steps:
            for name in REPORTED_ERRORS:
                yield getattr(sink, name).eq(name in errors)
            yield sink.header.eq(header)
            yield
        for name in REPORTED_ERRORS:
            yield getattr(sink, name).eq(0)
        yield sink.header.eq(0)
        yield from wait(60)
    @passive
    def watch():
        while True:
            if (yield top.dut.arrived):
                errors = set()
                for name in REPORTED_ERRORS:
                    if (yield getattr(source, name)):
                        errors.add(name)
                found.append((errors, None if (yield top.dut.unknown) else (yield source.header)))
            yield
    sys, pcie = periods
    simulate(top, {"sys_link": [drive()], "pcie_link": [watch()]}, clocks={"sys": sys, "sys_link": sys,
        "pcie": pcie, "pcie_link": pcie})
    return found


@pytest.mark.parametrize("periods", [(10, 8), (8, 30)])
def test_errors_cross_with_their_header(periods):
    one, two, three = {"poisoned"}, {"completer_abort"}, {"unexpected_completion"}
    pause = [(set(), 0)]*40
    assert crossed([(one, 5), *pause, (two, 6), *pause, (three, 7)], periods) == [(one, 5), (two, 6), (three, 7)]
    # Those that come before the first one has arrived are late, and without a header.
    assert crossed([(one, 5), (two, 6), (one, 7)], periods) == [(one, 5), (one | two, None)]
    assert crossed([(one | two, 5)], periods) == [(one | two, None)]
    assert crossed([({"completion_timeout"}, 5)], periods) == [({"completion_timeout"}, None)]


def test_an_error_that_comes_when_a_late_one_leaves():
    """A header is that of the only error which comes with it."""
    one, two, three = {"poisoned"}, {"completer_abort"}, {"unexpected_completion"}
    for pause in range(30):
        found = crossed([(one, 5), (two, 6), *[(set(), 0)]*pause, (three, 7)], (10, 8))
        assert set().union(*[errors for errors, _ in found]) == one | two | three
        assert all(header is None or (errors, header) in ((one, 5), (three, 7)) for errors, header in found), pause
