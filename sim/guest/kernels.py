#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The guest kernels: Debian's unmodified cloud and real-time kernels, with headers and compiler to build a module for
each.
"""

import dataclasses
import re

from pathlib import Path

from litepcie_sim.guest          import initramfs, packages, qemu
from litepcie_sim.guest.errors   import GuestError, say
from litepcie_sim.guest.packages import Recipe

# The Debian suite of each kernel, by the kernel's name. The backports suite moves on to new versions. The
# cloud flavour has PCI hot-plug, AER, MSI, VT-d, io_uring and the serial ports built in, and so has the one with
# PREEMPT_RT.
KERNELS        = {"6.1": "bookworm", "6.12": "trixie", "newest": "trixie-backports", "6.12-rt": "trixie"}
DEFAULT_KERNEL = "6.1"

# The compiler, and the programs that make and the kernel's scripts run. base-files has the links of a
# merged /usr.
TOOLS = ("base-files", "dash", "bash", "coreutils", "sed", "grep", "mawk", "findutils",
    "diffutils", "perl-base", "tar", "gzip", "libc-bin", "gcc", "binutils", "make")

# Dependencies of the compiler and of the headers that the build of a module does not use.
_NO_USE = (r"(?!linux-(image|binary|modules|base)|systemd|libsystemd|udev|initramfs|dracut|kmod|"
    r"klibc|libklibc|debconf|mount$|cpio$|lib(a|hwa|l|t|ub)san\d|libgprofng|libpam|logsave)")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One of `KERNELS`, by name. Raises GuestError if there is no such kernel.

    Attributes
    ----------
    processor    : the guest's processor, as QEMU names it.
    foreign      : its name in messages if programs of this machine do not run there.
    port         : the guest's second serial port (`Reply` in machine.py).
    make_options : what the build of a module needs besides the headers.
    """
    name : str

    processor    = "x86_64"
    foreign      = ""
    port         = "ttyS1"
    make_options = ()

    def __post_init__(self):
        if self.name not in KERNELS:
            raise GuestError(f"there is no guest kernel {self.name!r}; choose one of {', '.join(KERNELS)}")

    @property
    def suite(self):
        return KERNELS[self.name]

    @property
    def flavour(self):
        """Debian's name of the kernel's configuration."""
        return "rt-amd64" if self.name.endswith("-rt") else "cloud-amd64"

    def image(self):
        """Returns the path of the bootable image, which is fetched if it is not in the cache."""
        return packages.find(Recipe(f"kernel-{self.name}", f"kernel {self.name}", self.suite,
            packages = (f"linux-image-{self.flavour}",),
            keep     = r"linux-(image|binary)-\d",
            expect   = "**/vmlinuz*",
            exclude  = (*Recipe.exclude, "*/lib/modules/*/kernel", "./boot/System.map*")))[1]

    def driver(self, name):
        """Returns the path of one of the kernel's own modules, such as `brd`; all are fetched if they are not in the
        cache.
        """
        return next(packages.root(Recipe(f"modules-{self.name}", f"modules of kernel {self.name}", self.suite,
            packages = (f"linux-image-{self.flavour}",),
            keep     = r"linux-(image|modules)-\d",
            expect   = "**/drivers/block",
            exclude  = (*Recipe.exclude, "./boot", "*/kernel/net", "*/kernel/fs"))).rglob(f"{name}.ko*"))

    @property
    def release(self):
        """The kernel's release, as `uname -r` prints it in the guest."""
        image   = self.image()
        # Either /boot/vmlinuz-RELEASE or modules/RELEASE/vmlinuz.
        release = image.name.removeprefix("vmlinuz-")
        release = image.parent.name if release == "vmlinuz" else release
        version = self.name.split("-")[0]
        if version != "newest" and not re.match(re.escape(version) + r"\b", release):
            say(f"Debian {self.suite} now has kernel {release}, which is used instead of {self.name}")
        return release

    def compiler(self):
        """Returns (root, headers): a root file system with this kernel's headers and its suite's compiler, which is
        fetched if it is not in the cache, and the path of the headers inside it.
        """
        root, headers = packages.find(Recipe(f"compiler-{self.name}",
            f"headers and compiler of kernel {self.name}", self.suite,
            packages = (f"linux-headers-{self.flavour}", *TOOLS),
            keep     = _NO_USE,
            expect   = f"usr/src/linux-headers-*-{self.flavour}",
            exclude  = (*Recipe.exclude, "*/lto1", "*/gprofng*", "./usr/share/i18n",
                "./usr/lib/x86_64-linux-gnu/gconv")))
        return root, Path("/") / headers.relative_to(root)

    def busybox(self):
        """Returns the path of busybox for this processor."""
        return initramfs.busybox()

    def qemu(self):
        """Returns the `qemu.Qemu` with this processor."""
        return qemu.find()

    def machine(self, **options):
        """Returns the `qemu.Machine` for this processor."""
        return qemu.Machine(**options)

    def tools(self):
        """Returns the paths of the programs of software/user for this processor."""
        return initramfs.tools()
