#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The driver's sources: pure functions, user interface, makefile. No kernel needed."""

import re
import subprocess

from pathlib import Path

import pytest

HERE   = Path(__file__).resolve().parent
DRIVER = HERE.parents[2] / "software" / "kernel"
UAPI   = DRIVER / "include" / "uapi"


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def test_kunit_suite_runs_without_a_kernel(tmp_path):
    shim   = HERE / "shim"
    result = run("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror",
        "-Wno-missing-field-initializers", "-fsanitize=undefined", "-fno-sanitize-recover",
        "-include", shim / "linux" / "kernel.h", "-I", shim, DRIVER / "descriptor.c",
        DRIVER / "descriptor_test.c", "-o", tmp_path / "suite")
    assert result.returncode == 0, result.stderr
    result = run(tmp_path / "suite")
    assert result.returncode == 0, result.stdout + result.stderr
    cases  = re.findall(r"KUNIT_CASE\((\w+)\)", (DRIVER / "descriptor_test.c").read_text())
    assert result.stdout.split()[1::2] == cases


@pytest.mark.parametrize("bits", [32, 64])
def test_user_structures_are_the_same_for_32_and_64_bits(tmp_path, bits):
    sizes  = {"litepcie_info": 240, "litepcie_counters": 120, "litepcie_errors": 72,
        "litepcie_scratch": 16}
    source = tmp_path / "sizes.c"
    source.write_text("#include <linux/litepcie.h>\n" + "".join(
        f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");\n'
        for name, size in sizes.items()))
    result = run("gcc", f"-m{bits}", "-Wpadded", "-Werror", "-fsyntax-only", "-ffreestanding",
        "-I", UAPI, "-idirafter", "/usr/include/x86_64-linux-gnu", source)
    assert result.returncode == 0, result.stderr


def test_a_missing_kernel_is_one_clear_line(tmp_path):
    result = run("make", "-s", "-C", DRIVER, "KDIR=/nowhere", f"O={tmp_path}/out")
    assert result.returncode == 2
    assert "no kernel headers in /nowhere" in result.stderr


@pytest.mark.parametrize("goal", ["all", "clean"])
def test_the_source_folder_is_not_a_build_folder(goal):
    result = run("make", "-s", "-C", DRIVER, "KDIR=/", f"O={DRIVER}", goal)
    assert result.returncode == 2
    assert "O must not be the source folder" in result.stderr
    assert not (DRIVER / "Makefile").is_symlink()


def test_every_driver_file_names_its_licence_and_is_short():
    files = [path for path in DRIVER.rglob("*") if path.suffix in (".c", ".h")]
    assert len(files) > 10
    for path in files:
        lines = path.read_text().splitlines()
        assert "SPDX-License-Identifier: GPL-2.0-only" in lines[0], path
        assert len(lines) <= 300, f"{path}: {len(lines)} lines"
