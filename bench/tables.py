#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tables of the report. Each function returns HTML, which is empty if its sweep was not run."""

from litepcie_bench import bounds, figures, goals
from litepcie_bench.bounds import ABOVE, bound, rate, share_words
from litepcie_bench.figures import note_rows
from litepcie_bench.page import Judged, details, note, table
from litepcie_bench.points import AN_BYTES, DEFAULT_TAGS, HOSTS, OURS, STOCK, link_name, narrowest
from litepcie_bench.published import (application_notes, bus_mastering, msc_calculated, msc_columns,
    pio as pio_rows, stock_baseline)
from litepcie_bench.summary import megabytes, percent

def of_sweep(results, sweep, **attributes):
    """Returns the results of a sweep that did not fail and whose points have these attributes."""
    return [r for r in results if r.point.sweep == sweep and not r.failure
        and all(getattr(r.point, name) == value for name, value in attributes.items())]

# Goals --------------------------------------------------------------------------------------------


def goal_summary(cells):
    """One row per goal; empty without cells."""
    rows = []
    for goal in dict.fromkeys(cell.goal for cell in cells):
        mine    = [cell for cell in cells if cell.goal == goal]
        worst   = min(mine, key=lambda cell: cell.margin)
        reached = sum(cell.reached for cell in mine)
        rows.append((goal, Judged(f"{reached} of {len(mine)}", reached == len(mine)), worst.what,
            f"{worst.measured} {worst.unit}", f"{'at least' if worst.least else 'at most'} "
            f"{worst.bar}", "" if worst.reached else worst.why))
    return table(("goal", "reached", "furthest from its goal", "measured", "must be",
        "if missed: what the engine waits for"), rows)


def _marked(cell):
    return cell.measured + f" {ABOVE}"*(cell.value > 100 and cell.unit.startswith("% of bound"))


def goal_cells(cells):
    """One table per goal, cells below the goal first."""
    parts = []
    for goal in dict.fromkeys(cell.goal for cell in cells):
        mine   = sorted((c for c in cells if c.goal == goal), key=lambda cell: cell.reached)
        missed = sum(not cell.reached for cell in mine)
        rows   = [(cell.what, Judged(_marked(cell), cell.reached), cell.bar, cell.unit,
            "" if cell.reached else cell.why) for cell in mine]
        title  = f"{goal}: {len(mine) - missed} of {len(mine)}"
        parts.append(details(title, table(("cell", "measured", "must", "", "what the engine waits for"), rows)))
    return "".join(parts)

# Boards -------------------------------------------------------------------------------------------


def _buffer(found):
    text = "{} x {} B".format(*found.space)
    return text + f", fabric {found.fabric} bit"*bool(found.fabric)


def by_board(results):
    """One row per build of a board: shares of the bound, and the latency that its reads tolerate."""
    head = ("board", "link", "clock, MHz", "tags", "completions of the block", "read, MB/s", "of bound",
        "buffer allows", "of what link and buffer allow", "64-byte completions", "write", "both: read", "both: write",
        "read alone", "direct", f"reads reach {figures.TOLERATED} % up to")
    body = []
    for row in figures.board_rows(results):
        found = row.hardware
        must  = figures.READ_X16 if found.lanes == 16 else figures.READ

        def of_bound(result, direction, least=None):
            value = figures.share(result, direction)
            return share_words(value) if least is None or value is None else Judged(share_words(value), value >= least)
        body.append((found.title, link_name(found.gen, found.lanes, found.width), f"{found.clock_hz/1e6:g}", found.tags,
            _buffer(found), megabytes(row.one and rate(row.one, "read")), of_bound(row.one, "read", must),
            percent(figures.buffered(row.one), 100), share_words(figures.allowed(row.one)),
            of_bound(row.split, "read", figures.SPLIT), of_bound(row.one, "write"), of_bound(row.both, "read"),
            of_bound(row.both, "write"), of_bound(row.alone, "read"),
            of_bound(row.direct, "read", figures.ALONE.get(found.link)),
            f"{row.tolerated/1000:g} us" if len(row.latencies) > 1 and row.tolerated else "-"))
    return table(head, body)


def board_latency(results):
    """Reads of each board over the latency of the host: % of bound, and of what link and completion buffer allow."""
    found = [row for row in figures.board_rows(results) if len(row.latencies) > 1]
    each  = sorted({ns for row in found for ns in row.latencies})
    return table(("read, % of bound (% of what link and buffer allow)", *(f"{ns/1000:g} us" for ns in each)), [
        (f"{row.hardware.title}, {link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width)}",
            *(f"{share_words(figures.share(row.latencies[ns], 'read'), '')} "
                f"({share_words(figures.allowed(row.latencies[ns]), '')})"
                if ns in row.latencies else "" for ns in each))
        for row in found])


