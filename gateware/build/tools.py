#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Running the programs of others."""

import contextlib
import os
import shutil
import signal
import subprocess


PATIENCE_S = 10  # Time that a tool has to end when asked to. After it, the tool is killed.


class ToolError(Exception):
    """A failure of an external program, as one line."""


def run_tool(command, folder=None, hint=""):
    """Runs a command to its end; its output goes where ours goes. Raises ``ToolError`` if it is missing or fails.

    hint : one line that is added to the error if the command is not installed.

    An interrupt ends the command and all its children: such tools are scripts that start the real program.
    """
    if shutil.which(command[0]) is None:
        raise ToolError(f"{command[0]} is not on the PATH{hint and '; ' + hint}")
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        status = child.wait()
    except BaseException:
        end(child)
        raise
    if status:
        raise ToolError(f"{' '.join(map(str, command))}: {outcome(status)}")


def end(child):
    """Ends a child and all in its group."""
    with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(PATIENCE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def outcome(status):
    return f"exit status {status}" if status > 0 else f"ended by signal {-status}"
