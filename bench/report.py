#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""report.html: one page with everything in it."""

from litepcie_bench import notes, plots, plots_host, tables, waits
from litepcie_bench.page import STYLE, cards, note, picture, text
from litepcie_bench.points import OURS, STOCK
from litepcie_bench.rows import note_rows

HOW = """<p>Ours and stock LitePCIe 2024.12 under one simulated link and host, the real Verilog of both, beside
the figures others published. "Read" is host memory to FPGA, "write" FPGA to host memory. Ours by the gateware's own
counters, doorbell to last byte. Stock LitePCIe has no such counters: by the model's clock, from the write that enables
it to the last byte; its table of descriptors was filled before, which is not counted unless said. MPS 256, MRRS 512
(the MSC notes: 256), 1 us of host latency where nothing else is said; 1 MB/s is 10<sup>6</sup> bytes a second.</p>
<p><b>Chained</b>: all transfers behind one doorbell, what the link sustains. <b>Alone</b>: one transfer a doorbell,
counted from doorbell to last byte. <b>Start-up</b>: the host's round trips before the first byte can move, the
descriptor's and, of a read, the data's. <b>Bound</b>: what this link model lets an ideal card reach; with both
directions at once it takes each at its bound, so a writer beside a slower reader may pass it. <b>Theory</b>:
payload/(payload + 20), as the application notes have it.</p>"""

# The parts of the page: (title, what is said of it, pictures, tables). Tables take results.
SECTIONS = (
    ("100 KB x 20", "Both readings of the notes' measurement: 20 transfers behind one doorbell, and one a doorbell. "
        "Start-up counts in full in \"alone\"; the last share is of what it leaves. Green: 99 % of the bound, 98 % of "
        "both at once. At 512 bit and 125 MHz the data path limits x8: a TLP of 268 bytes takes 5 beats. "
        "Stock at 512 bit is measured too, as it can.",
        (plots.efficiency,), (tables.throughput,)),
    ("Throughput over size", "Descriptors of one size, a chain of them behind a doorbell. In the table: % of the "
        "calculated column of the MSC8156/8157 notes (their formula for links they do not print); the goal is 95.",
        (plots.sizes, plots.sizes_gen1, plots.back_to_back), (tables.small,)),
    ("Fixed cost of a transfer: R(n) = n/(t0 + n/Rinf)", "Fitted to the chains above. Half-peak size: t0 x Rinf.",
        (), (tables.costs,)),
    ("Latency of the host", "Jitter is added uniformly, and completions of different requests overtake each other. "
        "Then requests leave in bursts, which the host acknowledges together: a read may pass the bound by a percent.",
        (plots_host.latency,), (tables.latency,)),
    ("A slow answer now and then", "Gen2 x4, 128 bit: one request in 1000 waits longer, and others overtake it.",
        (), (tables.outliers,)),
    ("Requests outstanding", "The same board with 32 tags (the host leaves Extended Tags off), 64 (default) and 256. "
        "What is outstanding also has to fit the completion buffer of the PHY, here 32 KiB, if the host answers 64 "
        "bytes at a time, each with a header of 16: 51 requests of 512 bytes, whatever the tags.",
        (plots_host.tags,), (tables.tags,)),
    ("Size of the host's completions", "64 bytes is what many desktop machines return.",
        (plots_host.completions,), (tables.completions,)),
    ("Damaged TLPs", "Every so manieth TLP of each direction arrives with a wrong LCRC and is replayed, with all "
        "behind it. % of the throughput without.", (plots_host.errors,), (tables.errors,)),
    ("Buffers above 4 GiB", "Headers of four dwords; the bound is computed for such headers. Stock is left out: it is "
        "built with its default of 32 bits of address.", (), (tables.addresses,)),
    ("Where the cycles went", "By the counters of our engines, of transfers at the speed of the link. There a reader "
        "waits for a tag, as all it may have outstanding is asked for, and a writer for the link. What a figure below "
        "its goal waited for stands beside it, at the top.", (plots.cycles,), ()),
    ("Loads and stores of the processor", "Beside the figures of 2007.", (plots_host.pio,), (notes.pio,)),
    ("AN 456 tables 8-11, AN 855 table 6", "MB/s, one transfer a doorbell as the notes measure, its start-up counted. "
        "\"Ours\": credits come back as the specification's guideline has it. \"Minimum\": only when half of those "
        "advertised are used or 30 us passed, all that the specification demands. A printed figure is held against "
        "\"ours\", and against \"minimum\" only where it is above what an ideal card reaches in our model under the "
        "guideline: no card could have printed it behind such a host. The coloured cell is the one it is held against. "
        "?: above the link's theory, a misprint of the note, left out.",
        (), (notes.an456,)),
    ("MSC8156, MSC8157", "MB/s each way (the notes count both ways, in Gb/s). \"One\", \"4\", \"8\": transfers behind "
        "one doorbell, of which ours pay the fetch of their descriptors from host memory, a round trip of 1 us, and a "
        "read its data's; the notes' \"one\" and \"4\" beside them.", (), (notes.msc,)),
    ("Bus mastering, 2009", "Gen1 x1.", (), (notes.mastering,)),
    ("Stock LitePCIe, first measured and now", "% of theory. The first measurement fed descriptors directly, "
        "without registers or a table.", (), (notes.baseline,)),
)


