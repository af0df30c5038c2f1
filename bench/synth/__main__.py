#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Measures area and clock of this project and of stock LitePCIe with yosys and nextpnr-ecp5.

Writes the records of this run to build/bench/synth.json and prints its tables. Results of earlier runs with the same
input are reused. Exit status: 0 if everything was measured; 1 if a tool failed, with --check if a figure differs from
its table by more than its limit, or with --crossings for a fault; 2 for wrong usage; 130 if interrupted.
"""

import json
import logging
import sys
import time

from pathlib import Path

from litepcie_bench.boards import Progress
from litepcie_bench.synth import bitstreams, crossed, options, paths, table, targets, targets_table, tools
from litepcie_bench.synth.count import FAMILIES
from litepcie_bench.synth.designs import DESIGNS, OURS, TOP, USUAL, WIDTHS, Design
from litepcie_bench.synth.measure import measure, steps
from litepcie_soc.build.command_line import Parser, run
from litepcie_soc.build.targets import boards

OUT    = tools.ROOT / "build" / "bench" / "synth.json"
BOARDS = tools.ROOT / "build" / "bench" / "synth_targets.json"
OPEN   = tools.ROOT / "build" / "bench" / "synth_bitstreams.json"
EXTRAS = tools.ROOT / "build" / "bench" / "synth_options.json"


def parse_args(argv):
    parser = Parser(prog="synth", description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, action="append", choices=WIDTHS,
        help="Measure this data width; may be repeated (64, 128, 256).")
    parser.add_argument("--family", choices=FAMILIES, help="Measure this family only.")
    parser.add_argument("--design", choices=sorted({design.name for design in DESIGNS}),
        help="Measure this design only.")
    parser.add_argument("--no-clock", action="store_true", help="Area only: no place and route.")
    parser.add_argument("--paths", type=int, metavar="N",
        help="Only print the N longest paths of our design at --width (64), estimated before place and route.")
    parser.add_argument("--options", action="store_true",
        help="Measure what options of add_litepcie cost instead, at 64 bit.")
    parser.add_argument("--bitstreams", action="store_true",
        help="Measure the open endpoint and build the bitstreams of boards with ECP5 instead: some minutes each.")
    parser.add_argument("--targets", nargs="*", metavar="NAME",
        help="Measure the boards instead, all or those named.")
    less = parser.add_mutually_exclusive_group()
    less.add_argument("--elaborate", action="store_true", help="With --targets: only elaborate and check.")
    less.add_argument("--crossings", action="store_true",
        help="With --targets: find the paths between two clocks of each board, those with ECP5 too. A path that is "
            "neither safe nor declared is a fault, and the exit status 1.")
    less.add_argument("--gates", action="store_true",
        help="With --targets: count gates before mapping, in a third of the time. The tests compare these.")
    parser.add_argument("--output", type=Path, metavar="FILE",
        help="File for the records (build/bench/synth.json; for boards synth_targets.json).")
    after = parser.add_mutually_exclusive_group()
    after.add_argument("--write", action="store_true",
        help="Update the tables in docs/resources.md and bench/synth/gates.md.")
    after.add_argument("--check", action="store_true",
        help="Compare the area with these tables; print rows that differ and exit with status 1.")
    args = parser.parse_args(argv)
    check_args(parser, args)
    return args


def check_args(parser, args):
    known   = [board.name for board in boards()] if args.crossings else targets.NAMES
    unknown = sorted(set(args.targets or []) - set(known))
    if unknown:
        parser.error(f"argument --targets: unknown target {unknown[0]}; choose from {', '.join(known)}")
    args.output = args.output or (OPEN if args.bitstreams else EXTRAS if args.options else
        OUT if args.targets is None else BOARDS)
    if args.bitstreams and (args.options or args.targets is not None or args.width or args.family or args.design
            or args.paths or args.gates or args.no_clock):
        parser.error("--bitstreams can be combined with --write, --check and --output only")
    if args.options and (args.targets is not None or args.width or args.design or args.paths or args.gates):
        parser.error("--options cannot be combined with --targets, --width, --design or --paths")
    if args.targets is not None and (args.width or args.family or args.design or args.paths or args.no_clock):
        parser.error("--targets cannot be combined with --width, --family, --design, --no-clock or --paths")
    if args.elaborate and (args.targets is None or args.write or args.check):
        parser.error("--elaborate needs --targets and cannot be combined with --write or --check")
    if args.crossings and (args.targets is None or args.write or args.check):
        parser.error("--crossings needs --targets and cannot be combined with --write or --check")
    if args.gates and args.targets is None:
        parser.error("--gates needs --targets")
    if args.write and not args.options and (args.width or args.family or args.design):
        parser.error("--write needs every row; leave out --width, --family and --design")
    if args.paths is not None and args.paths < 1:
        parser.error(f"argument --paths: {args.paths} is too small; the least is 1")
    if not choose(args)[0]:
        parser.error(f"argument --design: {args.design} is not measured at this width; choose another --width")


def choose(args):
    """Returns (design, family) pairs to measure for area, and designs to measure for clock."""
    wanted  = [design for design in DESIGNS if design.width in args.width] if args.width else USUAL
    chosen  = [(design, family) for family in FAMILIES for design in wanted
        if args.family in (None, family) and args.design in (None, design.name)]
    clocked = [design for design, family in chosen if family == "ecp5" and design.clocked and not args.no_clock]
    return chosen, clocked


def measured(args):
    chosen, clocked = choose(args)
    progress = Progress("synth", steps(chosen, clocked))
    records  = measure(chosen, clocked, progress)
    progress.end()
    return records


def show_paths(args):
    """Prints the longest paths of our design, one per start register and set of carry chains."""
    design  = Design(OURS, (args.width or [64])[0], 32)
    sources = design.sources()
    folder  = tools.synthesise(sources, "ecp5", TOP)["folder"]
    for text in paths.report(folder / "netlist.json", sources["core.v"], args.paths):
        print(text)


def measured_targets(args):
    chosen   = targets.targets(args.targets)
    progress = Progress("synth", len(chosen))
    work     = targets.elaborated if args.elaborate else targets.counted if args.gates else targets.record
    found    = targets.measure(chosen, progress.step, work)
    progress.end()
    return found


def measured_options(args):
    families = [family for family in FAMILIES if args.family in (None, family)]
    progress = Progress("synth", len(families)*len(options.DESIGNS))
    records  = options.measure(families, lambda key: progress.step(f"{key[0]}, {key[1]}"))
    progress.end()
    return records


def measured_bitstreams(_):
    progress = Progress("synth", 1 + len(bitstreams.open_boards()))
    found    = bitstreams.measure(progress.step)
    progress.end()
    return found


def work_and_table(args):
    """Returns the function that measures what the arguments ask for, and the module of its tables."""
    if args.bitstreams:
        return measured_bitstreams, bitstreams
    if args.options:
        return measured_options, options
    return (measured, table) if args.targets is None else (measured_targets, targets_table)


def show_crossings(args):
    """Prints the crossings of the boards and each fault; returns the exit status."""
    chosen   = crossed.builds(args.targets or None)
    progress = Progress("synth", len(chosen))
    records  = []
    for board in chosen:
        records.append(crossed.record(board))
        progress.step(records[-1]["build"])
    progress.end()
    print(crossed.table(records))
    faults = [f"{record['build']}: {line}" for record in records for line in record["wrong"]]
    for line in faults:
        print(f"synth: fault: {line}", file=sys.stderr)
    return 1 if faults else 0


def finish(args, records):
    """Prints, writes or compares the tables; returns the exit status."""
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    which = work_and_table(args)[1]
    print("\n\n".join(which.tables(records).values()))
    texts = {path: path.read_text(encoding="utf-8") for path in getattr(which, "PATHS", (table.PATH,))}
    for path, text in texts.items() if args.write else ():
        path.write_text(which.update(text, records), encoding="utf-8")
    grown = which.grown(records, "".join(texts.values())) if args.check else []
    for line in grown:
        print(f"synth: differs from the table: {line}", file=sys.stderr)
    return 1 if grown else 0


def main(argv=None):
    args  = parse_args(argv)
    began = time.monotonic()
    logging.basicConfig(level=logging.WARNING)
    try:
        if args.paths:
            show_paths(args)
            return 0
        if args.crossings:
            return show_crossings(args)
        records = work_and_table(args)[0](args)
    except tools.ToolError as error:
        print(f"synth: error: {error}", file=sys.stderr)
        return 1
    status = 0 if args.elaborate else finish(args, records)
    print(f"{len(records)} {'boards elaborated' if args.elaborate else 'rows'} in {time.monotonic() - began:.0f} s"
        + f"; {args.output}"*(not args.elaborate))
    return status


if __name__ == "__main__":
    sys.exit(run(main, "synth"))
