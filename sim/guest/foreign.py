#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Kernels for other processors than that of the machine, with programs that a cross compiler builds."""

import shutil
import tempfile

from pathlib import Path

from litepcie_sim.guest          import cache, chroot, packages
from litepcie_sim.guest.errors   import GuestError, say
from litepcie_sim.guest.kernels  import Kernel
from litepcie_sim.guest.packages import ForeignRecipe
from litepcie_soc.build          import processes

_ROOT = Path(__file__).resolve().parents[2]
# What litepcie_util is made of.
_USER = ("software/user", "software/kernel")


class ForeignKernel(Kernel):
    """A kernel for another processor, with the methods of `Kernel`.

    Attributes
    ----------
    flavours     : Debian's flavour of the kernel by the name of the guest kernel.
    architecture : Debian's name of the processor.
    cc, ar       : the compiler and the archiver in the root of `compiler()`.
    """
    flavours     = {}
    architecture = ""
    cc, ar       = "gcc", "ar"

    def __post_init__(self):
        assert self.name in self.flavours

    @property
    def flavour(self):
        return self.flavours[self.name]

    def image(self):
        return packages.find(ForeignRecipe(f"kernel-{self.name}", f"kernel {self.name}", self.suite,
            packages = (f"linux-image-{self.flavour}",),
            keep     = r"linux-(image|binary)-\d",
            expect   = "**/vmlinuz*",
            exclude  = (*ForeignRecipe.exclude, "*/lib/modules/*/kernel", "./boot/System.map*"),
            architectures = (self.architecture,)))[1]

    def busybox(self):
        """Returns the path of busybox for this processor."""
        return packages.find(ForeignRecipe(f"busybox-{self.architecture}", f"busybox for {self.foreign}",
            "bookworm",
            packages = ("busybox-static",),
            expect   = "bin/busybox",
            architectures = (self.architecture,)))[1]

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
        return cache.entry(f"programs-{self.architecture}", key,
            lambda folder: self._compile(root, files, script, folder), f"the programs for {self.foreign}")

    def _compile(self, root, files, script, folder):
        """Runs `script` in the root `root`, in a folder with `files`; moves what it left in OUT to `folder`."""
        say(f"building the programs for {self.foreign}")
        inside = chroot.way(root)
        if inside is None:
            raise GuestError(f"building for {self.foreign} needs user namespaces, which this machine does "
                "not allow; run as root")
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
                "CC": self.cc, "AR": self.ar})
            if status:
                raise GuestError(f"the programs for {self.foreign} do not build: "
                    + "\n".join(output.splitlines()[-10:]))
            shutil.copytree(Path(work) / "out", folder, dirs_exist_ok=True)
