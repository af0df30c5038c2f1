#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs Vivado on the emitted files, whose script ends with a verdict (``board/verdict.py``)."""

from litepcie_soc.build.tools import ToolError, run_tool


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
