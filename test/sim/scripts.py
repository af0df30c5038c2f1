# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs scripts for litepcie_host, and makes random ones. Chooses the cases of `make test`."""

import json
import random
import shlex
import subprocess

import pytest

LOW, HIGH  = 0x10000000, 0x100000000   # Data regions of a script, which the shadow watches.
DATA_BYTES = 4 << 20
TABLES     = 0x00130000                # In a region that the shadow does not watch.
MEMORY     = 1 << 20                   # Bytes of the endpoint memory that scripts use.

# Options of the board with the slowest link, and of the one with the widest data path. The first has as many tags and
# the same clock as the endpoint in gateware, which it is compared with.
SLOW_BOARD = {"gen": 1, "lanes": 1, "data_width": 64, "sys_clk_freq": 100e6, "tags": 32}
WIDE_BOARD = {"gen": 3, "lanes": 8, "data_width": 512, "phy": "split", "endianness": "little", "tags": 256}

# A host whose completions come in another order, and in pieces.
REORDER = ("--reorder", "--latency-jitter-ns", "2000", "--completion-bytes", "64")


def do(what, **values):
    """A step of a script."""
    return {"do": what, **values}


# The first steps of every script.
PREPARE = [do("fill", address=LOW, bytes=DATA_BYTES, seed=1),
    do("fill", address=HIGH, bytes=DATA_BYTES, seed=2), do("configure", engine="reader"),
    do("configure", engine="writer")]


def run_script(host, folder, steps, *args, setup=None, timeout=300):
    """Runs the steps; returns exit status, standard error, and the result of each step."""
    script, results = folder / "script.json", folder / "results.json"
    script.write_text(json.dumps({"setup": setup or {}, "steps": steps}))
    result = subprocess.run([host, "--script", script, "--json", results, *args],
        capture_output=True, text=True, timeout=timeout)
    gave = json.loads(results.read_text())["steps"] if results.exists() else []
    return result.returncode, result.stderr, gave


def passes(host, folder, steps, *args, setup=None):
    """Runs the steps, in which nothing may fail; returns the result of each step."""
    status, errors, gave = run_script(host, folder, steps, *args, setup=setup)
    again = shlex.join(map(str, (host, "--script", folder / "script.json", *args)))
    assert (status, errors) == (0, ""), f"""expected: status 0 and no message
found:    status {status} in step {len(gave)} of {len(steps)}: {errors.strip()}
again:    {again}   (--trace FILE writes each TLP)"""
    return gave


def measured(host, folder, *args):
    """The report of a run of litepcie_host that must end well."""
    out    = folder / "out.json"
    result = subprocess.run([host, *map(str, args), "--json", out], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr
    return json.loads(out.read_text())


def refused(program, *args, status=2):
    """What a program says, in one line, to arguments that are wrong."""
    result = subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=120)
    said   = result.stdout + result.stderr
    assert (result.returncode, result.stdout, said.count("\n")) == (status, "", 1), said
    return said


def chosen(cases, every):
    """The cases `every` of a test, as tuples; those that are not in `cases` are only in `make test-all`."""
    assert set(cases) <= set(every)
    return [case if case in cases else pytest.param(*case, marks=pytest.mark.full) for case in every]


def transfer(engine, *descriptors, **expect):
    """Returns a transfer step. A descriptor is (host address, endpoint address, length)."""
    items = [{"host": host, "endpoint": endpoint, "length": length} for host, endpoint, length in descriptors]
    return do("transfer", engine=engine, descriptors=items, **expect)


def random_length(rng):
    return rng.choice((rng.randint(1, 16), rng.randint(1, 300), rng.randint(1, 5000),
        rng.choice((63, 64, 65, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097)), rng.randint(1, 40000)))


def free_endpoint(rng, length, taken):
    """Returns an endpoint address whose range overlaps none of `taken`, and adds the range to `taken`."""
    while True:
        start = rng.randrange(MEMORY - length)
        if all(start + length <= begin or end <= start for begin, end in taken):
            taken.append((start, start + length))
            return start


def random_descriptor(rng, taken):
    """A descriptor whose endpoint bytes overlap none of `taken`: the host's choice of order decides nothing then."""
    length = random_length(rng)
    # Half of them near the end of a page.
    page   = rng.randrange(DATA_BYTES - length) & ~0xfff
    offset = rng.choice((rng.randrange(4096), 4096 - rng.randint(1, 20)))
    host   = rng.choice((LOW, HIGH)) + min(page + offset, DATA_BYTES - length)
    return {"host": host, "endpoint": free_endpoint(rng, length, taken), "length": length}


def random_item(rng, tables, taken):
    """Returns a descriptor, or in one of six cases a table of descriptors or a chain of tables."""
    def several(most):
        return [random_descriptor(rng, taken) for _ in range(rng.randint(1, most))]

    if rng.randrange(6):
        return random_descriptor(rng, taken)
    table = several(9)
    if not rng.randrange(3):
        table.append({"table": several(5), "at": next(tables)})
    return {"table": table, "at": next(tables)}


def random_steps(seed, rounds=12):
    """Returns steps that move random bytes with both engines, one after the other and at the same time."""
    rng    = random.Random(seed)
    tables = iter(range(TABLES, TABLES + 0x80000, 0x400))
    steps  = list(PREPARE)
    for _ in range(rounds):
        engine, taken = rng.choice(("reader", "writer")), []
        items = [random_item(rng, tables, taken) for _ in range(rng.randint(1, 10))]
        steps.append(do("transfer", engine=engine, descriptors=items))
        if not rng.randrange(3):
            steps += together(rng)
        if not rng.randrange(4):
            steps.append(do("verify"))
    # At the end, reads back all known bytes of the endpoint memory.
    for i in range(4):
        steps.append(transfer("writer", (LOW + (i << 18), i << 18, 1 << 18)))
    return steps + [do("verify")]


def together(rng):
    """Steps that run both engines at once: reads from LOW, writes to HIGH, in different parts of the card's memory."""
    taken  = []
    reads  = [random_descriptor(rng, taken) for _ in range(rng.randint(1, 7))]
    writes = [random_descriptor(rng, taken) for _ in range(rng.randint(1, 7))]
    for d in reads:
        d["host"] = LOW + d["host"] % DATA_BYTES
    for d in writes:
        d["host"] = HIGH + d["host"] % DATA_BYTES
    return [do("post", engine="reader", descriptors=reads),
        do("post", engine="writer", descriptors=writes), do("doorbell", engine="reader"),
        do("doorbell", engine="writer"), do("wait", engine="reader"), do("wait", engine="writer")]
