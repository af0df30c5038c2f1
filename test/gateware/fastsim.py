# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Migen's simulator with the design compiled to Python, some fifty times as fast, without waves. Statements become
functions of some thirty lines; one runs only when a signal that it reads has changed. Each function has a bit in a set
(a number), and each signal the bits of those that read it; `dirty` are those that must run."""

from collections import defaultdict
from itertools import repeat
from unittest import mock

from migen import Array, If
from migen.fhdl import simplify
from migen.fhdl.structure import Constant, Signal, _ArrayProxy, _Assign, _Value
from migen.fhdl.tools import list_inputs, list_targets
from migen.sim.core import Simulator
from migen.util.misc import flat_iteration

from test.gateware.fastcode import Compiler

MAX_RUNS    = 50  # A function that runs more often in a cycle, on average, is in a combinatorial loop.
MOST_LINES  = 30  # A function of more is ended.
MOST_SHARED = 4   # An If with more statements is divided: they need not run together.


class Function:
    """Statements that run together, of the clock domain `domain`, or combinatorial ones."""
    def __init__(self, domain=None):
        self.domain  = domain
        self.lines   = []       # Text, or (number, value's text) where a signal gets its value.
        self.reads   = set()    # Numbers of signals, here and below.
        self.targets = set()

    def add(self, lines, reads, targets):
        self.lines   += lines
        self.reads   |= reads
        self.targets |= targets

    def text(self, name, readers):
        """Lines of the function, which returns the bits of those functions that read what it changed in `v`."""
        yield f"def {name}(v, m):"
        yield " d = 0"
        for line in self.lines:
            if isinstance(line, str):
                yield line
            elif readers.get(line[0]):
                yield f" if {line[1]} != v[{line[0]}]: v[{line[0]}] = {line[1]}; d |= {readers[line[0]]}"
            else:
                yield f" v[{line[0]}] = {line[1]}"
        yield " return d"


def numbers_of(signals):
    return {signal.duid for signal in signals}


def combinatorial_functions(compiler, groups):
    """Local variables have the values until the function ends; one whose targets are not fixed is alone."""
    functions, last = [], None
    for targets, statements in groups:
        targets = numbers_of(targets)
        if last is None or len(last.lines) > MOST_LINES:
            last = Function()
            functions.append(last)
            compiler.known = set()
        lines, reads = compiler.function(last_values(statements), local=True)
        if compiler.dynamic:
            compiler.known = set()
            lines, reads = compiler.function(statements, local=False)
            alone = Function()
            alone.add([" m = {}", *lines, *((number, f"m[{number}]") for number in sorted(targets))], reads, targets)
            functions.append(alone)
            last = None
            continue
        last.add(lines + [(number, f"x{number}") for number in sorted(targets)], reads, targets)
        compiler.known |= targets
    return [function for function in functions if function.targets]


def synchronous_functions(compiler, domain, statements):
    functions, compiler.known = [], set()
    for targets, part in grouped(divided(statements)):
        if not functions or len(functions[-1].lines) > MOST_LINES:
            functions.append(Function(domain))
        functions[-1].add(*compiler.function(part, local=False), numbers_of(targets))
    return functions


def last_values(statements):
    """Leaves away what a later statement overwrites in any case: mostly the value at reset."""
    for n in reversed(range(1, len(statements))):
        if isinstance(statements[n], _Assign) and isinstance(statements[n].l, Signal):
            if numbers_of(list_targets(statements)) == {statements[n].l.duid}:
                return statements[n:]
    return statements


def divided(statements):
    for statement in flat_iteration(statements):
        if isinstance(statement, If) and not statement.f and len(statement.t) > MOST_SHARED:
            yield from (If(statement.cond, part) for part in flat_iteration(statement.t))
        else:
            yield statement


def grouped(statements):
    """(targets, statements) of statements with targets in common, as Migen's `group_by_targets` but in linear time."""
    group, found = {}, {}   # Number of a target -> key of its group; key -> (targets, places of statements).
    listed = list(flat_iteration(statements))
    for place, statement in enumerate(listed):
        targets = set(list_targets(statement))
        joined  = {group[target.duid] for target in targets if target.duid in group}
        places  = [place]
        for key in joined:
            others, earlier = found.pop(key)
            targets |= others
            places   = earlier + places
        group.update((target.duid, place) for target in targets)
        found[place] = (targets, places)
    return [(targets, [listed[place] for place in sorted(places)]) for targets, places in found.values()]


