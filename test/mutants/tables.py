# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""All mutants, and the test files for each: those of the .diff files here, of the simulator's rules, and of proofs.

A mutant of a .diff file is a block:

    == name: what goes wrong [test files that are nearest to it]
    --- file
     a line of the file that makes the place unique
    -a line that the mutant does not have
    +a line that it has instead

A mutant that no test can find, as nothing that can be seen differs, has its reason after its first line:

    equivalent: why
"""

import collections
import functools
import importlib
import re
import subprocess

from dataclasses import dataclass
from pathlib import Path

ROOT  = Path(__file__).resolve().parents[2]
HEAD  = re.compile(r"== (?P<name>.*?): (?P<fault>.*?)(?: \[(?P<tests>.*)\])?\n(?:equivalent: (?P<equivalent>.*)\n)?"
    r"--- (?P<path>.*)\n")


@dataclass(frozen=True)
class Mutant:
    """A fault in the file `path`: its text `old`, which occurs once, becomes `new`.

    tests      : files of test/, or tests in them, that are nearest to it.
    equivalent : why no test can find it; no test runs on it.
    """
    group: str
    name:  str
    path:  str
    old:   str
    new:   str
    fault: str = ""
    tests: tuple = ()
    equivalent: str = ""

    def text(self, root=ROOT):
        """The text of its file with the fault. Raises ValueError if the place is not found, or found twice."""
        source = (root / self.path).read_text(encoding="utf-8")
        if source.count(self.old) != 1:
            raise ValueError(f"{self.group}, {self.name}: {self.path} has its text {source.count(self.old)} times, "
                f"not once:\n{self.old}")
        return source.replace(self.old, self.new)


def parse(group, text):
    """Yields the mutants of the text of a .diff file."""
    for block in re.split(r"^(?=== )", text, flags=re.M)[1:]:
        head  = HEAD.match(block)
        lines = block[head.end():].rstrip("\n").splitlines(True)
        old   = "".join(line[1:] for line in lines if line[0] in " -")
        new   = "".join(line[1:] for line in lines if line[0] in " +")
        tests = tuple((head["tests"] or "").split())
        yield Mutant(group, head["name"], head["path"], old.rstrip("\n"), new.rstrip("\n"), head["fault"], tests,
            head["equivalent"] or "")


def written(name, group=None):
    return list(parse(group or name, Path(__file__).with_name(f"{name}.diff").read_text(encoding="utf-8")))


def of_proofs():
    """The mutants of test/formal."""
    for path in sorted((ROOT / "test" / "formal").glob("test_*.py")):
        module = importlib.import_module(f"test.formal.{path.stem}")
        for one in getattr(module, "MUTANTS", []):
            yield Mutant("gateware", f"{path.stem.removeprefix('test_')}/{one.proof}/{one.name}", source_of(one.module),
                one.old, one.new, f"breaks {one.proof}", (f"formal/{path.name}",))


def source_of(module):
    return str(Path(module.__file__).resolve().relative_to(ROOT))


UNITS   = ROOT / "test" / "sim" / "src"
# Sources and the unit tests that must find their mutants.
SOURCES = {"referee/tlp_checker.cpp": "TlpChecker*", "referee/order_checker.cpp": "OrderChecker*", "card/phy.cpp": "*",
    "machine/model.cpp": "Model*"}
# Rules that the test endpoint, which has one vector and no MSI-X, cannot break. test/sim/test_msix.py breaks the first;
# the second has no test.
ELSEWHERE = ("MSI vector", "message of MSI-X that is not one dword")
# A rule ends in one of these statements. The line that makes the Violation of StreamChecker is no rule.
RULE    = re.compile(r"(?:throw (?:Unseen)?Violation|(?<!::)\bfail)\((?!std::string\(name_\))")


def statement_end(text, start):
    """Returns the position after the semicolon of the statement that begins at ``start``."""
    depth, quoted = 0, False
    for at in range(start, len(text)):
        character = text[at]
        if character == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and character in "()":
            depth += 1 if character == "(" else -1
        elif not quoted and character == ";" and depth == 0:
            return at + 1
    raise ValueError("a statement without an end")


def without_rules(text):
    """Yields (line, rule, source without it)."""
    for found in RULE.finditer(text):
        end   = statement_end(text, found.start())
        words = " ".join(re.findall(r'"([^"]*)"', text[found.start():end]))
        # A function must not end without its value.
        empty = "return dwords_;" if text[end:].lstrip().startswith("}\n\nbool StreamChecker::take") else "(void)0;"
        yield text.count("\n", 0, found.start()) + 1, words, text[:found.start()] + empty + text[end:]


def survives(folder, name, line, source):
    """Returns whether the unit tests pass with a mutated source."""
    model, card = ROOT / "build" / "sim_model", ROOT / "build" / "sim_fixture" / "simulator" / "obj"
    stem = folder / f"{Path(name).stem}_{line}"
    stem.with_suffix(".cpp").write_text(source, encoding="utf-8")
    subprocess.run(["g++", "-std=c++17", "-O1", "-w", f"-I{ROOT}/sim/src", f"-I{ROOT}/software/kernel", "-c", "-o",
        f"{stem}.o", f"{stem}.cpp"], check=True)
    tests = [model / "test" / path.relative_to(UNITS).with_suffix(".o") for path in sorted(UNITS.rglob("test_*.cpp"))]
    # An object that is named goes before the same one in the library.
    subprocess.run(["g++", "-o", stem, *tests, f"{stem}.o", card / "card.o",
        model / "libmodel.a", card / "Vlitepcie_soc_sim__ALL.a", *sorted((model / "verilated").glob("*.o")), "-lgtest",
        "-lgtest_main", "-lpthread", "-latomic"], check=True)
    try:
        return subprocess.run([stem, f"--gtest_filter={SOURCES[name]}", "--gtest_brief=1", "--gtest_fail_fast"],
            capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        stem.unlink()


def of_rules():
    """The rules that the simulator checks, each of them removed."""
    for name in SOURCES:
        source = (ROOT / "sim" / "src" / name).read_text(encoding="utf-8")
        names  = collections.Counter()
        for _, rule, text in without_rules(source):
            names[rule] += 1
            if not rule.startswith(ELSEWHERE):
                again = f" {names[rule]}" if names[rule] > 1 else ""
                yield Mutant("simulator", f"{name}/{rule}{again}", f"sim/src/{name}", source, text)


GROUPS = {
    "driver"    : functools.partial(written, "driver"),
    "simulator" : lambda: list(of_rules()),
    "gateware"  : lambda: [*of_proofs(), *written("order", "gateware")],
    "tool"      : functools.partial(written, "tool"),
    "generated" : functools.partial(written, "generated"),
}

# Files and folders of test/ for sources whose folder it does not mirror. The first pattern that matches counts.
NEAR = [
    (r"software/kernel/stream",                   "guest/test_streams.py"),
    (r"software/kernel/hostbuf",                  "guest/test_hostbuf.py"),
    (r"software/kernel/dmabuf",                   "guest/test_dmabuf.py"),
    (r"software/kernel/user",                     "guest/test_user.py guest/test_user_interrupts.py"),
    (r"software/kernel/(power|window)",           "guest/test_power.py guest/test_card_states.py"),
    (r"software/kernel/(card|pci)",               "guest/test_lifecycle.py guest/test_identity.py guest/test_user.py"),
    (r"software/kernel/engine",
        "guest/test_trace.py guest/test_faults.py guest/test_power.py guest/test_interrupts.py"),
    (r"software/kernel/",                         "guest/test_transfers.py guest/test_queue.py guest/test_faults.py"),
    (r"software/user/",                           "software/user"),
    (r"sim/src/",                                 "sim/test_units.py sim/test_transfers.py sim/test_streams.py"),
]
# Folders and files for what nearer tests do not find.
FAR = {
    "software/kernel" : ["guest", "software/kernel"],
    "software/user"   : ["software/user", "guest/test_tool.py", "guest/test_transfers.py", "guest"],
    "gateware"        : ["formal", "gateware", "sim/test_transfers.py", "sim/test_streams.py", "sim/test_stress.py",
        "guest/test_transfers.py", "guest/test_streams.py", "sim", "guest", "targets"],
    "sim"             : ["sim", "guest"],
}
# What of the driver only tests that name it can see.
FEATURE = re.compile(r"software/kernel/(stream|hostbuf|dmabuf|user)")
# Last of their folder: boots many guests, or is random.
LAST = re.compile(r"storm|linux_checks|series|vectors|two_cards|lane")


def files(name):
    """The test files of a file or folder of test/, or the test that the name says."""
    path = ROOT / "test" / name.partition("::")[0]
    if path.suffix:
        return [f"test/{name}"] if path.is_file() else []
    # test_debug_kernel.py is for that kernel: `make test` leaves it out, but not a run that names it.
    found = sorted(str(file.relative_to(ROOT)) for file in path.rglob("test_*.py") if file.stem != "test_debug_kernel")
    return sorted(found, key=lambda file: bool(LAST.search(file)))


def text_of(file):
    return (ROOT / file.partition("::")[0]).read_text(encoding="utf-8")


def suites(source):
    """The driver's suites that run without a kernel, if they have the file."""
    name = "software/kernel/test_driver.py::test_kunit_suite_runs_without_a_kernel"
    return [f"test/{name}"] if source.parts[1] == "kernel" and f'"{source.stem}"' in text_of(f"test/{name}") else []


