#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds QEMU, and makes its command line."""

import dataclasses
import json
import os
import re
import shutil

from litepcie_sim.guest          import packages
from litepcie_sim.guest.errors   import GuestError
from litepcie_sim.guest.packages import Recipe
from litepcie_soc.build import processes

VERSION_MIN = (10, 1)  # The first version with vfio-user-pci.

# Values of a root port's x-speed by PCIe generation.
SPEEDS = {1: "2_5", 2: "5", 3: "8", 4: "16"}


@dataclasses.dataclass(frozen=True)
class Qemu:
    """A QEMU that has vfio-user-pci: command, environment, version."""
    command : tuple
    environ : dict
    version : tuple

    def __str__(self):
        return "QEMU " + _dotted(self.version)


def _dotted(numbers):
    return ".".join(map(str, numbers))


def version(command, environ=None):
    """Returns (major, minor, micro) of a QEMU, or None if it does not start."""
    try:
        status, output = processes.run([*command, "--version"], env=environ)
    except OSError:
        return None
    match = re.search(r"version (\d+)\.(\d+)\.(\d+)", output)
    return tuple(map(int, match.groups())) if status == 0 and match else None


def unfit(command, environ=None):
    """Returns why a QEMU cannot be used, or None if it can."""
    found = version(command, environ)
    if found is None:
        return "it does not start"
    if found[:2] < VERSION_MIN:
        return f"it is version {_dotted(found)}, and {_dotted(VERSION_MIN)} or newer is needed"
    if "vfio-user-pci" not in processes.run([*command, "-device", "help"], env=environ)[1]:
        return "it has no vfio-user-pci device"
    return None


def find():
    """Returns the QEMU to use: LITEPCIE_QEMU if set, else the machine's own if it can be used, else Debian's."""
    named = os.environ.get("LITEPCIE_QEMU")
    if named:
        why = unfit([named])
        if why:
            raise GuestError(f"LITEPCIE_QEMU={named}: {why}")
        return Qemu((named,), dict(os.environ), version([named]))
    own = shutil.which("qemu-system-x86_64")
    if own and unfit([own]) is None:
        return Qemu((own,), dict(os.environ), version([own]))
    return private()


def private(package="qemu-system-x86", processor="x86_64"):
    """Returns Debian's QEMU for guests with `processor`, which `package` has."""
    name          = "qemu" if processor == "x86_64" else f"qemu-{processor}"
    root, program = packages.find(Recipe(name, "QEMU", "trixie-backports",
        packages = (package,),
        expect   = f"usr/bin/qemu-system-{processor}",
        exclude  = (*Recipe.exclude, "./usr/share/fonts", "./usr/share/perl*")))
    # It uses its own loader and libraries, because the machine's may be older, and its own modules, because it
    # must not load those of another QEMU.
    libraries = root / "usr/lib/x86_64-linux-gnu"
    command   = [root / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries, program]
    for data in ("usr/share/qemu", "usr/share/seabios", "usr/lib/ipxe/qemu"):
        command += ["-L", root / data]
    environ = {**os.environ, "QEMU_MODULE_DIR": str(libraries / "qemu")}
    environ.pop("LD_LIBRARY_PATH", None)
    command = tuple(map(str, command))
    found   = version(command, environ)
    if found is None:
        raise GuestError(f"the QEMU in {root} does not start; delete that folder and try again")
    return Qemu(command, environ, found)


@dataclasses.dataclass(frozen=True)
class Machine:
    """The hardware of the virtual machine.

    memory        : size of the guest's memory in QEMU's notation ("512M").
    cpus          : number of processors.
    processor     : their model in QEMU's notation ("Nehalem"), or None for QEMU's own choice.
    iommu         : the guest has, and uses, an Intel IOMMU with interrupt remapping.
    strict_writes : the guest waits for each write to the board instead of posting it.
    socket        : path of the simulator's socket, or None for a guest without a board.
    gen, lanes    : link of the root port.
    others        : (socket, gen, lanes) of further boards.
    parameters    : further words of the kernel's command line.
    plugin        : argument of QEMU's option -plugin, or None.
    share         : path of the socket of a server of virtio-fs, or None.
    shared        : the simulator maps the guest's memory; without, QEMU moves each byte of the board's DMA by message.
    """
    memory        : str  = "512M"
    cpus          : int  = 1
    processor     : str  = None
    iommu         : bool = False
    strict_writes : bool = False
    socket        : str  = None
    gen           : int  = 2
    lanes         : int  = 4
    others        : tuple = ()
    parameters    : tuple = ()
    plugin        : str   = None
    share         : str   = None
    shared        : bool  = True

    def kernel_arguments(self):
        arguments = ["console=ttyS0", "quiet", "loglevel=5", "panic=-1", "mitigations=off",
            "audit=0", "cryptomgr.notests", "random.trust_cpu=on", "no_timer_check", "8250.nr_uarts=2"]
        return [*arguments, *(["intel_iommu=on", "iommu.strict=1"] if self.iommu else []), *self.parameters]

    def hardware(self):
        """Returns QEMU's arguments for the machine and its processor."""
        return ["-machine", "q35,accel=tcg,memory-backend=memory,sata=off,smbus=off,smm=off,i8042=off",
            *(["-cpu", self.processor] if self.processor else [])]

    def arguments(self, kernel, initrd, console, control):
        """Returns QEMU's arguments. `console` and `control` are file descriptors of connected sockets."""
        arguments = ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", *self.hardware(),
            # Shared memory, so that the simulator maps it and the board's DMA accesses it directly.
            "-object", f"memory-backend-memfd,id=memory,size={self.memory},share=on" if self.shared else
                f"memory-backend-ram,id=memory,size={self.memory}",
            "-m", self.memory, "-smp", str(self.cpus),
            "-kernel", str(kernel), "-initrd", str(initrd),
            "-append", " ".join(self.kernel_arguments())]
        for name, fd in (("console", console), ("control", control)):
            arguments += ["-chardev", f"socket,id={name},fd={fd}", "-serial", f"chardev:{name}"]
        if self.plugin:
            arguments += ["-plugin", self.plugin]
        if self.iommu:
            arguments += ["-device", "intel-iommu,intremap=on,caching-mode=on"]
        boards = [(self.socket, self.gen, self.lanes), *self.others] if self.socket else []
        for slot, (socket, gen, lanes) in enumerate(boards, 1):
            port       = "root-port" if slot == 1 else f"root-port{slot}"
            arguments += ["-device", f"pcie-root-port,id={port},slot={slot},x-speed={SPEEDS[gen]},x-width={lanes}"]
            arguments += ["-device", json.dumps(self._board(port, socket))]
        if self.share:
            arguments += ["-chardev", f"socket,id=share,path={self.share}",
                "-device", "vhost-user-fs-pci,chardev=share,tag=share"]
        return arguments

    def _board(self, port, socket):
        return {
            "driver"             : "vfio-user-pci",
            "bus"                : port,
            "rombar"             : 0,
            "socket"             : {"type": "unix", "path": str(socket)},
            # In ms. A simulated board may be slow, and QEMU disables a board after one late reply.
            "x-msg-timeout"      : 100_000_000,
            "x-no-posted-writes" : self.strict_writes,
        }
