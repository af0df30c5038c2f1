# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The mutants of the simulator: each rule that it checks is removed, and the unit tests of its file are linked anew."""

import re
import subprocess

from pathlib import Path

ROOT    = Path(__file__).resolve().parents[2]
TESTS   = ROOT / "test" / "sim" / "src"
# Sources and the unit tests that must find their mutants.
SOURCES = {"link/tlp_checker.cpp": "TlpChecker*", "card/stream_checker.cpp": "StreamChecker*",
    "model/order_checker.cpp": "OrderChecker*", "card/card_transmit.cpp": "*", "card/card_receive.cpp": "*",
    "model/model.cpp": "Model*", "model/model_config.cpp": "Model*"}
# Rules that the test endpoint, which has one vector and no MSI-X, cannot break. test/sim/test_msix.py breaks the first;
# the second has no test.
ELSEWHERE = ("MSI vector", "message of MSI-X that is not one dword")
# A rule ends in one of these statements. The line that makes the Violation of stream_checker.cpp is no rule.
RULE    = re.compile(r"(?:throw Violation|(?<!::)\bfail)\((?!std::string\(name_\))")


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


def mutants(text):
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
    tests = [model / "test" / path.relative_to(TESTS).with_suffix(".o") for path in sorted(TESTS.glob("*/test_*.cpp"))]
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
