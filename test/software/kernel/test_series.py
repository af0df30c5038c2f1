# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The patches for a kernel tree: Linux's checks and a build after each, their KUnit suites, the selftest in a guest."""

import os
import re
import shutil
import subprocess
import sys

from pathlib import Path

import pytest

from test.software.kernel                   import linux_source
from test.software.kernel.test_driver       import SUITES, run_suite
from test.software.kernel.test_linux_checks import complaints, script

ROOT     = Path(__file__).resolve().parents[3]
DRIVER   = ROOT / "software" / "kernel"
SERIES   = DRIVER / "upstream" / "series.py"
AUTHOR   = "A Developer <developer@example.org>"
SELFTEST = "tools/testing/selftests/drivers/litepcie"

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def parts():
    return linux_source.parts()


def series(tree, output, author=AUTHOR):
    return subprocess.run([sys.executable, SERIES, "--tree", tree, "--author", author, "--output", output],
        capture_output=True, text=True)


@pytest.fixture(scope="module")
def patches(parts, tmp_path_factory):
    """Paths of the patches of all series, without the cover letters."""
    result = series(parts, tmp_path_factory.mktemp("series"))
    assert result.returncode == 0, result.stderr
    return [Path(line) for line in result.stdout.splitlines() if "/0000-" not in line]


@pytest.fixture(scope="module")
def patched(parts, patches, tmp_path_factory):
    """A copy of the parts of the kernel tree with all patches."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(parts, tree, dirs_exist_ok=True, ignore=lambda folder, names: ["scripts"])
    for patch in patches:
        apply(tree, patch)
    return tree


def apply(tree, patch):
    # The tree is no git repository, and may be inside one.
    result = subprocess.run(["git", "apply", "-p1", "--whitespace=error-all", patch], cwd=tree, capture_output=True,
        text=True, env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tree.parent)})
    assert result.returncode == 0, result.stderr


def checkpatch(parts, patch):
    # MAINTAINERS, in the first patch, names the folders of the other patches' files.
    said = script(parts, "checkpatch.pl", "--no-tree", "--strict", "--terse", "--no-summary", "--ignore",
        "FILE_PATH_CHANGES", patch)
    return [line for line in said.splitlines() if line]


@pytest.mark.full
def test_checkpatch_finds_nothing_in_any_patch(parts, patches):
    assert len(patches) == 16
    assert {patch.name: checkpatch(parts, patch) for patch in patches} == {patch.name: [] for patch in patches}
    for letter in patches[0].parents[1].glob("*/0000-*"):
        assert len(letter.read_text().split("\n\n")) > 4, letter


@pytest.mark.full
def test_the_patches_make_the_whole_driver(patched):
    driver = patched / "drivers" / "misc" / "litepcie"
    wanted = {path.name for path in DRIVER.glob("*.[ch]")} - {"compat.h"} | {"Kconfig", "Makefile"}
    assert {path.name for path in driver.iterdir()} == wanted
    for path in driver.glob("*.[ch]"):
        # Nothing is left of what stood for later patches.
        assert path.read_text() == (DRIVER / path.name).read_text().replace('#include "compat.h"\n', ""), path.name
    assert "KBUILD_EXTMOD" not in (driver / "Makefile").read_text()
    for folder, pattern in (("include/uapi/linux", "*.h"), ("Documentation/misc-devices", "litepcie*"),
            ("Documentation/ABI/testing", "sysfs-*")):
        found = {path.name for path in (patched / folder).glob(pattern)}
        assert found == {path.name for path in (DRIVER / folder).glob(pattern)}, folder


def add_compat(driver):
    """Debian's kernel is older than the one that the series is for: the files get compat.h where they have it here."""
    shutil.copy(DRIVER / "compat.h", driver)
    for path in driver.glob("*.c"):
        text, line = path.read_text(), '#include "compat.h"\n'
        if line in (DRIVER / path.name).read_text() and line not in text:
            path.write_text(text.replace('#include "', line + '#include "', 1))


