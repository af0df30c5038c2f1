#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds the driver for a guest kernel, with that kernel's own compiler."""

import os
import re
import shutil
import tempfile

from pathlib import Path

from litepcie_sim.guest        import cache, chroot
from litepcie_sim.guest.errors import GuestError, GuestUnsupported, say
from litepcie_soc.build import processes
from litepcie_soc.common.places import SOFTWARE

SOURCES = SOFTWARE / "kernel"

_FORBIDDEN = ("building the driver for the guest needs user namespaces, which this machine does not "
    "allow; type: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, "
    "or run as root, or install linux-headers-{release}")


def _is_source(path):
    return (path.suffix in (".c", ".h") and not path.name.endswith(".mod.c")
        or path.name in ("Makefile", "Kbuild", "Kconfig"))


def sources(folder=SOURCES):
    """Returns {relative name: content} of the module's sources, without files that a build left there, and without
    upstream/, which no module needs.
    """
    names = [path for path in sorted(folder.rglob("*")) if path.is_file() and _is_source(path)
        and "upstream" not in path.relative_to(folder).parts]
    if not any(path.name == "Makefile" for path in names):
        raise GuestError(f"no driver sources in {folder}")
    return {str(path.relative_to(folder)): path.read_bytes() for path in names}


def module(kernel, folder=SOURCES, options=()):
    """Returns the path of the .ko of the sources in `folder` for `kernel`; builds it if it is not in the cache.

    `options` are further arguments of make.
    """
    files = sources(folder)
    key   = cache.digest(kernel.image().parent, *options, *[part for file in files.items() for part in file])

    def make(path):
        say(f"building the driver for kernel {kernel.release}")
        with tempfile.TemporaryDirectory(prefix="litepcie-module-") as work:
            _lay_out(files, Path(work))
            _build(kernel, Path(work), (*kernel.make_options, *options))
            modules = sorted(Path(work).glob("*.ko"))
            if len(modules) != 1:
                raise GuestError(f"the build of {folder} left {len(modules)} modules, not one")
            shutil.copy(modules[0], path)

    return next(cache.entry(f"module-{kernel.name}", key, make, "the driver").glob("*.ko"))


def foreign_modules(kernel, folder):
    """Returns {name: path} of all modules that the Makefile of `folder`, a driver of somebody else, builds for
    `kernel`; builds them if they are not in the cache.
    """
    files = sources(Path(folder))
    key   = cache.digest(kernel.image().parent, "foreign", *[part for file in files.items() for part in file])

    def make(path):
        say(f"building the modules of {folder} for kernel {kernel.release}")
        with tempfile.TemporaryDirectory(prefix="litepcie-module-") as work:
            _lay_out(files, Path(work))
            _build(kernel, Path(work), kernel.make_options, _make_foreign)
            for built in sorted(Path(work).rglob("*.ko")):
                shutil.copy(built, path)

    entry = cache.entry(f"modules-{kernel.name}-foreign", key, make, "the modules")
    return {path.name: path for path in sorted(entry.glob("*.ko"))}


def _lay_out(files, folder):
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _make_foreign(kdir, folder, *more):
    # As a kernel's documentation says for modules outside of its tree. Symbols of other modules are not known here.
    return ["make", "-C", str(kdir), f"M={folder}", "CONFIG_DEBUG_INFO_BTF_MODULES=",
        f"-j{len(os.sched_getaffinity(0))}", *more, "modules"]


def _make_command(kdir, folder, *more):
    # Without BTF: the tool that makes it does not run in the root, and the guest does not need it.
    return ["make", "-C", str(folder), f"KDIR={kdir}", f"O={folder}/build",
        "CONFIG_DEBUG_INFO_BTF_MODULES=", f"-j{len(os.sched_getaffinity(0))}", *more]


def _build(kernel, folder, options, make_command=_make_command):
    """Builds the module in `folder`, and leaves the .ko there."""
    own = Path(f"/lib/modules/{kernel.release}/build")
    if own.is_dir():  # The machine itself has these headers, and their compiler.
        _run(make_command(own, folder, *options))
        _fetch(folder, folder)
        return
    root, headers = kernel.compiler()
    inside        = chroot.way(root)
    if inside:
        _build_inside(inside, root, headers, folder, options, make_command)
    else:
        _build_outside(kernel, root, headers, folder, options, make_command)


def _build_inside(inside, root, headers, folder, options, make_command):
    """Builds with the compiler of the root, inside it."""
    (root / "tmp").mkdir(exist_ok=True)
    # Each build has a folder of its own, as several builds may use the root at once.
    with tempfile.TemporaryDirectory(prefix="module-", dir=root / "tmp") as work:
        shutil.copytree(folder, work, dirs_exist_ok=True)
        _run([*inside, *make_command(headers, Path("/tmp") / Path(work).name, *options)])
        _fetch(Path(work), folder)


def _build_outside(kernel, root, headers, folder, options, make_command):
    """Builds with the machine's compiler and the root's headers, where the machine does not allow chroot."""
    origin = root / headers.relative_to("/")
    if kernel.make_options or not _machine_will_do(origin):
        raise GuestUnsupported(_FORBIDDEN.format(release=kernel.release))
    # Only the Makefile of the headers contains their path.
    moved = folder / "headers"
    moved.mkdir()
    for path in origin.iterdir():
        if path.name != "Makefile":
            (moved / path.name).symlink_to(path)
    (moved / "Makefile").write_text(
        (origin / "Makefile").read_text().replace("/usr/src/", f"{root}/usr/src/"))
    # A library that programs of the headers load, and that the machine may not have.
    libraries = folder / "libraries"
    libraries.mkdir()
    for path in (root / "usr/lib/x86_64-linux-gnu").glob("libelf*.so.1"):
        (libraries / path.name).symlink_to(path)
    _run(make_command(moved, folder, "CC=gcc", *options), {"LD_LIBRARY_PATH": str(libraries)})
    _fetch(folder, folder)


def _machine_will_do(headers):
    """Returns whether the machine can run the programs of the headers, and its compiler is new enough.

    Since Linux 6.13 the headers contain their path in several files, which is not supported here.
    """
    moves  = "KBUILD_OUTPUT" not in (headers / "Makefile").read_text()
    runs   = "Usage" in processes.run([headers / "scripts" / "basic" / "fixdep"])[1]
    wanted = re.search(r"gcc-(\d+)", (headers / ".kernelvariables").read_text())
    found  = re.match(r"\d+", processes.run(["gcc", "-dumpversion"])[1])
    return moves and runs and wanted and found and int(found[0]) >= int(wanted[1])


def _fetch(build, folder):
    for path in build.rglob("*.ko"):
        if path.parent != folder:
            shutil.copy(path, folder)


def _run(command, environ=None):
    status, output = processes.run(command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C", "HOME": "/", **(environ or {})})
    if status:
        lines  = output.splitlines()
        errors = [line for line in lines if re.search(r"\berror\b|Error \d|\*\*\*", line)]
        raise GuestError("the driver does not compile: " + "\n".join((errors or lines[-5:])[:10]))
