# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Fetches what `make test` needs of the network: `python -m test.prepare`; also compiles the simulator's part that all
boards share. With `--record` it writes the versions of Debian's packages into sim/guest/versions.txt. Standard library
only, as `make setup` runs it beside the installation of build/venv."""

import os
import signal
import subprocess
import sys

from pathlib import Path

from litepcie_sim.guest         import GuestError, handle_signals, prepare, versions
from litepcie_sim.guest.errors  import GuestUnsupported, say
from litepcie_sim.guest.kernels import DEFAULT_KERNEL, Kernel

# Of the tests that are not marked `full`.
KERNELS = (DEFAULT_KERNEL,)
OTHERS  = tuple(Kernel(name).compiler for name in KERNELS)

SIM = Path(__file__).resolve().parents[1] / "sim"


def main(arguments):
    handle_signals()
    # If it fails, so does the build of the first board, which says why.
    model = subprocess.Popen(["make", "-s", "-C", SIM, "model", f"PYTHON={sys.executable}"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        status = fetch(arguments)
        model.wait()
        return status
    finally:
        if model.poll() is None:
            os.killpg(model.pid, signal.SIGTERM)  # Also the make and the compilers that it started.
            model.wait()


def fetch(arguments):
    try:
        prepare(KERNELS, with_fio=True, with_lspci=True, with_module=False, others=OTHERS)
    except GuestUnsupported as e:
        say(f"{e}; tests that need it are skipped")
        return 0
    except GuestError as e:
        say(f"error: {e}")
        return 1
    versions.record() if "--record" in arguments else versions.tell()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
