#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""report.html: the whole report on one page."""

from litepcie_bench import figures, guest_report, pictures, plots, tables, waits
from litepcie_bench.figures import note_rows
from litepcie_bench.page import STYLE, cards, note, picture, table, text
from litepcie_bench.points import OURS, STOCK

HOW = """<p>This report measures this project ("ours") and stock LitePCIe 2024.12 under one simulated link and host,
with the real Verilog of both, and compares them with published figures. "Read" moves host memory to the FPGA, "write"
moves FPGA memory to the host. 1 MB/s is 10<sup>6</sup> bytes per second. Unless stated: MPS 256, MRRS 512 (MSC notes:
256), 1 us of host latency.</p>
<p><b>100 KB x 20</b> is 20 transfers of 100 KB after one doorbell: the rate that the link sustains. That reading of the
application notes comes first everywhere. <b>Alone</b>, one transfer per doorbell, counted from the doorbell to the last
byte, follows below it.</p>
<p><b>Bound</b>: what an ideal card reaches in this link model whose TLPs leave at even distances, with their ACKs and
UpdateFCs. With both directions at once it is what the other direction, as measured, leaves of the link. Bursts can
exceed it; nothing exceeds the bound without ACKs and UpdateFCs.
<b>Start-up</b>: the round trips to the host before the first byte can move: one for the descriptor, unless the card has
it, and for a read one for its data. <b>At most</b>: the bound of one transfer with the start-up of that design, and
without ACKs and UpdateFCs, as requests of the start-up are acknowledged before their data come. bench/bounds.py
derives all of them.
<b>Theory</b>: payload/(payload + 20), the formula of the application notes.</p>"""

# Questions and answers: what kind of figure is which.
SKEPTIC = (
    ("What is measured on RTL?", "Every rate of ours and of stock: cycles of the Verilog that a board would have, "
        "simulated by Verilator, with every byte compared. Ours by counters of the gateware, which agree with the "
        "model's clock to the cycles printed at the end; stock, which has no counters, by the model's clock, from the "
        "write that enables it with a filled table to the last byte."),
    ("What is modelled?", "The link (rate, framing, DLLPs, credits, replays), the hard block's buffers and clock "
        "crossing, and the host: so every bound, and every latency in the tables \"ideal\". The model is compared "
        "with the formulas of AN 456, pcie-bench and the MSC notes, and symbol by symbol in \"Endpoint in gateware\"."),
    ("What is calibrated?", "The latencies of the hosts named after machines come from published measurements "
        "(docs/contracts/simulator.md says which, and what of each is chosen). \"ideal\" and \"chipset\" are chosen."),
    ("What has run on a board?", "Nothing. No bitstream of this project has run on hardware yet."),
    ("Is the host too kind?", "\"ideal\" answers every request after the same time. Rows of boards on measured hosts "
        "have latencies with tails, credits and an IOMMU: see \"Boards\", with the median and the range."),
    ("Is stock measured at its best?", "\"Stock at its best\" gives it 16 and 32 pending requests on each board's "
        "block. Its lone writes are faster than ours: by a round trip if the descriptor is fetched, and by cycles with "
        "DIRECT. \"One transfer of 100 KB\" measures both by one clock."),
    ("Is the PHY real?", "Rows of boards have the clock, width, tags and completion buffer of their hard block. All "
        "other rows have an ideal PHY: 32 KiB for completions, which no board has, and no clock crossing."),
    ("Do published figures depend on the host?", "Yes: their latency is not printed. The table below AN 456 has the "
        "count of figures reached from 1 to 3 us, on the ideal PHY and at each board's clock."),
    ("How can a share be above 100 %?", "Where requests leave in bursts, they are acknowledged together, with fewer "
        "DLLPs than the bound counts. results.json has the reason beside each such figure; one without a reason fails "
        "the run."),
)

