# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The driver's sources: pure functions, user interface, makefile. No kernel needed."""

import re
import subprocess

from pathlib import Path

import pytest

HERE   = Path(__file__).resolve().parent
ROOT   = HERE.parents[2]
DRIVER = ROOT / "software" / "kernel"
UAPI   = DRIVER / "include" / "uapi"


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


# KUnit suites, and the driver's files that they test, on types of shim/driver_shim.h.
SUITES = {
    "queue"  : ["queue", "ring"],
    "stream" : ["stream_ring", "stream_call", "ring", "queue"],
}
# Headers that are the machine's, the driver's own or the shim's.
HEADERS = {"types.h", "errno.h", "ioctl.h", "litepcie.h", "litepcie_stream.h", "kernel.h", "rbtree.h", "math64.h",
    "build_bug.h", "stddef.h", "tracepoint.h"}


def make_headers(folder):
    """Makes a header of each name that the driver includes, which includes driver_shim.h."""
    text = "".join(path.read_text() for path in DRIVER.glob("*.[ch]"))
    for name in set(re.findall(r"#include <linux/([^>]+)>", text)) - HEADERS:
        path = folder / "linux" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#include "driver_shim.h"\n')


def run_suite(name, folder, driver=DRIVER, uapi=UAPI):
    """Runs a KUnit suite of the files in `driver` as a program, which it makes in `folder`."""
    folder.mkdir(exist_ok=True)
    shim    = HERE / "shim"
    sources = [driver / f"{file}.c" for file in (*SUITES[name], f"{name}_test")]
    make_headers(folder)
    # The linker drops functions that no test calls, and what they need of other files.
    result = run("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
        "-Wno-missing-field-initializers", "-Wno-sign-compare", "-fsanitize=address,undefined", "-fno-sanitize-recover",
        "-ffunction-sections", "-Wl,--gc-sections", "-include", shim / "linux" / "kernel.h", "-I", folder, "-I", uapi,
        "-I", driver, "-I", shim, *sources, shim / "stubs.c", "-o", folder / "suite")
    assert result.returncode == 0, result.stderr
    result = run(folder / "suite", env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert result.returncode == 0, f"the suite {name} failed:\n{result.stdout}{result.stderr}"
    cases  = re.findall(r"KUNIT_CASE\((\w+)\)", (driver / f"{name}_test.c").read_text())
    assert result.stdout.split()[1::2] == cases


@pytest.mark.parametrize("name", SUITES)
def test_kunit_suite_runs_without_a_kernel(tmp_path, name):
    run_suite(name, tmp_path)


@pytest.mark.parametrize("bits", [32, 64])
def test_user_structures_are_the_same_for_32_and_64_bits(tmp_path, bits):
    sizes  = {"litepcie_info": 240, "litepcie_counters": 120, "litepcie_errors": 72,
        "litepcie_scratch": 16, "litepcie_reset": 32, "litepcie_cancel": 24,
        "litepcie_stream_header": 8, "litepcie_stream_setup": 72, "litepcie_stream_info": 136,
        "litepcie_stream_advance": 40, "litepcie_stream_ring": 4160,
        "litepcie_hostbuf_create": 48, "litepcie_hostbuf_destroy": 16}
    source = tmp_path / "sizes.c"
    source.write_text("#include <linux/litepcie_stream.h>\n#include <linux/litepcie_hostbuf.h>\n" + "".join(
        f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");\n'
        for name, size in sizes.items()))
    result = run("gcc", f"-m{bits}", "-Wpadded", "-Werror", "-fsyntax-only", "-ffreestanding",
        "-I", UAPI, "-idirafter", "/usr/include/x86_64-linux-gnu", source)
    assert result.returncode == 0, result.stderr


def test_the_user_interface_needs_no_other_header(tmp_path):
    """Programs have <linux/litepcie.h> only; what it says is defined there or in the headers that it includes."""
    for name in ("litepcie_stream.h", "litepcie_hostbuf.h"):
        text = (UAPI / "linux" / name).read_text()
        assert set(re.findall(r"#include <(.*)>", text)) == {"linux/ioctl.h", "linux/types.h", "linux/litepcie.h"}
    text = (UAPI / "linux" / "litepcie.h").read_text()
    # Directions are LITEPCIE_TO_CARD and LITEPCIE_FROM_CARD: the card's reader serves write(2).
    assert not re.search(r"_(READER|WRITER)\b", "".join(path.read_text() for path in UAPI.rglob("*.h")))
    assert set(re.findall(r"[\w/]+\.h\b", text)) == {"linux/ioctl.h", "linux/types.h"}
    for family in set(re.findall(r"(LITEPCIE_\w+_)\*", text)):
        assert re.search(rf"#define {family}\w+\t+0x", text), family
    # The compiler warns about a constant that is another one in the register map.
    source = tmp_path / "both.c"
    source.write_text('#include <linux/litepcie_stream.h>\n#include <linux/litepcie_hostbuf.h>\n'
        '#include "litepcie_regs.h"\n')
    result = run("gcc", "-Werror", "-fsyntax-only", "-I", UAPI, "-I", DRIVER, source)
    assert result.returncode == 0, result.stderr


def test_a_missing_kernel_is_one_clear_line(tmp_path):
    result = run("make", "-s", "-C", DRIVER, "KDIR=/nowhere", f"O={tmp_path}/out")
    assert result.returncode == 2
    assert "no kernel headers in /nowhere" in result.stderr


def test_dkms_builds_the_module_of_this_release(tmp_path):
    """Does with the file what dkms does: reads it, and inserts its own words after the first word of a command."""
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "Makefile").write_text(
        "modules clean:\n\t@echo $@ $(M) $(CONFIG_LITEPCIE) $(KERNELRELEASE)\n")
    script = """
        kernel_source_dir=$1/kernel dkms_tree=$1/dkms; . "$2"
        echo "$PACKAGE_NAME $PACKAGE_VERSION ${BUILT_MODULE_NAME[0]} $AUTOINSTALL"
        for command in "${MAKE[0]}" "$CLEAN"; do eval "${command/#make/make -s KERNELRELEASE=6.1}"; done
    """
    result  = run("bash", "-euc", script, "dkms", tmp_path, DRIVER / "dkms.conf")
    version = re.search(r'version += "(\S+)"', (ROOT / "setup.py").read_text())[1]
    folder  = f"{tmp_path}/dkms/litepcie/{version}/build"
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        f"litepcie {version} litepcie yes", f"modules {folder} m 6.1", f"clean {folder} m 6.1"]


