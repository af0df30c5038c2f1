#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Takes compiled files from the project's cache, or runs the command that makes them and keeps a copy.

The key covers the given text, the names and texts of all inputs, and what the programs say to --version. A source of
the tree is named by its path in the tree, a generated file by its name alone: all clones of a user share the cache.
"""

import argparse
import shutil
import subprocess
import sys

from pathlib import Path

from litepcie_sim.guest import GuestError, cache

ROOT = Path(__file__).resolve().parents[1]

# Limit for the entries of one name.
MOST_BYTES = 500 << 20


def text_of(path):
    """A file's bytes, without the comments of Verilog: LiteX writes a date into them."""
    data = path.read_bytes()
    if path.suffix == ".v":
        data = b"".join(line for line in data.splitlines(True) if not line.startswith(b"//"))
    return data


def name_of(path):
    path = path.resolve()
    source = path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build")
    return path.relative_to(ROOT).as_posix() if source else path.name


def key(text, inputs, programs):
    versions = [subprocess.run([program, "--version"], capture_output=True, check=True).stdout for program in programs]
    return cache.digest(text, *versions, *(part for path in sorted(inputs) for part in (name_of(path), text_of(path))))


def copy(origin, target, patterns):
    """Copies the files that the patterns name, in the order of the patterns: make(1) compares their times.

    A file appears when it is whole, because make(1) takes one that exists for finished.
    """
    for pattern in patterns:
        for path in sorted(origin.glob(pattern)):
            to = target / path.relative_to(origin)
            to.parent.mkdir(parents=True, exist_ok=True)
            new = to.with_name(to.name + ".new")
            shutil.copyfile(path, new)
            new.replace(to)


def make_or_copy(args):
    """The exit status of the command; 0 if the cache had its files."""
    statuses = []

    def make(entry):
        statuses.append(subprocess.run(args.command).returncode)
        if statuses[0]:
            raise GuestError("the command failed")
        copy(args.folder, entry, args.keep)

    try:
        entry = cache.entry(args.name, key(args.key, args.input, args.program), make)
    except GuestError:
        # A failed command has said why. Without a cache the command has not run yet.
        return statuses[0] if statuses else subprocess.run(args.command).returncode
    if not statuses:
        copy(entry, args.folder, args.keep)
    cache.prune(args.name, most_bytes=MOST_BYTES)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="Name of the entries in the cache.")
    parser.add_argument("folder", type=Path, help="Folder where the command leaves the files.")
    parser.add_argument("--keep", nargs="+", required=True, metavar="PATTERN", help="Files of the folder to keep.")
    parser.add_argument("--input", nargs="+", required=True, type=Path, metavar="FILE", help="What the command reads.")
    parser.add_argument("--program", nargs="+", required=True, help="Programs that the command runs.")
    parser.add_argument("--key", required=True, metavar="TEXT", help="Options that the command gives to them.")
    parser.add_argument("--unless", type=Path, metavar="FILE", help="Do nothing if this file exists.")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    return 0 if args.unless and args.unless.exists() else make_or_copy(args)


if __name__ == "__main__":
    sys.exit(main())