# Sections of the page: (title, introduction, pictures, tables). Pictures and tables are functions of the results.
SECTIONS = (
    ("Boards", "20 x 100 KB after one doorbell, MPS 256, MRRS 512, 1 us of host latency, with each board's clock, data "
        "width, tags, clock crossing and completion buffer: each board's default build and its widest link, then all "
        "other links. \"Buffer allows\": Little's law for the completion buffer, as a share of the link's bound. "
        "\"Both\": of what the other direction, as measured, leaves. \"Read alone\": one transfer per doorbell, with "
        "its start-up; \"direct\": its descriptor is in the card's registers. Small transfers: 256 descriptors, "
        "% of the bound with descriptors and start-up, in brackets % of the plain bound. Hosts: latencies, credits and "
        "IOMMU as published for real ones, or chosen (lighter bars); the median and the range are those of the real "
        "ones. Their axes begin at 80 %: what is shorter is a number only.",
        (pictures.boards, plots.profiles, plots.tolerance),
        (tables.by_host, tables.by_board, tables.board_latency, tables.board_sizes)),
    ("Stock at its best", "20 x 100 KB after one doorbell on the hard block, data path and clock of each board. Stock "
        "LitePCIe as shipped has 8 pending requests; with more, one argument of add_pcie, it reads faster. Each may "
        "bring 8 completions of 64 bytes, which the hard block must be able to store. Equal chains: 256 descriptors of "
        "one size or fewer, for ours and stock alike, and the half-peak size that they give.",
        (), (tables.stock_by_board, tables.equal_chains)),
    ("100 KB x 20", "20 transfers after one doorbell, and below one per doorbell, which includes the whole start-up. "
        "Green: at least 99 % of the bound, 98 % with both directions at once. In brackets on our bars: percentage "
        "points more than the better of the others. An axis begins at 80 % where most of its bars end above; the "
        "shorter ones are numbers only. At 512 bit and 125 MHz the data path limits x8: a TLP of 268 bytes takes 5 "
        "beats.",
        (plots.efficiency, plots.efficiency_alone), (tables.throughput, tables.alone_throughput)),
    ("One transfer of 100 KB", "One transfer per doorbell, with its start-up. Our card fetches the descriptor from "
        "host memory, a round trip, unless the host writes it into the card's registers. Stock has it in a table of "
        "its own, which the host fills before the time that is measured, unless counted. Ours and stock by the model's "
        "clock, from the doorbell at the PHY to the last byte at the host.", (), (tables.alone,)),
    ("Throughput over size", "Chains of descriptors of one size, one doorbell per chain. The first table shows % of "
        "the bound with descriptors and start-up; the goals are those of the boards' small transfers. The second shows "
        "% of the calculated column of the MSC8156/8157 notes (their formula where they print none); the goal is 95.",
        (plots.sizes, plots.sizes_gen1, plots.back_to_back), (tables.small,)),
    ("Fixed cost of a transfer: R(n) = n/(t0 + n/Rinf)", "Fitted to the chains above. Half-peak size: t0 x Rinf.",
        (), (tables.costs,)),
    ("Latency of the host", "Jitter is uniformly distributed, and completions of different requests overtake "
        "each other. Requests then leave in bursts that the host acknowledges together: a read may exceed "
        "the bound by 1 %.",
        (plots.latency,), (tables.latency,)),
    ("Rare slow completions", "Gen2 x4, 128 bit: one request in 1000 waits longer, and other requests overtake it.",
        (), (tables.outliers,)),
    ("Outstanding requests", "The same board with 32 tags (the host leaves Extended Tags off), 64 (default) and 256. "
        "All outstanding data must also fit the completion buffer of the PHY, here 32 KiB, even if the host returns 64 "
        "bytes per completion with a header of 16 bytes each: 51 requests of 512 bytes, however many tags there are.",
        (plots.tags,), (tables.tags,)),
    ("Size of the host's completions", "Many desktop machines return 64 bytes per completion.",
        (plots.completions,), (tables.completions,)),
    ("Damaged TLPs", "Every Nth TLP of each direction arrives with a wrong LCRC; it and all later TLPs are "
        "replayed. Figures are % of the throughput without damaged TLPs.", (plots.errors,), (tables.errors,)),
    ("Endpoint in gateware", "The Versa ECP5's card on the symbols of a simulated lane, 32 tags, and the link model of "
        "all other rows on the same traffic: two implementations that check each other. They are to agree within "
        "0.5 % in each direction. The model has the policies of a lane here: UpdateFCs for each type of credits, and "
        "ACKs before a TLP behind which they would be late.", (), (tables.lane,)),
    ("Buffers above 4 GiB", "Headers of four dwords; the bound is computed for such headers. Stock is built for it: "
        "add_pcie with address_width=64.", (),
        (tables.addresses,)),
    ("Where the cycles went", "Wait counters of our engines for transfers at the speed of the link. At that speed a "
        "reader waits for a tag, because it has all its requests outstanding, and a writer waits for the link. The "
        "table of goals names the wait of each figure below its goal.", (plots.cycles,), ()),
    ("Loads and stores of the processor", "Compared with the figures of 2007. Stores are posted. The processor waits "
        "for each load: the host's latency of 1 us, the link, and the card. The time of the processor itself is not "
        "modelled.", (plots.pio,), (tables.pio,)),
    ("AN 456 tables 8-11, AN 855 table 6", "MB/s, one transfer per doorbell including start-up, as the notes measure. "
        "\"Ours\": the host returns credits as the specification's guideline says. \"Minimum\": it returns credits "
        "only when half of them are used or after 30 us, the least that the specification demands. We compare a "
        "printed figure with \"ours\". We compare it with \"minimum\" only where it exceeds what an ideal card "
        "reaches in our model under the guideline: no card could reach it with such a host. The coloured cell "
        "is the one compared. ?: above the link's theory, a misprint of the note, left out.",
        (), (tables.by_latency, tables.an456)),
    ("MSC8156, MSC8157", "MB/s each way (the notes count both ways, in Gb/s). \"One\", \"4\", \"8\": transfers per "
        "doorbell. Ours include the fetch of the descriptors from host memory, a round trip of 1 us. A read also "
        "includes the round trip of its data. The notes' \"one\" and \"4\" are shown for comparison.",
        (), (tables.msc,)),
    ("Bus mastering, 2009", "Gen1 x1.", (), (tables.mastering,)),
    ("Stock LitePCIe, first measured and now", "% of theory. The first measurement fed descriptors directly into "
        "the engine, without registers or a table.", (), (tables.baseline,)),
)


