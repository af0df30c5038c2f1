#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Guests with a 32-bit kernel, of the same machine as those with 64 bits."""

from pathlib import Path

from litepcie_sim.guest          import packages, qemu
from litepcie_sim.guest.foreign  import ForeignKernel
from litepcie_sim.guest.kernels  import TOOLS
from litepcie_sim.guest.packages import ForeignRecipe


class I386Kernel(ForeignKernel):
    """A kernel for processors of 32 bits, with the methods of `Kernel`."""

    make_options = ("ARCH=i386",)
    flavours     = {"6.1-i386": "686-pae"}
    architecture = "i386"
    foreign      = "32-bit x86"
    cc           = "gcc -m32"
    # The last of Debian's with such kernels.
    suite        = "bookworm"

    def compiler(self):
        root, headers = packages.find(ForeignRecipe(f"compiler-{self.name}",
            f"headers and compiler of kernel {self.name}", self.suite,
            packages = ("gcc-multilib", "libelf1", *TOOLS),
            # They depend on the compiler for their own processor.
            besides      = (f"linux-headers-{self.flavour}:i386",),
            keep_besides = r"linux-(headers|kbuild)-\d",
            expect   = f"usr/src/linux-headers-*-{self.flavour}",
            exclude  = (*ForeignRecipe.exclude, "*/lto1", "*/gprofng*", "./usr/share/i18n", "./usr/lib/*/gconv"),
            architectures = ("amd64", "i386")))
        return root, Path("/") / headers.relative_to(root)

    def qemu(self):
        return qemu.find()

    def machine(self, **options):
        return qemu.Machine(**options)
