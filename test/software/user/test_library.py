# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""liblitepcie: its installed files, programs linked with it, and functions it must not call."""

import re
import shutil
import subprocess

from pathlib import Path

import pytest

from test.software.user.conftest import LIMIT

ROOT = Path(__file__).resolve().parents[3]
USER = ROOT / "software" / "user"

PROGRAM = r"""
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <liblitepcie.h>
#include <litepcie_regs.h>

int main(void)
{
	struct litepcie *card;
	struct litepcie_info info;
	struct litepcie_counters counters;
	unsigned char out[100], in[100];

	assert(litepcie_open(&card, "/dev/null") == -ENOTTY && !card);
	assert(litepcie_open(&card, "/nowhere") == -ENOENT && !card);
	assert(litepcie_driver_version("/dev/litepcie0") == LITEPCIE_UAPI_VERSION);
	assert(litepcie_open_index(&card, 0) == 0 && litepcie_fd(card) >= 0);
	assert(litepcie_get_info(card, &info) == 0 && info.memory_bytes == 1 << 20);

	/* Seven bytes a call: see MOCK_SHORT. */
	memset(out, 0x5a, sizeof(out));
	assert(litepcie_pwrite(card, out, 100, 11) == 100);
	assert(litepcie_pread(card, in, 100, 11) == 100 && !memcmp(in, out, 100));
	assert(litepcie_get_counters(card, 0, LITEPCIE_WRITER, &counters) == 0);
	assert(counters.bytes == 100 && counters.descriptors == 15);
	assert(litepcie_reset_engine(card, 0, LITEPCIE_WRITER) == 0);
	assert(litepcie_get_counters(card, 0, LITEPCIE_WRITER, &counters) == 0 && !counters.bytes);
	assert(litepcie_reset_engine(card, 1, LITEPCIE_WRITER) == -EINVAL);

	/* The end of the memory. */
	errno = EINTR; /* of an earlier call */
	assert(litepcie_pread(card, in, 100, info.memory_bytes - 30) == 30);
	assert(litepcie_pread(card, in, 100, info.memory_bytes) == 0);
	assert(litepcie_pwrite(card, out, 100, info.memory_bytes - 30) == -ENOSPC);
	assert(litepcie_pread(card, in, 1, info.memory_bytes - 1) == 1 && in[0] == 0x5a);
	assert(litepcie_pread(card, in, 1, 1ull << 63) == -EINVAL);
	assert(litepcie_pwrite(card, in, 2, (1ull << 63) - 1) == -EINVAL);
	assert(litepcie_pread(card, in, 0, 0) == 0);

	assert(!strcmp(litepcie_capability_name(1), "writer") && !litepcie_capability_name(31));
	assert(!litepcie_capability_name(32) && !litepcie_direction_name(2));
	assert(!strcmp(litepcie_strerror(-E2BIG), strerror(E2BIG)));
	litepcie_close(card);
	litepcie_close(NULL);
	puts(litepcie_version());
	return 0;
}
"""


@pytest.fixture(scope="module")
def installed(build, tmp_path_factory):
    """DESTDIR with an installed tree, PREFIX /opt/litepcie."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["make", "-C", str(USER), f"BUILD={build}", f"DESTDIR={folder}",
        "PREFIX=/opt/litepcie", "install"], check=True, capture_output=True)
    return folder / "opt" / "litepcie"


def test_installed_files(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    version = re.search(r'version += "(\S+)"', (ROOT / "setup.py").read_text())[1]
    assert files == {
        "bin/litepcie_util", "bin/litepcie_rescan", "lib/liblitepcie.a", "lib/liblitepcie.so",
        "lib/liblitepcie.so.0", f"lib/liblitepcie.so.{version}", "lib/pkgconfig/liblitepcie.pc",
        "lib/udev/rules.d/60-litepcie.rules", "include/liblitepcie.h", "include/litepcie_regs.h",
        "include/linux/litepcie.h", "include/linux/litepcie_hostbuf.h", "include/linux/litepcie_stream.h",
        "share/man/man1/litepcie_util.1",
        "share/man/man3/liblitepcie.3",
        "share/bash-completion/completions/litepcie_util",
        "share/zsh/site-functions/_litepcie_util", "share/fish/vendor_completions.d/litepcie_util.fish",
    }


def test_pkg_config_file(installed):
    text = (installed / "lib" / "pkgconfig" / "liblitepcie.pc").read_text()
    assert "prefix=/opt/litepcie\n" in text and "Libs: -L${libdir} -llitepcie\n" in text
    assert "@" not in text


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_program(card, installed, tmp_path, kind):
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    library = [f"-L{installed}/lib", "-llitepcie", f"-Wl,-rpath,{installed}/lib"]
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{installed}/include", str(source), "-o",
        str(program), *(library if kind == "shared" else [f"{installed}/lib/liblitepcie.a"])], check=True)
    result = subprocess.run([str(program)], env=card.environment(short=7), capture_output=True,
        text=True, timeout=LIMIT)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")
def test_header_is_cxx(installed):
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c++", "-fsyntax-only",
        f"-I{installed}/include", "-include", "liblitepcie.h", "/dev/null"], check=True)


def declared():
    header = re.sub(r"/\*.*?\*/", "", (USER / "lib" / "liblitepcie.h").read_text(), flags=re.S)
    return set(re.findall(r"\b(litepcie_\w+)\(", header))


def test_exports_are_the_header(build):
    symbols = subprocess.run(["nm", "-D", "--defined-only", str(build / "liblitepcie.so")],
        check=True, capture_output=True, text=True).stdout
    exported = {line.split()[2].split("@")[0] for line in symbols.splitlines()}
    assert exported - {"LITEPCIE_0"} == declared()


def test_library_never_ends_or_prints(build):
    symbols = subprocess.run(["nm", "-u", str(build / "liblitepcie.a")], check=True,
        capture_output=True, text=True).stdout
    wanted = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if " U " in line}
    assert not wanted & {"exit", "_exit", "abort", "__assert_fail", "printf", "puts", "perror",
        "fprintf", "__printf_chk", "__fprintf_chk", "stderr", "stdout", "signal", "sigaction"}


@pytest.mark.full
def test_static_tool(tmp_path):
    """With STATIC=1 the tool is one file, for an initramfs without libc."""
    subprocess.run(["make", "-C", str(USER), f"BUILD={tmp_path}", "STATIC=1", "OPTIMIZE=-O0",
        f"{tmp_path}/litepcie_util"], check=True, capture_output=True)
    headers = subprocess.run(["readelf", "-l", str(tmp_path / "litepcie_util")], check=True,
        capture_output=True, text=True).stdout
    assert "INTERP" not in headers
    result = subprocess.run([str(tmp_path / "litepcie_util"), "version"], capture_output=True)
    assert result.returncode == 0


def test_build_leaves_the_sources_alone(build):
    known = {".c", ".h", ".map", ".in", ".1", ".3", ".bash", ".fish", ".rules", "", ".clang-format"}
    assert {path.suffix for path in USER.rglob("*") if path.is_file()} <= known


def test_unchanged_sources_build_nothing(build):
    result = subprocess.run(["make", "-C", str(USER), f"BUILD={build}"], check=True, capture_output=True, text=True)
    assert "  CC" not in result.stdout and "  LD" not in result.stdout
