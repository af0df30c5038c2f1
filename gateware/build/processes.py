#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Child processes that end with the program that started them, and tools as such. Standard library only."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

GRACE_S = 3  # Time for processes to end after SIGTERM, before SIGKILL.


class Interrupted(Exception):
    """The program is being ended, so no process is started any more."""

# One process --------------------------------------------------------------------------------------


def start(command, **options):
    """Starts ``command`` in a process group of its own; returns the ``subprocess.Popen``.

    The child is killed when the calling thread ends. Its standard input is empty unless ``options``, which go to
    ``subprocess.Popen``, say otherwise. Raises ``FileNotFoundError`` if there is no such program.
    """
    command = [str(word) for word in command]
    search  = options.get("env") or os.environ
    if shutil.which(command[0], path=search.get("PATH")) is None and not _in_folder(command[0], options.get("cwd")):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    setpriv = shutil.which("setpriv")
    bound   = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(bound + command, start_new_session=True, **options)


def _in_folder(program, folder):
    """Returns whether ``program`` is a path relative to the folder that the child starts in."""
    return folder is not None and os.path.dirname(program) and os.access(os.path.join(folder, program), os.X_OK)


def signal_group(child, number):
    """Sends a signal to the group of ``child``; returns whether any process of it exists."""
    try:
        os.killpg(child.pid, number)
        return True
    except ProcessLookupError:
        return False


def stop(child, grace=GRACE_S):
    """Ends ``child`` and its group: SIGTERM, up to ``grace`` seconds, SIGKILL. Returns the exit status of ``child``."""
    if child is None:
        return None
    if child.poll() is None and signal_group(child, signal.SIGTERM):
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace)
    signal_group(child, signal.SIGKILL)
    return child.wait()

# Processes that run to their end ------------------------------------------------------------------

# Set when the program is being ended: threads that run commands, or wait for a lock, then give up.
_ending = threading.Event()
_runs   = set()


def check_ending():
    """Raises ``Interrupted`` if the program is being ended."""
    if _ending.is_set():
        raise Interrupted("interrupted")


def run(command, timeout=None, quiet=False, **options):
    """Runs ``command`` to its end; returns its exit status and its output and errors as one text.

    Parameters
    ----------
    timeout : seconds; after them the group is ended, and ``subprocess.TimeoutExpired`` raised.
    quiet   : the text is only what the command wrote to its error stream.
    options : for ``subprocess.Popen``.
    """
    check_ending()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} if quiet else \
        {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    child = start(command, text=True, errors="replace", **streams, **options)
    _runs.add(child)
    try:
        check_ending()  # end_all() does not see a child that it was too early for.
        texts = child.communicate(timeout=timeout)
    finally:
        _runs.discard(child)
        stop(child, grace=0.5)
        for stream in filter(None, (child.stdout, child.stderr)):
            stream.close()
    check_ending()
    return child.returncode, texts[1 if quiet else 0]

# The end of the program ---------------------------------------------------------------------------


def interrupt_all():
    """Asks all children that ``run`` started to end; ``run`` starts no more. Returns the children."""
    _ending.set()
    children = list(_runs)
    for child in children:
        signal_group(child, signal.SIGTERM)
    return children


def end_all():
    """Ends all children that ``run`` started; ``run`` starts no more.

    Processes have ``GRACE_S`` to end by themselves: make, for example, deletes a file that is only half written.
    """
    children = interrupt_all()
    deadline = time.monotonic() + GRACE_S
    while any(signal_group(child, 0) for child in children) and time.monotonic() < deadline:
        time.sleep(0.02)
    for child in children:
        signal_group(child, signal.SIGKILL)


def _on_signal(number, _):
    # The main thread may be waiting for other threads, and these for the processes they run.
    interrupt_all()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def handle_signals():
    """Makes SIGINT, SIGTERM and SIGHUP end what ``run`` started, and raise an exception in the main thread.

    SIGINT too, although it raises one by itself: a shell starts programs in the background with SIGINT ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)

# Tools --------------------------------------------------------------------------------------------
# Runs tools such as Vivado and openFPGALoader.

TOOL_GRACE_S = 10  # Time for a tool to end after an interrupt, before it is killed.


class ToolError(Exception):
    """A tool is missing or failed; the text is one line for the user."""


def run_tool(command, folder=None, hint=""):
    """Runs a command to its end, with its output on the program's own streams.

    Raises ``ToolError`` if the tool is missing or fails. An interrupt also ends the tool's children, as many
    tools are scripts that start the real program.

    Parameters
    ----------
    command : list of words.
    folder  : working directory.
    hint    : what to do if the tool is missing, one line.
    """
    if shutil.which(command[0]) is None:
        raise ToolError(f"{command[0]} is not on the PATH{hint and '; ' + hint}")
    child = start(command, cwd=folder)
    try:
        status = child.wait()
    except BaseException:
        stop(child, TOOL_GRACE_S)
        raise
    if status:
        raise ToolError(f"{' '.join(map(str, command))}: {outcome(status)}")


def outcome(status):
    """Describes the end of a process that failed."""
    return f"exit status {status}" if status > 0 else f"ended by signal {-status}"
