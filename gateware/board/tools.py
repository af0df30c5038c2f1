#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Running the programs of others."""

import shutil
import subprocess


class ToolError(Exception):
    """What a program of others could not do, one line."""


def run_tool(command, folder=None, hint=""):
    """Runs a command to its end, its output where ours goes. Raises ``ToolError`` if it is missing or fails.

    hint : one line for who does not have it.
    """
    tool = command[0]
    if shutil.which(tool) is None:
        raise ToolError(f"{tool} is not on the PATH{hint and '; ' + hint}")
    status = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL).returncode
    if status:
        raise ToolError(f"{' '.join(map(str, command))}: exit status {status}")
