# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs the tests on mutants, and says how many a set of tests finds: `python -m test.mutants --help`.

A mutant is killed by the first test that fails; a survivor is one on which all tests of the set pass.
"""

import argparse
import functools
import json
import subprocess
import sys
import tempfile
import time

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from test.mutants.copy import STILL, Copy, link_cache
from test.mutants.tables import GROUPS, ROOT, stages, survives

SETS  = {"default": ["-m", "not full and not search"], "all": ["-m", "not search"]}
UNITS = "test/sim/test_units.py::test_units"


def decide(copy, mutant, args):
    """What the tests of the set say of a mutant."""
    chosen, cap, spent = args.set, args.cap, 0
    if mutant.equivalent:
        return {"state": "equivalent", "by": None, "seconds": 0, "set": chosen}
    wanted = stages(mutant)
    still  = STILL if chosen == "default" and mutant.path.startswith("software/kernel/") else None
    with copy.mutated(mutant):
        for stage in wanted[:args.stages]:
            end, test, seconds = copy.test([*SETS[chosen], *stage], cap - spent, still)
            spent += seconds
            if end != "passed":
                break
    lived = "survived" if args.stages is None or args.stages >= len(wanted) else "undecided"
    state = {"passed": lived, "failed": "killed", "hangs": "killed"}.get(end, end)
    return {"state": state, "by": test, "hangs": end == "hangs", "seconds": round(spent, 1), "set": chosen}


@functools.cache
def made_units():
    """Makes the unit tests of the simulator in the tree itself: they are only linked anew for a rule."""
    subprocess.run(["make", "-C", ROOT / "sim", "fixture", "test"], check=True, capture_output=True)


def decide_rule(mutant):
    """The same for a rule of the simulator: the unit tests alone, linked with the one object that differs."""
    made_units()
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            alive = survives(Path(folder), mutant.path.removeprefix("sim/src/"), 0, mutant.new)
        except subprocess.CalledProcessError:
            return {"state": "broken", "by": None, "seconds": round(time.process_time() - begin, 1), "set": "default"}
    return {"state": "survived" if alive else "killed", "by": None if alive else UNITS, "set": "default"}


def in_set(chosen):
    """The tests of a set, as their ids."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-k", "not mutant", *SETS[chosen]]
    listed  = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    return {line for line in listed if line.startswith("test/")}


def check(results, cap):
    """Exit status: 1 if a test that killed a mutant fails without one."""
    tests = sorted({one["by"] for one in results.known.values() if one["state"] == "killed"})
    link_cache()
    with Copy() as copy:
        end, test, seconds = copy.test(tests, cap)
    print(f"{len(tests)} tests that killed mutants, without a fault: {end} {test or ''}, {seconds:.0f} s")
    return end != "passed"


class Results:
    """The file of results: {"group/name": what `decide` returned}."""
    def __init__(self, path):
        self.path  = Path(path) if path else None
        self.known = json.loads(self.path.read_text()) if path and self.path.exists() else {}

    def add(self, mutant, result):
        self.known[f"{mutant.group}/{mutant.name}"] = {"fault": mutant.fault, "path": mutant.path, **result}
        if self.path:
            self.path.write_text(json.dumps(self.known, indent=1, sort_keys=True))

    def of(self, mutant):
        return self.known.get(f"{mutant.group}/{mutant.name}")


def table(results):
    """Lines of Markdown: a row per group."""
    yield "| mutants | run | killed | rate | survivors | not decided | does not build | equivalent |"
    yield "|---|---|---|---|---|---|---|---|"
    for group in GROUPS:
        found  = {key.partition("/")[2]: one for key, one in results.known.items() if key.startswith(f"{group}/")}
        states = [one["state"] for one in found.values()]
        killed, alive = states.count("killed"), states.count("survived")
        if killed + alive:
            names = ", ".join(name for name, one in sorted(found.items()) if one["state"] == "survived")
            yield f"| {group} | {killed + alive} | {killed} | {100*killed/(killed + alive):.1f} % | {names} | " \
                f"{states.count('undecided')} | {states.count('broken')} | {states.count('equivalent')} |"


def main():
    parser = argparse.ArgumentParser(prog="python -m test.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--group",    choices=GROUPS, action="append", help="only these groups")
    parser.add_argument("--only",     action="append", default=[], help="only mutants with this text in their name")
    parser.add_argument("--set",      choices=SETS, default="default", help="the tests (default: those of make test)")
    parser.add_argument("--json",     help="file of results, written after each mutant; those it has are not run again")
    parser.add_argument("--moved",    action="store_true", help="run only those again whose test left the set")
    parser.add_argument("--cap",      type=int, default=300, help="processor seconds for a mutant (default: 300)")
    parser.add_argument("--stages",   type=int, help="run only so many of its lists of test files, the nearest first")
    parser.add_argument("--seconds",  type=float, default=float("inf"), help="begin no mutant after this time")
    parser.add_argument("--jobs",     type=int, default=1, help="mutants at the same time (default: 1)")
    parser.add_argument("--check",    action="store_true", help="run the tests that killed mutants without a fault")
    parser.add_argument("--markdown", action="store_true", help="print the table, run nothing")
    args    = parser.parse_args()
    results = Results(args.json)
    if args.check:
        return check(results, args.cap)
    if args.markdown:
        print("\n".join(table(results)))
        return 0
    here = in_set(args.set) if args.moved else set()

    def is_wanted(mutant):
        known = results.of(mutant)
        moved = known and known["state"] == "killed" and known["by"] not in here
        return (moved if args.moved else not known) and any(text in mutant.name for text in args.only or [""])

    run([one for group in args.group or GROUPS for one in GROUPS[group]() if is_wanted(one)], args, results)
    return 0


def run(wanted, args, results):
    begin = time.monotonic()
    link_cache()

    def one(lane):
        with Copy() as copy:
            while wanted and time.monotonic() - begin < args.seconds:
                mutant = wanted.pop(0)
                rule   = mutant.group == "simulator" and args.set == "default"
                result = decide_rule(mutant) if rule else decide(copy, mutant, args)
                results.add(mutant, result)
                print(f"{mutant.group}/{mutant.name}: {result['state']} by {result['by']}, {result.get('seconds')} s",
                    flush=True)

    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(one, range(args.jobs)))


if __name__ == "__main__":
    sys.exit(main())
