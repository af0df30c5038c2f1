#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The command line: python3 -m liblitepcie.capture COMMAND

Exit status: 0 done; 1 failed; 2 usage; 3 data was lost; 4 no card, or it is gone;
5 the logic waited, with --fail-on-overrun; 128 and its number after a signal.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time

from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import numpy

from liblitepcie.capture.block    import CaptureError, Limits, Rotation, Sink, Source, Summary, explain, size
from liblitepcie.capture.raw      import RawSink, names, open_file
from liblitepcie.capture.transfer import transfer
from liblitepcie.errors           import LibraryMissing

PROGRAM = "liblitepcie.capture"
EPILOG  = "A FILE that ends in .parquet is a table with a row for each piece of a packet; others are raw bytes, with " \
    "FILE.packets and FILE.json beside them. Ctrl-C ends a command, and what was captured is a complete file."


class Parser(argparse.ArgumentParser):
    """Errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{PROGRAM}: {message}; see python3 -m {self.prog.split(' -m ')[-1]} --help\n")


def number(kind: Any, least: float) -> Any:
    """A converter for argparse."""
    def convert(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error) if kind is size else f"{text!r} is not a number") from None
        if not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not supported; the least is {least}")
        return value
    return convert


def rotation(text: str) -> tuple[int | None, float | None]:
    """Bytes and seconds of --rotate, of which one is None."""
    if text.endswith("s"):
        return None, number(float, 0.001)(text[:-1])
    return number(size, 1)(text), None


def about(text: str) -> tuple[str, str]:
    """Name and value of --meta."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not supported; give NAME=VALUE, such as sample_rate_hz=1e6")
    if name == "dtype":
        try:
            numpy.dtype(value)
        except TypeError:
            raise argparse.ArgumentTypeError(f"dtype {value!r} is no type of NumPy; give one such as <i2") from None
    return name, value


def parser() -> Parser:
    main = Parser(prog=f"python3 -m {PROGRAM}", epilog=EPILOG,
        description="Records, replays, converts and serves packets of a card's stream.")
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    card, limits, out = (argparse.ArgumentParser(add_help=False) for _ in range(3))
    card.add_argument("--card", default="litepcie0", help="number, name, path or PCI address (default %(default)s)")
    card.add_argument("-s", "--stream", type=number(int, 0), default=0, help="number of the stream (default 0)")
    limits.add_argument("-n", "--packets", type=number(int, 1), help="end after so many packets")
    limits.add_argument("-t", "--time", type=number(float, 0.001), metavar="SECONDS", help="end after this time")
    limits.add_argument("--json", action="store_true", help="print the result as JSON")
    out.add_argument("--force", action="store_true", help="replace a FILE that exists")
    out.add_argument("--rotate", type=rotation, default=(None, None), metavar="LIMIT",
        help="begin another file after so many bytes (1G) or seconds (60s): FILE-0001, FILE-0002 and so on")

    def add(name: str, parents: list[argparse.ArgumentParser], text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, parents=parents, help=text, description=text.capitalize() + ".", epilog=EPILOG)
    out.add_argument("--compression", choices=("zstd", "lz4", "snappy", "none"), default="zstd",
        help="of a Parquet file (default %(default)s)")
    record = add("record", [card, limits, out], "write what a stream sends into a file")
    record.add_argument("--ring", type=number(size, 65536), default=0, metavar="BYTES",
        help="of the driver's ring, up to 1G: how late this program may be (default 4M)")
    record.add_argument("--flush-us", type=number(int, 1), default=0, metavar="US",
        help="how long a buffer that is not full waits for more (default: that of the driver, 100)")
    record.add_argument("--meta", type=about, action="append", default=[], metavar="NAME=VALUE",
        help="keep this in the file, such as dtype=<i2, sample_rate_hz=1e6, units=mV or channels=I,Q; may be repeated")
    record.add_argument("--fail-on-overrun", action="store_true",
        help="end with status 5 if the card's logic had to wait for this program")
    play = add("play", [card, limits], "send a capture, or any file, to a stream")
    play.add_argument("--pace", action="store_true", help="send at the times at which the packets were recorded")
    convert = add("convert", [limits, out], "write a capture as a file of the other kind")
    info = add("info", [], "print what a file holds")
    info.add_argument("--json", action="store_true", help="print it as JSON")
    serve = add("serve", [card], "serve files, or without a FILE a stream of the card, by Arrow Flight")
    serve.add_argument("files", nargs="*", metavar="FILE", type=Path)
    serve.add_argument("--listen", default="127.0.0.1", metavar="HOST[:PORT]",
        help="address to serve at; port 0 is any (default %(default)s:47470, which other machines cannot reach)")
    fetch = add("fetch", [limits, out], "write a capture of a server into a file")
    fetch.add_argument("server", metavar="HOST[:PORT]")
    fetch.add_argument("--name", help="of the capture (default: the only one)")
    for one in (play, convert, info):
        one.add_argument("file", metavar="FILE", type=Path)
    for one in (play, convert):
        one.add_argument("--packet-bytes", type=number(size, 1), default=65536, metavar="BYTES",
            help="packets of a raw file without FILE.packets (default 64K)")
    for one in (record, convert, fetch):
        one.add_argument("output", metavar="OUTPUT" if one is convert else "FILE", type=Path)
    return main


def check_free(path: Path, force: bool) -> None:
    if path.suffix == ".parquet":
        from liblitepcie.capture.table import names as parts
        files: tuple[Path, ...] = (path, *parts(path))
    else:
        files = names(path)
    for one in files:
        if one.exists() and not force:
            raise CaptureError(f"{one}: exists; give another name, or --force to replace it")


