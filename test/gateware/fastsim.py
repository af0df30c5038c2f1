#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Migen's simulator with the design compiled to Python, some twenty times as fast.

Migen walks every statement as often as anything changes. Here combinatorial statements are sorted by what they
read, and become one function that runs once a cycle (again only where a loop between groups did not settle).
Meaning of every expression as in `migen.sim.core.Evaluator`, clocks as in `migen.sim.core.TimeManager`. No waves:
for them the caller takes Migen's own.
"""

from itertools import repeat

from migen import If
from migen.fhdl.bitcontainer import value_bits_sign
from migen.fhdl.structure import (
    Case, Cat, ClockSignal, Constant, Replicate, ResetSignal, Signal, _ArrayProxy, _Assign, _Operator, _Part, _Slice,
    wrap,
)
from migen.fhdl.specials import _MemoryLocation
from migen.fhdl.tools import list_inputs, list_targets
from migen.sim.core import Simulator
from migen.util.misc import flat_iteration

MAX_PASSES = 50  # More mean a combinatorial loop.


def only_signals(choices):
    return all(isinstance(choice, Signal) for choice in choices)

# Expressions --------------------------------------------------------------------------------------

class Compiler:
    """Python text of statements. `read` is the text that reads a signal by its number."""
    def __init__(self, memories, clock_domains):
        self.memories      = memories
        self.clock_domains = clock_domains
        self.names         = {}         # Constants of the function: name -> object.
        self.temporaries   = 0

    def expression(self, node, written=False):
        if isinstance(node, Constant):
            return repr(node.value)
        if isinstance(node, Signal):
            return f"m.get({node.duid}, v[{node.duid}])" if written else f"v[{node.duid}]"
        if isinstance(node, _Operator):
            return self.operator(node)
        if isinstance(node, _Slice):
            mask = (1 << node.stop - node.start) - 1
            text = self.expression(node.value)
            return f"({text} >> {node.start} & {mask})" if node.start else f"({text} & {mask})"
        if isinstance(node, _Part):
            return f"({self.expression(node.value)} >> {self.expression(node.offset)} & {(1 << node.width) - 1})"
        if isinstance(node, Cat):
            shift, parts = 0, []
            for element in node.l:
                parts.append(f"({self.masked(element)} << {shift})" if shift else self.masked(element))
                shift += len(element)
            return "(" + (" | ".join(parts) or "0") + ")"
        if isinstance(node, Replicate):
            factor = sum(1 << n*len(node.v) for n in range(node.n))
            return f"({self.masked(node.v)}*{factor})"
        if isinstance(node, _ArrayProxy) and not only_signals(node.choices):
            choices = [self.expression(wrap(choice)) for choice in node.choices]
            return f"({', '.join(choices)},)[min({len(choices) - 1}, {self.expression(node.key)})]"
        if isinstance(node, (_ArrayProxy, _MemoryLocation)):
            return f"v[{self.word(node)}]"
        if isinstance(node, ResetSignal):
            reset = self.clock_domains[node.cd].rst
            return "0" if reset is None else self.expression(reset)
        if isinstance(node, ClockSignal):   # It is not needed: the simulator's clocks define the edges.
            return self.expression(self.clock_domains[node.cd].clk)
        raise NotImplementedError(node)

    def operator(self, node):
        op, operands = node.op, [self.expression(operand) for operand in node.operands]
        if op == "m":
            return f"({operands[1]} if {operands[0]} else {operands[2]})"
        if len(operands) == 1:
            return f"({op}{operands[0]})"
        op = {">>>": ">>", "<<<": "<<"}.get(op, op)
        return f"({operands[0]} {op} {operands[1]})"

    def masked(self, node):
        text = self.expression(node)
        fits = isinstance(node, (_Slice, Cat, Replicate)) or isinstance(node, Signal) and not node.signed
        return text if fits else f"({text} & {(1 << len(node)) - 1})"

    def word(self, node):
        """Text of the number of the signal that an array or a memory (both are lists of signals here) selects."""
        words = self.memories[node.memory] if isinstance(node, _MemoryLocation) else node.choices
        index = self.expression(node.index if isinstance(node, _MemoryLocation) else node.key)
        if not only_signals(words):
            raise NotImplementedError("a part of an array of something else than signals is written")
        name = f"words{words[0].duid}"
        self.names[name] = [word.duid for word in words]
        return f"{name}[min({len(words) - 1}, {index})]"

    # Statements -----------------------------------------------------------------------------------

    def statements(self, statements, indent):
        for statement in statements:
            if isinstance(statement, _Assign):
                yield from self.assign(statement.l, self.expression(statement.r), indent)
            elif isinstance(statement, If):
                yield f"{indent}if {self.masked(statement.cond)}:"
                yield from self.block(statement.t, indent)
                if statement.f:
                    yield f"{indent}else:"
                    yield from self.block(statement.f, indent)
            elif isinstance(statement, Case):
                yield from self.case(statement, indent)
            else:
                yield from self.statements(statement, indent)

    def block(self, statements, indent):
        lines = list(self.statements(statements, indent + " "))
        yield from lines or [f"{indent} pass"]

    def case(self, statement, indent):
        bits, signed = value_bits_sign(statement.test)
        self.temporaries += 1
        test = f"t{self.temporaries}"
        yield from self.truncate(test, self.expression(statement.test), bits, signed, indent)
        keyword = "if"
        for key, body in statement.cases.items():
            if isinstance(key, Constant):
                yield f"{indent}{keyword} {test} == {key.value}:"
                yield from self.block(body, indent)
                keyword = "elif"
        if "default" in statement.cases:
            yield f"{indent}else:" if keyword == "elif" else f"{indent}if 1:"
            yield from self.block(statement.cases["default"], indent)

    def truncate(self, name, text, bits, signed, indent):
        yield f"{indent}{name} = {text} & {(1 << bits) - 1}"
        if signed:
            yield f"{indent}if {name} & {1 << bits - 1}: {name} -= {1 << bits}"

    def assign(self, node, text, indent):
        if isinstance(node, Signal):
            if not node.signed:
                yield f"{indent}m[{node.duid}] = {text} & {(1 << node.nbits) - 1}"
            else:
                yield from self.truncate("s", text, node.nbits, True, indent)
                yield f"{indent}m[{node.duid}] = s"
        elif isinstance(node, Cat):
            self.temporaries += 1
            name, shift = f"t{self.temporaries}", 0
            yield f"{indent}{name} = {text}"
            for element in node.l:
                yield from self.assign(element, f"({name} >> {shift} & {(1 << len(element)) - 1})", indent)
                shift += len(element)
        elif isinstance(node, (_Slice, _Part)):
            yield from self.assign_part(node, text, indent)
        elif isinstance(node, _ArrayProxy) and not only_signals(node.choices):
            self.temporaries += 1
            name = f"t{self.temporaries}"
            yield f"{indent}{name} = {text}, min({len(node.choices) - 1}, {self.expression(node.key)})"
            for n, choice in enumerate(node.choices):
                yield f"{indent}if {name}[1] == {n}:"
                yield from self.assign(choice, f"{name}[0]", indent + " ")
        elif isinstance(node, (_ArrayProxy, _MemoryLocation)):
            yield f"{indent}m[{self.word(node)}] = {text} & {(1 << len(node)) - 1}"
        else:
            raise NotImplementedError(node)

    def assign_part(self, node, text, indent):
        if isinstance(node, _Slice):
            mask, start = (1 << node.stop - node.start) - 1, str(node.start)
        else:
            mask, start = (1 << node.width) - 1, self.expression(node.offset)
        if isinstance(node.value, Signal):
            before = self.expression(node.value, written=True)
        else:
            place  = self.word(node.value)
            before = f"m.get({place}, v[{place}])"
        yield from self.assign(node.value, f"({before} & ~({mask} << {start}) | ({text} & {mask}) << {start})", indent)

# Simulator ----------------------------------------------------------------------------------------

class FastSimulator(Simulator):
    """Drop-in for `migen.sim.core.Simulator` without waves."""
    def close(self):
        # A place for each signal that this process ever made: Migen's tracer keeps the simulator, so they go here.
        self.evaluator.signal_values = None
        Simulator.close(self)

    def run(self):
        values   = self.evaluator.signal_values
        modified = self.evaluator.modifications
        combinatorial, synchronous, resets = self.compile()
        for number, value in resets.items():
            if values[number] is None:
                values[number] = value
        self.settle(combinatorial, values, modified)
        for domains in self.edges():
            for domain in domains:
                synchronous[domain](values, modified)
                if domain in self.generators:
                    self._process_generators(domain)
            for number, value in modified.items():
                values[number] = value
            modified.clear()
            self.settle(combinatorial, values, modified)
            if not self._continue_simulation():
                return

    def _evalexec_nested_lists(self, x):
        """Replaces Migen's method, which takes longer to see that a generator reads a signal or returns a number."""
        kind = type(x)
        if kind is Signal:
            value = self.evaluator.signal_values[x.duid]
            return x.reset.value if value is None else value
        if kind is list:
            return [self._evalexec_nested_lists(element) for element in x]
        if kind is _Assign and type(x.l) is Signal and type(x.r) is Constant:
            return self.evaluator.assign(x.l, x.r.value)
        return Simulator._evalexec_nested_lists(self, x)

    def edges(self):
        """Yields, without end, the lists of domains whose clocks rise together."""
        if len(self.time.clocks) == 1:
            yield from repeat(list(self.time.clocks))
        while True:
            _, rising, _ = self.time.tick()
            if rising:
                yield sorted(rising)

    @staticmethod
    def settle(combinatorial, values, modified):
        for _ in range(MAX_PASSES):
            again = combinatorial(values, modified)
            modified.clear()
            if not again:
                return
        raise AssertionError("combinatorial loop does not settle")

    def compile(self):
        compiler = Compiler(self.evaluator.replaced_memories, self.fragment.clock_domains)
        lines    = ["def combinatorial(v, m):", " again = False"]
        groups   = self.sorted_groups()
        early    = set()  # Read before it is known: a change asks for another pass.
        for targets, statements in groups:
            lines += compiler.statements(statements, " ")
            early |= {signal.duid for signal in list_inputs(statements)}
            for target in sorted(targets, key=lambda signal: signal.duid):
                number = target.duid
                if number in early:
                    lines.append(f" if m[{number}] != v[{number}]: again = True")
                lines.append(f" v[{number}] = m[{number}]")
        lines.append(" return again")
        for domain in self.time.clocks:
            lines += [f"def synchronous_{domain}(v, m):", " pass"]
            lines += compiler.statements(self.fragment.sync.get(domain, []), " ")
        functions = dict(compiler.names)
        exec("\n".join(lines), functions)
        synchronous = {domain: functions[f"synchronous_{domain}"] for domain in self.time.clocks}
        return functions["combinatorial"], synchronous, self.resets(groups)

    def sorted_groups(self):
        """Returns groups of statements with common targets. Each comes after the groups it reads from, if possible."""
        groups  = grouped(self.fragment.comb)
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

    def resets(self, groups):
        """Start values: number -> value, of every signal the design knows."""
        signals = set()
        for statements in [self.fragment.comb, *self.fragment.sync.values()]:
            signals |= set(list_inputs(statements)) | set(list_targets(statements))
        for words in self.evaluator.replaced_memories.values():
            signals |= set(words)
        for domain in self.fragment.clock_domains:
            signals |= {signal for signal in (domain.clk, domain.rst) if signal is not None}
        return {signal.duid: signal.reset.value for signal in signals if isinstance(signal, Signal)}


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


def run_fast(dut, generators, clocks):
    """Does the same as `run_simulation(dut, generators, clocks)`."""
    with FastSimulator(dut, generators, clocks) as simulator:
        simulator.run()
