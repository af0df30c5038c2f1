#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Child processes that never outlive the runner.

Each child has a process group of its own and is ended with the whole group. If the runner itself is killed,
the kernel sends SIGKILL to the child (`setpriv --pdeathsig`; prctl(2), PR_SET_PDEATHSIG).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading

from litepcie_sim.guest.errors import GuestError


def start(command, **kwargs):
    """Starts `command` in a process group of its own; it is killed when the calling thread ends. Returns a `Popen`."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise GuestError("setpriv is missing; type: sudo apt-get install util-linux")
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([setpriv, "--pdeathsig", "KILL", "--", *map(str, command)],
        start_new_session=True, **kwargs)


def stop(process, grace=2.0):
    """Ends `process` and its group: SIGTERM, `grace` seconds, SIGKILL. Returns its exit status."""
    if process is None:
        return None
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(grace)
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


# Set by a signal that ends the program: threads that run commands, or wait for a lock, give up.
_ending = threading.Event()
_runs   = set()


def check_ending():
    """Raises GuestError if the program is being ended."""
    if _ending.is_set():
        raise GuestError("interrupted")


def run(command, **kwargs):
    """Runs `command` to its end. Returns (exit status, text of both of its streams)."""
    check_ending()
    process = start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", **kwargs)
    _runs.add(process)
    try:
        check_ending()  # A signal before this process was in the set did not reach it.
        output, _ = process.communicate()
    finally:
        _runs.discard(process)
        stop(process, grace=0.5)
    check_ending()
    return process.returncode, output


def _on_signal(number, frame):
    # The main thread may wait for other threads, and these for their commands.
    _ending.set()
    for process in list(_runs):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    # As exceptions they unwind the stack, which ends all processes that run.
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def handle_signals():
    """Turns Ctrl-C, SIGTERM and SIGHUP into exceptions, for programs that run guests."""
    # SIGINT needs a handler too: a shell starts background jobs with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)
