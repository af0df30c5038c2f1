#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Makes the guest's initial RAM file system: busybox, the driver's module, the tool, files of the user."""

import shutil
import stat

from pathlib import Path, PurePosixPath

from litepcie_sim.guest          import cache, packages
from litepcie_sim.guest.errors   import GuestError
from litepcie_sim.guest.packages import Recipe
from litepcie_soc import __version__
from litepcie_soc.build import processes
from litepcie_soc.common.places import BUILD, SOFTWARE

HERE = Path(__file__).resolve().parent
USER = SOFTWARE / "user"
EXAMPLES = SOFTWARE.parent / "examples"


class Archive:
    """A cpio archive of the "newc" format, which Linux unpacks as initial RAM file system.

    It collects entries; `data()` returns the archive. Parent folders of an entry are added automatically. Written in
    Python, it needs no program of the machine and no rights: devices and owners are only numbers in the archive. An
    image may be several archives one after the other. Format: the kernel's
    Documentation/driver-api/early-userspace/buffer-format.rst.
    """

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


def busybox():
    """Returns the path of busybox for this machine."""
    return packages.find(Recipe("busybox", "busybox", "bookworm",
        packages = ("busybox-static",),
        expect   = "bin/busybox"))[1]


def base(program=None):
    """Returns the archive of every guest: folders, busybox with a link for each of its commands, init.

    `program` is the guest's busybox if its processor is another; its commands are the same.
    """
    own            = busybox()
    status, output = processes.run([own, "--list"])
    if status:
        raise GuestError(f"{own} does not run on this machine")
    archive = Archive()
    for folder in ("dev", "proc", "sys", "tmp", "root", "etc", "lib/modules", "usr/bin", "sbin"):
        archive.folder(folder)
    archive.device("dev/console", 5, 1)
    archive.copy("bin/busybox", program or own, 0o755)
    for name in output.split():
        if name != "busybox":
            archive.link(f"bin/{name}", "busybox")
    archive.copy("init", HERE / "init.sh", 0o755)
    archive.copy("bin/pcie_sizes", HERE / "pcie_sizes.sh", 0o755)
    archive.file("etc/passwd", "root::0:0:root:/root:/bin/sh\n")
    archive.file("etc/group", "root:x:0:\n")
    archive.file("etc/profile", "PS1='guest# '\nPATH=/bin:/sbin:/usr/bin:/usr/sbin\n")
    return archive


def _made(folder, name, what):
    """Makes the statically linked programs of a folder in build/NAME; returns that."""
    build = BUILD / name
    with cache.locked(BUILD / f"{name}.lock", what):
        status, output = processes.run(["make", "-C", folder, f"BUILD={build}", f"VERSION={__version__}", "STATIC=1"])
    if status:
        lines = [line for line in output.splitlines() if "error" in line or "***" in line]
        lines = lines or output.splitlines()
        raise GuestError(f"{folder} does not build: " + "\n".join(lines[-5:]))
    return build


def tools():
    """Returns the paths of the statically linked programs of software/user, after make has updated them."""
    return [_made(USER, "user-guest", "litepcie_util") / "litepcie_util"]


def examples():
    """Returns (path on the machine, path in the guest) of the C examples, which an installed package does not have."""
    sources = sorted(EXAMPLES.glob("c/*.c"))
    build   = _made(EXAMPLES, "examples-guest", "the examples") if sources else None
    return [(build / one.stem, f"/bin/{one.stem}") for one in sources]


FIO   = Recipe("fio", "fio", "trixie", ("fio",), "usr/bin/fio",
    keep = r"(?!python|libpython|perl|systemd|dpkg|tzdata|adduser|passwd|debconf|dmsetup)")
LSPCI = Recipe("pciutils", "lspci", "trixie", ("pciutils",), "usr/bin/lspci",
    keep = r"(?:pciutils|pci\.ids|libpci3|libkmod2|libudev1|zlib1g|libzstd1|libssl3t64|libc6|libcap2|libgcc-s1)$")


def fio():
    """Returns the path of an archive with Debian's fio."""
    return debian_program(FIO)


def lspci():
    """Returns the path of an archive with Debian's lspci and its list of names."""
    return debian_program(LSPCI, "usr/share/misc/pci.ids")


def debian_program(recipe, *data):
    """Returns the path of an archive with a program of Debian's, all libraries that it loads, and files of `data`."""
    root, program = packages.find(recipe)
    libraries     = root / "usr/lib/x86_64-linux-gnu"
    loader        = root / "usr/lib64/ld-linux-x86-64.so.2"
    search        = f"{libraries}:{libraries}/ceph"  # One library of fio is in a folder of its own.

    def make(path):
        status, output = processes.run([loader, "--library-path", search, "--list", program])
        if status or "not found" in output:
            raise GuestError(f"{program.name} lacks a library: {output.strip().splitlines()[-1]}")
        archive = Archive()
        archive.copy(recipe.expect, program)
        for name in data:
            archive.copy(name, root / name)
        for line in output.splitlines():
            library = Path(line.split("=>")[-1].split("(")[0].strip())
            if library.is_absolute() and library.exists() and root in library.parents:
                archive.copy(f"usr/lib/x86_64-linux-gnu/{library.name}", library, 0o755)
        archive.copy("lib64/ld-linux-x86-64.so.2", loader, 0o755)
        (path / f"{program.name}.cpio").write_bytes(archive.data())

    key = cache.digest(root, data, Path(__file__).read_bytes())
    return next(cache.entry(f"{program.name}-archive", key, make, f"the archive of {program.name}").glob("*.cpio"))


def write(path, archives, extra=()):
    """Writes `archives` (Archive) and `extra` (paths of archives) one after the other.

    The result is not compressed, as the guest reads faster than it decompresses.
    """
    with open(path, "wb") as out:
        for archive in archives:
            out.write(archive.data())
        for name in extra:
            with open(name, "rb") as f:
                shutil.copyfileobj(f, out)
