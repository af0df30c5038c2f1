# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The descriptions for syzkaller say what the uapi headers say: nodes, ioctls, structures, members, constants."""

import re
import subprocess

from pathlib import Path

import pytest

DRIVER = Path(__file__).resolve().parents[3] / "software" / "kernel"
UAPI   = DRIVER / "include" / "uapi"
TEXT   = re.sub(r"#(?!\"|_).*", "", (DRIVER / "upstream/syzkaller/dev_litepcie.txt").read_text())

RESOURCES = dict(re.findall(r"^resource (\w+)\[(\w+)\]", TEXT, re.M))
STRUCTS   = {name: re.findall(r"^\t(\w+)\t+(.*?)(?:\t+\(\w+\))?$", fields, re.M)
    for name, fields in re.findall(r"^(\w+) \{\n(.*?)^\}", TEXT, re.M | re.S)}
# Of syzkaller's other files.
RESOURCES |= {"fd": "int32", "fd_dma_buf": "fd"}


def size(kind):
    """Bytes of a member, from its type; none of them depends on the processor."""
    name, _, options = kind.partition("[")
    options = options.removesuffix("]")
    if name == "array":
        element, count = options.rsplit(", ", 1)
        return size(element)*int(count)
    if name in ("const", "flags", "bytesize"):
        return size(options.rsplit(", ", 1)[1])
    if name in RESOURCES:
        return size(RESOURCES[name])
    if name in STRUCTS:
        return sum(size(kind) for _, kind in STRUCTS[name])
    return int(re.fullmatch(r"int(8|16|32|64)", name)[1])//8


def headers():
    return "".join(path.read_text() for path in sorted((UAPI / "linux").glob("*.h")))


def test_every_ioctl_has_its_structure():
    defined   = dict(re.findall(r"#define (LITEPCIE_IOC_\w+)\s+(?:\\\n\s*)?_IOWR\(\w+, \w+, struct (\w+)\)", headers()))
    described = re.findall(r"^ioctl\$(\w+)\(fd (\w+), cmd const\[(\w+)\], arg ptr\[inout, (\w+)\]\)$", TEXT, re.M)
    assert {name: struct for name, _, _, struct in described} == defined and len(defined) >= 10
    for name, node, command, _ in described:
        assert name == command
        assert node == ("fd_litepcie_stream" if "_STREAM_" in name else "fd_litepcie")


def test_every_node_is_opened():
    names  = {"litepcie": "litepcie#", "litepcie_user": "litepcie#_user"}
    names |= {f"litepcie_{kind}": f"litepcie0_{kind}#" for kind in ("interrupt", "stream")}
    opened = re.findall(r'^syz_open_dev\$(\w+)\(dev ptr\[in, string\["/dev/([\w#]+)"\]\], .*\) fd_(\w+)$', TEXT, re.M)
    assert {call: node for call, node, _ in opened} == names
    assert all(call == kind for call, _, kind in opened)
    # The names that the driver gives its devices.
    given = re.findall(r'dev_set_name\(.*?"(%?\w*%\w+)"', "".join(path.read_text() for path in DRIVER.glob("*.c")))
    assert {re.sub(r"^%s|%[du]$", "", name) for name in given} == {"", "_user", "_interrupt", "_stream"}


@pytest.mark.parametrize("bits", [32, 64])
def test_structures_and_constants_are_those_of_the_headers(tmp_path, bits):
    """Each member is where the compiler has it, with all bytes of the structure, and each constant exists."""
    checks = []
    for name, members in STRUCTS.items():
        if f"struct {name} {{" not in headers():
            assert name == "litepcie_stream_packet"
            continue
        offset = 0
        for member, kind in members:
            checks.append((f"offsetof(struct {name}, {member})", offset))
            checks.append((f"sizeof(((struct {name} *)0)->{member})", size(kind)))
            offset += size(kind)
        checks.append((f"sizeof(struct {name})", offset))
    constants = set(re.findall(r"\bLITEPCIE_\w+\b", re.sub(r"^ioctl\$\w+", "", TEXT, flags=re.M)))
    source    = tmp_path / "check.c"
    source.write_text("#include <stddef.h>\n#include <linux/litepcie_stream.h>\n#include <linux/litepcie_hostbuf.h>\n"
        + "".join(f'_Static_assert({what} == {value}, "{what}");\n' for what, value in checks)
        + "".join(f"unsigned long long {name.lower()}_value = {name};\n" for name in sorted(constants)))
    result = subprocess.run(["gcc", f"-m{bits}", "-fsyntax-only", "-ffreestanding", "-I", UAPI, "-idirafter",
        "/usr/include/x86_64-linux-gnu", source], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert len(checks) > 200 and len(constants) > 30
    # What is used is described.
    for name in re.findall(r"flags\[(litepcie_\w+)", TEXT):
        assert re.search(rf"^{name} = ", TEXT, re.M), name
