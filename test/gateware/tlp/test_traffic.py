#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Random traffic against the Verilog of the layer: every byte, every tag and the completion buffer are checked."""

import functools
import shutil

from unittest import mock

import pytest

from litepcie_soc.tlp import layer

from test.gateware.tlp import traffic

pytestmark = pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")

# Random Traffic -----------------------------------------------------------------------------------

WRONG   = dict(error=5, poison=5, twice=20, stray=20)     # In 1024 completions.
BLOCKS  = 40
CLIENTS = ((32, 1), (4, 1), (3, 2))

build = functools.cache(lambda ports, **shape: traffic.build(ports, **shape))

EVENTS  = dict(reset=9000, master=9000, extended=9000)
CASES   = {
    "a host without faults": (32, 64,  dict(timeout=10000)),
    "the link stays up":     (32, 64,  dict(WRONG, late=30, lost=5, **EVENTS)),
    "everything":            (64, 128, dict(WRONG, late=30, lost=2, link=9000, **EVENTS)),
}


@pytest.mark.parametrize("case", CASES)
def test_random_traffic(case):
    tags, rcb, options = CASES[case]
    run = build(CLIENTS, tags=tags, blocks=(BLOCKS, BLOCKS), quarantine_us=2**26)
    for seed in range(3):
        figures = run(seed=seed, cycles=60000, rcb=rcb, blocks=BLOCKS, **options)
        assert figures["good"] > 200 and figures["peak_blocks"] > BLOCKS - 9
        assert (figures["good"] == figures["done"]) == (case == "a host without faults")


@pytest.mark.full
def test_random_traffic_in_each_cycle():
    """The same with the issue, check and retirement of wide data paths, which handle a request per cycle."""
    with mock.patch.object(layer, "PER_CYCLE_BITS", 64):
        run = traffic.build(CLIENTS, tags=64, blocks=(BLOCKS, BLOCKS), quarantine_us=2**26)
    for seed in range(3):
        assert run(seed=seed, cycles=60000, rcb=64, blocks=BLOCKS, **CASES["everything"][2])["good"] > 200

# Shares -------------------------------------------------------------------------------------------

FLOOD = dict(pause=0, stall=0, length=512, latency=400, blocks=1000, cycles=125_000)   # 1 ms at 125 MHz.


def channels(count, tags=64):
    """Ports of a SoC: a data reader and two descriptor fetches for each channel."""
    return ((tags - 3*count + 1, 1),)*count + ((1, 1),)*(2*count)


def test_seven_channels_share_evenly():
    """Jain's index of seven busy channels is at least 0.99 over 1 ms."""
    figures = build(channels(7), tags=64, blocks=(1000, 1000))(active=7, **FLOOD)
    shares  = figures["bytes"][:7]
    assert sum(shares)**2/(7*sum(share**2 for share in shares)) >= 0.99


@pytest.mark.full
def test_one_of_seven_channels_reaches_what_a_single_one_does():
    alone   = build(channels(1), tags=64, blocks=(1000, 1000))(active=1, **FLOOD)["bytes"][0]
    seventh = build(channels(7), tags=64, blocks=(1000, 1000))(active=1, **FLOOD)["bytes"][0]
    assert seventh >= 0.98*alone
