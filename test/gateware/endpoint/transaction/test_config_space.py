# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The configuration space against that of the simulated hard block (sim/src/card), by random accesses; the log of
errors in cycles that these do not meet, and errors that cross to it from the card's clock."""

import random

import pytest
from migen import *
from litex.gen import *

from litepcie_soc.endpoint.phy                      import ErrorCrossing
from litepcie_soc.endpoint.transaction.config_space import ConfigSpace
from litepcie_soc.endpoint.transaction.errors       import (
    CORRECTABLE, KINDS, MALFORMED, MALFORMED_TLP, REQUEST, SOURCES, UNSUPPORTED, ErrorLog,
)
from litepcie_soc.phy.shapes                        import REPORTED_ERRORS
from test.gateware.endpoint.verilated               import compiled, needs_verilator, passes
from test.gateware.simulation                       import forever, simulate
from test.gateware.steps                            import wait

CAUSES   = NONPOSTED, POSTED, COMPLETION = range(3)  # Of `ConfigSpace` of the simulator.
IDENTITY = dict(vendor=0x1204, device=0x1ce5, subsystem_vendor=0x1234, subsystem_device=0x1ce0, class_code=0x058000)


def error(name):
    """Number, source of the header (if any), bit and cause of an error."""
    kind  = KINDS[name]
    cause = POSTED if name.endswith("_posted") else COMPLETION if name == "poisoned_completion" else NONPOSTED
    return f"e {list(KINDS).index(name)} {len(SOURCES) if kind.source is None else kind.source} {kind.bit} {cause}"


def random_commands(rng, count):
    """For config_space_bench.cpp; mostly of the registers that there are."""
    known, commands = [*range(0x10), *range(0x10, 0x28), *range(0x40, 0x4c)], []
    for _ in range(count):
        dword = rng.choice(known) if rng.random() < 0.95 else rng.randrange(1024)
        kind  = rng.random()
        if kind < 0.5:
            commands.append(f"r {dword}")
        elif kind < 0.9:
            value = rng.choice([0, 2**32 - 1, rng.randrange(2**32), 1 << rng.randrange(32)])
            commands.append(f"w {dword} {value} {rng.choice([15, 15, rng.randrange(16)])}")
        else:
            header = " ".join(str(rng.randrange(2**32)) for _ in range(4))
            commands.append(rng.choice([*[f"{error(name)} {header}" for name in KINDS]*2,
                *[f"c {number} {bit}" for number, bit in enumerate(CORRECTABLE.values())],
                f"p {rng.randrange(1024)}", "f", "h", "z"]))
    return commands


class Top(LiteXModule):
    """The configuration space with ports whose names the bench knows."""
    def __init__(self, *options):
        self.dut    = dut = ConfigSpace(**IDENTITY, **dict(zip(("bar0_size", "max_payload", "extended_tag"), options)))
        errors      = Signal(len(KINDS), name="errors")
        correctable = Signal(len(CORRECTABLE), name="correctable")
        header, load = Signal(128, name="header"), Signal(len(SOURCES) + 1, name="load")
        ports = {name: getattr(dut, name) for name in ("address", "data_w", "be", "write", "data_r", "flr",
            "function_reset", "reset", "power_limit", "take_limit")}
        ports.update({name: getattr(dut.reports, name) for name in ("messages", "late")})
        for name, port in ports.items():
            port.name_override = name
        self.ports = {*ports.values(), errors, correctable, header, load}
        self.comb += [Cat(*dut.reports.errors.values()).eq(errors),
            Cat(*dut.reports.correctable.values()).eq(correctable), [one.eq(header) for one in dut.log.headers],
            Cat(*dut.log.load).eq(load)]


# Rules: 7.5; 7.8; 7.10; 6.6.2
@needs_verilator
@pytest.mark.parametrize("bar0_size, max_payload, extended_tag, count", [(2 << 20, 256, True, 30_000),
    *[pytest.param(*options, 150_000, marks=pytest.mark.full) for options in
        ((1 << 16, 128, False), (2 << 20, 512, True))]])
def test_equals_the_simulated_hard_block(bar0_size, max_payload, extended_tag, count):
    """Each register, then random accesses, errors and resets."""
    program  = passes(compiled(lambda: Top(bar0_size, max_payload, extended_tag), ["config_space_bench.cpp",
        "card/config_space.h", "card/config_space.cpp", "card/card.h"]))
    commands = [*[f"r {dword}" for dword in range(0x50)], *random_commands(random.Random(max_payload), count)]
    asked    = sum(command[0] in "rwec" for command in commands)
    answers, = program(*IDENTITY.values(), bar0_size, max_payload, int(extended_tag), text="\n".join(commands))
    assert int(answers) == asked > 0.8*count


