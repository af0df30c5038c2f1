#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tables of the report: every published row as printed, with ours on the same link."""

from litepcie_bench import goals, peers
from litepcie_bench.bounds import rate
from litepcie_bench.page import Judged, note, table
from litepcie_bench.points import AN_BYTES, OURS, STOCK, narrowest
from litepcie_bench.published import (application_notes, bus_mastering, msc_calculated, msc_columns,
    pio as pio_rows, stock_baseline)
from litepcie_bench.summary import megabytes, percent

# AN 456, AN 855 -----------------------------------------------------------------------------------

POLICIES = ("guideline", "minimum")


def an456(results):
    """Printed figures and ours for one transfer per doorbell, as the notes measure."""
    rows, results = [], [r for r in results if r.point.sweep == "notes"]
    for row in application_notes():
        cells = [f"{row.name}, {row.ip}; {row.chipset}", f"Gen{row.gen} x{row.lanes}, "
            + (f"{row.width} bit" if row.width_given else f"({row.width} bit)")]
        for cell, printed in row.rates.items():
            cells += _printed_and_ours(row, cell, printed, results)
        rows.append((*cells, megabytes(row.theory)))
    heads = [f"{name}{part}" for name in ("read", "write", "both: read", "both: write")
        for part in ("", ", ours", ", ours, minimum")]
    return table(("row", "link", *heads, "theory"), rows)


def _printed_and_ours(row, cell, printed, results):
    direction = cell.removeprefix("both_")
    ours      = peers.measured_for(row, cell, results)
    choice    = None if row.misprint(cell) else peers.judged(row, cell, results)
    cells     = [f"{printed/1e6:.0f}" + " ?"*row.misprint(cell)]
    for policy in POLICIES:
        result = ours.get(policy)
        words  = megabytes(result and rate(result, direction))
        held   = choice is not None and result is choice[0]
        cells.append(Judged(words, rate(result, direction) >= printed) if held else words)
    return cells

def by_latency(results):
    """How many printed figures are reached, on the ideal PHY and on each board, over the latency of the host."""
    found = peers.published_counts(results)
    times = sorted({ns for counts in found.values() for ns in counts})
    return table(("printed figures reached, by latency of the host, which the notes do not say",
        *(f"{ns/1000:g} us" for ns in times)),
        [(place, *("{} of {}".format(*counts[ns]) if ns in counts else "-" for ns in times))
            for place, counts in found.items()])

# MSC8156, MSC8157 ---------------------------------------------------------------------------------


def msc(results):
    """One table per chip, number of lanes and MPS."""
    sizes = [r for r in results if r.point.sweep == "sizes" and not r.failure]
    keys  = dict.fromkeys((c.source, c.gen, c.lanes, c.mps) for c in msc_columns())
    return "".join(_msc_table(*key, sizes) for key in sorted(keys)) if sizes else ""


def _msc_table(source, gen, lanes, mps, results):
    link     = (gen, lanes, 128 if (gen, lanes) == (2, 4) else narrowest(gen, lanes))
    measured = {(r.point.bytes, r.point.batch): r for r in results if r.point.design == OURS
        and (r.point.link, r.point.mps) == (link, mps)}
    chained  = goals.longest_chains(results, mps)
    if not measured:
        return ""
    columns  = []
    for direction in ("write", "read"):
        columns += _msc_columns(source, lanes, mps, direction)
        columns += [(f"ours, {name}", lambda size, n=batch, d=direction:
            _rate(measured.get((size, n)), d)) for name, batch in (("one", 1), ("4", 4), ("8", 8))
            if (mps, lanes) == (256, 4)]
        columns += [("ours, chained", lambda size, d=direction: _rate(chained.get((link, size)), d)),
            ("of calc.", lambda size, d=direction: _of_calculated(chained.get((link, size)), d, mps))]
    rows  = [(f"{size} B", *(column(size) for _, column in columns))
        for size in sorted({size for _, size in chained})]
    title = f"{source.upper()}: Gen{gen} x{lanes}, MPS {mps}; ours at {link[2]} bit"
    half  = len(columns)//2
    heads = [f"{'write' if n < half else 'read'}: {name}" for n, (name, _) in enumerate(columns)]
    return f"<h3>{title}</h3>" + table(("", *heads), rows)


