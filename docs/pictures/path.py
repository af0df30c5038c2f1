#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Draws docs/pictures/path.svg, the path from a program to the memory of the FPGA.

    build/venv/bin/python -m docs.pictures.path --write     renews the picture
    build/venv/bin/python -m docs.pictures.path --check     compares it, exit status 1 if it differs
"""

import sys

from pathlib import Path
from xml.sax.saxutils import escape

from litepcie_soc.build import generated

PICTURE = Path(__file__).with_suffix(".svg")

WIDTH  = 880
LEFT   = 20
MIDDLE = 620   # The right edge of the boxes; the places are named to the right of it.
GAP    = 16    # Between boxes of one row.
STEP   = 76    # From one row to the next.
HEIGHT = 54    # Height of a box.

# Colours for light and dark backgrounds: a browser takes the second set when its user prefers dark.
STYLE = """\
text { font-family: -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.head { font-size: 15px; font-weight: 600; }
.note, .place { font-size: 12px; fill: #57606a; }
.box { stroke: #8c959f; stroke-width: 1.2; }
.host { fill: #ddf4ff; } .kernel { fill: #b6e3ff; } .link { fill: #fff1c2; } .card { fill: #dafbe1; }
.arrow { stroke: #57606a; stroke-width: 1.6; fill: none; marker-start: url(#up); marker-end: url(#down); }
.tip { fill: #57606a; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .note, .place { fill: #9da7b3; }
  .box { stroke: #6e7681; }
  .host { fill: #0c2d4a; } .kernel { fill: #0d3a63; } .link { fill: #4a3a07; } .card { fill: #0f3d23; }
  .arrow { stroke: #9da7b3; } .tip { fill: #9da7b3; }
}"""

# A row: its kind, its boxes (title, note, share of the width), and where it is or runs.
ROWS = [
    ("host",   [("your program", "pread, pwrite, io_uring, mmap", 1), ("litepcie_util", "info, dma_test, counters", 1)],
        ("in simulation: a Debian guest in QEMU", "on hardware: your machine")),
    ("kernel", [("driver: /dev/litepcie0", "pins pages, fills the ring, rings the doorbell, sleeps on MSI", 1)],
        ("software/kernel", "the same module in both")),
    ("link",   [("PCI Express", "TLPs, completions, MSI", 1)],
        ("in simulation: sim/, a link model", "on hardware: a slot")),
    ("card",   [("PHY", "LitePCIe's hard blocks, or the simulation PHY", 1)],
        ("in simulation: Verilated RTL", "on hardware: an FPGA")),
    ("card",   [("transaction layer", "TLPs, tags, completions, timeouts, arbitration", 1)],
        ("gateware/tlp", "")),
    ("card",   [("DMA engines", "descriptor fetch, then reader or writer, then status block and MSI", 1)],
        ("gateware/dma", "")),
    ("card",   [("endpoint memory", "block RAM or DDR", 1), ("streams", "your logic", 0.7),
        ("registers", "identity, counters", 0.8)],
        ("gateware/memory, ddr, stream_dma,", "soc")),
]

# Picture ------------------------------------------------------------------------------------------


def text(x, y, words, kind, anchor="middle"):
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x, y, width, kind, head, note):
    centre = x + width / 2
    return [
        f'<rect class="box {kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="7"/>',
        text(centre, y + 23, head, "head"),
        text(centre, y + 42, note, "note"),
    ]


def row(y, kind, boxes, place):
    room   = MIDDLE - LEFT - GAP * (len(boxes) - 1)
    shares = sum(share for *_, share in boxes)
    x      = LEFT
    for head, note, share in boxes:
        width = room * share / shares
        yield from box(x, y, width, kind, head, note)
        x += width + GAP
    for line, words in enumerate(place):
        if words:
            yield text(MIDDLE + GAP, y + 23 + 18 * line, words, "place", "start")


def picture():
    """The text of the SVG file."""
    lines = []
    for number, (kind, boxes, place) in enumerate(ROWS):
        y = LEFT + STEP * number
        lines += row(y, kind, boxes, place)
        if number:
            lines.append(f'<path class="arrow" d="M{(LEFT + MIDDLE) / 2:g} {y - STEP + HEIGHT + 5} V{y - 5}"/>')
    height = 2 * LEFT + STEP * (len(ROWS) - 1) + HEIGHT
    body   = "\n".join(lines)
    return f"""\
<!-- SPDX-License-Identifier: BSD-2-Clause -->
<!-- Copyright (c) 2026 LitePCIe SoC developers -->
<!-- Drawn by docs/pictures/path.py. Do not edit. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">
<title>From a program to the memory of the FPGA</title>
<style>
{STYLE}
</style>
<defs>
<marker id="down" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="tip" d="M0 0 L8 4 L0 8 z"/></marker>
<marker id="up" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="tip" d="M8 0 L0 4 L8 8 z"/></marker>
</defs>
{body}
</svg>
"""

# Program ------------------------------------------------------------------------------------------


def main(argv=None):
    return generated.main(argv, "docs.pictures.path", "The path from a program to the memory of the FPGA.",
        {PICTURE: lambda _: picture()})


if __name__ == "__main__":
    sys.exit(main())
