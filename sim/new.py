#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""``litepcie_soc_new NAME`` writes a starter project into a new folder: logic, two boards, program, tests.

Exit status: 0 written; 2 a bad name, a folder that exists, or one that cannot be written, and one line says which.
"""

import re
import shutil
import sys

from pathlib import Path

from litepcie_soc.build.command_line import Parser
from litepcie_soc.build.targets import NAMES

STARTER = Path(__file__).resolve().parent / "starter"
LONGEST = 32
BOARD   = "sqrl_acorn"


class ProjectError(Exception):
    """The project cannot be written; the text says why."""


def write(path, board=BOARD):
    """Writes a project for a board into the folder ``path``, whose last part is its name. Raises ``ProjectError``."""
    if board not in NAMES:
        raise ProjectError(f"--board {board} is not supported; choose {', '.join(NAMES)}")
    if not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{LONGEST - 1}}}", path.name):
        raise ProjectError(f"{path.name!r} is not a name; give a lower-case letter, "
            f"then up to {LONGEST - 1} of a-z, 0-9 and _")
    try:
        path.mkdir()
    except FileExistsError:
        raise ProjectError(f"{path} exists; give another name") from None
    except OSError as error:
        raise ProjectError(f"cannot make {path}: {error.strerror}") from None
    try:
        for origin in sorted(STARTER.iterdir()):
            if origin.is_file():
                (path / origin.name).write_text(origin.read_text().replace("NAME", path.name).replace("TARGET", board))
    except OSError as error:
        shutil.rmtree(path, ignore_errors=True)
        raise ProjectError(f"cannot write {path}: {error.strerror}") from None


def main(argv=None):
    parser = Parser(prog="litepcie_soc_new", description="Writes a starter project into a new folder.")
    parser.add_argument("name", metavar="NAME", type=Path, help="the new folder; its last part is the project's name")
    parser.add_argument("--board", metavar="BOARD", default=BOARD,
        help=f"the board: {', '.join(NAMES)} (%(default)s)")
    args = parser.parse_args(argv)
    try:
        write(args.name, args.board)
    except ProjectError as error:
        print(f"litepcie_soc_new: {error}", file=sys.stderr)
        return 2
    print(f"{args.name} is written; now type: cd {args.name}; {sys.executable} test.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
