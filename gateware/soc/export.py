#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Exports the files of a target for the software: ``csr.h``, ``soc.h``, ``csr.json``, ``litepcie_regs.h``.

A file is written only if its text changes, and no text contains a date. So builds that depend on these files stay up to
date.
"""

import re

from pathlib import Path

from litex.soc.integration import export

from litepcie_soc.soc import regs

# Helpers ------------------------------------------------------------------------------------------


class PinnedMapError(Exception):
    """The registers of the SoC differ from the committed header."""


def reproducible(text):
    """Returns ``text`` from LiteX without the parts that differ between runs: time, git revision, tree of modules.

    LiteX asks git for the revision of its own folder; in ``build/venv`` git answers with the revision of this project.
    The tree of modules is a comment whose vendor blocks have the random order of a set.
    """
    text = re.sub(r"^// *(Date|LiteX sha1) +:.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"(Auto-[Gg]enerated by LiteX) \([0-9a-f-]+\)", r"\1", text)
    text = re.sub(r"^//-+\n// Hierarchy\n//-+\n+/\*\n.*?\*/\n+", "", text, count=1, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r" on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "", text)


def write_if_changed(path, text):
    """Writes ``text`` unless the file already has this text, and makes its folder. Returns whether it wrote."""
    path = Path(path)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True

# Export -------------------------------------------------------------------------------------------


def check_pinned_map(soc):
    """Raises ``PinnedMapError`` with the differences if a finalised SoC does not have the committed map."""
    try:
        lines = regs.moved(soc)
    except (ValueError, OSError) as error:
        raise PinnedMapError(str(error)) from error
    if lines:
        text = "; ".join(lines)
        raise PinnedMapError(f"registers differ from {regs.COMMITTED.name}: {text}")


def export_headers(soc, folder):
    """Writes the headers and ``csr.json`` of a finalised SoC with ``soc.litepcie`` into ``folder``.

    Addresses of pinned registers are offsets in BAR0, those of other registers addresses on the bus of the SoC.
    Raises ``PinnedMapError`` before it writes anything.
    """
    check_pinned_map(soc)
    folder    = Path(folder)
    regions   = soc.litepcie.banks.regions | soc.csr.regions
    constants = soc.constants
    for name, text in {
        "csr.h":           export.get_csr_header(regions, constants, with_access_functions=False),
        "soc.h":           export.get_soc_header(constants, with_access_functions=False),
        "csr.json":        export.get_csr_json(regions, constants, soc.mem_regions),
        "litepcie_regs.h": regs.header(soc),
    }.items():
        write_if_changed(folder / name, reproducible(text))


def export_verilog(soc, platform, folder, name):
    """Writes ``name.v``, with the Verilog sources of a processor, and the initial contents of its memories into
    ``folder``.
    """
    output = platform.get_verilog(soc, name=name)
    texts  = [Path(path).read_text() for path, language, *_ in platform.sources if language == "verilog"]
    write_if_changed(Path(folder) / f"{name}.v", "\n".join([reproducible(output.main_source), *texts]))
    for path, text in output.data_files.items():
        write_if_changed(Path(folder) / path, text)
