# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The fast simulator computes what Migen's own computes, on random designs, and on one that its test writes to."""

import operator
import random

import pytest
from migen import Array, Case, Cat, ClockDomain, If, Memory, Module, Mux, Replicate, Signal, run_simulation

from test.gateware.fastsim    import run_fast
from test.gateware.simulation import full


class Driven(Module):
    """A register and a combinatorial signal that the generator writes too."""
    def __init__(self):
        self.register = Signal(4)
        self.value    = Signal(4)

        self.comb += self.value.eq(7)
        self.sync += self.register.eq(5)


@pytest.mark.parametrize("whole", [True, False])
def test_the_design_takes_back_what_a_generator_wrote(whole):
    """Although nothing that the design reads has changed."""
    dut, seen = Driven(), []
    def drive():
        for n in range(7):
            if n < 4:   # The register stays 0.
                yield [dut.register.eq(0) if whole else dut.register[:4].eq(0),
                    dut.value.eq(n) if whole else dut.value[:4].eq(n)]
            yield
            seen.append(((yield dut.register), (yield dut.value)))
    run_fast(dut, {"sys": [drive()]}, {"sys": 10})
    assert seen == [(0, 7)]*4 + [(5, 7)]*3


CLOCKS    = {"sys": 10, "other": (30, 3)}   # Never together: then Migen's own takes them in any order.
OPERATORS = [operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor, operator.lt,
    operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


class RandomDesign(Module):
    """Inputs, registers of two clocks (one with a reset), a memory written by both, combinatorial signals."""
    def __init__(self, seed):
        self.random    = random.Random(seed)
        self.inputs    = [self.signal() for _ in range(6)]
        self.registers = {domain: [self.signal() for _ in range(10)] for domain in CLOCKS}
        self.outputs   = []
        self.readable  = self.inputs + self.registers["sys"] + self.registers["other"]

        self.clock_domains.cd_sys   = ClockDomain()
        self.clock_domains.cd_other = ClockDomain(reset_less=True)
        self.reset = Signal()
        self.comb += self.cd_sys.rst.eq(self.reset)
        self.add_memory()
        self.add_loop()
        for _ in range(25):
            targets = [self.signal() for _ in range(self.random.choice([1, 1, 1, 3]))]
            self.comb     += self.statements(targets, 2)
            self.readable += targets
            self.outputs  += targets
        for domain, registers in self.registers.items():
            for n in range(0, len(registers), 2):
                statements = getattr(self.sync, domain)
                statements += self.statements(registers[n:n + 2], 3)

    def signal(self):
        bits = self.random.choice([1, 1, 2, 3, 8, 9, 33, 70])
        return Signal((bits, self.random.random() < 0.3), reset=self.random.getrandbits(bits) >> 1)

    def add_memory(self):
        memory = Memory(8, 8, init=range(5))
        self.specials += memory
        for domain in CLOCKS:
            port = memory.get_port(write_capable=True, clock_domain=domain, we_granularity=4)
            self.specials += port
            self.comb     += [port.adr.eq(self.inputs[0]), port.we.eq(self.inputs[1]), port.dat_w.eq(self.inputs[2])]
            self.readable += [port.dat_r]

    def add_loop(self):
        """Bits pass between two signals: no loop, but groups of statements that need each other."""
        a, b = Signal(6), Signal(6)
        self.comb     += [a.eq(Cat(self.inputs[3] == 0, b[:5])), b.eq(a ^ self.inputs[4])]
        self.readable += [a, b]
        self.outputs  += [a, b]

    def expression(self, depth):
        choose = self.random.choice
        signal = choose(self.readable)
        if depth == 0 or self.random.random() < 0.15:
            return choose([signal, signal, signal[choose(range(len(signal))):]])
        inner = lambda: self.expression(depth - 1)
        kind  = self.random.randrange(12)
        if kind == 0:
            return ~inner()
        if kind == 1:
            return Cat(inner(), inner())[1:]
        if kind == 2:
            return Replicate(inner(), 3)
        if kind == 3:
            return Mux(inner(), inner(), inner())
        if kind == 4:
            return Array([inner(), inner(), 5])[choose(self.readable)[:2]]     # 3 is beyond the end.
        if kind == 5:
            return Array([choose(self.readable) for _ in range(3)])[choose(self.readable)[:1]]
        if kind == 6:
            return inner() >> choose(self.readable)[:3]
        return choose(OPERATORS)(inner(), choose([inner(), self.random.randrange(9)]))

    def assignment(self, targets):
        target = self.random.choice(targets)
        kind   = self.random.randrange(6)
        if kind == 0:
            first = self.random.randrange(len(target))
            return target[first:].eq(self.expression(2))
        if kind == 1:
            return Cat(*targets).eq(self.expression(2))
        if kind == 2 and len(targets) > 1:
            return Array(targets)[self.random.choice(self.readable)[:1]].eq(self.expression(1))
        if kind == 3 and len(targets) > 1:
            return Array([t[:1] for t in targets])[self.random.choice(self.readable)[:1]].eq(self.expression(1))
        return target.eq(self.expression(3))

    def statements(self, targets, depth):
        found = []
        for _ in range(self.random.randrange(1, 4)):
            kind  = self.random.randrange(4) if depth else 3
            inner = lambda: self.statements(targets, depth - 1)
            if kind == 0:
                found.append(If(self.expression(2), *inner()))
            elif kind == 1:
                found.append(If(self.expression(2), *inner()).Else(*inner()))
            elif kind == 2:
                cases = {n: inner() for n in self.random.sample(range(4), 2)} | {"default": inner()}
                found.append(Case(self.random.choice(self.readable)[:2], cases))
            else:
                found.append(self.assignment(targets))
        return found


def recorded_random(seed, run):
    dut, seen = RandomDesign(seed), []
    values    = random.Random(seed)
    every     = [*dut.readable, dut.reset]
    driven    = [dut.outputs, *dut.registers.values()]
    def drive():
        for _ in range(60):
            if values.random() < 0.5:
                for signal in values.sample(dut.inputs, 2):
                    yield signal.eq(values.getrandbits(len(signal)))
            yield dut.reset.eq(values.random() < 0.1)
            if values.random() < 0.2:   # Also what the design drives itself.
                target = values.choice(values.choice(driven))
                yield target.eq(values.getrandbits(len(target)))
                yield target[:1].eq(values.getrandbits(1))
            yield
            seen.append((yield every))
    def watch():
        for _ in range(40):
            seen.append((yield [dut.registers["other"][0], dut.outputs[-1]]))
            yield
    run(dut, {"sys": [drive()], "other": [watch()]}, CLOCKS)
    return seen


@pytest.mark.parametrize("seed", [0, *full(1, 2, 3)])
def test_random_designs(seed):
    fast = recorded_random(seed, run_fast)
    slow = recorded_random(seed, run_simulation)
    for cycle, (found, expected) in enumerate(zip(fast, slow, strict=True)):
        assert found == expected, f"in record {cycle}"
    assert len({str(record) for record in fast}) > 30
