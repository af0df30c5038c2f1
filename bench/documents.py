#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Puts measured figures into `README.md`, `docs/benchmark.md` and `docs/processor.md`: tables, and values in the prose.

The figures are those of `bench/claims.csv` (`make bench`), `bench/guest/figures.json` (`make bench BENCH=--guest`) and
`docs/resources.md` (`make synth`). A value stands between `<!-- claim KEY -->` and `<!-- /claim -->`, which no page
shows. The sentence around it may change freely.

    python3 -m litepcie_bench.documents --write     updates the documents
    python3 -m litepcie_bench.documents --check     compares them; exit status 1 if one differs
    python3 -m litepcie_bench.documents --keys      lists the keys with their values
"""

import functools
import json
import re
import sys

from litepcie_bench import claims, guest_report, pictures
from litepcie_bench.boards import ROOT
from litepcie_bench.guest_measure import CARD, FLOOR
from litepcie_bench.points import CHOSEN, PENDING, STOCK_TAGS
from litepcie_bench.sweeps import PUBLISHED_NS, SWEEPS
from litepcie_soc.build import generated

README    = ROOT / "README.md"
BENCHMARK = ROOT / "docs" / "benchmark.md"
PROCESSOR = ROOT / "docs" / "processor.md"
RESOURCES = ROOT / "docs" / "resources.md"

DIRECTIONS = ("read", "write")
SMALL      = tuple(8 << n for n in range(7))  # Bytes of the small transfers in the table.

# Tables of bench/claims.csv -----------------------------------------------------------------------


def _percent(text):
    return f"{text} %" if text else "-"


def _median(figure, board, direction):
    return "{} % ({} to {})".format(*(figure("hosts", board, direction, name) for name in ("median", "least", "most")))


def buffer_table(measured, figure):
    return ("board", "link", "completions of 256 bytes", "of 64 bytes", "one transfer alone", "alone, with DIRECT",
        "the buffer allows"), [(*board.rsplit(", ", 1), *(_percent(figure("boards", board, "", column))
            for column in ("read", "64", "alone", "direct", "buffer"))) for board in pictures.board_names(measured)]


def one_table(measured, figure):
    return ("one transfer of 100 KB", *DIRECTIONS), [
        (title, *(_percent(figure("one", claims.IDEAL[0], direction, how)) for direction in DIRECTIONS))
        for title, how in (("this project, descriptor fetched", "ours"), ("this project, DIRECT", "ours, DIRECT"),
            ("stock, its table filled before", "stock"),
            ("stock, the time to fill one entry counted", "stock, filling counted"))]


def latency_table(measured, figure):
    return ("reads, share of the bound", *(f"{ns/1000:g} us" for ns in claims.LATENCIES)), [
        (board, *(_percent(figure("latency", board, "", str(ns))) for ns in claims.LATENCIES))
        for board in pictures.board_names(measured)]


def hosts_table(measured, figure):
    return ("board, link", "", "measured hosts: median (range)", "ideal, 1 us", *CHOSEN[1:]), [
        (board if direction == "read" else "", direction, _median(figure, board, direction),
            *(_percent(measured.get(("hosts", board, direction, host))) for host in CHOSEN))
        for board in pictures.board_names(measured) for direction in DIRECTIONS]


def stock_table(measured, figure):
    rows = []
    for board in pictures.board_names(measured):
        of   = functools.partial(figure, "stock", board, "read")
        safe = int(of("best_pending") or 0)
        rows.append((board, "read", *(f"{of(str(count))} %" + " *"*(count > safe) for count in PENDING),
            f"{of('best')} %, {safe}" if safe else "-", _percent(of("ours"))))
    return ("board, link", "", f"stock as shipped, {STOCK_TAGS}", *PENDING[1:], "stock at its best that is safe",
        "this project"), rows


def small_table(measured, figure):
    return ("board, link", "", *(f"{size} B" for size in SMALL)), [
        (board if direction == "read" else "", direction,
            *(figure("small", board, direction, str(size)) for size in SMALL))
        for board in claims.SMALL.values() for direction in DIRECTIONS]


def lone_table(measured, figure):
    boards = dict.fromkeys(board for table, board, *_ in measured if table == "lone")
    return ("board, link", "write: cycles to its data, and to its status", "of the card",
        "read: cycles to its request, and from its data to its status", "of the card"), [
        (board, *(text for direction in ("write", "read") for text in (
            "{} + {}".format(*(figure("lone", board, direction, column) for column in ("first", "status"))),
            figure("lone", board, direction, "ns") + " ns"))) for board in boards]


def published_table(measured, figure):
    places = sorted({place for table, place, _, _ in measured if table == "published"})
    return ("place", *(f"{ns/1000:g} us" for ns in PUBLISHED_NS)), [
        (place, *("{} of {}".format(*(figure("published", place, str(ns), column) for column in ("reached", "of")))
            for ns in PUBLISHED_NS)) for place in places]


TABLES = {
    BENCHMARK: {"buffers": buffer_table, "one transfer": one_table, "latencies": latency_table, "hosts": hosts_table,
        "stock": stock_table, "small": small_table, "lone": lone_table,
        "published": published_table},
}

# Values in the prose ------------------------------------------------------------------------------


def _ranges(measured):
    """Yields (key, figure) of the least and the most of figures over all boards."""
    columns = {"reads at 1 us": ("boards", "", ("read",)), "stock's writes": ("stock", "write", ("8", "best")),
        "our writes": ("stock", "write", ("ours",))}
    for name, (wanted, way, some) in columns.items():
        figures = [text for (table, _, row, column), text in measured.items()
            if (table, row) == (wanted, way) and column in some and text]
        for limit in (min, max) if figures else ():
            yield f"all boards/{name}/{'least' if limit is min else 'most'}", limit(figures, key=float)


def _operations(records):
    """Yields (key, figure) of an operation of 4 KiB at depth 32, on average of reads and writes."""
    for device, name in ((CARD, "card"), (FLOOR, "RAM disk")):
        for how in ("uring", "fixed"):
            some = [record for record in records if (record["device"], record["interface"]) == (device, how)
                and (record["transfer_bytes"], record["depth"], record["callers"]) == (4096, 32, 1)]
            if len(some) != len(DIRECTIONS):
                raise ValueError(f"{name}, {how}: {len(some)} records of 4 KiB at depth 32, expected one read and "
                    "one write")
            mean = lambda of, some=some: sum(map(of, some))/len(some)
            yield f"4 KiB/{name}/{how}/instructions", f"{round(mean(guest_report.instructions), -2):,.0f}"
            if device == CARD:
                yield f"4 KiB/{name}/{how}/interrupts", f"{mean(lambda record: record['interrupts']):.2f}"


def _area():
    """Yields (key, figure) of rows of docs/resources.md: the narrowest card of ECP5, and 7-series at Gen2 x4."""
    lines = RESOURCES.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = next(row for row in cells if row[:4] == ["family", "bits", "design", "tags"])
    for family, bits in (("ECP5", "64"), ("7-series", "128")):
        for name, which in (("ours", ["LitePCIe SoC", "32"]), ("stock", ["LitePCIe 2024.12", "-"])):
            found = dict(zip(heads, next(row for row in cells if row[:4] == [family, bits, *which])))
            for column in ("BRAM", "LUTs"):
                yield f"{family}, {bits} bit/{name}/{column}", found[column]


@functools.cache
def values():
    """Returns the text of each value by its key: table, board, row and column of claims.csv, and derived ones."""
    measured = claims.checked(claims.read())
    found    = {"/".join(filter(None, key)): text for key, text in measured.items()}
    found.update(_ranges(measured))
    found.update(_operations(guest_records()))
    found.update(_area())
    found["runs"] = str(round(len({point for sweep in SWEEPS.values() for point in sweep(False)}), -1))
    return found


def guest_records():
    records = json.loads(guest_report.FIGURES.read_text(encoding="utf-8"))
    for record in records:
        guest_report.check(record)
    return records

# Documents ----------------------------------------------------------------------------------------

# A share of 10 % or more with a decimal: smaller ones are differences.
SHARE = re.compile(r"\d\d+\.\d (?:to \d+\.\d )?%")


def by_hand(text):
    """Returns the shares of a document that stand outside of its generated tables and values."""
    text = re.sub(r"^<!-- ([^\n]+) -->\n.*?^<!-- end of \1 -->\n", "", text, flags=re.DOTALL | re.MULTILINE)
    return SHARE.findall(generated.VALUE.sub("", text))


def document(text, path):
    """Returns a document with its figures updated. Raises ``ValueError`` if a table or a value has no figure."""
    measured = claims.read()

    def figure(*key):
        if key not in measured:
            raise ValueError(f"claims.csv has no figure for {', '.join(filter(None, key))}; run make bench")
        return measured[key]

    bodies   = {name: generated.table(*make(measured, figure)) for name, make in TABLES.get(path, {}).items()}
    if path == PROCESSOR:
        bodies = {name: generated.table(heads, rows(guest_records()))
            for name, (rows, heads) in guest_report.TABLES.items() if name != "mebibytes"}  # A multiple of the others.
    text = generated.filled(generated.renewed(text, bodies), values())
    if path != PROCESSOR and by_hand(text):
        raise ValueError(f"{', '.join(by_hand(text))} written by hand; give the figure as <!-- claim KEY -->"
            "<!-- /claim -->, whose keys are those of python3 -m litepcie_bench.documents --keys")
    return text


def main(argv=None):
    if (sys.argv[1:] if argv is None else argv) == ["--keys"]:
        print("\n".join(f"{key}: {text}" for key, text in values().items()))
        return 0
    return generated.main(argv, "litepcie_bench.documents", "Figures of README.md, docs/benchmark.md and "
        "docs/processor.md. --keys lists the values for the prose.",
        {path: functools.partial(document, path=path) for path in (README, BENCHMARK, PROCESSOR)})


if __name__ == "__main__":
    sys.exit(main())
