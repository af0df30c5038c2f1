# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A unit under proof: its free inputs, what is assumed of its surroundings, and what is asserted of it, in Migen.
`emit` writes both as Verilog, and adds a top module that ties the reset low and holds one `assume` or `assert` for each
property. A register starts with its reset value."""

import contextlib
import sys
from pathlib import Path

from migen import *
from migen.fhdl.structure import _Fragment
from migen.fhdl.tools import list_signals, list_targets
from litex.gen import *
from litex.gen.fhdl.verilog import convert

from litepcie_soc.build.emit import numbered_alike

ROOT = Path(__file__).resolve().parents[2]


class Harness(LiteXModule):
    """Base of a module that holds a unit and its properties.

    The summary line of a subclass's docstring says what is proven; `make prove` prints it. The rest of the docstring
    says under which assumptions.
    """
    def __init__(self):
        self._free, self._constants, self._tied = [], [], []
        self._assumptions, self._assertions     = {}, {}
        self._helpers    = set()
        self.first_cycle = Signal(reset=1)
        self.sync       += self.first_cycle.eq(0)

    # Inputs ---------------------------------------------------------------------------------------

    def free(self, *signals):
        """Lets each Signal have any value in any cycle. Of a Record or an Endpoint, lets those that nothing drives."""
        for signal in signals:
            self._free += signal.flatten() if isinstance(signal, Record) else [signal]

    def constant(self, *signals):
        """Lets each Signal have any value that stays the same in all cycles."""
        self._constants += signals

    def tied(self, *signals):
        """Leaves each Signal at its reset value, although nothing drives it.

        A str instead names Signals inside of the unit; "*" names all.
        """
        for signal in signals:
            self._tied += signal.flatten() if isinstance(signal, Record) else [signal]

    # Properties -----------------------------------------------------------------------------------

    def _add(self, kind, properties, name, condition):
        assert name not in properties, f"{name} is the name of two properties"
        properties[name] = signal = Signal(name=f"{kind}_{name}")
        self.comb += signal.eq(condition)

    def assume(self, name, condition):
        """Leaves out every behaviour in which `condition` is false in some cycle."""
        self._add("assume", self._assumptions, name, condition)

    def check(self, name, condition):
        """Asserts `condition` in every cycle."""
        self._add("assert", self._assertions, name, condition)

    def helper(self, name, condition):
        """Asserts `condition` in every cycle, but not on a mutant: it is about the unit's registers, for induction."""
        self._helpers.add(name)
        self.check(name, condition)

    def implies(self, name, when, condition):
        """Asserts `condition` in every cycle in which `when` is true."""
        self.check(name, ~yes(when) | yes(condition))

    # Expressions ----------------------------------------------------------------------------------

    def previous(self, value, reset=0):
        """`value` in the cycle before; `reset` in the first cycle."""
        before = Signal(len(value), reset=reset)
        self.sync += before.eq(value)
        return before

    def since(self, start, end=0):
        """True after a cycle with `start` until after a cycle with `end`; `start` has priority."""
        state = Signal()
        self.sync += If(start, state.eq(1)).Elif(end, state.eq(0))
        return state

    def stable(self, endpoint, omit=()):
        """True unless `endpoint` offered a beat in the cycle before that was not accepted and is not the same now."""
        waits  = self.previous(endpoint.valid & ~endpoint.ready)
        values = Cat(*[getattr(endpoint, name) for name in fields(endpoint) if name not in omit])
        return ~waits | (endpoint.valid & (values == self.previous(values)))

    def packets(self, endpoint):
        """The beat on `endpoint` must begin a packet if and only if no packet is open: (well_formed, inside).

        `inside` is true while a packet has begun and not ended.
        """
        inside = Signal()
        self.sync += If(endpoint.valid & endpoint.ready, inside.eq(~endpoint.last))
        return ~endpoint.valid | (endpoint.first != inside), inside


def yes(value):
    """One bit: `value` is not zero."""
    return value != 0 if len(value) != 1 else value


def fields(endpoint):
    """Names of all that travels with a beat: payload, parameters, `first` and `last`."""
    return ["first", "last"] + [name for name, *_ in
        endpoint.description.payload_layout + endpoint.description.param_layout]


