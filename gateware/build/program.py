#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Loads a bitstream into the FPGA, where it is lost with the power, or writes it into the flash of the board."""

from dataclasses import dataclass

from litepcie_soc.build.tools import ToolError, run_tool


def bitstream(path, suffix):
    """Returns the file of a build with that suffix. Raises ``ToolError`` if there is none."""
    file = path.parent / f"{path.name}{suffix}"
    if not file.is_file():
        raise ToolError(f"no bitstream {file}; add --build to build it")
    return file


@dataclass(frozen=True)
class OpenFPGALoader:
    """Programs through JTAG with openFPGALoader.

    board  : openFPGALoader's name of the board, if it knows the board.
    part   : its name of the FPGA, if it does not know the board.
    offset : byte address in the flash at which the FPGA starts to read.
    cable  : its name of the JTAG cable that is soldered to the board, if it does not know the board.
    image  : suffix of the flash image.
    """
    board:  str = ""
    part:   str = ""
    offset: int = 0
    cable:  str = ""
    image:  str = ".bin"

    tool = "openFPGALoader"

    def command(self, cable):
        options = {"--board": self.board, "--fpga-part": self.part, "--cable": cable or self.cable}
        return [self.tool, *[word for option, value in options.items() if value for word in (option, value)]]

    def run(self, command):
        run_tool(command, hint="install the package openfpgaloader")

    def load(self, path, cable=None):
        """Loads the bitstream of the build ``path`` (its files without their suffixes). Raises ``ToolError``."""
        self.run([*self.command(cable), "--bitstream", str(bitstream(path, ".bit"))])

    def flash(self, path, cable=None):
        """Writes the flash image of the build ``path``. Raises ``ToolError``."""
        self.run([*self.command(cable), "--write-flash", "--offset", str(self.offset), "--verify",
            "--bitstream", str(bitstream(path, self.image))])
