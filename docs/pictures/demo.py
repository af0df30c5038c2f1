#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs `make demo` and draws docs/pictures/demo.svg, a recording of its terminal.

    build/venv/bin/python -m docs.pictures.demo

The title has the date and the commit of the run. Times differ from run to run, so there is no `--check`.
"""

import io
import re
import subprocess
import sys
import time

from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from litepcie_sim.demo import __main__ as demo

ROOT    = Path(__file__).resolve().parents[2]
PICTURE = Path(__file__).with_suffix(".svg")
COLUMNS = 102
FIRST   = "guest# litepcie_util scratch_test"  # The lines before are the build, and all that `info` says.
HEAD    = "<!-- SPDX-License-Identifier: BSD-2-Clause -->\n<!-- Copyright (c) 2026 LitePCIe SoC developers -->\n"


def picture(said, title):
    """The SVG of the terminal's text `said`, with its escape sequences, from FIRST on."""
    lines   = Text.from_ansi(said).split("\n")
    begin   = next(n for n, line in enumerate(lines) if line.plain == FIRST)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True,
        color_system="truecolor")
    console.print(Text.from_markup("[bold]$ make demo[/bold]"), Text("..."), sep="\n")
    for line in lines[begin:]:
        console.print(line)
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id="demo")
    # A picture loads no fonts: the browser's own are used, at the width that each text names.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    # Half its size, so that the README stays short; a click shows all of it.
    svg = re.sub(r'viewBox="0 0 (\S+) \S+"', lambda box: f'{box[0]} width="{float(box[1])/2:g}"', svg, count=1)
    return re.sub(r"[ \t]+$", "", HEAD + re.sub(r"<!--.*?-->\s*", "", svg), flags=re.MULTILINE)


def main():
    demo.console.record = True
    status = demo.main([])
    if status:
        return status
    commit = subprocess.run(["git", "describe", "--always", "--abbrev=8"], cwd=ROOT, capture_output=True, text=True,
        check=True).stdout.strip()
    title = f"make demo, {time.strftime('%Y-%m-%d', time.gmtime())}, commit {commit}"
    PICTURE.write_text(picture(demo.console.export_text(styles=True), title), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
