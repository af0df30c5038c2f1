# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""liblitepcie: its installed files, programs linked with it, and functions it must not call."""

import re
import shutil
import subprocess

import pytest

from test.software.user.conftest import LIMIT, USER, compiled, make
from tools import check_version

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
	assert(litepcie_get_counters(card, 0, LITEPCIE_FROM_CARD, &counters) == 0);
	assert(counters.bytes == 100 && counters.descriptors == 15);
	assert(litepcie_reset_engine(card, 0, LITEPCIE_FROM_CARD) == 0);
	assert(litepcie_get_counters(card, 0, LITEPCIE_FROM_CARD, &counters) == 0 && !counters.bytes);
	assert(litepcie_reset_engine(card, 1, LITEPCIE_FROM_CARD) == -EINVAL);

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
    make(f"BUILD={build}", f"DESTDIR={folder}", "PREFIX=/opt/litepcie", "install")
    return folder / "opt" / "litepcie"


def test_installed_files(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert files == {"bin/litepcie_util", "bin/litepcie_rescan", "lib/liblitepcie.a", "lib/liblitepcie.so",
        "lib/liblitepcie.so.0", f"lib/liblitepcie.so.{check_version.version()}", "lib/pkgconfig/liblitepcie.pc",
        "lib/udev/rules.d/60-litepcie.rules", "include/liblitepcie.h", "include/litepcie_regs.h",
        "include/linux/litepcie.h", "include/linux/litepcie_hostbuf.h", "include/linux/litepcie_stream.h",
        "share/man/man1/litepcie_util.1", "share/man/man3/liblitepcie.3",
        "share/bash-completion/completions/litepcie_util", "share/zsh/site-functions/_litepcie_util",
        "share/fish/vendor_completions.d/litepcie_util.fish"}
    text = (installed / "lib" / "pkgconfig" / "liblitepcie.pc").read_text()
    assert "prefix=/opt/litepcie\n" in text and "Libs: -L${libdir} -llitepcie\n" in text
    assert "@" not in text


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_program(card, installed, tmp_path, kind):
    library = [f"-L{installed}/lib", "-llitepcie", f"-Wl,-rpath,{installed}/lib"]
    program = compiled(tmp_path, PROGRAM, f"-I{installed}/include",
        *(library if kind == "shared" else [f"{installed}/lib/liblitepcie.a"]))
    result  = subprocess.run([program], env=card.environment(short=7), capture_output=True, text=True, timeout=LIMIT)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")
def test_header_is_cxx(installed):
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c++", "-fsyntax-only",
        f"-I{installed}/include", "-include", "liblitepcie.h", "/dev/null"], check=True)


def symbols(*arguments):
    lines = subprocess.check_output(["nm", *arguments], text=True).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if re.search(r" \w ", line)}


def test_exports_are_the_header(build):
    header = re.sub(r"/\*.*?\*/", "", (USER / "lib" / "liblitepcie.h").read_text(), flags=re.S)
    assert symbols("-D", "--defined-only", build / "liblitepcie.so") - {"LITEPCIE_0"} == \
        set(re.findall(r"\b(litepcie_\w+)\(", header))


def test_library_never_ends_or_prints(build):
    wanted = symbols("-u", build / "liblitepcie.a")
    assert not wanted & {"exit", "_exit", "abort", "__assert_fail", "printf", "puts", "perror",
        "fprintf", "__printf_chk", "__fprintf_chk", "stderr", "stdout", "signal", "sigaction"}


@pytest.mark.full
def test_static_tool(tmp_path):
    """With STATIC=1 the tool is one file, for an initramfs without libc."""
    make(f"BUILD={tmp_path}", "STATIC=1", "OPTIMIZE=-O0", f"{tmp_path}/litepcie_util")
    assert "INTERP" not in subprocess.check_output(["readelf", "-l", tmp_path / "litepcie_util"], text=True)
    assert subprocess.run([tmp_path / "litepcie_util", "version"], capture_output=True).returncode == 0


def test_a_build_leaves_the_sources_alone_and_is_not_done_twice(build):
    known = {".c", ".h", ".map", ".in", ".1", ".3", ".bash", ".fish", ".rules", "", ".clang-format"}
    assert {path.suffix for path in USER.rglob("*") if path.is_file()} <= known
    said = make(f"BUILD={build}")
    assert "  CC" not in said and "  LD" not in said
