#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tables of the report: measured figures. Each function returns HTML, which is empty if its sweep was not run."""

from litepcie_bench import area, board_rows, goals, hosts, stock_best
from litepcie_bench.bounds import ABOVE, bound, rate, share_words
from litepcie_bench.page import Judged, details, note, table
from litepcie_bench.points import DEFAULT_TAGS, HOSTS, OURS, STOCK, link_name
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
        "read alone", "direct", f"reads reach {board_rows.TOLERATED} % up to")
    body = []
    for row in board_rows.rows(results):
        found = row.hardware
        must  = board_rows.READ_X16 if found.lanes == 16 else board_rows.READ

        def of_bound(result, direction, least=None):
            value = board_rows.share(result, direction)
            return share_words(value) if least is None or value is None else Judged(share_words(value), value >= least)
        body.append((found.title, link_name(found.gen, found.lanes, found.width), f"{found.clock_hz/1e6:g}", found.tags,
            _buffer(found), megabytes(row.one and rate(row.one, "read")), of_bound(row.one, "read", must),
            percent(board_rows.buffered(row.one), 100), share_words(board_rows.allowed(row.one)),
            of_bound(row.split, "read", board_rows.SPLIT), of_bound(row.one, "write"), of_bound(row.both, "read"),
            of_bound(row.both, "write"), of_bound(row.alone, "read"),
            of_bound(row.direct, "read", board_rows.ALONE.get(found.link)),
            f"{row.tolerated/1000:g} us" if len(row.latencies) > 1 and row.tolerated else "-"))
    return table(head, body)


def board_latency(results):
    """Reads of each board over the latency of the host: % of bound, and of what link and completion buffer allow."""
    found = [row for row in board_rows.rows(results) if len(row.latencies) > 1]
    each  = sorted({ns for row in found for ns in row.latencies})
    return table(("read, % of bound (% of what link and buffer allow)", *(f"{ns/1000:g} us" for ns in each)), [
        (f"{row.hardware.title}, {link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width)}",
            *(f"{share_words(board_rows.share(row.latencies[ns], 'read'), '')} "
                f"({share_words(board_rows.allowed(row.latencies[ns]), '')})"
                if ns in row.latencies else "" for ns in each))
        for row in found])


def by_host(results):
    """Boards on all hosts, % of bound: each host, then median and range of those whose properties were measured."""
    body = []
    for row in hosts.rows(results):
        middle, least, most = (share_words(value, "") for value in row.headline)
        body.append((f"{row.hardware.title}, {link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width)}",
            row.direction, f"{middle} ({least} to {most})", *hosts.cells(row)))
    return table(("100 KB x 20, % of bound", "", "median (range) of measured hosts", *(
        name if host.measured else f"{name} (chosen)" for name, host in HOSTS.items())), body)


def stock_by_board(results):
    """Stock as shipped, with more pending requests, at its best that is safe, and ours."""
    rows = [(f"{row.hardware.title}, {link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width)}",
        row.direction, *stock_best.cells(row)) for row in stock_best.rows(results)]
    return table(("100 KB x 20", "", *stock_best.HEADS), rows) + note(stock_best.CAPTION) if rows else ""


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
            full = {size: board_rows.of_chain(r, direction) for size, r in mine.items()}
            rows.append((hardware.title, direction, *(Judged(
                f"{share_words(full[size], '')} ({share_words(board_rows.share(mine[size], direction), '', 0)})",
                full[size] >= board_rows.least_of(size)) if size in mine else "" for size in sizes)))
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
        rows.append((name, *(share_words(board_rows.share(mine[c], "read"), "")
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
            megabytes(rate(r, direction)), share_words(board_rows.share(r, direction))))))
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
                share_words(board_rows.share(same[0], direction))] if same else ["-"]*2
            rows.append((r.point.where, _design(r.point), both + direction, *low, megabytes(rate(r, direction)),
                share_words(board_rows.share(r, direction))))
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

# Area ---------------------------------------------------------------------------------------------


def synthesis(records):
    if not records:
        return note("Not measured in this build folder. `make synth` writes build/bench/synth.json "
            "(yosys for 7-series and ECP5, nextpnr-ecp5 for the clock), and the next `make bench` shows it.")
    show  = lambda record, key: "-" if record.get(key) is None else f"{record[key]:g}"
    stock = {id(ours): peer for ours, peer in area.pairs(records)}
    ratio = lambda record, key: f"{record[key]/stock[id(record)][key]:.2f} x" \
        if stock.get(id(record)) and stock[id(record)].get(key) and key in record else ""
    order = sorted(records, key=lambda r: (str(r.get("family")), r.get("width", 0), r["design"] == OURS))
    rows  = [(r["design"], area.name(r), show(r, "luts"), ratio(r, "luts"), show(r, "luts_as_memory"),
        show(r, "ffs"), show(r, "brams"), ratio(r, "brams"), r.get("bram_unit", ""),
        f"{r['fmax_hz']/1e6:.1f}" if r.get("fmax_hz") else "-") for r in order]
    return note(f"Transaction layer, one reader and one writer. Area by yosys, clock by nextpnr-ecp5. Goals: at "
        f"most {area.LUT_RATIO} x stock's LUTs and no more BRAM, {area.CLOCK_MHZ} MHz at 64 bit. docs/resources.md "
        "defines what is compared.") + table(("design", "", "LUTs", "to stock", "LUTs as memory", "flip-flops", "BRAM",
        "to stock", "", "clock, MHz"), rows)


def failures(results):
    return table(("design", "point", "why"), [(r.point.design, r.point, Judged(r.failure, False))
        for r in results if r.failure])