def build(run, folder, how):
    """Builds the driver as a module (m) or built in (y), with its KUnit suites."""
    options = ("64BIT=y", "MODULES=y", "PCI=y", "PCI_MSI=y", "DEBUG_FS=y", "KUNIT=y", f"LITEPCIE={how}",
        "LITEPCIE_KUNIT_TEST=y")
    (folder / "wanted").write_text("".join(f"CONFIG_{option}\n" for option in options))
    for target in (("allnoconfig", "KCONFIG_ALLCONFIG=wanted"), ("prepare",), ("W=1", "drivers/misc/")):
        result = run("make", "-s", f"-j{os.cpu_count()}", *target)
        assert result.returncode == 0 and complaints(result.stdout) == [], (how, result.stdout[-3000:])
    assert f"CONFIG_LITEPCIE={how}\n" in (folder / ".config").read_text()


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_the_kernel_builds_after_each_patch(patches, tmp_path):
    """As a module and built in, with no function missing, and the KUnit suites pass after the patch that adds them."""
    sizes, ran = [], set()
    with linux_source.workshop() as (folder, run):
        linux_source.unpack(folder)
        driver = folder / "drivers" / "misc" / "litepcie"
        for patch in patches:
            # Of the patch, not of what is changed here for the older kernel.
            for path in driver.glob("*.c"):
                path.write_text(path.read_text().replace('#include "compat.h"\n', ""))
            apply(folder, patch)
            add_compat(driver)
            for how in "my":
                for path in driver.glob("*.o"):
                    path.unlink()
                build(run, folder, how)
                missing = [path.name for path in driver.glob("*.c") if not path.with_suffix(".o").exists()]
                assert not missing, (patch.name, how)
                if how == "m":
                    undefined = run("nm", "-u", "drivers/misc/litepcie/litepcie.o").stdout
                    assert "litepcie_" not in undefined, (patch.name, undefined)
            # Beside the driver's, those headers are the machine's.
            for header in (folder / "include" / "uapi" / "linux").glob("litepcie*.h"):
                (tmp_path / "linux").mkdir(exist_ok=True)
                shutil.copy(header, tmp_path / "linux")
            for name in set(SUITES) - ran:
                if (driver / f"{name}_test.c").exists():
                    run_suite(name, tmp_path / name, driver, tmp_path)
                    ran.add(name)
            sizes.append(len(list(driver.glob("*.c"))))
    assert ran == set(SUITES)
    assert sizes == sorted(sizes) and sizes[0] < sizes[1] < sizes[3]


@pytest.mark.full
def test_the_tree_names_the_driver(patched):
    number = (patched / "Documentation/userspace-api/ioctl/ioctl-number.rst").read_text()
    magic  = re.search(r"LITEPCIE_IOC_MAGIC\s+(0x\w+)", (DRIVER / "include/uapi/linux/litepcie.h").read_text())[1]
    row    = re.search(rf"^{magic}  00-1F .*litepcie\.h.*\n{magic}  40-4F .*litepcie_stream\.h", number, re.M | re.I)
    assert row and number.index("\n0xCF") < row.start() < number.index("\n0xDB")
    entry  = re.search(r"\n\nLITEPCIE SOC DMA CARD DRIVER\n(?:\w:\t.*\n)+\n", (patched / "MAINTAINERS").read_text())[0]
    for pattern in re.findall(r"^F:\t(.*)", entry, re.M):
        assert list(patched.glob(pattern.rstrip("/"))), pattern
    for name in ("drivers/misc/Kconfig", "drivers/misc/Makefile", "Documentation/misc-devices/index.rst",
            "tools/testing/selftests/Makefile"):
        assert "litepcie" in (patched / name).read_text(), name


@pytest.mark.parametrize("tree, author, message", [
    ("no-such-folder", AUTHOR,   "no-such-folder is no kernel tree: MAINTAINERS: No such file or directory"),
    (".",              "nobody", "argument --author: 'nobody' is not NAME <ADDRESS>"),
])
def test_errors(tmp_path, tree, author, message):
    result = series(tree, tmp_path, author)
    assert result.returncode != 0
    assert message in result.stderr


@pytest.mark.full
def test_the_selftest_passes_with_a_card(boot, board, patched, tmp_path):
    """With the harness of the kernel tree; it skips where there is no card."""
    program = tmp_path / "litepcie_test"
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-static", "-D_GNU_SOURCE", "-I", patched / "include/uapi",
        "-o", program, patched / SELFTEST / "litepcie_test.c"], check=True)
    guest  = boot(board, files=[(program, "/bin/litepcie_test")])
    result = guest.run("litepcie_test", 60)
    tests  = (patched / SELFTEST / "litepcie_test.c").read_text().count("\nTEST_F(")
    assert result.status == 0, result.output
    assert f"# PASSED: {tests} / {tests} tests passed." in result.output
    assert "SKIP" not in result.output
    guest.run("rmmod litepcie")
    result = guest.run("litepcie_test", 60)
    assert result.output.count("SKIP") >= tests, result.output
