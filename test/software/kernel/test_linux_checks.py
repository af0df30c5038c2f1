# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Linux's checks of a driver find nothing: checkpatch, kernel-doc, sparse, warnings, coccinelle, build in the tree."""

import os
import re
import shutil
import subprocess

from pathlib import Path

import pytest

from litepcie_sim.guest.module import sources
from test.software.kernel import linux_source

DRIVER = Path(__file__).resolve().parents[3] / "software" / "kernel"
HEADER = DRIVER / "include" / "uapi" / "linux" / "litepcie.h"
# Not part of the driver in a kernel tree.
FILES  = [path for path in sorted([*DRIVER.glob("*.[ch]"), *HEADER.parent.glob("*.h")]) if path.name != "compat.h"]

# Rules of coccinelle that do not apply: a counter of requests is no reference count; a file of another driver.
NO_RULES = ("atomic_as_refcounter", "check_bq27xxx_data")

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def parts():
    return linux_source.parts()


def script(parts, name, *arguments):
    result = subprocess.run(["perl", parts / "scripts" / name, *arguments], capture_output=True, text=True)
    return result.stdout + result.stderr


def checkpatch(parts, *files):
    """What it complains about. A kernel tree has no versions of itself to compare, so compat.h is not part of it."""
    said = script(parts, "checkpatch.pl", "--no-tree", "--strict", "--terse", "--no-summary", "-f", *files)
    return [line for line in said.splitlines() if line]


def test_checkpatch_finds_nothing(parts):
    def check(path):
        assert checkpatch(parts, path) == []

    for path in FILES:
        linux_source.once(lambda path=path: check(path), "checkpatch", path.name, path.read_bytes())


def kernel_doc(parts, *files):
    said = script(parts, "kernel-doc", "-v", "-none", *files)
    return [line for line in said.splitlines() if "warning:" in line or "error:" in line or "Usage" in line]


def test_kernel_doc_finds_nothing(parts):
    assert kernel_doc(parts, *FILES) == []


def numbers(table):
    """(type, first, last) of each row of ioctl-number.rst."""
    for code, span in re.findall(r"^(0x[0-9A-F]{2}|'.')\s+(all|[0-9A-Fa-f]+(?:-[0-9A-Fa-f]+)?)\b", table, re.M):
        first, _, last = ("00-FF" if span == "all" else span).partition("-")
        yield (ord(code[1]) if code[0] == "'" else int(code, 16)), int(first, 16), int(last or first, 16)


def test_no_other_driver_has_the_ioctls_number(parts):
    table = list(numbers((parts / "Documentation/userspace-api/ioctl/ioctl-number.rst").read_text()))
    magic = int(re.search(r"LITEPCIE_IOC_MAGIC\s+(0x\w+)", HEADER.read_text())[1], 16)
    assert len(table) > 200 and (0xce, 1, 2) in table
    assert [row for row in table if row[0] == magic] == []


def complaints(output):
    return [line for line in output.splitlines() if re.search(r"\b(warning|error)\b", line)]


def build(run, *more):
    return run("make", f"KDIR={linux_source.headers()}", "O=build", "CONFIG_DEBUG_INFO_BTF_MODULES=",
        f"-j{os.cpu_count()}", *more)


def driver_files():
    return [part for file in sorted(sources().items()) for part in file]


def test_sparse_and_the_compiler_warn_of_nothing():
    def check():
        with linux_source.workshop() as (folder, run):
            linux_source.copy_driver(folder)
            result = build(run, "W=1", "C=2")
            assert result.returncode == 0, result.stdout
            assert result.stdout.count("  CHECK ") >= 15
            assert complaints(result.stdout) == []

    linux_source.once(check, "sparse", *driver_files())


def coccinelle(run, rule):
    """Lines that a rule says of the sources in `driver`, as the kernel's coccicheck; None if the rule does not run."""
    for mode in ("report", "context"):
        result = run("spatch", "-D", mode, "--cocci-file", rule, "--dir", "driver", "--very-quiet", "--no-includes")
        if result.returncode == 0:
            return [line for line in result.stdout.splitlines() if "driver/" in line]
    return None


@pytest.fixture(scope="module")
def rules(parts):
    """All but NO_RULES."""
    return [rule for rule in sorted((parts / "scripts" / "coccinelle" / "api").rglob("*.cocci"))
        if rule.stem not in NO_RULES]


def test_coccinelle_finds_nothing(rules):
    def check():
        with linux_source.workshop() as (folder, run):
            linux_source.copy_driver(folder / "driver")
            said = {}
            for rule in rules:
                shutil.copy(rule, folder)
                said[rule.name] = coccinelle(run, rule.name)
        assert len(said) >= 20
        assert {name: lines for name, lines in said.items() if lines != []} == {}

    linux_source.once(check, "coccinelle", *driver_files())


def test_the_driver_builds_in_the_kernel_tree():
    """Built in, with its KUnit suites, at drivers/misc/litepcie. test_series.py builds it there as a module."""
    options = ("64BIT", "MODULES", "PCI", "PCI_MSI", "DEBUG_FS", "KUNIT", "LITEPCIE_KUNIT_TEST", "LITEPCIE")
    with linux_source.workshop() as (folder, run):
        linux_source.whole(folder)
        driver = folder / "drivers" / "misc" / "litepcie"
        (folder / "wanted").write_text("".join(f"CONFIG_{option}=y\n" for option in options))
        run("make", "-s", "allnoconfig", "KCONFIG_ALLCONFIG=wanted")
        assert "CONFIG_LITEPCIE=y\n" in (folder / ".config").read_text()
        for target in (("-s", "prepare"), ("W=1", "drivers/misc/litepcie/")):
            result = run("make", f"-j{os.cpu_count()}", *target)
            assert result.returncode == 0 and complaints(result.stdout) == [], result.stdout[-3000:]
        assert (driver / "built-in.a").exists()
        assert all(path.with_suffix(".o").exists() for path in driver.glob("*_test.c"))
