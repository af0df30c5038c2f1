#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""8b/10b as tables for the behavioural DCU. Bit a of a code word is bit 0, disparity 0 is negative."""

import functools

from litex.soc.cores.code_8b10b import table_3b4b, table_3b4b_unbalanced, table_5b6b, table_5b6b_unbalanced

CONTROL   = {28 | y << 5 for y in range(8)} | {x | 7 << 5 for x in (23, 27, 29, 30)}
SWAPPED   = (1, 2, 5, 6)  # Balanced halves that a control symbol inverts at negative disparity.
ALTERNATE = {0: (17, 18, 20), 1: (11, 13, 14)}


def flipped(word, bits):
    return int(f"{word:0{bits}b}"[::-1], 2)


def six(x, k, disparity):
    """Returns the first six bits, bit a highest, and the disparity after them."""
    if k and x == 28:
        return (0b110000 if disparity else 0b001111), disparity ^ 1
    word = table_5b6b[x]  # For positive disparity.
    if not disparity and (table_5b6b_unbalanced[x] or x == 7):
        word ^= 0b111111
    return word, disparity ^ table_5b6b_unbalanced[x]


def four(x, y, k, disparity):
    """Returns the last four bits, bit f highest, and the disparity after them."""
    if y == 7 and (k or x in ALTERNATE[disparity]):
        return (0b1000 if disparity else 0b0111), disparity ^ 1
    word = table_3b4b[y]
    if not disparity and (table_3b4b_unbalanced[y] or y == 3 or k and y in SWAPPED):
        word ^= 0b1111
    return word, disparity ^ table_3b4b_unbalanced[y]


def encode(data, k, disparity):
    """Returns the code word and the disparity after it."""
    x, y           = data & 31, data >> 5
    first, middle  = six(x, k, disparity)
    second, after  = four(x, y, k, middle)
    return flipped(first, 6) | flipped(second, 4) << 6, after


@functools.cache
def codes():
    """Returns {(code word, disparity before it): (data, K, disparity after it)}."""
    found = {}
    for disparity in (0, 1):
        for symbol in range(512):
            data, k = symbol & 0xff, symbol >> 8
            if not k or data in CONTROL:
                word, after = encode(data, k, disparity)
                assert (word, disparity) not in found
                found[word, disparity] = data, k, after
    return found


def encode_table():
    rows = []
    for index in range(1024):
        data, k, disparity = index & 0xff, index >> 8 & 1, index >> 9
        word, after = encode(data, k, disparity) if not k or data in CONTROL else (0, disparity)
        rows.append(after << 10 | word)
    return rows


def decode_tables():
    """Returns the rows {disparity error, undecodable, K, data}, and the disparities afterwards."""
    rows, turns = [], []
    for index in range(2048):
        word, disparity = index & 0x3ff, index >> 10
        right, other    = codes().get((word, disparity)), codes().get((word, disparity ^ 1))
        data, k, after  = right or other or (0, 0, disparity)
        rows.append((right is None and other is not None) << 10 | (not right and not other) << 9 | k << 8 | data)
        turns.append(after)
    return rows, turns


def write(folder):
    decode, turns = decode_tables()
    for name, rows in (("encode", encode_table()), ("decode", decode), ("turns", turns)):
        (folder / f"{name}.hex").write_text("".join(f"{row:x}\n" for row in rows), encoding="ascii")
