#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a target emits for the software: ``csr.h``, ``soc.h``, ``csr.json``, ``litepcie_regs.h``.

A file whose text is as before is not touched, and no text has in it when it was made: what is built
from the files stays up to date.
"""

import re

from pathlib import Path

from litex.soc.integration import export

from litepcie_soc.soc import regs

# Helpers ------------------------------------------------------------------------------------------


class PinnedMapError(Exception):
    """The SoC's registers are not those of the committed header."""


def reproducible(text):
    """``text`` of LiteX without what differs between two runs: the time, a git revision, the tree of modules.

    (LiteX asks git in its own folder; in ``build/venv`` that answers with this project's. Vendor blocks stand in the
    tree, a comment, in the order of a set of objects.)
    """
    text = re.sub(r"^// *(Date|LiteX sha1) +:.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"(Auto-[Gg]enerated by LiteX) \([0-9a-f-]+\)", r"\1", text)
    text = re.sub(r"^//-+\n// Hierarchy\n//-+\n+/\*\n.*?\*/\n+", "", text, count=1, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r" on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "", text)


def write_if_changed(path, text):
    """Writes ``text`` unless the file has it; makes the folder; True if it was written."""
    path = Path(path)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True

# Export -------------------------------------------------------------------------------------------


def check_pinned_map(soc):
    """Raises ``PinnedMapError``, saying what, unless a finalised SoC has the committed map."""
    try:
        lines = regs.moved(soc)
    except (ValueError, OSError) as error:
        raise PinnedMapError(str(error)) from error
    if lines:
        text = "; ".join(lines)
        raise PinnedMapError(f"registers are not those of {regs.COMMITTED.name}: {text}")


def export_headers(soc, folder):
    """Emits the headers of a finalised ``LitePCIeSoC`` into ``folder``, and ``csr.json``.

    Raises ``PinnedMapError`` before anything is written.
    """
    check_pinned_map(soc)
    folder    = Path(folder)
    regions   = soc.csr.regions
    constants = soc.constants
    for name, text in {
        "csr.h":           export.get_csr_header(regions, constants, with_access_functions=False),
        "soc.h":           export.get_soc_header(constants, with_access_functions=False),
        "csr.json":        export.get_csr_json(regions, constants, soc.mem_regions),
        "litepcie_regs.h": regs.header(soc),
    }.items():
        write_if_changed(folder / name, reproducible(text))


def export_verilog(soc, platform, folder, name):
    """Emits ``name.v``, and the files its memories are initialised from, into ``folder``."""
    output = platform.get_verilog(soc, name=name)
    write_if_changed(Path(folder) / f"{name}.v", reproducible(output.main_source))
    for path, text in output.data_files.items():
        write_if_changed(Path(folder) / path, text)
