# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""`make prove`: all proofs, also the deep ones, with a table of what each has proven that grows as they end.
Exit status: 0 all properties hold; 1 some do not, and the counterexamples follow the table."""

import argparse
import importlib
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def proofs():
    """All proofs of this folder, in the order of their files."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py"))
    return [proof for name in names for proof in importlib.import_module(f"test.formal.{name}").PROOFS]


def extent(proof):
    """What the proof covers."""
    return f"all cycles ({proof.induction}-induction)" if proof.induction else f"{proof.depth} cycles from reset"


def checked(number):
    """Runs the proof of that number in `proofs`; returns (its seconds or FAILS, the counterexample or None)."""
    try:
        return f"{proofs()[number].check(anew=True):.1f}", None
    except AssertionError as error:
        return "FAILS", str(error)


def main():
    parser = argparse.ArgumentParser(prog="make prove", description="Proves the properties of the gateware.")
    parser.add_argument("--quick", action="store_true", help="only the proofs of make test")
    arguments  = parser.parse_args()
    failed     = []
    everything = proofs()
    chosen     = [n for n, proof in enumerate(everything) if not (arguments.quick and (proof.deep or proof.variant))]
    unit       = max(len(everything[n].unit) for n in chosen)
    row        = f"{{:{unit}}}  {{:26}}  {{:>7}}  {{}}"
    print(row.format("unit", "holds for", "seconds", "property"), flush=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for n, (result, error) in zip(chosen, pool.map(checked, chosen)):
            proof = everything[n]
            print(row.format(proof.unit, extent(proof), result, proof.text), flush=True)
            if error:
                failed.append(error)
    for error in failed:
        print(error)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} proofs hold.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