def by_host(results):
    """Boards on all hosts, % of bound: each host, then median and range of those whose properties were measured."""
    body = []
    for row in figures.host_rows(results):
        middle, least, most = (share_words(value, "") for value in row.headline)
        body.append((f"{row.hardware.title}, {link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width)}",
            row.direction, f"{middle} ({least} to {most})", *figures.host_cells(row)))
    return table(("100 KB x 20, % of bound", "", "median (range) of measured hosts", *(
        name if host.measured else f"{name} (chosen)" for name, host in HOSTS.items())), body)


def stock_by_board(results):
    """Stock as shipped, with more pending requests, at its best that is safe, and ours."""
    rows = [(f"{row.hardware.title}, {link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width)}",
        row.direction, *figures.stock_cells(row)) for row in figures.stock_rows(results)]
    return table(("100 KB x 20", "", *figures.STOCK_HEADS), rows) + note(figures.STOCK_CAPTION) if rows else ""


def equal_chains(results):
    rows = [(name, direction, f"{1e9*cost.t0:.1f}", megabytes(cost.rinf), f"{cost.half_peak:.0f}")
        for name, direction, cost in goals.equal_costs(results)]
    return table(("chains of equal length, Gen2 x4, 128 bit", "", "t0, ns", "Rinf, MB/s", "half-peak size, B"), rows)


def board_sizes(results):
    """Small transfers of the boards: % of the bound with descriptors and start-up, and of the plain bound."""
    good  = of_sweep(results, "board_sizes")
    sizes = sorted({r.point.bytes for r in good})
    rows  = []
    for hardware in dict.fromkeys(r.point.hardware for r in good):
        for direction in ("read", "write"):
            mine = {r.point.bytes: r for r in good if r.point.hardware == hardware}
            full = {size: figures.of_chain(r, direction) for size, r in mine.items()}
            rows.append((hardware.title, direction, *(Judged(
                f"{share_words(full[size], '')} ({share_words(figures.share(mine[size], direction), '', 0)})",
                full[size] >= figures.least_of(size)) if size in mine else "" for size in sizes)))
    return table(("board", "", *(f"{size} B" for size in sizes)), rows)

# Endpoint in Gateware -----------------------------------------------------------------------------


def lane(results):
    """Rates over a lane whose symbols are counted, and by the link model on the same traffic."""
    good = {(r.point.mps, r.point.sequence, r.point.phy): r for r in of_sweep(results, "lane")}
    body = []
    for mps, sequence in dict.fromkeys(key[:2] for key in good):
        symbols, model = (good.get((mps, sequence, phy)) for phy in ("soft", "shared"))
        if not symbols or not model:
            continue
        rows = {name: [rate(one, name) for one in (symbols, model)] for name in ("read", "write")}
        both = sequence == "read-and-write"
        if both:
            rows["sum"] = [sum(pair) for pair in zip(*rows.values())]
        for name, (counted, calculated) in rows.items():
            apart = 100*(counted/calculated - 1)
            least = bound(symbols, name) if not both else None
            body.append((f"MPS {mps}, {'both at once' if both else 'one way'}", name, megabytes(counted),
                share_words(100*counted/least) if least else "-", megabytes(calculated),
                Judged(f"{apart:+.1f} %", abs(apart) <= 0.5)))
    return table(("Gen1 x1, 64 bit at 100 MHz, chains of 100 KB", "", "symbols, MB/s", "of bound", "link model, MB/s",
        "symbols against model"), body) if body else ""

# Host and link ------------------------------------------------------------------------------------


def _shares(results, head, label, columns):
    """Shares of the bound for reads: rows by ``label(point)``, columns by ``columns(point)``."""
    good  = [r for r in results if r.point.sequence == "write-then-read"]
    names = list(dict.fromkeys(columns(r.point) for r in good))
    rows  = []
    for name in dict.fromkeys(label(r.point) for r in good):
        mine = {columns(r.point): r for r in good if label(r.point) == name}
        rows.append((name, *(share_words(figures.share(mine[c], "read"), "")
            if c in mine else "" for c in names)))
    return table((head, *names), rows)


def _design(point):
    return "ours" if point.design == OURS else "stock"


def latency(results):
    return _shares(of_sweep(results, "latency"), "read, % of bound",
        lambda p: f"{p.where}, {_design(p)}" + f", + 0..{p.jitter_ns/1000:g} us, reordered"*bool(p.jitter_ns)
            + f", {p.tags} tags"*(p.tags != DEFAULT_TAGS), lambda p: f"{p.latency_ns/1000:g} us")


