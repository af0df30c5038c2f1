# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The configuration space against that of the simulated hard block (sim/src/host), by random accesses."""

import random
import subprocess

import pytest

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.config_space import ConfigSpace
from litepcie_soc.phy.soft.error_kinds  import CORRECTABLE, KINDS, SOURCES

from test.gateware.phy.soft.verilated import HERE, SIM, compiled, needs_verilator, passes
from test.gateware.simulation         import simulate

CAUSES   = NONPOSTED, POSTED, COMPLETION = range(3)  # Of `ConfigSpace` of the simulator.
IDENTITY = dict(vendor=0x1204, device=0x1ce5, subsystem_vendor=0x1234, subsystem_device=0x1ce0, class_code=0x058000)


@pytest.fixture(scope="session")
def oracle(tmp_path_factory):
    """Function (options, commands) that returns what the simulated hard block answers."""
    program = tmp_path_factory.mktemp("oracle") / "config_oracle"
    subprocess.run(["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I", SIM, "-o", program,
        HERE / "config_oracle.cpp", SIM / "host" / "config_space.cpp"], check=True)
    def ask(bar0_size, max_payload, extended_tag, commands):
        words = [*IDENTITY.values(), bar0_size, max_payload, int(extended_tag)]
        return [int(word) for word in subprocess.run([program, *map(str, words)], check=True, text=True,
            input="\n".join(commands), capture_output=True).stdout.split()]
    return ask


def random_commands(rng, count):
    """Mostly of the registers that there are. An error is `e NAME` and a header."""
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
            commands.append(rng.choice([*[f"e {name} {header}" for name in KINDS]*2,
                *[f"c {name}" for name in CORRECTABLE], f"p {rng.randrange(1024)}", "f", "h", "z"]))
    return commands


def for_oracle(command):
    """Errors by their bit and cause."""
    what, *words = command.split()
    if what == "c":
        return f"c {CORRECTABLE[words[0]]}"
    if what != "e":
        return command
    cause = POSTED if words[0].endswith("_posted") else COMPLETION if words[0] == "poisoned_completion" else NONPOSTED
    return " ".join(["e", str(KINDS[words[0]].bit), str(cause), *words[1:]])


def for_bench(command):
    """Errors by their number, and the source of the header, if any."""
    what, *words = command.split()
    if what == "c":
        return f"c {list(CORRECTABLE).index(words[0])}"
    if what != "e":
        return command
    source = KINDS[words[0]].source
    return " ".join(["e", str(list(KINDS).index(words[0])), str(len(SOURCES) if source is None else source),
        *words[1:]])


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


@needs_verilator
@pytest.mark.parametrize("bar0_size, max_payload, extended_tag, count", [(2 << 20, 256, True, 30_000),
    *[pytest.param(*options, 150_000, marks=pytest.mark.full) for options in
        ((1 << 16, 128, False), (2 << 20, 512, True))]])
def test_equals_the_simulated_hard_block(oracle, bar0_size, max_payload, extended_tag, count):
    """Each register, then random accesses, errors and resets."""
    program  = passes(compiled(lambda: Top(bar0_size, max_payload, extended_tag), ["config_space_bench.cpp"]))
    commands = [*[f"r {dword}" for dword in range(0x50)], *random_commands(random.Random(max_payload), count)]
    expected = oracle(bar0_size, max_payload, extended_tag, map(for_oracle, commands))
    got      = list(map(int, program(text="\n".join(map(for_bench, commands)))))
    asked    = [command for command in commands if command[0] in "rwec"]
    assert len(got) == len(expected) == len(asked) > 0.8*count
    for number, (command, one, other) in enumerate(zip(asked, got, expected)):
        assert one == other, f"access {number}, {command}: {one:08x}, expected {other:08x}"


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