def make_file(path: Path, compression: str = "zstd", meta: dict[str, str] | None = None) -> Sink:
    if path.suffix != ".parquet":
        return RawSink(path)
    from liblitepcie.capture.table import ParquetSink
    return ParquetSink(path, compression, meta)


class Signals:
    """The first SIGINT or SIGTERM ends the command; a second one ends the program at once."""

    def __init__(self) -> None:
        self.number = 0
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self._caught)

    def _caught(self, number: int, frame: Any) -> None:
        self.number = number
        signal.signal(number, signal.SIG_DFL)

    def __call__(self) -> bool:
        return self.number != 0


def ends(given: argparse.Namespace) -> tuple[Source, Sink]:
    """The source and the sink of a command."""
    if given.command == "play":
        from liblitepcie.capture.card import CardSink
        source = open_file(given.file, given.packet_bytes)
        try:
            return source, CardSink(given.card, given.stream, given.pace)
        except BaseException:
            source.close()
            raise
    if given.command == "convert" and given.output.exists() and given.output.samefile(given.file):
        raise CaptureError(f"{given.output}: is the capture itself; give another name", 2)
    def make(path: Path) -> Sink:
        check_free(path, given.force)
        return make_file(path, given.compression, source.summary.meta)
    if given.rotate == (None, None):
        check_free(given.output, given.force)
    source = source_of(given)
    try:
        if given.rotate != (None, None):
            return source, Rotation(make, given.output, source, *given.rotate)
        return source, make(given.output)
    except BaseException:
        source.close()
        raise


def source_of(given: argparse.Namespace) -> Source:
    if given.command == "convert":
        return open_file(given.file, given.packet_bytes)
    if given.command == "fetch":
        from liblitepcie.capture.flight import FlightSource
        return FlightSource(given.server, given.name)
    from liblitepcie.capture.card import CardSource
    return CardSource(given.card, given.stream, given.ring, given.flush_us, dict(given.meta))


def move(given: argparse.Namespace, stopped: Signals) -> int:
    source, sink = ends(given)
    began   = time.monotonic()
    summary = transfer(source, sink, stopped, Limits(given.packets, given.time))
    report(given, summary, time.monotonic() - began)
    # Losses of a file happened when it was recorded.
    if given.command in ("record", "fetch"):
        if summary.lost_bytes or summary.cuts:
            raise CaptureError(f"{summary.source}: {summary.lost_bytes} bytes and the ends of {summary.cuts} packets "
                f"were lost; {sink.name} has the rest", 3)
        if summary.overruns and given.command == "record" and given.fail_on_overrun:
            raise CaptureError(f"{summary.source}: the card's logic waited for this program {summary.overruns} times: "
                "give a larger --ring, or a faster disk", 5)
        if summary.error:
            raise CaptureError(f"{summary.source}: {summary.error}; {sink.name} has what came before")
    return 128 + stopped.number if stopped() else 0


def report(given: argparse.Namespace, summary: Summary, seconds: float | None = None) -> None:
    rate = {} if seconds is None else {"elapsed_seconds": seconds, "bytes_per_second": summary.bytes/seconds}
    if given.json:
        print(json.dumps({"command": given.command, **asdict(summary), **rate}))
        return
    timed = "" if seconds is None else f", {seconds:.3f} s, {summary.bytes/seconds/1e6:.1f} MB/s"
    print(f"{given.command}: {summary.bytes} bytes in {summary.packets} packets{timed}")
    if summary.overruns:
        print(f"  the card's logic waited for the recorder {summary.overruns} times")
    if summary.lost_bytes or summary.cuts:
        print(f"  lost when it was recorded: {summary.lost_bytes} bytes, ends of {summary.cuts} packets")
    if summary.error:
        print(f"  ended by: {summary.error}")
    for name, value in summary.meta.items():
        print(f"  {name}: {value}")


def info(given: argparse.Namespace, stopped: Signals) -> int:
    source = open_file(given.file)
    known  = Summary(**asdict(source.summary) | {"packets": 0, "bytes": 0})
    try:
        for block in source.blocks(stopped):
            known.packets += block.packets
            known.bytes   += block.data.nbytes
    finally:
        source.close()
    report(given, known)
    if not given.json:
        print(f"  recorded from: {known.source}")
    return 128 + stopped.number if stopped() else 0


def serve(given: argparse.Namespace, stopped: Signals) -> int:
    import pyarrow
    from liblitepcie.capture.flight import Server, split

    if given.files:
        captures: Any = {path.name: lambda path=path: open_file(path) for path in given.files}
        if len(captures) < len(given.files):
            raise CaptureError("two files have the same name; give each its own", 2)
        for one in captures.values():
            one().close()
    else:
        from liblitepcie.capture.card import CardSource, check_card
        captures = {check_card(given.card, given.stream): lambda: CardSource(given.card, given.stream)}
    try:
        server = Server(given.listen, captures, stopped)
    except (pyarrow.ArrowException, OSError) as error:
        raise CaptureError(f"--listen {given.listen}: cannot be used, or another program has it; give another address "
            f"or port ({explain(error)})") from None
    print(f"{', '.join(captures)} at {split(given.listen)[0]}:{server.port}", flush=True)
    while not stopped():
        time.sleep(0.05)
    server.shutdown()
    return 128 + stopped.number


def main(arguments: list[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    try:
        return {"info": info, "serve": serve}.get(given.command, move)(given, Signals())
    except CaptureError as error:
        text, status = str(error), error.status
    except LibraryMissing as error:
        text, status = str(error), 1
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        text, status = "pyarrow is missing; run: pip install 'liblitepcie[capture]'", 1
    except ValueError as error:
        text, status = explain(error), 2
    except OSError as error:
        text, status = explain(error), 1
    print(f"{PROGRAM}: {text}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
