#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Vivado: runs it on the emitted files, and is its hardware manager as a programmer."""

import shutil
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_soc.build.processes import ToolError, run_tool
from litepcie_soc.build.program import bitstream

# Build --------------------------------------------------------------------------------------------
# Runs Vivado on the emitted files, whose script ends with a verdict (``board/constraints.py``).


def build(name, folder, flash=None):
    """Builds ``name.bit`` from the emitted files in ``folder``. Raises ``ToolError``, also if timing is not met.

    flash : ``Flash`` of the board.

    Returns the verdict and the flash's report on the bitstream, one line each.
    """
    path = folder / f"{name}_verdict.txt"
    path.unlink(missing_ok=True)
    try:
        run_tool(["vivado", "-mode", "batch", "-source", f"{name}.tcl"], folder,
            hint=f"all files are written: run `vivado -mode batch -source {name}.tcl` in {folder}")
    except ToolError:
        if path.exists():
            raise ToolError(f"{path.read_text().strip()}; see {folder / f'{name}_timing.rpt'}") from None
        raise
    try:
        verdict = path.read_text().strip()
        size    = (folder / f"{name}.bit").stat().st_size
    except OSError as error:
        raise ToolError(f"{error.filename}: {error.strerror}") from error
    return "\n".join([verdict, *([flash.report(size)] if flash else [])])

# Programmer ---------------------------------------------------------------------------------------
# Vivado's hardware manager as the programmer of boards that openFPGALoader does not support.

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
