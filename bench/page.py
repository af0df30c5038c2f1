#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Pieces of the report: HTML of tables, sections and pictures."""

import base64
import html as escape
import io

from dataclasses import dataclass

from litepcie_bench import bounds
from litepcie_bench.plots import pyplot

MISSING = "-"
SHORT   = 26   # The most characters of a cell that stays on one line.

STYLE = """
:root { --ink: #1d2730; --soft: #5c6b78; --line: #dfe4e8; --good: #e3f4e6; --bad: #fde3df }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1280px; margin: 2.5em auto; padding: 0 1.5em;
    color: var(--ink); background: #fff }
h1 { font-size: 1.9em; margin-bottom: .2em } h2 { margin-top: 2.2em; border-bottom: 2px solid var(--line);
    padding-bottom: .2em } h3 { margin: 1.4em 0 .3em } p { max-width: 60em } .soft { color: var(--soft) }
.cards { display: flex; flex-wrap: wrap; gap: .8em; margin: 1.4em 0 }
.card { flex: 1 1 9.5em; border: 1px solid var(--line); border-radius: 6px; padding: .7em 1em }
.card b { display: block; font-size: 1.7em; line-height: 1.2 } .card span { color: var(--soft); font-size: .85em }
table { border-collapse: collapse; margin: .8em 0; font-size: .86em; font-variant-numeric: tabular-nums }
th, td { padding: .16em .5em; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th { color: var(--soft); font-weight: 600; vertical-align: bottom } td.n, th.n { text-align: right }
td.n, td.s { white-space: nowrap } td.w { min-width: 10em } th.n { max-width: 6.5em }
td.good { background: var(--good) } td.bad { background: var(--bad) }
details { margin: .5em 0 } summary { cursor: pointer } img { max-width: 100%; display: block; margin: .6em 0 }
nav a { margin-right: 1.2em; white-space: nowrap } .wide { overflow-x: auto }
"""


@dataclass(frozen=True)
class Judged:
    """Text of a green or red cell."""
    text:    str
    reached: bool

    def __str__(self):
        return self.text


def text(words):
    return escape.escape(str(words))


def _is_number(words):
    plain = words.replace("-", "0").translate(str.maketrans("", "", ".%x *()" + bounds.ABOVE))
    return plain.isdigit() or not words or words == MISSING


def _cell(value):
    words  = str(value)
    kinds  = ["n"] if _is_number(words) else ["s" if len(words) <= SHORT else "w"]
    if isinstance(value, Judged):
        kinds.append("good" if value.reached else "bad")
    return f'<td class="{" ".join(kinds)}">{text(words)}</td>'


def table(head, rows):
    """Returns a table; columns of numbers are aligned to the right. A share above 100 % has its reason below it."""
    rows = [tuple(row) for row in rows]
    if not rows:
        return ""
    right = [all(map(_is_number, map(str, column))) and any(map(str, column)) for column in zip(*rows)]
    heads = "".join(f'<th class="n">{text(name)}</th>' if number else f"<th>{text(name)}</th>"
        for name, number in zip(head, right))
    body  = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    why   = f"{bounds.ABOVE} above 100 %: {'; or '.join((bounds.BURSTS, bounds.EDGE, bounds.FEWER))}."
    made  = f'<div class="wide"><table><tr>{heads}</tr>{body}</table></div>'
    return made + note(why) if bounds.ABOVE in body else made


def details(title, inside, opened=False):
    return f"<details{' open'*opened}><summary>{text(title)}</summary>{inside}</details>"


def note(words):
    return f'<p class="soft">{text(words)}</p>'


def cards(figures):
    """Returns large figures from a list of (figure, caption)."""
    return '<div class="cards">' + "".join(f'<div class="card"><b>{text(figure)}</b>'
        f"<span>{text(what)}</span></div>" for figure, what in figures) + "</div>"


def picture(figure, path):
    """Returns an img element that contains the figure; also writes the file."""
    data = io.BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    pyplot.close(figure)
    path.write_bytes(data.getvalue())
    return f'<img alt="{text(path.stem)}" src="data:image/png;base64,' \
        f'{base64.b64encode(data.getvalue()).decode()}">'
