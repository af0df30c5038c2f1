#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Guests with an ARM processor: Debian's kernels with pages of 4 KiB and 16 KiB, a cross compiler, QEMU's `virt`."""

import dataclasses
import shutil
import tempfile

from pathlib import Path

from litepcie_sim.guest          import cache, chroot, packages, qemu
from litepcie_sim.guest.errors   import GuestError, say
from litepcie_sim.guest.kernels  import TOOLS, Kernel
from litepcie_sim.guest.packages import ForeignRecipe
from litepcie_soc.build import processes

# Flavour of Debian's kernel by the name of the guest kernel.
ARM64_KERNELS = {"6.12-arm64": "cloud-arm64", "6.12-arm64-16k": "arm64-16k"}

_SUITE    = "trixie"
_COMPILER = "aarch64-linux-gnu-"
_ROOT     = Path(__file__).resolve().parents[2]
# What litepcie_util is made of.
_USER     = ("software/user", "software/kernel")


class Arm64Kernel(Kernel):
    """A kernel for ARM, with the methods of `Kernel`."""

    processor    = "aarch64"
    port         = "ttyAMA1"
    make_options = ("ARCH=arm64", f"CROSS_COMPILE={_COMPILER}")

    def __post_init__(self):
        assert self.name in ARM64_KERNELS

    @property
    def suite(self):
        return _SUITE

    @property
    def flavour(self):
        return ARM64_KERNELS[self.name]

    def image(self):
        return packages.find(ForeignRecipe(f"kernel-{self.name}", f"kernel {self.name}", self.suite,
            packages = (f"linux-image-{self.flavour}",),
            keep     = r"linux-(image|binary)-\d",
            expect   = "**/vmlinuz*",
            exclude  = (*ForeignRecipe.exclude, "*/lib/modules/*/kernel", "./boot/System.map*")))[1]

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

    def busybox(self):
        """Returns the path of busybox for this processor."""
        return packages.find(ForeignRecipe("busybox-arm64", "busybox for ARM", "bookworm",
            packages = ("busybox-static",),
            expect   = "bin/busybox"))[1]

    def qemu(self):
        """Returns the `qemu.Qemu` with this processor."""
        return qemu.private("qemu-system-arm", self.processor)

    def machine(self, **options):
        return VirtMachine(**options)

    def tools(self):
        """Returns the path of litepcie_util, built for this processor."""
        return [self.programs("make -s -C software/user BUILD=$OUT/build STATIC=1 $OUT/build/litepcie_util "
            "&& cp $OUT/build/litepcie_util $OUT") / "litepcie_util"]

    def programs(self, script, folders=_USER):
        """Runs a shell script in a copy of `folders`, with CC set to the cross compiler; returns the folder that the
        script knows as OUT.
        """
        files = [path for folder in folders for path in sorted((_ROOT / folder).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts] + [_ROOT / "setup.py"]
        root, _ = self.compiler()
        key     = cache.digest(root.name, script, *[part for path in files
            for part in (path.relative_to(_ROOT), path.read_bytes())])
        return cache.entry("programs-arm64", key, lambda folder: _compile(root, files, script, folder),
            "the programs for ARM")


def _compile(root, files, script, folder):
    """Runs `script` in the root `root`, in a folder with `files`; moves what it left in OUT to `folder`."""
    say("building the programs for ARM")
    inside = chroot.way(root)
    if inside is None:
        raise GuestError("building for ARM needs user namespaces, which this machine does not allow; run as root")
    (root / "tmp").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="programs-", dir=root / "tmp") as work:
        for path in files:
            target = Path(work) / path.relative_to(_ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        (Path(work) / "out").mkdir()
        name = f"/tmp/{Path(work).name}"
        status, output = processes.run([*inside, "sh", "-ec", f"cd {name}\n{script}"], env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/", "OUT": f"{name}/out",
            "CC": f"{_COMPILER}gcc", "AR": f"{_COMPILER}ar"})
        if status:
            raise GuestError("the programs for ARM do not build: " + "\n".join(output.splitlines()[-10:]))
        shutil.copytree(Path(work) / "out", folder, dirs_exist_ok=True)


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
