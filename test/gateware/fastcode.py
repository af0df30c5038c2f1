# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Python text of Migen's statements, for `fastsim`. Meaning of every expression as in `migen.sim.core.Evaluator`.
In the text `v` is the list of values, by the numbers of signals; what a statement writes goes to the dictionary `m`,
or to local variables `x<number>`."""

from migen import If
from migen.fhdl.bitcontainer import value_bits_sign
from migen.fhdl.structure import (Case, Cat, ClockSignal, Constant, Replicate, ResetSignal, Signal, _ArrayProxy,
    _Assign, _Operator, _Part, _Slice, wrap)
from migen.fhdl.specials import _MemoryLocation

COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


def only_signals(choices):
    return all(isinstance(choice, Signal) for choice in choices)

def alike(choices):
    """Whether what is written to one of them may be cut the same way for all: unsigned signals of the same width."""
    return only_signals(choices) and {(choice.nbits, choice.signed) for choice in choices} == {(len(choices[0]), False)}


def is_bit(node):
    return value_bits_sign(node) == (1, False)


class Compiler:
    """Python text of statements."""
    def __init__(self, memories, clock_domains):
        self.memories      = memories
        self.clock_domains = clock_domains
        self.lists         = {}         # Numbers of the signals of an array or a memory -> name in the text.
        self.temporaries   = 0
        self.known         = set()      # Numbers of signals that local variables have.
        self.reads         = set()      # Numbers of signals that the text read from `v`.
        self.local         = False      # Written signals are local variables.
        self.dynamic       = False      # Which signal is written is known when it runs: not for local variables.

    def expression(self, node, written=False):
        if isinstance(node, Constant):
            return repr(node.value)
        if isinstance(node, Signal):
            return self.signal(node.duid, written)
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

    def signal(self, number, written=False):
        """Text of a signal's value; `written`: of what was written to it in this cycle, if anything was."""
        if written:
            return f"x{number}" if self.local else f"m.get({number}, v[{number}])"
        if number in self.known:
            return f"x{number}"
        self.reads.add(number)
        return f"v[{number}]"

    def operator(self, node):
        op = node.op
        if op == "m":
            select, *choices = node.operands
            select = self.truth(select) if self.fits(select, 1) else self.expression(select)
            return f"({self.expression(choices[0])} if {select} else {self.expression(choices[1])})"
        operands = [self.expression(operand) for operand in node.operands]
        if len(operands) == 1:
            return f"({op}{operands[0]})"
        op = {">>>": ">>", "<<<": "<<"}.get(op, op)
        return f"({operands[0]} {op} {operands[1]})"

    def masked(self, node):
        """Text of the value in the bits of `node`, never negative."""
        text, bits = self.expression(node), len(node)
        return text if self.fits(node, bits) else f"({text} & {(1 << bits) - 1})"

    def truncated(self, node, bits):
        """Text of the lowest `bits` of the value."""
        if self.fits(node, bits):
            return self.expression(node)
        if bits == 1 and isinstance(node, _Operator) and node.op in COMPARISONS | {"&", "|", "~"} and is_bit(node):
            return f"1 if {self.truth(node)} else 0"
        return f"{self.expression(node)} & {(1 << bits) - 1}"

    def fits(self, node, bits):
        """Whether the text of `node` is certainly a number from 0 to 2**bits - 1. That of comparisons is no number."""
        if isinstance(node, Constant):
            return 0 <= node.value < 1 << bits
        if isinstance(node, Signal):
            return not node.signed and node.nbits <= bits
        if isinstance(node, (_Slice, _Part, Cat, Replicate)):
            return len(node) <= bits
        if isinstance(node, _ArrayProxy):
            return all(self.fits(wrap(choice), bits) for choice in node.choices)
        if isinstance(node, _Operator):
            if node.op == "&":
                return any(self.fits(operand, bits) for operand in node.operands)
            if node.op in ("|", "^"):
                return all(self.fits(operand, bits) for operand in node.operands)
            if node.op == "m":
                return all(self.fits(operand, bits) for operand in node.operands[1:])
            if node.op == "+" and bits > 1:
                return all(self.fits(operand, bits - 1) for operand in node.operands)
        return False

    def truth(self, node):
        """Text that is true if a bit of `node` is set."""
        if isinstance(node, _Operator) and is_bit(node):
            if node.op in COMPARISONS:
                return self.operator(node)
            if node.op in ("&", "|") and all(is_bit(operand) for operand in node.operands):
                word = {"&": "and", "|": "or"}[node.op]
                return f"({self.truth(node.operands[0])} {word} {self.truth(node.operands[1])})"
            if node.op == "~":
                return f"(not {self.truth(node.operands[0])})"
        return self.masked(node)

    def word(self, node, written=False):
        """Text of the number of the signal that an array or a memory (both are lists of signals here) selects."""
        self.dynamic |= written
        words = self.memories[node.memory] if isinstance(node, _MemoryLocation) else node.choices
        index = self.expression(node.index if isinstance(node, _MemoryLocation) else node.key)
        if not only_signals(words):
            raise NotImplementedError("a part of an array of something else than signals is written")
        numbers = tuple(word.duid for word in words)
        name    = self.lists.setdefault(numbers, f"words{len(self.lists)}")
        if not written:
            self.reads |= set(numbers) - self.known
        return f"{name}[min({len(words) - 1}, {index})]"

    # Statements -----------------------------------------------------------------------------------

    def function(self, statements, local):
        """Returns the lines of statements, and what they read from `v`; with `local`, local variables are written."""
        self.local, self.dynamic, self.reads = local, False, set()
        lines = list(self.statements(statements, " "))
        return lines, self.reads

    def statements(self, statements, indent):
        for statement in statements:
            if isinstance(statement, _Assign):
                if isinstance(statement.l, Signal) and not statement.l.signed:
                    yield f"{indent}{self.target(statement.l)} = {self.truncated(statement.r, statement.l.nbits)}"
                else:
                    yield from self.assign(statement.l, self.expression(statement.r), indent)
            elif isinstance(statement, If):
                yield f"{indent}if {self.truth(statement.cond)}:"
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
        if signed:
            yield from self.truncate(test, self.expression(statement.test), bits, signed, indent)
        else:
            yield f"{indent}{test} = {self.truncated(statement.test, bits)}"
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

    def target(self, signal):
        return f"x{signal.duid}" if self.local else f"m[{signal.duid}]"

    def assign(self, node, text, indent):
        if isinstance(node, Signal):
            if not node.signed:
                yield f"{indent}{self.target(node)} = {text} & {(1 << node.nbits) - 1}"
            else:
                yield from self.truncate("s", text, node.nbits, True, indent)
                yield f"{indent}{self.target(node)} = s"
        elif isinstance(node, Cat):
            self.temporaries += 1
            name, shift = f"t{self.temporaries}", 0
            yield f"{indent}{name} = {text}"
            for element in node.l:
                yield from self.assign(element, f"({name} >> {shift} & {(1 << len(element)) - 1})", indent)
                shift += len(element)
        elif isinstance(node, (_Slice, _Part)):
            yield from self.assign_part(node, text, indent)
        elif isinstance(node, _ArrayProxy) and not alike(node.choices):
            self.temporaries += 1
            name = f"t{self.temporaries}"
            yield f"{indent}{name} = {text}, min({len(node.choices) - 1}, {self.expression(node.key)})"
            for n, choice in enumerate(node.choices):
                yield f"{indent}if {name}[1] == {n}:"
                yield from self.assign(choice, f"{name}[0]", indent + " ")
        elif isinstance(node, (_ArrayProxy, _MemoryLocation)):
            yield f"{indent}m[{self.word(node, written=True)}] = {text} & {(1 << len(node)) - 1}"
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
            place  = self.word(node.value, written=True)
            before = f"m.get({place}, v[{place}])"
        yield from self.assign(node.value, f"({before} & ~({mask} << {start}) | ({text} & {mask}) << {start})", indent)