@pytest.mark.parametrize("release, new", [("5.15.0-91-generic", False), ("6.0.19", False), ("6.1.0-40-amd64", True),
    ("6.12.1", True), ("7.2-rc1", True), ("10.0.1", True)])
def test_a_kernel_before_6_1_is_one_clear_line(tmp_path, release, new):
    version, patch = re.match(r"(\d+)\.(\d+)", release).groups()
    result = run("make", "-s", "-f", DRIVER / "Makefile", f"KERNELRELEASE={release}", f"VERSION={version}",
        f"PATCHLEVEL={patch}", "KBUILD_EXTMOD=x", "src=x", "-n", f"--eval={release}:;", release, cwd=tmp_path)
    assert (result.returncode == 0) == new
    assert ("needs Linux 6.1 or newer, and this is " + release in result.stderr) != new
    dkms = run("bash", "-c", '. "$1"; [[ $2 =~ $BUILD_EXCLUSIVE_KERNEL ]]', "dkms", DRIVER / "dkms.conf", release)
    assert (dkms.returncode == 0) == new


@pytest.mark.parametrize("goal", ["all", "clean"])
def test_the_source_folder_is_not_a_build_folder(goal):
    result = run("make", "-s", "-C", DRIVER, "KDIR=/", f"O={DRIVER}", goal)
    assert result.returncode == 2
    assert f"O={DRIVER} is the source folder" in result.stderr
    assert not (DRIVER / "Makefile").is_symlink()


def test_every_driver_file_names_its_licence_and_is_short():
    files = [path for path in DRIVER.rglob("*") if path.suffix in (".c", ".h")]
    assert len(files) > 10
    for path in files:
        lines = path.read_text().splitlines()
        assert "SPDX-License-Identifier: GPL-2.0-only" in lines[0], path
        assert len(lines) < 1000, f"{path}: {len(lines)} lines"
        # That header is for implementations of DMA, as it says.
        assert "#include <linux/dma-map-ops.h>" not in lines, path