def completions(results):
    return _shares(of_sweep(results, "completions"), "read, % of bound",
        lambda p: f"{p.where}, {_design(p)}", lambda p: f"{p.completion} B")


def tags(results):
    return _shares(of_sweep(results, "tags"), "read, % of bound",
        lambda p: f"{p.tags} tags, MRRS {p.mrrs}", lambda p: f"{p.latency_ns/1000:g} us")


def alone(results):
    rows = []
    for r in of_sweep(results, "alone"):
        point = r.point
        where = "in the card's registers" if point.direct else "fetched by the card" if point.design == OURS else \
            "in stock's table" + ", filling counted"*point.fill
        rows.append((point.where, _design(point), where, *(text for direction in ("read", "write") for text in (
            megabytes(rate(r, direction)), share_words(figures.share(r, direction))))))
    return table(("link", "", "descriptor", "read, MB/s", "of bound", "write, MB/s", "of bound"), rows)


def addresses(results):
    rows = []
    for r in of_sweep(results, "addresses"):
        same = [o for o in results if not o.failure and o.point.design == r.point.design
            and o.point.where == r.point.where and o.point.sequence == r.point.sequence
            and o.point.batch == r.point.batch and o.point.sweep in ("notes", "gen3")
            and o.point.update_fc == "guideline"]
        for direction in ("read", "write"):
            both = "both: "*(r.point.sequence == "read-and-write")
            low  = [megabytes(rate(same[0], direction)),
                share_words(figures.share(same[0], direction))] if same else ["-"]*2
            rows.append((r.point.where, _design(r.point), both + direction, *low, megabytes(rate(r, direction)),
                share_words(figures.share(r, direction))))
    return table(("link", "", "", "below 4 GiB, MB/s", "of bound", "above, MB/s", "of bound"), rows)


def outliers(results):
    return _shares(of_sweep(results, "outliers"), "read, % of bound", lambda p: _design(p),
        lambda p: f"+ {p.outlier_ns/1000:g} us for 1 in {p.outlier_every}" if p.outlier_ns else "none")


def errors(results):
    good  = of_sweep(results, "errors")
    clean = {(r.point.design, r.point.sequence): r for r in good if not r.point.lcrc_every}
    rows  = []
    for every in dict.fromkeys(r.point.lcrc_every for r in good):
        row = ["none" if not every else f"1 in {every}"]
        for design in (OURS, STOCK):
            for sequence in ("write-then-read", "read-and-write"):
                mine = [r for r in good if (r.point.design, r.point.sequence, r.point.lcrc_every)
                    == (design, sequence, every)]
                for direction in ("read", "write"):
                    row.append(percent(rate(mine[0], direction),
                        rate(clean[design, sequence], direction))
                        if mine and (design, sequence) in clean else "-")
        rows.append(row)
    heads = [f"{name}: {what}" for name in ("ours", "stock")
        for what in ("read", "write", "both, read", "both, write")]
    return table(("TLPs damaged", *heads), rows)

# 100 KB x 20 --------------------------------------------------------------------------------------


def throughput(results):
    """20 transfers after one doorbell, ours and stock."""
    rows = []
    for row in note_rows(results):
        ours, stock = row.rate(OURS, True), row.rate(STOCK, True)
        rows.append((row.where, row.what, megabytes(ours), _judged(ours, row.bound(), row), megabytes(stock),
            _of(stock, row.bound(STOCK)), megabytes(row.bound()), megabytes(row.theory())))
    heads = ("20 per doorbell, MB/s", "", "ours", "of bound", "stock", "of its bound", "bound", "theory")
    return table(heads, rows)


def alone_throughput(results):
    """One transfer per doorbell: with its start-up, without it, and what it reaches at most."""
    rows = []
    for row in note_rows(results):
        ours, stock = row.rate(OURS, False), row.rate(STOCK, False)
        start = row.found.get((OURS, False))
        rows.append((row.where, row.what, megabytes(ours), _judged(ours, row.bound(OURS, False), row),
            f"{1e6*bounds.start_up(start.point, row.direction):.0f}" if start else "-",
            _judged(ours, row.net_bound(OURS), row), megabytes(row.alone_most(OURS)),
            _of(ours, row.alone_most(OURS)), megabytes(stock), megabytes(row.alone_most(STOCK)),
            _of(stock, row.alone_most(STOCK)), megabytes(row.published)))
    return table(("1 per doorbell, MB/s", "", "ours", "of bound", "start-up, us", "net of it",
        "ours at most", "of that", "stock", "stock at most", "of that", "best published"), rows)