def _msc_columns(source, lanes, mps, direction):
    """Returns (name, figure by size) of the columns that the note prints, and of its formula."""
    names = {(0, False): "printed", (1, False): "printed, one", (4, False): "printed, 4"}
    found = [("calc.", lambda size: megabytes(_formula(source, size, lanes, direction, mps)))]
    for column in msc_columns():
        name = names.get((column.batch, column.calculated))
        if name and (column.source, column.lanes, column.mps, column.direction) == \
            (source, lanes, mps, direction):
            found.append((name, lambda size, rates=column.rates: megabytes(rates.get(size))))
    return found


def _formula(source, size, lanes, direction, mps):
    """Returns the printed figure, or the notes' formula where they print none."""
    for column in msc_columns():
        if column.calculated and (column.source, column.lanes, column.mps, column.direction) == \
            (source, lanes, mps, direction):
            return column.rates[size]
    return msc_calculated(size, 1 if source == "msc8156" else 2, lanes, direction, mps)


def _rate(result, direction):
    return megabytes(result and rate(result, direction))


def _of_calculated(result, direction, mps):
    if result is None:
        return "-"
    point = result.point
    share = rate(result, direction)/msc_calculated(point.bytes, point.gen, point.lanes, direction, mps)
    words = f"{100*share:.0f} %"
    return Judged(words, 100*share >= goals.SMALL) if mps == 256 else words

# Gen1 x1: PIO and bus mastering -------------------------------------------------------------------


def pio(results):
    ours = [r for r in results if r.point.sweep == "pio" and not r.failure]
    rows = [("2007", f"{method}, {note}", "Gen1 x1", direction, f"{value/1e6:g}")
        for method, direction, value, note in pio_rows()]
    for r in ours:
        link = f"Gen{r.point.gen} x{r.point.lanes}"
        what = "write-combined stores" if r.point.store == 64 else "stores"
        must = r.point.gen == 1 and r.point.store == 64
        words = f"{rate(r, 'write')/1e6:.1f}"
        rows.append(("ours", f"{what} of {r.point.store} B", link, "write",
            Judged(words, rate(r, "write")/1e6 >= goals.WRITE_COMBINED) if must else words))
        if r.point.store == 4:
            rows.append(("ours", "loads of 4 B", link, "read", f"{rate(r, 'read')/1e6:.1f}"))
    return table(("", "method", "link", "", "MB/s"), rows) if ours else ""


def mastering(results):
    """Bus mastering of 2009 over Gen1 x1, with our transfers of 100 KB."""
    ours = {r.point.batch > 1: r for r in results if r.point.sweep == "notes" and not r.failure
        and r.point.link == (1, 1, 64) and r.point.design == OURS
        and r.point.sequence == "write-then-read" and r.point.update_fc == "guideline"}
    rows = [("2009", what, direction, f"{value/1e6:g}") for direction, what, value in bus_mastering()]
    for chained, result in sorted(ours.items()):
        how = "20 per doorbell" if chained else "one per doorbell"
        rows += [("ours", f"{AN_BYTES//1000} KB x 20, {how}", direction,
            f"{rate(result, direction)/1e6:.1f}") for direction in ("read", "write")]
    if not ours:
        return ""
    return table(("", "what", "", "MB/s"), rows) + note("\"Through the driver\" of 2009 is the rate that a "
        "program saw. `make demo` prints ours through the driver.")

# First measurement of stock -----------------------------------------------------------------------


def baseline(results):
    """Each row in % of theory: stock as first measured, stock now, and ours."""
    now  = [r for r in results if r.point.sweep == "baseline" and not r.failure]
    rows = []
    for line in stock_baseline():
        latency = 4000 if "4 us" in line["note"] else 1000
        both    = "both" in line["note"]
        key     = (int(line["datapath_bits"]), int(line["descriptor_bytes"]),
            int(line["completion_bytes"]), latency, both)
        mine    = {r.point.design: r for r in now if _baseline_key(r.point) == key}
        cells   = [line["link"], f"{key[0]} bit", f"{key[1]} B", f"{key[2]} B", f"{latency/1000:g} us",
            "both at once" if both else ""]
        for direction in ("write", "read"):
            cells.append(line[f"{direction}_pct_of_theory"])
            cells += [percent(rate(mine[d], direction), mine[d].data["theory_bytes_per_second"])
                .removesuffix(" %") if d in mine else "-" for d in (STOCK, OURS)]
        rows.append(cells)
    heads = [f"{direction}: {who}" for direction in ("write", "read")
        for who in ("stock, first", "stock, now", "ours")]
    return table(("link", "data path", "descriptor", "completions", "latency", "", *heads), rows) \
        if now else ""


def _baseline_key(point):
    return (point.width, point.bytes, point.completion or point.mps, point.latency_ns,
        point.sequence == "read-and-write")
