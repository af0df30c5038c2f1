#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Vivado's hardware manager as the programmer of boards that openFPGALoader does not support."""

import shutil
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_soc.build.program import bitstream
from litepcie_soc.build.tools import run_tool

# Scripts ------------------------------------------------------------------------------------------

OPEN = """\
open_hw_manager
connect_hw_server
open_hw_target {target}
set device [lindex [get_hw_devices {{{device}*}}] 0]
if {{$device == ""}} {{ error "no {device} on the cable" }}
current_hw_device $device
refresh_hw_device -update_hw_probes false $device
"""

LOAD = """\
set_property PROGRAM.FILE {{{file}}} $device
program_hw_devices $device
"""

FLASH = """\
create_hw_cfgmem -hw_device $device [lindex [get_cfgmem_parts {{{memory}}}] 0]
set flash [get_property PROGRAM.HW_CFGMEM $device]
set_property PROGRAM.FILES [list {{{file}}}] $flash
set_property PROGRAM.ADDRESS_RANGE use_file $flash
set_property PROGRAM.UNUSED_PIN_TERMINATION pull-none $flash
set_property PROGRAM.BLANK_CHECK 0 $flash
set_property PROGRAM.ERASE 1 $flash
set_property PROGRAM.CFG_PROGRAM 1 $flash
set_property PROGRAM.VERIFY 1 $flash
create_hw_bitstream -hw_device $device [get_property PROGRAM.HW_CFGMEM_BITFILE $device]
program_hw_devices $device
program_hw_cfgmem -hw_cfgmem $flash
"""

# Vivado -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vivado:
    """Programs through JTAG with ``vivado``, else with ``vivado_lab`` (Vivado Lab), which needs no licence.

    device : beginning of Vivado's name of the FPGA.
    memory : Vivado's name of the flash.
    """
    device: str
    memory: str

    def run(self, script, file, cable):
        """Runs a script. ``cable`` is a part of Vivado's name of the target, to choose among several."""
        target = f"[lindex [get_hw_targets {{*{cable}*}}] 0]" if cable else ""
        text   = (OPEN + script).format(target=target, device=self.device, memory=self.memory, file=file)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.tcl"
            path.write_text(text)
            program = "vivado" if shutil.which("vivado") or not shutil.which("vivado_lab") else "vivado_lab"
            run_tool([program, "-mode", "batch", "-nojournal", "-nolog", "-source", str(path)], folder,
                hint="this board needs Vivado or Vivado Lab (vivado_lab) for programming")

    def load(self, path, cable=None):
        """Loads the bitstream of the build ``path`` (its files without their suffixes). Raises ``ToolError``."""
        self.run(LOAD, bitstream(path, ".bit"), cable)

    def flash(self, path, cable=None):
        """Writes the flash image of the build ``path``. Raises ``ToolError``."""
        self.run(FLASH, bitstream(path, ".mcs"), cable)
