#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""TLPs that are longer or shorter than their headers say, above MPS, or with a prefix."""

import random

import pytest

from test.gateware.phy.soft.bench import Bench, completion, header, memory_read, memory_write


def with_digest(tlp, digest=bytes(4)):
    return bytes([tlp[0], tlp[1], tlp[2] | 0x80, *tlp[3:]]) + digest


def cases():
    rng   = random.Random(1)
    write = memory_write(rng, 5)
    return {
        "longer by a dword":     write + bytes(4),
        "shorter by a dword":    write[:-4],
        "no payload":            write[:12],
        "a read with payload":   memory_read(rng) + bytes(4),
        "wide, short of 4":      memory_write(rng, 3, wide=True)[:-4],
        "digest that is missing": with_digest(write, b""),
        "digest without TD":     write + bytes(4),
        "above MPS":             memory_write(rng, 33),
        "1024 dwords":          completion(rng, 1024)[:12] + bytes(128),
        "completion above MPS":  completion(rng, 33),
        "prefix":                bytes([0x80, 0, 0, 0]) + write,
        "two dwords":            write[:8],
        "half a dword":          write + bytes(2),
    }


@pytest.mark.parametrize("name", cases())
def test_drops_and_counts(name):
    rng    = random.Random(2)
    around = [memory_write(rng, 32), with_digest(memory_write(rng, 1)), memory_read(rng, wide=True), completion(rng, 0),
        header(0x00, 0, rng, 12)]
    bench  = Bench()
    bench.partner.tlps.extend([around[0], cases()[name], *around[1:]])
    bench.run(bench.all_moved(len(around)))
    assert bench.got == around
    assert bench.counts == dict.fromkeys(bench.counts, 0) | {"malformed": 1}


def test_takes_256_bytes_when_mps_says_so():
    rng   = random.Random(3)
    tlps  = [memory_write(rng, 64), completion(rng, 64)]
    bench = Bench(mps_128=False)
    bench.partner.tlps.extend([memory_write(rng, 65), *tlps])
    bench.run(bench.all_moved(len(tlps)))
    assert bench.got == tlps and bench.counts["malformed"] == 1
