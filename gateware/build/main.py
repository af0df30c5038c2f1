#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The program of every ``targets/BOARD.py``."""

import contextlib
import gc
import logging
import re
import sys

from litex.soc.integration.soc import SoCError

from litepcie_soc.board.board import mega
from litepcie_soc.build import command_line, trellis, vivado
from litepcie_soc.build.emit import GATEWARE, HEADERS, emit, lay_out_driver
from litepcie_soc.build.options import BoardParser
from litepcie_soc.build.processes import ToolError
from litepcie_soc.common.link_rates import say_if_slow
from litepcie_soc.common.places import BUILD
from litepcie_soc.soc.export import PinnedMapError

# Errors of LiteX ----------------------------------------------------------------------------------
# Errors of LiteX's SoC builder, such as two regions that overlap, as one line.

COLOURS = re.compile(r"\x1b\[[\d;]*m")


@contextlib.contextmanager
def errors_of_litex():
    """Raises ``ValueError`` with one line where LiteX logs errors as several, hides standard error and gives up."""
    held, stderr = [], sys.stderr

    def holds(record):
        if record.levelno >= logging.ERROR and record not in held:
            held.append(record)
        return record.levelno < logging.ERROR

    handlers = logging.getLogger().handlers or [logging.lastResort]
    for handler in handlers:
        handler.addFilter(holds)
    try:
        yield
    except SoCError:
        sys.stderr = stderr
        lines = [" ".join(COLOURS.sub("", record.getMessage()).split()) for record in held]
        held.clear()
        raise ValueError("; ".join(lines).replace(":; ", ": ") or "LiteX refuses the design") from None
    finally:
        for handler in handlers:
            handler.removeFilter(holds)
        for record in held:  # Errors with which the design was built all the same, or that another exception followed.
            logging.getLogger(record.name).handle(record)

# Program ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def without_collection():
    """Disables garbage collection: a design makes no garbage, and searching for it doubles the time of a build."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def design(soc_class, configuration):
    """Returns the finalised SoC. LiteX names signals after this function."""
    soc = soc_class(configuration)
    soc.finalize()
    return soc


def emit_files(parser, args, soc_class, name, folder):
    """Writes the files for ``--build`` and ``--driver``; returns the SoC."""
    try:
        with errors_of_litex():
            soc = design(soc_class, args.configuration)
    except ValueError as error:
        freq = f"--sys-clk-freq {mega(args.configuration.sys_clk_freq)}: the board's PLL cannot make this clock; " \
            "choose another"
        parser.error(freq if "config found" in str(error) else str(error))  # LiteX's "No PLL config found".
    emit(soc, name, folder, **parser.litex_options())
    if args.driver:
        print(lay_out_driver(folder / HEADERS, folder / "driver"))
    return soc


def say_what_is_slow(program, board, configuration):
    """Warns on standard error if the data path or the memory is slower than the link."""
    say_if_slow(program, configuration.data_path_rate, configuration.link_rate)
    if board.memory_rate(configuration):
        say_if_slow(program, board.memory_rate(configuration), configuration.link_rate, "DDR")


def run_tools(soc, name, folder):
    """Makes the bitstream ``name`` from the emitted files in ``folder``. Raises ``ToolError``."""
    if soc.board.toolchain == "vivado":
        print(vivado.build(name, folder, soc.board.flash))
    else:
        print(trellis.build(trellis.Design(name, **soc.bitstream()), folder, lambda text: print(text, flush=True)))


def perform(parser, soc_class, argv, builds):
    """Writes, builds, loads and flashes as the arguments say. Raises ``ToolError`` and ``PinnedMapError``."""
    args   = parser.parse_args(argv)
    name   = args.configuration.name(parser.board)
    folder = (args.output_dir or builds / name).resolve()
    if args.build or args.driver:
        with without_collection():
            soc = emit_files(parser, args, soc_class, name, folder)
        say_what_is_slow(parser.prog, parser.board, args.configuration)
    if args.build and not args.no_compile:
        run_tools(soc, name, folder / GATEWARE)
        print(folder / GATEWARE / f"{name}.bit")
    if args.load:
        parser.board.programmer.load(folder / GATEWARE / name, args.cable)
    if args.flash:
        parser.board.programmer.flash(folder / GATEWARE / name, args.cable)


def main(board, soc_class, argv=None, *, program=None, builds=BUILD):
    """Body of a target. Returns its exit status: 1 if a step failed, 2 on bad options.

    board     : ``Board``.
    soc_class : class of the SoC; takes a ``Configuration``.
    program   : name of the program, if it is not that of the board's target.
    builds    : folder of all builds.
    """
    parser = BoardParser(board, soc_class.card, program)

    def body():
        try:
            perform(parser, soc_class, argv, builds)
        except (ToolError, PinnedMapError) as error:
            print(f"{parser.prog}: {error}", file=sys.stderr)
            return 1
        return 0
    return command_line.run(body, parser.prog)