def _of(value, bound):
    """A share of a bound as text."""
    return share_words(100*value/bound if value and bound else None)


def _judged(value, of, row):
    """A share in percent, green if it reaches the goal of the row."""
    return Judged(_of(value, of), 100*value/of >= (goals.BOTH if row.both else goals.ONE)) if value else "-"


def _by_size(results, title, figure, must, words):
    """Shares of chains by size; ``figure(result, direction)`` in %, ``must(size)``: the least of a green cell;
    ``words(figure)``: its text."""
    chains = goals.longest_chains(results)
    sizes  = sorted({size for _, size in chains})
    rows   = []
    for link in sorted({link for link, _ in chains}):
        for direction in ("read", "write"):
            found = {size: figure(chains[link, size], direction) for size in sizes if (link, size) in chains}
            rows.append((link_name(*link), direction, *(Judged(words(found[size]),
                found[size] >= must(size)) if size in found else "" for size in sizes)))
    return table((title, "", *(f"{size} B" for size in sizes)), rows)


def small(results):
    """Shares of the bound with descriptors and start-up, and of the notes' calculated column, by size."""
    calculated = _by_size(results, "% of the notes' calculated column", lambda result, direction:
        100*rate(result, direction)/msc_calculated(result.point.bytes, result.point.gen, result.point.lanes, direction),
        lambda size: goals.SMALL, "{:.0f}".format)
    if calculated:
        calculated += note("No bound: the formula charges the requests of reads, ACKs and UpdateFCs to the direction "
            "of the data, where a link has them in the other one.")
    return _by_size(results, "% of the bound with descriptors", figures.of_chain, figures.least_of,
        lambda value: share_words(value, "", 0)) + calculated


def costs(results):
    rows = [(design, link_name(*link), direction, f"{1e9*cost.t0:.1f}", megabytes(cost.rinf),
        f"{cost.half_peak:.0f}") for design in (OURS, STOCK)
        for (link, direction), cost in goals.fixed_costs(results, design).items()]
    return table(("design", "link", "", "t0, ns", "Rinf, MB/s", "half-peak size, B"), rows)

# Published rows as printed, with ours on the same link: AN 456, AN 855 ----------------------------

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
    ours      = figures.measured_for(row, cell, results)
    choice    = None if row.misprint(cell) else figures.judged_note(row, cell, results)
    cells     = [f"{printed/1e6:.0f}" + " ?"*row.misprint(cell)]
    for policy in POLICIES:
        result = ours.get(policy)
        words  = megabytes(result and rate(result, direction))
        held   = choice is not None and result is choice[0]
        cells.append(Judged(words, rate(result, direction) >= printed) if held else words)
    return cells

def by_latency(results):
    """How many printed figures are reached, on the ideal PHY and on each board, over the latency of the host."""
    found = figures.published_counts(results)
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

# Area ---------------------------------------------------------------------------------------------


def synthesis(records):
    if not records:
        return note("Not measured in this build folder. `make synth` writes build/bench/synth.json "
            "(yosys for 7-series and ECP5, nextpnr-ecp5 for the clock), and the next `make bench` shows it.")
    show  = lambda record, key: "-" if record.get(key) is None else f"{record[key]:g}"
    stock = {id(ours): peer for ours, peer in goals.area_pairs(records)}
    ratio = lambda record, key: f"{record[key]/stock[id(record)][key]:.2f} x" \
        if stock.get(id(record)) and stock[id(record)].get(key) and key in record else ""
    order = sorted(records, key=lambda r: (str(r.get("family")), r.get("width", 0), r["design"] == OURS))
    rows  = [(r["design"], goals.area_name(r), show(r, "luts"), ratio(r, "luts"), show(r, "luts_as_memory"),
        show(r, "ffs"), show(r, "brams"), ratio(r, "brams"), r.get("bram_unit", ""),
        f"{r['fmax_hz']/1e6:.1f}" if r.get("fmax_hz") else "-") for r in order]
    return note(f"Transaction layer, one reader and one writer. Area by yosys, clock by nextpnr-ecp5. Goals: at "
        f"most {goals.LUT_RATIO} x stock's LUTs and no more BRAM, {goals.CLOCK_MHZ} MHz at 64 bit. docs/resources.md "
        "defines what is compared.") + table(("design", "", "LUTs", "to stock", "LUTs as memory", "flip-flops", "BRAM",
        "to stock", "", "clock, MHz"), rows)


def failures(results):
    return table(("design", "point", "why"), [(r.point.design, r.point, Judged(r.failure, False))
        for r in results if r.failure])
