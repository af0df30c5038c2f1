#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Body of a program that builds somebody's card, and boots the guest with it."""

import fcntl
import logging
import sys

from litepcie_sim.card.card import CardError
from litepcie_sim.guest import __main__ as guest
from litepcie_soc.build.command_line import Parser
from litepcie_soc.build.main import errors_of_litex
from litepcie_soc.common.places import BUILD


def built(make, name):
    """Builds the card ``name`` as ``make`` does, see ``main``, one process at a time. Returns its folder."""
    folder = BUILD / f"card_{name}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as lock, errors_of_litex():
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(folder)
    return folder


def main(make, name, argv=None):
    """Builds the card in its folder, then runs the guest's command line. Returns the exit status.

    make : function of the build folder that builds the card; it raises ``CardError`` or ``ValueError`` with one line.
    name : str, of the card. Its build folder is ``card_NAME`` in that of the project.

    The exit status is 1 if the card cannot be built, 2 on bad options, else that of the guest's command line.
    """
    parser = Parser(prog=f"litepcie_sim.card.{name}", description=f"Simulates the card {name} in a virtual machine.",
        epilog="Further options are those of python -m litepcie_sim.guest run; --help after the verb lists them.")
    parser.add_argument("verb", choices=["build", "run", "shell"], help="only build; run a command; give a shell")
    parser.add_argument("--count-violations", action="store_true",
        help="count and list the rules of PCI Express that the card breaks; without, the first one ends the run")
    argv   = list(sys.argv[1:] if argv is None else argv)
    end    = argv.index("--") if "--" in argv else len(argv)
    args, options = parser.parse_known_args(argv[:end])
    logging.basicConfig(level=logging.WARNING)
    try:
        folder = built(make, name)
    except (CardError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    if args.verb == "build":
        return 0
    count = ["--simulator-arg=--count-violations"]*args.count_violations
    return guest.main([args.verb, "--board", str(folder), *count, *options, *argv[end:]])