def namesakes(source, folder):
    """Those of the test files of a folder that have the name of the source."""
    name = "library" if source.parent.name == "lib" else source.stem
    name = name.partition("_")[0] if source.parts[1] == "user" else name
    return [file for file in folder if Path(file).stem.startswith(f"test_{name}")]


def proofs(source):
    """The proofs that import a module of the gateware."""
    module = rf"litepcie_soc\.{'.'.join(source.parent.parts[1:])}(\.| import .*\b){source.stem}\b"
    return [file for file in files("formal") if source.parts[0] == "gateware" and re.search(module, text_of(file))]


def can_see(source, file):
    """Whether tests of a file can see a mutant of the source: false for those of a guest that do not name its part."""
    part = FEATURE.match(str(source))
    return not part or not file.startswith("test/guest/") or part[1] in text_of(file)


def stages(mutant):
    """Lists of test files, the nearest first."""
    source  = Path(mutant.path)
    near    = next((names.split() for pattern, names in NEAR if re.match(pattern, mutant.path)), [])
    mirror  = files(str(source.parent)) if source.parts[0] == "gateware" else []
    user    = files("software/user") if source.parts[1] == "user" else []
    far     = next((names for folder, names in FAR.items() if mutant.path.startswith(folder)), [])
    wanted  = [
        [*suites(source), *[file for name in mutant.tests for file in files(name)]],
        [*namesakes(source, [*mirror, *user]), *proofs(source)],
        [file for name in near for file in files(name)],
        mirror,
        *[files(name) for name in far],
    ]
    seen, found = set(), []
    for stage in wanted:
        new = [file for file in dict.fromkeys(stage) if file not in seen and can_see(source, file)]
        seen.update(new)
        if new:
            found.append(new)
    return found
