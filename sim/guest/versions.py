#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The versions of Debian's packages that were last tested, in versions.txt, and those that this process uses.

Debian's archive moves on. A fault that appears without a change of this tree may come from another version.
"""

import re

from pathlib import Path

from litepcie_sim.guest.errors import say

RECORD = Path(__file__).with_name("versions.txt")

HEAD = """# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
#
# Debian's packages that were last tested: root in the cache, package, version. To renew the lines of the guest's
# packages: python -m litepcie_sim.guest prepare --record; those of all that make test uses: python -m test.prepare
# --record.
"""

# Packages whose version decides what a test meets. Names of kernels have their version in the middle.
_MAIN    = re.compile(r"(qemu-system-(x86|arm)|linux-(image|binary|headers|source)-.*|gcc-\d+(-aarch64-linux-gnu)?|"
    r"binutils|fio|pciutils|busybox-static|sparse|coccinelle|dkms)(:\w+)?$")
_RELEASE = re.compile(r"-\d+\.[\w.+~]*(-\d+)?(?=-|$)")

_roots = {}  # Name of a root -> its path, of those that this process used.


def use(name, path):
    """Notes that this process uses the root `name` in the cache."""
    _roots[name] = path


def of_root(path):
    """Returns {package: version} of the main packages of a root; a kernel's package has a name without version."""
    lines = (path / ".packages").read_text().splitlines() if (path / ".packages").is_file() else []
    found = dict(line.split() for line in lines)
    return {_RELEASE.sub("", name): version for name, version in found.items()
        if _MAIN.match(name) and not name.endswith("-common")}


def used():
    """Returns {(root, package): version} of the roots that this process used."""
    return {(name, package): version for name, path in sorted(_roots.items())
        for package, version in sorted(of_root(path).items())}


def recorded(path=RECORD):
    """Returns {(root, package): version} of the file."""
    lines = path.read_text().splitlines() if path.is_file() else []
    rows  = (line.split() for line in lines if line and not line.startswith("#"))
    return {(name, package): version for name, package, version in rows}


def compare(found, known):
    """Returns a line for each package of `found` whose version is not that of `known`."""
    return [f"{package} {version} instead of the recorded {known[name, package]} ({name})"
        for (name, package), version in found.items() if known.get((name, package), version) != version]


def tell(path=RECORD):
    """Prints these lines for the roots that this process used."""
    for line in compare(used(), recorded(path)):
        say(line)


def record(path=RECORD):
    """Writes the versions of the roots that this process used into the file; lines of other roots stay."""
    rows = sorted((recorded(path) | used()).items())
    path.write_text(HEAD + "".join(f"{name:<18} {package:<28} {version}\n" for (name, package), version in rows))
