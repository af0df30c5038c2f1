#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Area and clock of ours and of stock LitePCIe, by yosys and nextpnr-ecp5.

Writes build/bench/synth.json, the records of this run, and prints its tables. What was measured
before is not measured again. Exit status: 0 measured; 1 a tool failed, or with --check a row grew;
2 usage; 130 interrupted.
"""

import json
import logging
import sys
import time

from pathlib import Path

from litepcie_bench.progress import Progress
from litepcie_bench.synth import paths, table, tools
from litepcie_bench.synth.count import FAMILIES
from litepcie_bench.synth.designs import DESIGNS, OURS, TOP, USUAL, WIDTHS, Design
from litepcie_bench.synth.measure import measure, steps
from litepcie_soc.command_line import Parser, run

OUT = tools.ROOT / "build" / "bench" / "synth.json"


def parse_args(argv):
    parser = Parser(prog="synth", description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, action="append", choices=WIDTHS,
        help="This data path; may be given again (64, 128, 256).")
    parser.add_argument("--family", choices=FAMILIES, help="This family alone.")
    parser.add_argument("--design", choices=sorted({design.name for design in DESIGNS}), help="This design alone.")
    parser.add_argument("--no-clock", action="store_true", help="Area only: no place and route.")
    parser.add_argument("--paths", type=int, metavar="N",
        help="Instead: the N longest paths of ours at --width (64), estimated before place and route.")
    parser.add_argument("--output", type=Path, default=OUT, metavar="FILE",
        help="For the records (build/bench/synth.json).")
    after = parser.add_mutually_exclusive_group()
    after.add_argument("--write", action="store_true", help="Renew the tables of docs/resources.md.")
    after.add_argument("--check", action="store_true",
        help="Compare the area with docs/resources.md: exit status 1, and the rows that grew.")
    args = parser.parse_args(argv)
    if args.write and (args.width or args.family or args.design):
        parser.error("--write needs every row: without --width, --family, --design")
    if args.paths is not None and args.paths < 1:
        parser.error(f"argument --paths: {args.paths} is not 1 or more")
    if not choose(args)[0]:
        parser.error(f"argument --design: {args.design} is not measured at that width")
    return args


def choose(args):
    """(design, family) whose area, and designs whose clock was asked for."""
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
    """The longest paths of ours, one for each start and each set of carry chains."""
    design  = Design(OURS, (args.width or [64])[0], 32)
    sources = design.sources()
    folder  = tools.synthesise(sources, "ecp5", TOP)["folder"]
    for text in paths.report(folder / "netlist.json", sources["core.v"], args.paths):
        print(text)


def finish(args, records):
    """Prints, writes or compares; returns the exit status."""
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    print("\n\n".join(table.tables(records).values()))
    if args.write:
        text = table.PATH.read_text(encoding="utf-8")
        table.PATH.write_text(table.update(text, records), encoding="utf-8")
    grown = table.grown(records, table.PATH.read_text(encoding="utf-8")) if args.check else []
    for line in grown:
        print(f"synth: grew: {line}", file=sys.stderr)
    return 1 if grown else 0


def main(argv=None):
    args  = parse_args(argv)
    began = time.monotonic()
    logging.basicConfig(level=logging.WARNING)
    try:
        if args.paths:
            show_paths(args)
            return 0
        records = measured(args)
    except tools.ToolError as error:
        print(f"synth: error: {error}", file=sys.stderr)
        return 1
    status = finish(args, records)
    print(f"{len(records)} rows in {time.monotonic() - began:.0f} s; {args.output}")
    return status


if __name__ == "__main__":
    sys.exit(run(main, "synth"))
