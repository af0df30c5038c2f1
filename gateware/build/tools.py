#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs tools such as Vivado and openFPGALoader."""

import shutil

from litepcie_soc.build import processes

GRACE_S = 10  # Time for a tool to end after an interrupt, before it is killed.


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
    child = processes.start(command, cwd=folder)
    try:
        status = child.wait()
    except BaseException:
        processes.stop(child, GRACE_S)
        raise
    if status:
        raise ToolError(f"{' '.join(map(str, command))}: {outcome(status)}")


def outcome(status):
    """Describes the end of a process that failed."""
    return f"exit status {status}" if status > 0 else f"ended by signal {-status}"