def test_what_the_registers_say():
    dut, found = ConfigSpace(**IDENTITY, bar0_size=2 << 20), []
    def drive():
        for address, value in ((0x04, 6), (0x10, 0xfe5fffff), (0x68, 0x5130), (0x70, 0x88), (0x44, 3), (0x48, 1 << 16),
                (0x4c, 0x12345678), (0x50, 0x9), (0x54, 0xabcd1234)):
            yield [dut.address.eq(address//4), dut.data_w.eq(value), dut.be.eq(15), dut.write.eq(1)]
            yield
        yield dut.write.eq(0)
        yield
        for signal in (dut.memory_enable, dut.bus_master_enable, dut.bar0, dut.mps, dut.mrrs, dut.extended_tag,
                dut.rcb_128, dut.extended_synch, dut.power_state, dut.msi_enable, dut.msi_address, dut.msi_data):
            found.append((yield signal))
    simulate(dut, [drive()], cycles=10**6)
    assert found == [1, 1, 0xfe400000, 1, 5, 1, 1, 1, 3, 1, 0x912345678, 0x1234]


def test_slot_clock_configuration():
    """Bit 12 of Link Status; all else is the same."""
    own, slot = (ConfigSpace(**IDENTITY, bar0_size=4096, slot_clock=slot).table for slot in (False, True))
    assert {place: (own[place].value, slot[place].value) for place in slot if own[place] != slot[place]} == {
        0x70//4: (0x0011_0000, 0x1011_0000)}


@pytest.mark.parametrize("options, said", [(dict(bar0_size=3), "bar0_size is a power of two from 16 on, not 3"),
    (dict(bar0_size=4096, max_payload=64), "max_payload is 128, 256 or 512, not 64")])
def test_bad_parameters(options, said):
    with pytest.raises(ValueError, match=said):
        ConfigSpace(**IDENTITY, **options)


HEADER, OTHER = (sum(value << 32*n for n, value in enumerate((0x60000001, first, 3, 4))) for first in (1, 2))


def log(steps):
    """First Error Pointer and Header Log after each step, which is {signal's name: value} for one cycle."""
    dut, found = ErrorLog(), []
    signals = {"load": dut.load[REQUEST], "unknown": dut.unknown[REQUEST], "header": dut.headers[REQUEST],
        "load_malformed": dut.load[MALFORMED], "header_malformed": dut.headers[MALFORMED], "cleared": dut.cleared,
        "hold": dut.hold, **dut.logged}
    def drive():
        for step in steps:
            yield [signals[name].eq(value) for name, value in step.items()]
            yield
            yield [signals[name].eq(0) for name in step]
            words = []
            for word in range(4):
                yield dut.address.eq(word)
                yield
                yield
                words.append((yield dut.data))
            found.append(((yield dut.pointer), sum(value << 32*n for n, value in enumerate(words))))
    simulate(dut, [drive()])
    return found


LOAD, LATER, LOG, NOTHING = dict(load=1, header=HEADER), dict(load=1, header=OTHER), dict(unsupported=1), (0, 0)
CLEAR, USED = dict(cleared=1 << UNSUPPORTED), (UNSUPPORTED, HEADER)


# Rules: 7.10
@pytest.mark.parametrize("steps, expected", [
    # A header that came while the log was used is not that of the error that follows; the one after it is.
    ([LOAD, LOG, LATER, CLEAR, LOG, CLEAR, LATER, LOG], [NOTHING, USED, USED, NOTHING, (UNSUPPORTED, 0), NOTHING,
        NOTHING, (UNSUPPORTED, OTHER)]),
    # A header that nobody has.
    ([LOAD, LATER | dict(unknown=1), LOG], [NOTHING, NOTHING, (UNSUPPORTED, 0)]),
    # An error with the write that frees the log.
    ([LOAD, LOG, CLEAR | LOG], [NOTHING, USED, USED]),
    ([LOAD, LOG, CLEAR | dict(timeout=1)], [NOTHING, USED, (14, 0)]),
    # None during a reset.
    ([LOAD, dict(unsupported=1, hold=1)], [NOTHING, NOTHING]),
    # Two at once.
    ([LOAD, dict(load_malformed=1, header_malformed=OTHER), dict(unsupported=1, malformed=1)], [NOTHING, NOTHING,
        (MALFORMED_TLP, OTHER)])])
def test_first_error_and_its_header(steps, expected):
    assert log(steps) == expected


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
            pulses = [*(dut.reports.errors[error] for error in errors), dut.log.load[REQUEST]]
            yield [signal.eq(1) for signal in pulses]
            yield
            yield [signal.eq(0) for signal in pulses]
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
        for errors, header in [*steps, (set(), 0)]:
            yield [getattr(sink, name).eq(name in errors) for name in REPORTED_ERRORS]
            yield sink.header.eq(header)
            yield
        yield from wait(60)
    def watch():
        while True:
            if (yield top.dut.arrived):
                values = yield [getattr(source, name) for name in REPORTED_ERRORS]
                errors = {name for name, value in zip(REPORTED_ERRORS, values) if value}
                found.append((errors, None if (yield top.dut.unknown) else (yield source.header)))
            yield
    sys, pcie = periods
    simulate(top, {"sys_link": [drive()], "pcie_link": [forever(watch())]}, clocks={"sys": sys, "sys_link": sys,
        "pcie": pcie, "pcie_link": pcie})
    return found


ONE, TWO, THREE = {"poisoned"}, {"completer_abort"}, {"unexpected_completion"}


@pytest.mark.parametrize("periods", [(10, 8), (8, 30)])
def test_errors_cross_with_their_header(periods):
    pause = [(set(), 0)]*40
    assert crossed([(ONE, 5), *pause, (TWO, 6), *pause, (THREE, 7)], periods) == [(ONE, 5), (TWO, 6), (THREE, 7)]
    # Those that come before the first one has arrived are late, and without a header.
    assert crossed([(ONE, 5), (TWO, 6), (ONE, 7)], periods) == [(ONE, 5), (ONE | TWO, None)]
    assert crossed([(ONE | TWO, 5)], periods) == [(ONE | TWO, None)]
    assert crossed([({"completion_timeout"}, 5)], periods) == [({"completion_timeout"}, None)]


def test_an_error_that_comes_when_a_late_one_leaves():
    """A header is that of the only error which comes with it."""
    for pause in range(30):
        found = crossed([(ONE, 5), (TWO, 6), *[(set(), 0)]*pause, (THREE, 7)], (10, 8))
        assert set().union(*[errors for errors, _ in found]) == ONE | TWO | THREE
        assert all(header is None or (errors, header) in ((ONE, 5), (THREE, 7)) for errors, header in found), pause
