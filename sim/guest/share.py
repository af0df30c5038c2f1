#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A folder of the machine in the guest, by virtio-fs: QEMU's vhost-user-fs-pci, and Debian's virtiofsd as its server.

The guest's root has the rights of the user who started the guest, in this folder and nowhere else.
"""

import lzma
import os
import time

from pathlib import Path

from litepcie_sim.guest          import packages
from litepcie_sim.guest.board    import START_SECONDS, listening
from litepcie_sim.guest.errors   import GuestError
from litepcie_sim.guest.packages import Recipe
from litepcie_soc.build          import processes

TAG = "share"

SERVER = Recipe("virtiofsd", "virtiofsd", "trixie", ("virtiofsd",), "usr/libexec/virtiofsd",
    keep = r"(virtiofsd|libc6|libcap-ng0|libgcc-s1|libseccomp2)$")

# Modules of Debian's cloud kernels, each after those that it needs.
MODULES = ("virtio", "virtio_ring", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "fuse", "virtiofs")


def modules(kernel):
    """Returns {name of the file: content} of the kernel's own modules, in the order in which they are loaded."""
    root = packages.root(Recipe(f"virtio-{kernel.name}", f"virtio of kernel {kernel.name}", kernel.suite,
        packages = ("linux-image-cloud-amd64",),
        keep     = r"linux-(image|modules)-\d",
        expect   = "**/virtiofs.ko*",
        exclude  = (*Recipe.exclude, "./boot", "*/kernel/net", "*/kernel/drivers/[a-uw-z]*", "*/kernel/sound")))
    found = {path.name.partition(".")[0]: path for path in root.rglob("*.ko*")}
    return {f"{name}.ko": lzma.decompress(found[name].read_bytes()) if found[name].suffix == ".xz" else
        found[name].read_bytes() for name in MODULES}


class Server:
    """The process that serves `folder` to QEMU on the UNIX socket `socket`. Its output goes to the file `log`."""

    def __init__(self, folder, socket, log):
        self.folder, self.socket, self.log = Path(folder).resolve(), Path(socket), Path(log)
        self.process = None

    def start(self):
        """Starts the process, and returns when its socket accepts connections."""
        root, program = packages.find(SERVER)
        libraries     = root / "usr/lib/x86_64-linux-gnu"
        owner         = [] if os.geteuid() == 0 else [f"--translate-uid=map:0:{os.geteuid()}:1",
            f"--translate-gid=map:0:{os.getegid()}:1"]
        with open(self.log, "wb") as log:
            self.process = processes.start([root / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries,
                program, "--socket-path", self.socket, "--shared-dir", self.folder, "--sandbox=none", *owner],
                stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not listening(self.socket):
            if self.process.poll() is not None or time.monotonic() > deadline:
                said = self.log.read_text(errors="replace").strip().splitlines()[-3:]
                raise GuestError(f"the server of {self.folder} did not start: " + "\n".join(said))
            time.sleep(0.01)

    def stop(self):
        processes.stop(self.process)