def sorted_groups(statements):
    """Returns groups of statements with common targets. Each comes after the groups it reads from, if possible."""
    groups  = grouped(statements)
    writer  = {target.duid: n for n, (targets, _) in enumerate(groups) for target in targets}
    needs   = [{writer[s.duid] for s in list_inputs(statements) if s.duid in writer} - {n}
        for n, (_, statements) in enumerate(groups)]
    order, state = [], [0]*len(groups)
    for start in range(len(groups)):
        stack = [(start, iter(sorted(needs[start])))] if not state[start] else []
        state[start] = 1
        while stack:
            n, rest = stack[-1]
            for other in rest:
                if not state[other]:
                    state[other] = 1
                    stack.append((other, iter(sorted(needs[other]))))
                    break
            else:
                order.append(n)
                stack.pop()
    return [groups[n] for n in order]


class Word(_ArrayProxy):
    """The word of a memory that an address selects. Migen makes a part of it for each address, thousands of them."""
    __getitem__ = _Value.__getitem__


class Words(Array):
    def __getitem__(self, key):
        word = Array.__getitem__(self, key)
        return Word(word.choices, word.key) if isinstance(word, _ArrayProxy) else word


class FastSimulator(Simulator):
    """Drop-in for `migen.sim.core.Simulator` without waves."""
    def __init__(self, *args):
        with mock.patch.object(simplify, "Array", Words):
            Simulator.__init__(self, *args)

    def close(self):
        # A place for each signal that this process ever made: Migen's tracer keeps the simulator, so they go here.
        self.evaluator.signal_values = None
        Simulator.close(self)

    def run(self):
        values, modified = self.evaluator.signal_values, self.evaluator.modifications
        self.compile()
        for number, value in self.resets().items():
            if values[number] is None:
                values[number] = value
        readers    = self.readers
        self.dirty = self.settle(self.all, values)
        self.ended = True   # A generator ended, or became passive or active.
        for domains in self.edges():
            for domain in domains:
                bits = self.dirty & self.synchronous[domain]
                self.dirty ^= bits
                while bits:
                    bit   = bits & -bits
                    bits ^= bit
                    self.functions[bit](values, modified)
                if domain in self.generators:
                    self._process_generators(domain)
            dirty = self.dirty
            for number, value in modified.items():
                if values[number] != value:
                    values[number] = value
                    dirty |= readers.get(number, 0)
            modified.clear()
            self.dirty = self.settle(dirty, values)
            if self.ended:
                self.ended = False
                if not self._continue_simulation():
                    return

    def settle(self, dirty, values):
        """Runs the combinatorial functions of `dirty`, and those they make dirty. Returns the synchronous ones."""
        functions, beyond = self.functions, self.beyond
        for _ in range(MAX_RUNS*len(functions)):
            bit = dirty & -dirty
            if not bit or bit >= beyond:
                return dirty
            dirty ^= bit
            dirty |= functions[bit](values, None)
        raise AssertionError("combinatorial loop does not settle")

    def edges(self):
        """Yields, without end, the lists of domains whose clocks rise together."""
        if len(self.time.clocks) == 1:
            yield from repeat(list(self.time.clocks))
        while True:
            _, rising, _ = self.time.tick()
            if rising:
                yield sorted(rising)

    # Generators -----------------------------------------------------------------------------------

    def _process_generators(self, cd):
        """Replaces Migen's method, which takes longer to see that a generator reads a signal or writes a number."""
        values, exhausted = self.evaluator.signal_values, []
        for generator in self.generators[cd]:
            send, reply = generator.send, None
            try:
                while (request := send(reply)) is not None:
                    if type(request) is Signal:
                        reply = values[request.duid]
                        if reply is None:
                            reply = request.reset.value
                    elif type(request) is _Assign and type(request.l) is Signal:
                        self.assign(request.l, request.r)
                        reply = None
                    elif type(request) is list and all(type(one) is Signal for one in request):
                        reply = [values[one.duid] for one in request]
                        if None in reply:
                            reply = [one.reset.value if value is None else value for one, value in zip(request, reply)]
                    elif isinstance(request, str):
                        self.ended = True
                        {"passive": self.passive_generators.add, "active": self.passive_generators.discard}[request](
                            generator)
                        reply = None
                    else:
                        reply = self._evalexec_nested_lists(request)
            except StopIteration:
                exhausted.append(generator)
        for generator in exhausted:
            self.ended = True
            self.generators[cd].remove(generator)

    def assign(self, signal, source):
        value  = source.value if type(source) is Constant else self.evaluator.eval(source)
        number = signal.duid
        if signal.signed:
            self.evaluator.assign(signal, value)
        else:
            self.evaluator.modifications[number] = value & (1 << signal.nbits) - 1
        self.dirty |= self.drivers.get(number, 0)

    def _evalexec_nested_lists(self, x):
        reply = Simulator._evalexec_nested_lists(self, x)
        for number in self.evaluator.modifications:     # It may have written any of them.
            self.dirty |= self.drivers.get(number, 0)
        return reply

    # Compilation ----------------------------------------------------------------------------------

    def compile(self):
        """Makes `functions` {bit: function}; `readers` and `drivers` {number of a signal: bits of functions}."""
        compiler = Compiler(self.evaluator.replaced_memories, self.fragment.clock_domains)
        made     = combinatorial_functions(compiler, sorted_groups(self.fragment.comb))
        self.beyond      = 1 << len(made)
        self.synchronous = {}
        for domain in self.time.clocks:
            first = len(made)
            made += synchronous_functions(compiler, domain, self.fragment.sync.get(domain, []))
            self.synchronous[domain] = (1 << len(made)) - (1 << first)
        self.all     = (1 << len(made)) - 1
        self.drivers = defaultdict(int)
        self.readers = defaultdict(int)
        for n, function in enumerate(made):
            for number in function.targets:
                self.drivers[number] |= 1 << n
            for number in function.reads:
                self.readers[number] |= 1 << n
        for number, bits in self.drivers.items():
            if bits & bits - 1:     # One of several clocks changed it: the others write it again at theirs.
                self.readers[number] |= bits
        lines = [line for n, function in enumerate(made) for line in function.text(f"f{n}", self.readers)]
        names = {name: list(numbers) for numbers, name in compiler.lists.items()}
        exec("\n".join(lines), names)
        self.functions = {1 << n: names[f"f{n}"] for n in range(len(made))}

    def resets(self):
        """Start values: number -> value, of every signal the design knows."""
        signals = set()
        for statements in [self.fragment.comb, *self.fragment.sync.values()]:
            signals |= set(list_inputs(statements)) | set(list_targets(statements))
        for words in self.evaluator.replaced_memories.values():
            signals |= set(words)
        for domain in self.fragment.clock_domains:
            signals |= {signal for signal in (domain.clk, domain.rst) if signal is not None}
        return {signal.duid: signal.reset.value for signal in signals if isinstance(signal, Signal)}


def run_fast(dut, generators, clocks):
    """Does the same as `run_simulation(dut, generators, clocks)`."""
    with FastSimulator(dut, generators, clocks) as simulator:
        simulator.run()
