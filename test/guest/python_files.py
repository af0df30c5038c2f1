# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The interpreter of the tests for a guest, with pyarrow, Matplotlib and the package of software/python.

The guest's own Python (sim/guest/python.py) lacks the first two. The files that a program loads get the paths that they
have on the machine, below INSIDE; those that only other programs would import are not there.
"""

import functools
import os
import subprocess
import sys
from pathlib import Path

ROOT    = Path(__file__).resolve().parents[2]
BUILD   = ROOT / "build" / "test" / "guest" / "python"
PACKAGE = ROOT / "software" / "python"

# Folder of the guest. The machine's own paths would not do: the guest mounts an empty /tmp over those of a tree there.
INSIDE = "/machine"

# NumPy needs SSE4.2, which QEMU's own choice lacks.
PROCESSOR = "Nehalem"

# Where a program finds its loader, by the ABI of the processor.
LOADER = "/lib64/ld-linux-x86-64.so.2"

# Runs the program PROGRAM and prints what it loads and opens. What is compiled or in a temporary folder is not needed.
COLLECT = """
import os, sys
opened = set()
sys.addaudithook(lambda event, given: event == "open" and isinstance(given[0], str) and opened.add(given[0]))
exec(PROGRAM)
print(os.path.realpath(sys.executable))
print(*[found for module in list(sys.modules.values()) for found in [getattr(module, "__file__", None)] if found],
    *[path for path in opened if path.startswith((sys.prefix, *filter(None, sys.path))) and os.path.isfile(path)
        and not path.endswith(".pyc")], sep="\\n")
print(*{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}, sep="\\n")
"""


def environment(library, inside=""):
    import numpy
    packages = PACKAGE, Path(numpy.__file__).parents[1]
    return {"PYTHONHOME": f"{inside}{sys.base_prefix}", "PYTHONPATH": ":".join(f"{inside}{path}" for path in packages),
        "LITEPCIE_LIBRARY": f"{inside}{library}", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def library():
    subprocess.run(["make", "-s", "-C", ROOT / "software" / "user", f"BUILD={BUILD}", f"{BUILD}/liblitepcie.so"],
        check=True, stdout=subprocess.DEVNULL)
    return (BUILD / "liblitepcie.so").resolve()


@functools.cache
def found(program):
    """Paths of all files that a Python program loads; the first one is the interpreter."""
    interpreter = os.path.realpath(sys.executable)
    return subprocess.run([interpreter, "-c", COLLECT.replace("PROGRAM", repr(program))], env=environment(library()),
        check=True, capture_output=True, text=True).stdout.split()


def names(path):
    """All names of a library in its folder, such as libffi.so.8 of libffi.so.8.1.2."""
    stem, mark, _ = path.name.partition(".so")
    return {path, *(other for other in path.parent.glob(f"{stem}.so.*") if mark and other.resolve() == path)}


def files(program):
    """(path on the machine, path in the guest) of them, for `Guest`."""
    paths   = {Path(path).absolute() for path in found(program)}
    loader, = {path for path in paths if path.name.startswith("ld-linux")}
    return [*sorted((path, f"{INSIDE}{name}") for path in paths for name in names(path)), (loader, LOADER)]


def command(program):
    """The command line in the guest that starts the interpreter."""
    interpreter, *paths = found(program)
    folders  = sorted({INSIDE + os.path.dirname(path) for path in paths if ".so" in os.path.basename(path)})
    settings = environment(library(), INSIDE) | {"LD_LIBRARY_PATH": ":".join(folders)}
    return " ".join(["env", *[f"{name}={value}" for name, value in settings.items()], INSIDE + interpreter])
