#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Python for a guest: Debian's, with NumPy, the package of software/python, and its examples."""

import shutil
import tempfile

from pathlib import Path

from litepcie_sim.guest           import cache, initramfs, packages
from litepcie_sim.guest.errors    import GuestError, say
from litepcie_sim.guest.packages  import Recipe
from litepcie_soc.build           import processes
from litepcie_soc.common.places   import SOFTWARE

PACKAGE   = SOFTWARE / "python" / "liblitepcie"
EXAMPLES  = initramfs.EXAMPLES / "python"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
INSIDE    = "usr/lib/python3/dist-packages"

# NumPy may use SSE4.2, which QEMU's own choice of a processor lacks.
PROCESSOR = "Nehalem"

DEBIAN = Recipe("python", "Python and NumPy", "trixie", ("python3", "python3-numpy"), "usr/bin/python3.*[0-9]",
    keep = r"(python3(\.\d+)?(-minimal)?|libpython3\.?\d*-(minimal|stdlib)|python3-numpy|libblas3|liblapack3|"
        r"libgfortran5|libquadmath0|libstdc\+\+6|libgcc-s1|libc6|libffi8|zlib1g|libzstd1|libssl3t64|libexpat1|"
        r"libbz2-1\.0|liblzma5|libuuid1|libreadline8t64|libtinfo6|readline-common)$",
    exclude = (*Recipe.exclude, "*/tests", "*/test", "*/idlelib", "*/ensurepip", "*/pydoc_data", "*/tkinter",
        "*/turtledemo", "*/include", "*.a", "*/gconv", "./usr/share/python3", "./usr/sbin", "./var", "./etc"))


def debian():
    """Returns the path of an archive with Debian's Python and NumPy, compiled: the guest's processor is slow."""
    root, program = packages.find(DEBIAN)

    def make(path):
        with tempfile.TemporaryDirectory(prefix="litepcie-python-") as work:
            for name in ("usr/lib", "usr/bin", "usr/lib64"):
                shutil.copytree(root / name, Path(work) / name, symlinks=True)
            _compile(Path(work), program.name)
            archive = _archive(Path(work))
        (path / "python.cpio").write_bytes(archive.data())

    key = cache.digest(root, Path(__file__).read_bytes())
    return next(cache.entry("python-archive", key, make, "the archive of Python").glob("*.cpio"))


def _compile(root, program):
    """Compiles all modules of a root, by its own interpreter. The files in an archive have no times to compare."""
    libraries = root / LIBRARIES
    status, output = processes.run([root / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries,
        root / "usr/bin" / program, "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
        "-s", root, "-p", "/", root / "usr/lib"], env={"PYTHONHOME": str(root / "usr")})
    if status:
        raise GuestError(f"Python's modules do not compile: {output.strip().splitlines()[-1]}")


def _archive(root):
    archive = initramfs.Archive()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_symlink():
            archive.link(name, path.readlink())
        elif path.is_file():
            archive.copy(name, path)
    # What the packages' scripts would have chosen.
    for library in ("blas", "lapack"):
        archive.link(f"{LIBRARIES}/lib{library}.so.3", f"{library}/lib{library}.so.3")
    archive.copy("lib64/ld-linux-x86-64.so.2", root / "usr/lib64/ld-linux-x86-64.so.2", 0o755)
    archive.link("usr/bin/env", "/bin/busybox")
    return archive


def files():
    """Returns (path on the machine, path in the guest) of the library, the package and the examples."""
    library = initramfs.tools()[0].with_name("liblitepcie.so").resolve()
    modules = [(path, f"/{INSIDE}/liblitepcie/{path.relative_to(PACKAGE)}") for path in sorted(PACKAGE.rglob("*.py"))]
    return [(library, f"/{LIBRARIES}/liblitepcie.so.0"), *modules,
        *[(path, f"/bin/{path.name}") for path in sorted(EXAMPLES.glob("*.py"))]]


def python():
    """Returns the path of `debian`'s archive, and says how large it is."""
    path = debian()
    say(f"Python in the guest: {path.stat().st_size / 1e6:.0f} MB of its memory")
    return path
