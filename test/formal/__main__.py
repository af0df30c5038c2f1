#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""`make prove`: all proofs, also the deep ones, with a table of what each has proven that grows as they end.

Exit status: 0 all properties hold; 1 some do not, and the counterexamples follow the table.
"""

import argparse
import importlib
import sys

from pathlib import Path

from test.formal.proof import quick


def proofs():
    """All proofs of this folder, in the order of their files."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py"))
    return [proof for name in names for proof in importlib.import_module(f"test.formal.{name}").PROOFS]


def extent(proof):
    """What the proof covers."""
    return f"all cycles ({proof.induction}-induction)" if proof.induction else f"{proof.depth} cycles from reset"


def main():
    parser = argparse.ArgumentParser(prog="make prove", description="Proves the properties of the gateware.")
    parser.add_argument("--quick", action="store_true", help="only the proofs of make test")
    arguments = parser.parse_args()
    failed    = []
    chosen    = quick(proofs()) if arguments.quick else proofs()
    unit      = max(len(proof.unit) for proof in chosen)
    row       = f"{{:{unit}}}  {{:26}}  {{:>7}}  {{}}"
    print(row.format("unit", "holds for", "seconds", "property"), flush=True)
    for proof in chosen:
        try:
            result = f"{proof.check():.1f}"
        except AssertionError as error:
            failed.append(error)
            result = "FAILS"
        print(row.format(proof.unit, extent(proof), result, proof.text), flush=True)
    for error in failed:
        print(error)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} proofs hold.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