def _headline(results, cells):
    """The figures of the top of the page: (figure, what it is)."""
    asked = [cell for cell in cells if cell.asked]
    below = [cell for cell in asked if not cell.reached]
    start = sum("start-up counted" in cell.goal for cell in below)
    found = [(f"{len(asked) - len(below)} of {len(asked)}", "figures with a goal reach it"
        + f"; {start} of the {len(below)} others count the start-up of a single transfer"*bool(start))]
    chained = [row for row in note_rows(results) if row.rate(OURS, True)]
    for both, name in ((False, "one direction"), (True, "both at once")):
        shares = [100*row.rate(OURS, True)/row.bound() for row in chained if row.both == both]
        if shares:
            found.append((f"{min(shares):.1f} %", f"of the bound at least, {name}, chained, every link"))
    for goal, name in (("64-byte completions", "of the bound at least, 64-byte completions"),
        ("latency up to 4 us", "of the bound at least, host latency to 4 us")):
        values = [cell.value for cell in cells if cell.goal == goal]
        if values:
            found.append((f"{min(values):.1f} %", f"{name}, Gen2 x4"))
    peer = [r for r in results if r.point.design == STOCK and r.point.sweep == "latency" and not r.failure
        and not r.point.jitter_ns and r.point.link == (2, 4, 128)]
    if peer:
        worst = min(100*r.data["read"]["share_of_bound"] for r in peer)
        found.append((f"{worst:.1f} %", "stock LitePCIe in the same place"))
    return found


def _section(title, words, pictures, texts, results, folder):
    parts = []
    for plot in pictures:
        figure = plot(results)
        path   = folder / f"{plot.__name__}.png"
        if figure:
            parts.append(picture(figure, path))
        else:
            path.unlink(missing_ok=True)
    parts += [made for made in (make(results) for make in texts) if made]
    return f"<h2>{text(title)}</h2>{note(words)}{''.join(parts)}" if parts else ""


def html(results, cells, synth, folder):
    """The page; its pictures are written beside it into ``folder``."""
    parts = ["<h1>How close to the link</h1>", HOW, cards(_headline(results, cells))]
    if any(result.failure for result in results):
        parts += ["<h2>Failed</h2>", tables.failures(results)]
    if cells:
        parts += ["<h2>Goals</h2>", tables.goal_summary([cell for cell in cells if cell.asked])]
        beyond = tables.goal_summary([cell for cell in cells if not cell.asked])
        if beyond:
            parts += ["<h3>Beyond the goals, by the same measure</h3>", beyond]
        parts += [note("Every cell of each, missed ones first:"), tables.goal_cells(cells)]
    parts += [_section(*section, results, folder) for section in SECTIONS]
    parts += ["<h2>Area and clock</h2>", tables.synthesis(synth)]
    checked = waits.clock_check(results)
    if checked:
        parts.append(note(f"Counters of the gateware and the model's clock: {checked}."))
    return ("<!DOCTYPE html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width"><title>How close to the link</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n")
