# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""tools/compiled.py with a "compiler" that joins files: when it uses the cache, and when it compiles again."""

import subprocess
import sys

from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "tools" / "compiled.py"


class Clone:
    """A folder with two sources and an output folder; `build` says whether the command ran."""
    def __init__(self, folder, cache):
        self.folder, self.cache = folder, cache
        (folder / "out" / "deep").mkdir(parents=True)
        (folder / "a.v").write_text("// made at noon\nmodule\n")
        (folder / "b.c").write_text("// a comment\n")

    def run(self, *options, key="-O2", command=None):
        command = command or "echo ran > log; cat a.v b.c > out/deep/x.o; echo library > out/y.a; echo z > out/z"
        return subprocess.run([sys.executable, PROGRAM, "thing", "out", "--keep", "**/*.o", "*.a", "--input", "b.c",
            "a.v", "--program", "make", f"--key={key}", *options, "--", "sh", "-c", command], cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "LITEPCIE_CACHE": str(self.cache)}, capture_output=True, text=True)

    def build(self, *options, **others):
        (self.folder / "log").unlink(missing_ok=True)
        result = self.run(*options, **others)
        assert (result.returncode, result.stderr) == (0, "")
        return (self.folder / "log").exists()


@pytest.fixture
def clone(tmp_path):
    return lambda name: Clone(tmp_path / name, tmp_path / "cache")


def test_another_clone_gets_the_files(clone):
    first, second = clone("first"), clone("second")
    assert first.build() and not second.build()
    assert (second.folder / "out/deep/x.o").read_text() == "// made at noon\nmodule\n// a comment\n"
    assert not (second.folder / "out/z").exists()
    times = [(second.folder / "out" / name).stat().st_mtime_ns for name in ("deep/x.o", "y.a")]
    assert times == sorted(times)


@pytest.mark.parametrize("name, text, runs", [("a.v", "// made at night\nmodule\n", False),
    ("a.v", "// made at noon\nmodule b\n", True), ("b.c", "// another comment\n", True)])
def test_what_a_change_of_an_input_does(clone, name, text, runs):
    one = clone("one")
    one.build()
    (one.folder / name).write_text(text)
    assert one.build() is runs


def test_other_options_run_the_command_and_a_file_that_is_there_stops_it(clone):
    one = clone("one")
    assert one.build() and one.build(key="-O0") and not one.build()
    two = clone("two")
    assert not two.build("--unless", "a.v")
    assert two.build("--unless", "out/y.a", key="-O3") and not two.build("--unless", "out/y.a")


def test_a_failed_command_is_the_status_and_is_not_kept(clone):
    one    = clone("one")
    result = one.run(command="echo said >&2; exit 7")
    assert (result.returncode, result.stderr) == (7, "said\n") and one.build()


def test_without_a_cache_the_command_runs(clone, tmp_path):
    (tmp_path / "cache").write_text("no folder")
    assert clone("one").build() and clone("two").build()
