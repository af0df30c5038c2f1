#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A guest kernel that finds faults of the driver: Debian's source of the default kernel, with the configuration
debug.config (KASAN, lockdep, kmemleak, fault injection and more). It is built once, in the cache.
"""

import os
import re
import shutil
import time

from pathlib import Path

from litepcie_sim.guest          import cache, chroot, packages
from litepcie_sim.guest.arm64    import Arm64Kernel
from litepcie_sim.guest.errors   import GuestError, say
from litepcie_sim.guest.i386     import I386Kernel
from litepcie_sim.guest.kernels  import DEFAULT_KERNEL, KERNELS, TOOLS, Kernel
from litepcie_sim.guest.packages import Recipe
from litepcie_soc.build import processes

CONFIG = Path(__file__).with_name("debug.config")

DEBUG_KERNEL = f"{DEFAULT_KERNEL}-debug"

# Kernels for other processors: class by name.
FOREIGN_KERNELS = {name: kind for kind in (Arm64Kernel, I386Kernel) for name in kind.flavours}

_SOURCE   = f"usr/src/linux-source-{DEFAULT_KERNEL}.tar.xz"
_TREE     = "usr/src/linux-debug"
_IMAGE    = "arch/x86/boot/bzImage"
_VARIABLE = ("KBUILD_BUILD_HOST=guest", "KBUILD_BUILD_USER=debug", "KBUILD_BUILD_TIMESTAMP=2026-01-01")
# What builds of modules and guests read.
_KEPT     = (_IMAGE, ".config", "Makefile", "Module.symvers", "arch/x86/Makefile", "arch/x86/Makefile_32.cpu",
    "arch/x86/include", "include", "scripts", "tools/objtool/objtool")


def kernel(name):
    """Returns the kernel with the name `name`, one of `KERNELS` or `FOREIGN_KERNELS`, or `DEBUG_KERNEL`."""
    if name in FOREIGN_KERNELS:
        return FOREIGN_KERNELS[name](name)
    return DebugKernel(name) if name == DEBUG_KERNEL else Kernel(name)


class DebugKernel(Kernel):
    """The debug kernel, with the methods of `Kernel`."""

    def __post_init__(self):
        assert self.name == DEBUG_KERNEL

    @property
    def suite(self):
        return KERNELS[DEFAULT_KERNEL]

    @property
    def recipe(self):
        """Debian's packages of the kernel's source, and of all programs that build the kernel."""
        return Recipe(f"source-{DEFAULT_KERNEL}", f"source of kernel {DEFAULT_KERNEL}", self.suite,
            packages = (f"linux-source-{DEFAULT_KERNEL}", *TOOLS, "libc6-dev", "libelf-dev", "bc", "bison", "flex",
                "xz-utils"),
            expect   = _SOURCE)

    def root(self):
        """Returns a root file system with the kernel, its headers and its compiler; builds the kernel if it must."""
        source = packages.root(self.recipe)
        key    = cache.digest(source.name, *options(CONFIG.read_text()), *_VARIABLE, *_KEPT)
        return cache.entry("kernel-debug", key, lambda path: _make(source, path), "the debug kernel")

    def image(self):
        return self.root() / _TREE / _IMAGE

    @property
    def release(self):
        text = (self.root() / _TREE / "include/config/kernel.release").read_text()
        return text.strip()

    def compiler(self):
        return self.root(), Path("/") / _TREE


def _make(source, path):
    began = time.monotonic()
    say("building the debug kernel, which takes minutes")
    shutil.copytree(source, path, symlinks=True, dirs_exist_ok=True,
        ignore=lambda folder, names: [name for name in names if name.startswith("linux-source")])
    tree = path / _TREE
    tree.mkdir()
    _run("tar", "-xf", source / _SOURCE, "-C", tree, "--strip-components=1")
    shutil.copy(CONFIG, tree)
    inside = chroot.way(path)
    if inside is None:
        raise GuestError("building the debug kernel needs user namespaces, which this machine does not allow; "
            "run as root, or type: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0")
    make = (*inside, "make", "-C", f"/{_TREE}", f"-j{os.cpu_count()}", *_VARIABLE)
    _run(*make, "allnoconfig", f"KCONFIG_ALLCONFIG={CONFIG.name}")
    check_config(CONFIG.read_text(), (tree / ".config").read_text())
    _run(*make, "bzImage", "modules")
    _prune(tree)
    say(f"built the debug kernel: {time.monotonic() - began:.0f} s")


def options(config):
    """Returns the lines of a configuration that set an option."""
    return [line for line in config.splitlines() if line.startswith("CONFIG_")]


def check_config(wanted, found):
    """Raises GuestError if a line of the fragment `wanted` is not in the configuration `found`.

    Kconfig drops an option without a word if something that it depends on is missing.
    """
    missing = [line for line in options(wanted) if line not in options(found)]
    if missing:
        raise GuestError(f"the debug kernel cannot have {', '.join(missing)}; change {CONFIG.name}")


def _prune(tree):
    """Leaves in `tree` what builds of modules and guests read: a tenth of it."""
    built = tree.rename(tree.with_name("build"))
    for name in _KEPT:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).rename(tree / name)
    shutil.rmtree(built)


def _run(*command):
    status, output = processes.run(command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/"})
    if status:
        lines  = output.splitlines()
        errors = [line for line in lines if re.search(r"\berror\b|Error \d|\*\*\*", line)]
        raise GuestError("the debug kernel does not build: " + "\n".join((errors or lines[-5:])[:10]))
