#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Guests with an ARM processor: Debian's kernels with pages of 4 KiB and 16 KiB, a cross compiler, QEMU's `virt`."""

import dataclasses

from pathlib import Path

from litepcie_sim.guest          import packages, qemu
from litepcie_sim.guest.errors   import GuestError
from litepcie_sim.guest.foreign  import ForeignKernel
from litepcie_sim.guest.kernels  import TOOLS
from litepcie_sim.guest.packages import ForeignRecipe

# Flavour of Debian's kernel by the name of the guest kernel.
ARM64_KERNELS = {"6.12-arm64": "cloud-arm64", "6.12-arm64-16k": "arm64-16k"}

_COMPILER = "aarch64-linux-gnu-"


class Arm64Kernel(ForeignKernel):
    """A kernel for ARM, with the methods of `Kernel`."""

    processor    = "aarch64"
    port         = "ttyAMA1"
    make_options = ("ARCH=arm64", f"CROSS_COMPILE={_COMPILER}")
    flavours     = ARM64_KERNELS
    architecture = "arm64"
    foreign      = "ARM"
    cc, ar       = f"{_COMPILER}gcc", f"{_COMPILER}ar"
    suite        = "trixie"

    def compiler(self):
        root, headers = packages.find(ForeignRecipe(f"compiler-{self.name}",
            f"headers and compiler of kernel {self.name}", self.suite,
            packages = ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "libelf1t64", *TOOLS),
            # They depend on a compiler for ARM that excludes the native one.
            besides      = (f"linux-headers-{self.flavour}:arm64",),
            keep_besides = r"linux-(headers|kbuild)-\d",
            expect   = f"usr/src/linux-headers-*-{self.flavour}",
            exclude  = (*ForeignRecipe.exclude, "*/lto1", "*/gprofng*", "./usr/share/i18n",
                "./usr/lib/*/gconv"),
            architectures = ("amd64", "arm64")))
        return root, Path("/") / headers.relative_to(root)

    def qemu(self):
        """Returns the `qemu.Qemu` with this processor."""
        return qemu.private("qemu-system-arm", self.processor)

    def machine(self, **options):
        return VirtMachine(**options)


@dataclasses.dataclass(frozen=True)
class VirtMachine(qemu.Machine):
    """QEMU's machine `virt`, with a processor that has pages of 4 KiB and 16 KiB. It has no IOMMU here."""

    def __post_init__(self):
        if self.iommu:
            raise GuestError("a guest with an ARM processor cannot have an IOMMU here; leave iommu out")

    def kernel_arguments(self):
        return ["console=ttyAMA0", "quiet", "loglevel=5", "panic=-1", "mitigations=off", "audit=0",
            "cryptomgr.notests", *self.parameters]

    def hardware(self):
        # The interrupt controller of version 3 has MSI.
        return ["-machine", "virt,gic-version=3,its=on,accel=tcg,memory-backend=memory", "-cpu", "cortex-a76"]