def inner(module, name):
    """The Signal that the code of `module` calls `name`, although it is no attribute.

    Only for modules of LiteX: a module of this tree makes what a proof reads an attribute, so that names of local
    variables are free.
    """
    found = {signal for signal in list_signals(module._fragment)
        if signal.backtrace and signal.backtrace[-1][0] == name}
    assert len(found) == 1, f"{type(module).__name__} has {len(found)} signals {name}, not one"
    return found.pop()


TOP = """module formal(input sys_clk{ports});
{declarations}    dut dut(.sys_clk(sys_clk), .sys_rst(1'b0){connections});
{statements}endmodule
"""


def emit(make, helpers=True):
    """(Verilog of the unit with its properties, SystemVerilog of the top module `formal`) of the Harness `make()`.

    helpers : with the properties of `Harness.helper`.

    The text is the same whatever the process has made before, so that a proof is found in the cache.
    """
    with numbered_alike():
        return converted(make(), helpers)


def converted(harness, helpers):
    harness.cd_sys = ClockDomain("sys")
    fragment = harness.get_fragment()
    driven   = list_targets(fragment) | outputs_of_specials(fragment)
    used     = list_signals(fragment)
    free     = [signal for signal in harness._free if signal not in driven and signal in used]
    given    = {*free, *harness._constants, *harness._tied, harness.cd_sys.clk, harness.cd_sys.rst}
    unknown  = {signal.backtrace[-1][0] for signal in used - driven - given if signal.backtrace} - given
    assert not unknown or "*" in given, f"nothing drives {', '.join(unknown)}; call free, constant or tied"
    properties = {("assume", name): signal for name, signal in harness._assumptions.items()}
    properties.update({("assert", name): signal for name, signal in harness._assertions.items()
        if helpers or name not in harness._helpers})
    ios      = {*free, *harness._constants, *properties.values(), harness.cd_sys.clk, harness.cd_sys.rst}
    verilog  = convert(fragment, ios, name="dut")
    name_of  = verilog.ns.get_name
    ports, declarations, connections, statements = "", "", "", ""
    for signal in sorted({*free, *harness._constants, *properties.values()}, key=name_of):
        name, range_ = name_of(signal), f"[{len(signal) - 1}:0] "*(len(signal) > 1)
        connections += f",\n        .{name}({name})"
        if signal in free:
            ports += f",\n    input {range_}{name}"
        elif signal in harness._constants:
            declarations += f"    (* anyconst *) wire {range_}{name};\n"
        else:
            declarations += f"    wire {name};\n"
    for (kind, name), signal in properties.items():
        statements += f"    always @(*) is_{kind}_{name}: {kind}({name_of(signal)});\n"
    top = TOP.format(ports=ports, declarations=declarations, connections=connections, statements=statements)
    return verilog.main_source, top


def outputs_of_specials(fragment: _Fragment):
    """Signals that memories and other specials drive."""
    return {signal for special in fragment.specials for signal in special.list_ios(False, True, True)}


class OutOfDate(Exception):
    """The source has changed, so that a mutant's text is not in it any more. No property has failed."""


@contextlib.contextmanager
def mutated(module, old, new):
    """Replaces the text `old`, which must occur once in the source of `module`, by `new`, and runs that source.

    Inside the context, `module` and all modules of the gateware and of the proofs that took names from it have the
    classes of the changed source. The file itself does not change.
    """
    with open(module.__file__, encoding="utf-8") as f:
        source = f.read()
    if source.count(old) != 1:
        path = Path(module.__file__).resolve().relative_to(ROOT)
        fault = f"contains {source.count(old)} times, not once" if old in source else "does not contain"
        raise OutOfDate(f"mutant out of date: {path} {fault}: {old}")
    before = dict(vars(module))
    exec(compile(source.replace(old, new), module.__file__, "exec"), vars(module))
    changed = {id(value): vars(module)[name] for name, value in before.items()
        if getattr(value, "__module__", None) == module.__name__ and vars(module)[name] is not value}
    others  = []
    for name, other in list(sys.modules.items()):
        if other is not module and name.split(".")[0] in ("litepcie_soc", "test"):
            for key, value in list(vars(other).items()):
                if id(value) in changed:
                    others.append((other, key, value))
                    setattr(other, key, changed[id(value)])
    try:
        yield
    finally:
        vars(module).clear()
        vars(module).update(before)
        for other, key, value in others:
            setattr(other, key, value)
