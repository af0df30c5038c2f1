#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The configuration space against that of the simulated hard block (sim/src/host), by random accesses."""

import random
import shutil
import subprocess

from pathlib import Path

import pytest

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.config_space import ConfigSpace
from litepcie_soc.phy.soft.error_kinds  import CORRECTABLE, KINDS, SOURCES

from test.gateware.verilate import to_verilog, verilate

HERE     = Path(__file__).resolve().parent
SIM      = HERE.parents[3] / "sim" / "src"
CAUSES   = NONPOSTED, POSTED, COMPLETION = range(3)  # Of `ConfigSpace` of the simulator.
CODES    = {0: 0, 1: 0x30, 2: 0x31, 4: 0x33}  # Messages by their kinds' bits.
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


def random_commands(rng, count, restarts=True):
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
                *[f"c {name}" for name in CORRECTABLE], f"p {rng.randrange(1024)}", "f", "h", *["z"]*restarts]))
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


def answers(dut, commands):
    """What the gateware answers."""
    found = []

    def drive():
        for command in commands:
            what, *words = command.split()
            values = [int(word) for word in words if word.isdigit()]
            if what == "r":
                yield dut.address.eq(values[0])
                yield
                yield
                yield
                found.append((yield dut.data_r))
            elif what == "w":
                yield dut.address.eq(values[0])
                yield dut.data_w.eq(values[1])
                yield dut.be.eq(values[2])
                yield dut.write.eq(1)
                yield
                yield dut.write.eq(0)
                yield
                found.append((yield dut.flr))
            elif what == "p":
                yield dut.power_limit.eq(values[0])
                yield dut.take_limit.eq(1)
                yield
                yield dut.take_limit.eq(0)
                yield
            else:
                pulses = [dut.function_reset if what == "f" else dut.reset if what == "h" else
                    dut.reports.errors[words[0]] if what == "e" else dut.reports.correctable[words[0]]]
                source = KINDS[words[0]].source if what == "e" else None
                if source is not None:
                    yield dut.log.headers[source].eq(sum(value << 32*n for n, value in enumerate(values)))
                    pulses.append(dut.log.load[source])
                for pulse in pulses:
                    yield pulse.eq(1)
                yield
                for pulse in pulses:
                    yield pulse.eq(0)
                yield
                if what in "ec":
                    found.append(CODES[(yield dut.reports.messages) | (yield dut.reports.late)])
    run_simulation(dut, drive())
    return found


@pytest.mark.parametrize("bar0_size, max_payload, extended_tag, count", [(2 << 20, 256, True, 600),
    pytest.param(1 << 16, 128, False, 6000, marks=pytest.mark.full),
    pytest.param(2 << 20, 512, True, 6000, marks=pytest.mark.full)])
def test_equals_the_simulated_hard_block(oracle, bar0_size, max_payload, extended_tag, count):
    dut      = ConfigSpace(**IDENTITY, bar0_size=bar0_size, max_payload=max_payload, extended_tag=extended_tag)
    commands = [*[f"r {dword}" for dword in range(0x50)], *random_commands(random.Random(count), count, restarts=False)]
    expected = oracle(bar0_size, max_payload, extended_tag, map(for_oracle, commands))
    got      = answers(dut, commands)
    asked    = [command for command in commands if command[0] in "rwec"]
    for command, one, other in zip(asked, got, expected):
        assert one == other, f"{command}: {one:08x}, expected {other:08x}"
    assert len(got) == len(expected) == len(asked)


class Top(LiteXModule):
    """The configuration space with the ports that config_space_bench.cpp drives."""
    def __init__(self, **options):
        self.dut = dut = ConfigSpace(**IDENTITY, **options)
        errors  = Signal(len(KINDS), name="errors")
        correctable = Signal(len(CORRECTABLE), name="correctable")
        header, load = Signal(128, name="header"), Signal(len(SOURCES) + 1, name="load")
        self.comb += [
            Cat(*dut.reports.errors.values()).eq(errors),
            Cat(*dut.reports.correctable.values()).eq(correctable),
            [one.eq(header) for one in dut.log.headers],
            Cat(*dut.log.load).eq(load),
        ]
        ports = {name: getattr(dut, name)
            for name in ("address", "data_w", "be", "write", "data_r", "flr", "function_reset", "reset",
                "power_limit", "take_limit")} | {name: getattr(dut.reports, name)
            for name in ("messages", "late")}
        for name, port in ports.items():
            port.name_override = name
        self.ports = {*ports.values(), errors, correctable, header, load}


@pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")
@pytest.mark.parametrize("bar0_size, max_payload, extended_tag", [(2 << 20, 256, False), (1 << 16, 128, True)])
def test_half_a_million_accesses(oracle, bar0_size, max_payload, extended_tag):
    """The same commands, on the Verilog."""
    _, verilog = to_verilog(lambda: Top(bar0_size=bar0_size, max_payload=max_payload, extended_tag=extended_tag),
        lambda top: top.ports)
    model   = verilate({"top.v": verilog.main_source,
        "config_space_bench.cpp": (HERE / "config_space_bench.cpp").read_text()}, optimise="-O1")
    commands = random_commands(random.Random(max_payload), 500_000)
    expected = oracle(bar0_size, max_payload, extended_tag, map(for_oracle, commands))
    said     = "\n".join(map(for_bench, commands))
    got      = [int(word) for word in subprocess.run([model.path], check=True, text=True, input=said,
        capture_output=True).stdout.split()]
    asked    = [command for command in commands if command[0] in "rwec"]
    assert len(got) == len(expected) == len(asked) > 400_000
    for number, (command, one, other) in enumerate(zip(asked, got, expected)):
        assert one == other, f"access {number}, {command}: {one:08x}, expected {other:08x}"


def test_what_the_registers_say():
    dut, found = ConfigSpace(**IDENTITY, bar0_size=2 << 20), []

    def drive():
        for address, value in ((0x04, 6), (0x10, 0xfe5fffff), (0x68, 0x5130), (0x70, 8), (0x44, 3), (0x48, 1 << 16),
                (0x4c, 0x12345678), (0x50, 0x9), (0x54, 0xabcd1234)):
            yield dut.address.eq(address//4)
            yield dut.data_w.eq(value)
            yield dut.be.eq(15)
            yield dut.write.eq(1)
            yield
        yield dut.write.eq(0)
        yield
        for signal in (dut.memory_enable, dut.bus_master_enable, dut.bar0, dut.mps, dut.mrrs, dut.extended_tag,
                dut.rcb_128, dut.power_state, dut.msi_enable, dut.msi_address, dut.msi_data):
            found.append((yield signal))
    run_simulation(dut, drive())
    assert found == [1, 1, 0xfe400000, 1, 5, 1, 1, 3, 1, 0x912345678, 0x1234]


@pytest.mark.parametrize("options, said", [(dict(bar0_size=3), "bar0_size is a power of two from 16 on, not 3"),
    (dict(bar0_size=4096, max_payload=64), "max_payload is 128, 256 or 512, not 64")])
def test_bad_parameters(options, said):
    with pytest.raises(ValueError, match=said):
        ConfigSpace(**IDENTITY, **options)
