#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""``litepcie_soc_gen config.yml``: writes a standalone Verilog core.

Exit status: 0 if the files were written, 1 if a file could not be written, 2 if the configuration or the command line
is wrong; then nothing is written. Equal configurations give equal files, byte for byte.
"""

import argparse
import logging
import os
import sys
import tempfile

from pathlib import Path

from litepcie_soc.build import command_line
from litepcie_soc.common.link_rates import data_path_rate, link_rate, say_if_slow
from litepcie_soc.standalone.config import ConfigError, leaves, read_config
from litepcie_soc.standalone.core import Core
from litepcie_soc.standalone.ports import ports_of
from litepcie_soc.standalone.sheet import default_text, sheet
from litepcie_soc.soc.export import PinnedMapError, export_headers, export_verilog, write_if_changed

PROGRAM = "litepcie_soc_gen"

# Files --------------------------------------------------------------------------------------------


def write_core(config, folder, with_sheet=True):
    """Writes every file of a core into an existing folder.

    Raises ``ValueError`` for an unsupported configuration, ``PinnedMapError`` and ``OSError``.
    """
    core = Core(config)
    core.finalize()
    export_headers(core, folder)
    export_verilog(core, core.platform, folder, config.name)
    if with_sheet:
        verilog = (Path(folder) / f"{config.name}.v").read_text(encoding="utf-8")
        write_if_changed(Path(folder) / f"{config.name}.md", sheet(config, ports_of(verilog)))


def move_files(source, target):
    """Moves the files of one folder into another and returns their names. Files with equal text are not replaced."""
    names = sorted(path.name for path in source.iterdir())
    for name in names:
        old, new = target / name, source / name
        if not (old.is_file() and old.read_bytes() == new.read_bytes()):
            os.replace(new, old)
    return names


def generate(config, folder, with_sheet=True):
    """Writes a core into ``folder``, completely or not at all, and returns the names of its files."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # On the same file system, so that moving a file is a rename.
        with tempfile.TemporaryDirectory(prefix=f".{PROGRAM}-", dir=folder) as scratch:
            write_core(config, Path(scratch), with_sheet)
            return move_files(Path(scratch), folder)
    finally:
        if made and not any(folder.iterdir()):
            folder.rmdir()

# Main ---------------------------------------------------------------------------------------------


STATUS = "exit status: 0 if all is written; 1 if a file cannot be written; 2 for a wrong configuration or usage"


def keys_text():
    """Returns the keys of a configuration, one per line."""
    rows  = [(name, default_text(name, kind), kind.allowed) for name, kind, _ in leaves()]
    lines = [f"  {name:28} {default:12} {allowed}" for name, default, allowed in rows]
    return "\n".join(["keys of the configuration with default and allowed values:", *lines])


def parse_args(argv):
    parser = command_line.Parser(prog=PROGRAM, epilog=f"{keys_text()}\n\n{STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Writes a standalone Verilog core: NAME.v, litepcie_regs.h, csr.h, soc.h, csr.json and the "
            "integration sheet NAME.md.")
    parser.add_argument("config", metavar="CONFIG.yml", help="Configuration; `name: my_core` is enough.")
    parser.add_argument("--output-dir", type=Path, metavar="DIR", help="Folder of the files (./NAME).")
    parser.add_argument("--no-sheet", action="store_true", help="Leave out the integration sheet.")
    return parser.parse_args(argv)


def fail(status, message):
    print(f"{PROGRAM}: {message}", file=sys.stderr)
    return status


def write(argv):
    args = parse_args(argv)
    logging.basicConfig(level=logging.WARNING)  # LiteX logs much at INFO.
    try:
        config = read_config(args.config)
    except ConfigError as error:
        return fail(2, f"{args.config}: {error}")
    except OSError as error:
        return fail(2, f"{args.config}: {error.strerror}")
    folder = args.output_dir or Path(config.name)
    try:
        names = generate(config, folder, with_sheet=not args.no_sheet)
    except ValueError as error:
        return fail(2, f"{args.config}: {error}")
    except PinnedMapError as error:
        return fail(1, str(error))
    except OSError as error:
        return fail(1, f"{error.filename or folder}: {error.strerror}")
    say_if_slow(PROGRAM, data_path_rate(config.data_width, config.clk_freq),
        link_rate(config.pcie.gen, config.pcie.lanes))
    print(f"{folder}: {', '.join(names)}")
    return 0


def main(argv=None):
    return command_line.run(lambda: write(argv), PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
