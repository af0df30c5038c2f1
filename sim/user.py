#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds a simulated board with a user's logic and programs, and runs a program in the guest.

    SimSoC               class of targets/sim.py, to derive from
    build(soc, folder)   the board and its simulator
    programs(...)        C programs with the library, for the guest
    main(...)            body of a program that does all of this
"""

import argparse
import logging
import subprocess
import sys

from pathlib import Path

from litepcie_sim.guest import Guest, GuestError
from litepcie_soc import __version__
from litepcie_soc.build.command_line import Parser
from litepcie_soc.build.emit import lay_out_driver
from litepcie_soc.build.main import errors_of_litex
from litepcie_soc.build.processes import handle_signals
from litepcie_soc.build.targets import load
from litepcie_soc.common.places import BUILD, SOFTWARE
from litepcie_soc.soc.export import PinnedMapError

sim    = load("sim")
SimSoC = sim.BaseSoC


class BuildError(Exception):
    """A step of the build failed; its output says why."""


def build(soc, folder, compile_simulator=True):
    """Builds the board of an instance of ``SimSoC`` into ``folder``. Raises ``BuildError``."""
    if sim.build(soc, Path(folder), compile_simulator):
        raise BuildError(f"the simulator of {folder} does not build")


def programs(sources, folder, board=None):
    """Compiles each C file with liblitepcie, static; returns the paths of the programs. Raises ``BuildError``.

    board : build folder of a board, whose csr.h and soc.h the programs include.
    """
    folder  = Path(folder)
    library = folder / "lib" / "liblitepcie.a"
    include = [SOFTWARE / "user" / "lib", SOFTWARE / "kernel" / "include" / "uapi"]
    if board:
        include.append(Path(board) / "software" / "include" / "generated")
    folder.mkdir(parents=True, exist_ok=True)
    done    = [folder / Path(source).stem for source in sources]
    flags   = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-static", "-pthread", *[f"-I{path}" for path in include]]
    compile = [["cc", *flags, "-o", path, source, library] for path, source in zip(done, sources)]
    for command in [["make", "-s", "-C", SOFTWARE / "user", f"BUILD={folder / 'lib'}",
            f"VERSION={__version__}", library], *compile]:
        result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if result.returncode:
            raise BuildError((result.stderr or result.stdout).strip())
    return done


def main(soc_class, name, sources, command, argv=None, folder=None):
    """Builds the board and the programs, boots the guest and runs a command in it. Returns the exit status.

    Parameters
    ----------
    soc_class : derived from ``SimSoC``; called without arguments.
    name      : str, of the build folder.
    sources   : C files of the programs; they are in /bin of the guest, without their suffix.
    command   : str, for the guest's shell, if the user gives none.
    folder    : build folder (``name`` in that of the project).

    The exit status is that of the command; 1 if a step before failed, 2 on bad options.
    """
    parser = Parser(description=f"Builds the simulated board {name} and runs a program in the guest.")
    parser.add_argument("--build",   action="store_true", help="Build only.")
    parser.add_argument("--load",    action="store_true", help="Give a shell in the guest instead.")
    parser.add_argument("--python",  action="store_true", help="With Python, NumPy and liblitepcie in the guest.")
    parser.add_argument("--share",   metavar="DIR", help="Folder of this machine that is /share in the guest.")
    parser.add_argument("--driver",  action="store_true", help="Lay out driver, library and tool with the headers.")
    parser.add_argument("--no-compile", action="store_true", help="Write Verilog and headers only.")
    parser.add_argument("--output-dir", type=Path, default=folder or BUILD / name, metavar="DIR",
        help="Build folder (%(default)s).")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND",
        help=f"What runs in the guest ({command}).")
    args   = parser.parse_args(argv)
    folder = args.output_dir.resolve()
    handle_signals()
    logging.basicConfig(level=logging.WARNING)
    try:
        with errors_of_litex():
            build(soc_class(), folder, compile_simulator=not (args.driver or args.no_compile))
        if args.driver:
            print(lay_out_driver(folder / "software" / "include" / "generated", folder / "driver"))
        if args.driver or args.no_compile:
            return 0
        files = [(path, f"/bin/{path.name}") for path in programs(sources, folder / "programs", folder)]
        if args.load:
            return shell(folder, files, args.python, args.share)
        if args.build:
            return 0
        with Guest(folder, files=files, with_python=args.python, share=args.share) as guest:
            result = guest.run(" ".join(args.command) or command, timeout=600, stream=show)
        return result.status
    except (BuildError, GuestError, PinnedMapError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1


def show(data):
    sys.stdout.write(data.decode(errors="replace"))
    sys.stdout.flush()


def shell(folder, files, python=False, share=None):
    """Runs the guest's shell in the terminal."""
    options  = [f"--file={host}:{guest}" for host, guest in files] + ["--with-python"]*python
    options += [f"--share={share}"] if share is not None else []
    command = [sys.executable, "-m", "litepcie_sim.guest", "shell", "--board", str(folder), *options]
    return subprocess.run(command).returncode
