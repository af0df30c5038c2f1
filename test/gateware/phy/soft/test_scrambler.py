#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Scrambler and descrambler against a recorded link, known bytes, and one bit at a time."""

import random

import pytest

from migen import run_simulation

from litepcie_soc.phy.soft.scrambler import Descrambler, Scrambler
from litepcie_soc.phy.soft.symbols   import COM, FTS, IDL, PAD, SKP, STP

K     = 0x100
# What scrambling makes of zeros behind a COM.
BYTES = bytes.fromhex("ff17c014b2e70282726e28a6be6dbf8dbe40a7e62cd3e2b2")


def one_by_one(symbols, plain):
    """Scrambles as the specification draws it: a register of 16 bits, one bit at a time."""
    register, out = [1]*16, []
    for symbol, keep in zip(symbols, plain):
        if symbol == K | COM:
            register = [1]*16
        elif symbol != K | SKP:
            mask = 0
            for bit in range(8):
                top      = register[15]
                mask    |= top << bit
                register = [top, *register[:15]]
                for tap in (3, 4, 5):
                    register[tap] ^= top
            if not symbol & K and not keep:
                symbol ^= mask
        out.append(symbol)
    return out


def in_sets(symbols):
    """Whether each symbol is one of a training set behind its COM."""
    plain = [False]*len(symbols)
    for at, (now, then) in enumerate(zip(symbols, symbols[1:])):
        if now == K | COM and (not then & K or then == K | PAD):
            plain[at + 1:at + 16] = [True]*len(plain[at + 1:at + 16])
        elif now == K | COM:
            # A set that another one cuts short.
            plain[at:at + 16] = [False]*len(plain[at:at + 16])
    return plain


def through(dut, symbols, plain=None, off=False, pauses=0.0, errors=()):
    """The symbols behind a unit, and the places with an error."""
    symbols = [*symbols, *[0]*(len(symbols) % 2 + 8)]
    rng, got, wrong = random.Random(1), [], []

    def drive():
        yield dut.off.eq(off)
        at = 0
        while at < len(symbols):
            go = rng.random() >= pauses
            pair = symbols[at:at + 2] if go else [rng.randrange(512), rng.randrange(512)]
            yield dut.valid.eq(go)
            yield dut.data.eq(pair[0] & 0xff | (pair[1] & 0xff) << 8)
            yield dut.k.eq(pair[0] >> 8 | pair[1] >> 8 << 1)
            if plain is not None:
                yield dut.plain.eq(sum(flag << n for n, flag in enumerate(plain[at:at + 2])))
            else:
                yield dut.error.eq((at in errors) | (at + 1 in errors) << 1)
            at += 2*go
            yield
            if (yield dut.out_valid):
                data, k = (yield dut.out_data), (yield dut.out_k)
                if plain is None:
                    error = yield dut.out_error
                    wrong.extend(len(got) + n for n in range(2) if error >> n & 1)
                got.extend([data & 0xff | (k & 1) << 8, data >> 8 | k >> 1 << 8])
    run_simulation(dut, drive())
    return got, wrong


@pytest.mark.parametrize("way", ["down", pytest.param("up", marks=pytest.mark.full)])
@pytest.mark.parametrize("shift", [0, pytest.param(1, marks=pytest.mark.full)])
def test_a_recorded_link(trace, way, shift):
    """From the first TS1 on, with COM in each half of a pair. It begins before the first COM, inside a set."""
    plain, scrambled = trace[way][2 - shift:], trace[f"{way}_scrambled"][2 - shift:]
    got, _ = through(Descrambler(), scrambled)
    first  = plain.index(K | COM)
    assert got[first:len(plain) - 8] == plain[first:-8]
    got, _ = through(Scrambler(), plain, in_sets(plain))
    assert got[first:len(plain) - 8] == scrambled[first:-8]


def test_known_bytes():
    got, _ = through(Scrambler(), [K | COM, *[0]*len(BYTES)], [False]*(len(BYTES) + 2))
    assert bytes(got[1:1 + len(BYTES)]) == BYTES
    # SKP does not move the register.
    got, _ = through(Scrambler(), [K | COM, K | SKP, K | SKP, 0, 0, K | SKP, 0], [False]*16)
    assert got[:7] == [K | COM, K | SKP, K | SKP, BYTES[0], BYTES[1], K | SKP, BYTES[2]]


def test_off():
    symbols = [K | COM, 0, 1, 2, K | STP, 5]
    assert through(Scrambler(), symbols, [False]*6, off=True)[0][:6] == symbols


@pytest.mark.parametrize("seed, count", [(1, 600), pytest.param(2, 20000, marks=pytest.mark.full)])
def test_random_symbols(seed, count):
    """Sets and symbols in any order and alignment, sets that are cut, and cycles without symbols."""
    rng, symbols = random.Random(seed), [K | COM, K | SKP]
    while len(symbols) < count:
        symbols += rng.choice([
            [K | COM, *[K | SKP]*rng.randrange(1, 6)],
            [K | COM, *rng.choice([[K | PAD]*2, [5, K | PAD], [255, 3]]), *[0x4a]*rng.choice([13, 13, 13, 1, 6])],
            [K | COM, *[K | rng.choice([IDL, FTS])]*3],
            [K | COM],
            [rng.randrange(256) for _ in range(rng.randrange(30))],
            [K | STP, K | SKP, 0],
        ])
    plain     = in_sets(symbols)
    scrambled = one_by_one(symbols, plain)
    assert through(Scrambler(), symbols, plain, pauses=0.2)[0][:len(symbols) - 1] == scrambled[:-1]
    errors     = set(rng.sample(range(len(symbols)), len(symbols)//9))
    got, wrong = through(Descrambler(), scrambled, pauses=0.2, errors=errors)
    assert got[:len(symbols) - 8] == symbols[:-8]
    assert wrong == sorted(at for at in errors if at < len(got))
