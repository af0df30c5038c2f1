#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Measures this project and stock LitePCIe, compares both with published figures, and writes a report.

Exit status: 0 if everything was measured; 1 if a point failed, a board could not be built, or a figure is above its
bound without a reason; 2 for wrong usage; 130 if interrupted. A figure below its goal is not a failure: the report says
what the engine waited for.
"""

import json
import resource
import sys
import tempfile
import time

from pathlib import Path

from litepcie_bench import boards, claims, compare, goals, guest_report, hardware, pictures, records, report, runner
from litepcie_bench import summary, sweeps
from litepcie_bench.boards import Progress
from litepcie_bench.points import OURS, STOCK
from litepcie_bench.sweeps import SWEEPS
from litepcie_sim.guest import GuestError
from litepcie_soc.build.command_line import Parser, run

OUT   = boards.ROOT / "build" / "bench"
SYNTH = OUT / "synth.json"  # Written by `make synth`.


def parse_args(argv):
    parser = Parser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="Measure a part of each sweep.")
    parser.add_argument("--only", action="append", choices=sorted(SWEEPS), metavar="SWEEP",
        help=f"Measure this sweep only; may be repeated: {', '.join(SWEEPS)}.")
    parser.add_argument("--boards", nargs="*", choices=hardware.names(), metavar="BOARD",
        help="Measure only the rows of these boards, or of all boards.")
    parser.add_argument("--design", choices=(OURS, STOCK), help="Measure this design only.")
    parser.add_argument("--guest", action="store_true",
        help="Measure only what an operation costs the processor of a guest: instructions, system calls, interrupts.")
    parser.add_argument("--compare", type=Path, metavar="FILE",
        help="Measure only the model of a board whose report this is (`litepcie_util report`), and print both.")
    parser.add_argument("--stock", metavar="PATH",
        help="Measure only stock of another version: a checkout of LitePCIe; :PATH adds one of LiteX if it needs that.")
    parser.add_argument("--output-dir", type=Path, default=OUT, metavar="DIR",
        help="Folder of results.json and report.html (build/bench).")
    args = parser.parse_args(argv)
    for alone in ("guest", "compare", "stock"):
        for option in ("only", "design", "boards") if getattr(args, alone) else ():
            if getattr(args, option) is not None:
                parser.error(f"argument --{option}: not supported with --{alone}; leave out one of them")
    try:
        args.output_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=args.output_dir):
            pass
    except OSError as error:
        parser.error(f"argument --output-dir: {args.output_dir}: {error.strerror}; give a folder that can be made and "
            "written")
    if args.boards is not None:
        for option in ("only", "design"):
            if getattr(args, option):
                parser.error(f"argument --{option}: not supported with --boards, which measures this project's rows of "
                    "boards only; leave out one of them")
    return args


def choose(args):
    """Returns the points that the arguments select."""
    if args.boards is not None:
        return sweeps.boards(args.quick, args.boards)
    points = [point for name, sweep in SWEEPS.items() if not args.only or name in args.only
        for point in sweep(args.quick)]
    points = [point for point in points if args.design in (None, point.design)]
    return list(dict.fromkeys(points))


def build(points):
    needed   = sorted({point.board for point in points})
    progress = Progress("boards", len(needed))
    boards.side_by_side(boards.build, needed, boards.AT_ONCE,
        lambda board: progress.step(str(board)), progress.waiting)
    progress.end()


def measure(points):
    progress = Progress("points", len(points))
    results  = runner.measure_all(points, lambda result: progress.step(str(result.point)), progress.waiting)
    progress.end()
    return results


def write(folder, results, cells, synth):
    """Writes results.json, report.html and the plots of the documents; returns the records of results.json."""
    lines = records.published()
    for result in results:
        lines += records.measured(result)
    for line in lines:
        records.check(line)
    lines += guest_report.kept(folder)
    (folder / "results.json").write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    pictures.write(folder, lines)
    pictures.write_boards(folder, claims.values(results))
    claims.write(folder, results)
    (folder / "report.html").write_text(report.html(results, cells, synth, folder), encoding="utf-8")
    return lines


def say_unexplained(lines):
    """Prints each figure above its bound without a reason; returns whether there is one."""
    found = list(records.unexplained(lines))
    for record, direction in found:
        print(f"bench: error: above its bound without a reason: {direction} of {record['design']}, {record['source']}, "
            f"Gen{record['gen']} x{record['lanes']}, {record['datapath_bits']} bit", file=sys.stderr)
    return bool(found)


def processor_seconds():
    """Returns the seconds of processor time of this program and of those it ran."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF,
        resource.RUSAGE_CHILDREN)))


def compare_report(path):
    """Prints a board's report beside the model."""
    documents = compare.load(path)
    points    = compare.points(documents)
    chosen    = list(dict.fromkeys(points.values()))
    build(chosen)
    results = dict(zip(chosen, measure(chosen)))
    print("\n".join(compare.show(documents, {key: results[point] for key, point in points.items()})))
    return 0


def other_stock(paths, quick):
    """Prints the rates of stock of another version; returns the exit status."""
    name   = compare.use_stock(paths)
    chosen = compare.stock_points(quick)
    build(chosen)
    results = measure(chosen)
    print("\n".join(compare.show_stock(name, results)))
    for result in results:
        if result.failure:
            print(f"bench: error: {result.point}: {result.failure}", file=sys.stderr)
    return int(any(result.failure for result in results))


def main(argv=None):
    args   = parse_args(argv)
    began  = time.monotonic()
    if args.guest or args.compare or args.stock is not None:
        try:
            if args.compare:
                return compare_report(args.compare)
            if args.stock is not None:
                return other_stock(args.stock, args.quick)
            return guest_report.run(args.output_dir, args.quick)
        except (boards.BoardError, GuestError, ValueError) as error:
            print(f"bench: error: {error}", file=sys.stderr)
            return 1
    points = choose(args)
    if not points:
        print("bench: error: these options select no point; choose another --only or --design, or leave out --quick",
            file=sys.stderr)
        return 2
    try:
        synth   = goals.load_area(SYNTH)
        build(points)
        results = measure(points)
    except (boards.BoardError, ValueError) as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 1
    cells = goals.cells(results, synth)
    lines = write(args.output_dir, results, cells, synth)
    summary.show(summary.console(), results, cells)
    print(runner.measure_speed() or "simulator: its speed is measured on the default board, which is not built")
    print(f"{len(points)} points in {time.monotonic() - began:.0f} s, {processor_seconds():.0f} s of processor time; "
        f"{args.output_dir}/report.html, results.json")
    return 1 if say_unexplained(lines) or any(result.failure for result in results) else 0


if __name__ == "__main__":
    sys.exit(run(main, "bench"))
