#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writes cpio archives of the "newc" format, which Linux unpacks as initial RAM file system.

Written in Python, it needs no program of the machine and no rights: devices and owners are only
numbers in the archive. An image may be several archives one after the other. Format:
Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
"""

import stat

from pathlib import Path, PurePosixPath


class Archive:
    """Collects entries; `data()` returns the archive. Parent folders of an entry are added automatically."""

    def __init__(self):
        self._parts   = []
        self._folders = {PurePosixPath("/")}
        self._inode   = 0

    def _entry(self, name, mode, content=b"", device=(0, 0)):
        name = PurePosixPath("/") / name
        if ".." in name.parts:
            raise ValueError(f"a path in the archive must not contain '..': {str(name)!r}")
        if name != PurePosixPath("/"):
            self.folder(name.parent)
        self._append(str(name).lstrip("/"), mode, content, device)

    def _append(self, name, mode, content=b"", device=(0, 0)):
        self._inode += 1
        raw    = name.encode() + b"\0"
        # inode, mode, user, group, links, time, size, device that holds the file (2), device number of a
        # device file (2), size of the name, checksum (unused).
        fields = (self._inode, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(raw), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        self._parts += [header, raw, bytes(-(len(header) + len(raw)) % 4)]
        self._parts += [content, bytes(-len(content) % 4)]

    def folder(self, name, mode=0o755):
        name = PurePosixPath("/") / name
        if name not in self._folders:
            self._folders.add(name)
            self._entry(name, stat.S_IFDIR | mode)

    def file(self, name, content, mode=0o644):
        """Adds a regular file with `content` (bytes or text)."""
        content = content.encode() if isinstance(content, str) else content
        self._entry(name, stat.S_IFREG | mode, content)

    def copy(self, name, path, mode=None):
        """Adds a copy of the machine's file `path`, with its permissions unless `mode` is given."""
        path = Path(path)
        mode = stat.S_IMODE(path.stat().st_mode) if mode is None else mode
        self.file(name, path.read_bytes(), mode)

    def link(self, name, target):
        """Adds a symbolic link."""
        self._entry(name, stat.S_IFLNK | 0o777, str(target).encode())

    def device(self, name, major, minor, mode=0o600):
        """Adds a character device."""
        self._entry(name, stat.S_IFCHR | mode, device=(major, minor))

    def data(self):
        trailer = Archive()
        trailer._append("TRAILER!!!", 0)
        return b"".join(self._parts + trailer._parts)
