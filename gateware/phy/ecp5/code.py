#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The code 8b/10b as tables. Bit a of a code word is bit 0; disparity 0 is negative. PCIe 2.1 4.2.1.1."""

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
