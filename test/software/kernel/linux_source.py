# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Linux's own checks of a driver: Debian's source of the default kernel, with its compiler, sparse and coccinelle.

All of it comes from Debian packages into the cache, as the guest kernels do.
"""

import contextlib
import shutil
import subprocess
import tempfile

from pathlib import Path

from litepcie_sim.guest          import cache, chroot, packages
from litepcie_sim.guest.errors   import GuestUnsupported
from litepcie_sim.guest.kernels  import DEFAULT_KERNEL, KERNELS
from litepcie_sim.guest.module   import sources
from litepcie_sim.guest.packages import Recipe

SOURCE = f"linux-source-{DEFAULT_KERNEL}"

RECIPE = Recipe("linux-checks", f"source of kernel {DEFAULT_KERNEL} and checkers", KERNELS[DEFAULT_KERNEL],
    packages = ("linux-headers-cloud-amd64", SOURCE, "sparse", "coccinelle", "libpython3-dev", "base-files", "dash",
        "bash", "coreutils", "sed", "grep", "mawk", "findutils", "diffutils", "perl", "tar", "gzip", "xz-utils",
        "libc-bin", "gcc", "binutils", "make", "libc6-dev", "libelf-dev", "bc", "bison", "flex"),
    # Without what coccinelle's and sparse's further programs need.
    keep     = r"(?!linux-(image|binary|modules|base)|systemd|libsystemd|udev|initramfs|dracut|kmod|klibc|libklibc|"
        r"debconf|libllvm|libicu|libz3|lib(a|hwa|l|t|ub)san\d|libgprofng|libpam|logsave)",
    expect   = f"usr/src/{SOURCE}.tar.xz",
    exclude  = (*Recipe.exclude, "*/lto1", "*/gprofng*", "./usr/share/i18n", "./usr/lib/x86_64-linux-gnu/gconv"))

# Decides what is checked, and how.
TEST = Path(__file__).with_name("test_linux_checks.py")

# What the checks read of the source; the whole of it has 1.3 GB.
PARTS = ("scripts", "Documentation/userspace-api/ioctl", "Documentation/misc-devices", "MAINTAINERS",
    "drivers/misc/Kconfig", "drivers/misc/Makefile", *(f"tools/testing/selftests/{name}"
        for name in ("Makefile", "kselftest.h", "kselftest_harness.h")))


def fetch():
    """Fetches all packages that the checks use."""
    return packages.root(RECIPE)


def unpack(folder, *parts):
    """Unpacks the kernel's source, or parts of it, into `folder`."""
    archive = packages.root(RECIPE) / RECIPE.expect
    subprocess.run(["tar", "-xf", archive, "-C", folder, "--strip-components=1",
        *[f"{SOURCE}/{part}" for part in parts]], check=True)


def parts():
    """Returns the folder of `PARTS`, unpacked once, in the cache."""
    return cache.entry("linux-checks-parts", cache.digest(packages.root(RECIPE).name, *PARTS),
        lambda path: unpack(path, *PARTS), "the kernel's scripts")


def once(check, *parts):
    """Runs `check()`, which raises if it finds something, unless it has passed with the same files and tools.

    parts : names and contents (strings or bytes) of what it depends on, besides the root and the test.
    """
    def passes(path):
        check()
        cache.prune("linux-check")

    cache.entry("linux-check", cache.digest(packages.root(RECIPE).name, TEST.read_bytes(), Path(__file__).read_bytes(),
        *parts), passes, "a check of the driver")


@contextlib.contextmanager
def workshop():
    """A folder inside the root, as (path on this machine, function that runs a command in the root in this folder)."""
    root   = packages.root(RECIPE)
    inside = chroot.way(root)
    if inside is None:
        raise GuestUnsupported("this machine allows neither chroot nor user namespaces; run as root, or type: "
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0")
    (root / "tmp").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="check-", dir=root / "tmp") as work:
        def run(*command):
            name = f"/tmp/{Path(work).name}"
            return subprocess.run([*inside, "sh", "-c", 'cd "$0" && exec "$@"', name, *command], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/"})
        yield Path(work), run


def copy_driver(folder):
    """Copies the driver's sources into `folder`."""
    for name, content in sources().items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def headers():
    """Path of the kernel's headers inside the root."""
    root  = packages.root(RECIPE)
    found = next(root.glob("usr/src/linux-headers-*-cloud-amd64"))
    return "/" / found.relative_to(root)


def whole(folder):
    """Unpacks the whole source into `folder`, with the driver where it belongs."""
    unpack(folder)
    driver = folder / "drivers" / "misc" / "litepcie"
    copy_driver(driver)
    for name, line in (("Kconfig", 'source "drivers/misc/litepcie/Kconfig"\n'),
            ("Makefile", "obj-$(CONFIG_LITEPCIE) += litepcie/\n")):
        path = folder / "drivers" / "misc" / name
        text = path.read_text()
        path.write_text(text.replace("endmenu", line + "endmenu") if name == "Kconfig" else text + line)
    for header in (driver / "include/uapi/linux").iterdir():
        shutil.move(header, folder / "include/uapi/linux" / header.name)
    shutil.rmtree(driver / "include")
