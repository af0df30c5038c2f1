#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The driver, built for a guest kernel by that kernel's own compiler."""

import os
import re
import shutil
import tempfile

from pathlib import Path

from litepcie_sim.guest        import cache, process
from litepcie_sim.guest.errors import GuestError, say

SOURCES = Path(__file__).resolve().parents[2] / "software" / "kernel"

# Enters a root ($1) with the machine's /dev and /proc and runs the rest there. The mounts are the
# namespace's own and vanish with it.
_ENTER = """
root=$1; shift
for folder in dev proc; do
    mkdir -p "$root/$folder" && mount --rbind "/$folder" "$root/$folder" || exit 1
done
exec chroot "$root" "$@"
"""

# The ways into a root, best first.
_WAYS = [
    ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _ENTER, "sh"],
    ["unshare", "--mount", "sh", "-c", _ENTER, "sh"],
]

_FORBIDDEN = ("this machine does not let a user make user namespaces, which building the driver "
    "for the guest needs; type: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, "
    "or run as root, or install linux-headers-{release}")


def _is_source(path):
    return (path.suffix in (".c", ".h") and not path.name.endswith(".mod.c")
        or path.name in ("Makefile", "Kbuild", "Kconfig"))


def sources(folder=SOURCES):
    """{relative name: content} of what the module is made of, not what a build left there."""
    names = [path for path in sorted(folder.rglob("*")) if path.is_file() and _is_source(path)]
    if not any(path.name == "Makefile" for path in names):
        raise GuestError(f"no driver sources in {folder}")
    return {str(path.relative_to(folder)): path.read_bytes() for path in names}


def module(kernel, folder=SOURCES):
    """Path of the .ko that `folder` builds for `kernel`; built if these sources were not yet."""
    files = sources(folder)
    key   = cache.digest(kernel.image().parent, *[part for file in files.items() for part in file])

    def make(path):
        say(f"building the driver for kernel {kernel.release}")
        with tempfile.TemporaryDirectory(prefix="litepcie-module-") as work:
            for name, content in files.items():
                target = Path(work) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            _build(kernel, Path(work))
            modules = sorted(Path(work).glob("*.ko"))
            if len(modules) != 1:
                raise GuestError(f"the build of {folder} left {len(modules)} modules, not one")
            shutil.copy(modules[0], path)

    return next(cache.entry(f"module-{kernel.name}", key, make, "the driver").glob("*.ko"))


def _make_command(kdir, folder):
    # Without BTF: its tool is not part of the root, and a test module does not need it.
    return ["make", "-C", str(folder), f"KDIR={kdir}", f"O={folder}/build",
        "CONFIG_DEBUG_INFO_BTF_MODULES=", f"-j{min(2, os.cpu_count())}"]


def _build(kernel, folder):
    """Builds the module in `folder`, in place."""
    machine = Path(f"/lib/modules/{kernel.release}/build")
    if machine.is_dir():  # The machine happens to have these very headers, and their compiler.
        _run(_make_command(machine, folder))
        for built in (folder / "build").rglob("*.ko"):
            shutil.copy(built, folder)
        return
    root, headers = kernel.compiler()
    way = _way(root)
    if way is None:
        raise GuestError(_FORBIDDEN.format(release=kernel.release))
    # In the root, its own temporary folder holds the sources: any number of builds share a root.
    (root / "tmp").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="module-", dir=root / "tmp") as inside:
        shutil.copytree(folder, inside, dirs_exist_ok=True)
        _run([*way, root, *_make_command(headers, Path("/tmp") / Path(inside).name)])
        for built in Path(inside).rglob("*.ko"):
            shutil.copy(built, folder)


def _way(root):
    """How to enter `root` on this machine, or None."""
    for way in _WAYS:
        if process.run([*way, root, "/bin/true"])[0] == 0:
            return way
    return None


def _run(command):
    status, output = process.run(command,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/"})
    if status:
        lines  = output.splitlines()
        errors = [line for line in lines if re.search(r"\berror\b|Error \d|\*\*\*", line)]
        raise GuestError("the driver does not compile: " + "\n".join((errors or lines[-5:])[:10]))