def _headline(results, cells):
    """Returns the figures at the top of the page: (figure, caption)."""
    on_hosts = figures.host_rows(results)
    asked = [cell for cell in cells if cell.asked]
    below = [cell for cell in asked if not cell.reached]
    start = sum("start-up counted" in cell.goal for cell in below)
    found = []
    for direction in ("read", "write") if on_hosts else ():
        middle, least, most = figures.overall(on_hosts, direction)
        found.append((f"{middle:.1f} %", f"of the bound, {direction}s: median over all boards and the hosts whose "
            f"properties were measured; {least:.1f} to {most:.1f} %"))
    if asked:
        found.append((f"{len(asked) - len(below)} of {len(asked)}", "figures with a goal reach it"
            + f"; {start} of the {len(below)} others count the start-up of a single transfer"*bool(start)))
    chained = [row for row in note_rows(results) if row.rate(OURS, True)]
    for both, name in ((False, "one direction"), (True, "both at once")):
        shares = [100*row.rate(OURS, True)/row.bound() for row in chained if row.both == both]
        if shares:
            found.append((f"{min(shares):.1f} %", f"of the bound at least, {name}, chained, every link, ideal host"))
    for goal, name in (("64-byte completions", "of the bound at least, 64-byte completions"),
        ("latency up to 4 us", "of the bound at least, host latency to 4 us")):
        values = [cell.value for cell in cells if cell.goal == goal]
        if values:
            found.append((f"{min(values):.1f} %", f"{name}, Gen2 x4, ideal host"))
    peer = [r for r in results if r.point.design == STOCK and r.point.sweep == "latency" and not r.failure
        and not r.point.jitter_ns and r.point.link == (2, 4, 128)]
    if peer:
        worst = min(100*r.data["read"]["share_of_bound"] for r in peer)
        found.append((f"{worst:.1f} %", "of the bound at least, stock LitePCIe, same latencies"))
    return found


def _guest(records):
    """What a program in the guest sees, from the records of `make bench BENCH=--guest`."""
    rows, heads = guest_report.TABLES["mebibytes"]
    ways, of    = guest_report.TABLES["pio"]
    return "<h2>What a program sees</h2>" + note("One caller moves a MiB of the card's memory through the driver, in a "
        "guest with Linux. " + guest_report.NO_TIME) + table(heads, rows(records)) + note("Loads and stores of a "
        "program through the driver's mapping, and of the driver for it; figures for 64 bytes. \"MB/s\": what link "
        "and host allow at Gen1 x1. In 2007 a loop in the driver (here \"calls\") wrote 30 MB/s and read 2.5, a loop "
        "in the application (here \"call\") 7 and 1.8.") + table(of, ways(records))


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
    """Returns the page as HTML; writes its pictures into ``folder``."""
    parts = ["<h1>How close to the link</h1>", cards(_headline(results, cells)), HOW,
        "<h2>What a skeptic would ask</h2>", table(("question", "answer"), SKEPTIC)]
    if any(result.failure for result in results):
        parts += ["<h2>Failed</h2>", tables.failures(results)]
    if cells:
        parts += ["<h2>Goals</h2>", tables.goal_summary([cell for cell in cells if cell.asked])]
        beyond = tables.goal_summary([cell for cell in cells if not cell.asked])
        if beyond:
            parts += ["<h3>Further figures without a goal, held to the same bounds</h3>", beyond]
        parts += [note("All cells of each goal, those below the goal first:"), tables.goal_cells(cells)]
    parts += [_section(*section, results, folder) for section in SECTIONS]
    parts += [_guest(guest_report.known(folder))]
    parts += ["<h2>Area and clock</h2>", tables.synthesis(synth)]
    checked = waits.clock_check(results)
    if checked:
        parts.append(note(f"Counters of the gateware and the model's clock: {checked}."))
    return ("<!DOCTYPE html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width"><title>How close to the link</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n")
