#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""After a function level reset or a loss of the link no engine runs, no register remembers, and the next transfer is
right."""

import itertools

import pytest

from litepcie_soc.soc.identity import TIMEOUT_US

from test.sim.scripts import HIGH, LOW, PREPARE, chosen, passes, transfer

READER, WRITER  = 0x1000, 0x1800    # LITEPCIE_READER_BASE(0), LITEPCIE_WRITER_BASE(0).
SCRATCH, TIMEOUT = 0x28, 0x30
ENGINE_REGISTERS = range(0, 26*4, 4)
IDLE = 2                            # Of ENGINE_STATUS.


def registers_are_initial():
    """Steps that read every register the host can write, and every counter."""
    for base in (READER, WRITER):
        for offset in ENGINE_REGISTERS:
            yield {"do": "read_register", "offset": base + offset, "expect": IDLE if offset == 4 else 0}
    yield {"do": "read_register", "offset": SCRATCH, "expect": 0}
    yield {"do": "read_register", "offset": TIMEOUT, "expect": TIMEOUT_US}


def transfers(engine, size, count=8):
    return {"do": "post", "engine": engine,
        "descriptors": [{"host": HIGH + i*size, "endpoint": i*size, "length": size} for i in range(count)]}


CLEAN_RUN = [
    {"do": "configure", "engine": "reader"},
    {"do": "configure", "engine": "writer"},
    transfer("reader", (LOW + 1, 3, 20000)),
    transfer("writer", (HIGH + 5, 3, 20000)),
    {"do": "verify"},
]
RESETS = {"function level reset": {"do": "function_reset"}, "link down": {"do": "link_down", "cycles": 40}}


@pytest.mark.parametrize("cycles, reset", chosen([(150, "function level reset"), (700, "link down")],
    list(itertools.product((0, 10, 150, 300, 700, 1500), RESETS))))
def test_reset_in_the_middle(host, tmp_path, cycles, reset):
    passes(host, tmp_path, [
        *PREPARE,
        {"do": "write_register", "offset": SCRATCH, "value": 0x12345678},
        {"do": "write_register", "offset": TIMEOUT, "value": 500},
        {"do": "configure", "engine": "reader", "moderation_count": 3, "moderation_us": 50},
        transfer("reader", (LOW, 0, 65536)),
        transfers("reader", 8192),
        transfers("writer", 8192),
        {"do": "doorbell", "engine": "reader"},
        {"do": "doorbell", "engine": "writer"},
        {"do": "run", "cycles": cycles},
        RESETS[reset],
        # The engines must not write any more.
        {"do": "fill", "address": HIGH, "bytes": 65536, "seed": 9},
        {"do": "run", "cycles": 20000},
        {"do": "verify"},
        *registers_are_initial(),
        *CLEAN_RUN,
    ])


def test_function_level_reset_does_not_wait_for_completions(host, tmp_path):
    results = passes(host, tmp_path, [
        *PREPARE,
        {"do": "inject", "fault": "drop@3"},
        transfers("reader", 8192),
        {"do": "doorbell", "engine": "reader"},
        {"do": "run", "cycles": 2000},
        {"do": "function_reset"},
        *CLEAN_RUN,
    ])
    before, after = (step["cycle"] for step in results if step["do"] in ("run", "function_reset"))
    assert after - before < 10000
