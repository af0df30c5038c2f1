#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of cpio archives, which are read back as their format is specified."""

import stat

import pytest

from litepcie_sim.guest.cpio import Archive


def entries(data):
    """Returns [(name, mode, content, device)] of an archive, as the format is specified."""
    at, found = 0, []
    while True:
        assert data[at:at + 6] == b"070701"
        assert at % 4 == 0
        fields = [int(data[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        name   = data[at + 110:at + 110 + fields[11]]
        assert name.endswith(b"\0")
        start  = (at + 110 + fields[11] + 3) & ~3
        found.append((name[:-1].decode(), fields[1], data[start:start + fields[6]],
            tuple(fields[9:11])))
        at = (start + fields[6] + 3) & ~3
        if name == b"TRAILER!!!\0":
            assert at == len(data)
            return found


def test_all_kinds_of_entries():
    archive = Archive()
    archive.folder("tmp", 0o1777)
    archive.file("init", "#!/bin/sh\n", 0o755)
    archive.link("bin/sh", "busybox")
    archive.device("dev/console", 5, 1)
    assert entries(archive.data()) == [
        ("tmp",         stat.S_IFDIR | 0o1777, b"",             (0, 0)),
        ("init",        stat.S_IFREG | 0o755,  b"#!/bin/sh\n",  (0, 0)),
        ("bin",         stat.S_IFDIR | 0o755,  b"",             (0, 0)),
        ("bin/sh",      stat.S_IFLNK | 0o777,  b"busybox",      (0, 0)),
        ("dev",         stat.S_IFDIR | 0o755,  b"",             (0, 0)),
        ("dev/console", stat.S_IFCHR | 0o600,  b"",             (5, 1)),
        ("TRAILER!!!",  0,                     b"",             (0, 0)),
    ]


@pytest.mark.parametrize("size", range(9))
def test_padding_of_every_length(size):
    archive = Archive()
    archive.file("a" * (size + 1), bytes(range(size)))
    archive.file("last", b"x")
    found = entries(archive.data())
    assert found[0][2] == bytes(range(size))
    assert found[1][2] == b"x"


def test_folders_come_once_and_before_what_they_hold():
    archive = Archive()
    archive.file("/a/b/c", b"")
    archive.file("a/b/d", b"")
    archive.folder("a/b")
    assert [entry[0] for entry in entries(archive.data())] == ["a", "a/b", "a/b/c", "a/b/d",
        "TRAILER!!!"]


def test_copy_keeps_content_and_permissions(tmp_path):
    path = tmp_path / "tool"
    path.write_bytes(b"\x7fELF\0")
    path.chmod(0o750)
    archive = Archive()
    archive.copy("bin/tool", path)
    archive.copy("bin/other", path, 0o644)
    found = {entry[0]: entry for entry in entries(archive.data())}
    assert found["bin/tool"][1:3]  == (stat.S_IFREG | 0o750, b"\x7fELF\0")
    assert found["bin/other"][1:3] == (stat.S_IFREG | 0o644, b"\x7fELF\0")


def test_a_path_out_of_the_archive_is_refused():
    with pytest.raises(ValueError, match=r"must not contain '\.\.': '/a/\.\./\.\./etc'"):
        Archive().file("a/../../etc", b"")
