#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""8b/10b as tables for the behavioural DCU. Bit a of a code word is bit 0, disparity 0 is negative."""

from litepcie_soc.phy.ecp5.code import CONTROL, codes, encode


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
