#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Stock LitePCIe at its best: more pending requests than its default, as far as the hard block of a board allows.

An endpoint must be able to store the completions of all its outstanding reads, in pieces as small as the host may send
them. Stock does not count them: its number of pending requests, fixed when it is built, is its only limit.
"""

from dataclasses import dataclass

from litepcie_bench.board_rows import share
from litepcie_bench.bounds import share_words
from litepcie_bench.points import OURS, PENDING, STOCK, STOCK_TAGS
from litepcie_soc.common.pcie import RCB_BYTES

MRRS = 512  # Bytes that each pending request of stock asks for.


def safe(hardware, pending):
    """Returns whether the hard block of a ``Hardware`` holds the completions of ``pending`` reads of MRRS bytes."""
    completions, data = hardware.space
    return pending*MRRS//RCB_BYTES <= completions and pending*MRRS <= data


def most_safe(hardware):
    """Returns the most pending requests, of those that are measured, that are safe; 0 if none is."""
    return max((pending for pending in PENDING if safe(hardware, pending)), default=0)


@dataclass(frozen=True)
class StockRow:
    """Shares of the bound in % on one ``Hardware`` in one direction: stock by pending requests, and ours."""
    hardware:  object
    direction: str
    stock:     dict
    ours:      float

    @property
    def shipped(self):
        return self.stock[STOCK_TAGS]

    @property
    def best(self):
        """(pending requests, share) of stock at its best that is safe, or None if its default is not safe."""
        good = {pending: value for pending, value in self.stock.items() if safe(self.hardware, pending)}
        return max(good.items(), key=lambda item: (round(item[1], 1), -item[0])) if good else None


def rows(results):
    """Returns a ``StockRow`` for each board and direction of which all designs were measured."""
    good  = [r for r in results if r.point.sweep == "stock" and not r.failure]
    found = []
    for hardware in dict.fromkeys(r.point.hardware for r in good):
        mine  = [r for r in good if r.point.hardware == hardware]
        ours  = [r for r in mine if r.point.design == OURS]
        stock = {r.point.pending: r for r in mine if r.point.design == STOCK}
        if ours and set(stock) == set(PENDING):
            found += [StockRow(hardware, direction, {n: share(stock[n], direction) for n in PENDING},
                share(ours[0], direction)) for direction in ("read", "write")]
    return found


def cells(row):
    """Returns a row's figures as text: stock by pending requests, its best that is safe, and ours."""
    best = f"{share_words(row.best[1], '')} ({row.best[0]})" if row.best else "-"
    return [*(share_words(row.stock[n], "") + "*"*(not safe(row.hardware, n)) for n in PENDING), best,
        share_words(row.ours, "")]


HEADS = (*(f"stock, {n} pending" + " (as shipped)"*(n == STOCK_TAGS) for n in PENDING),
    "stock at its best that is safe (pending)", "ours")
CAPTION = "% of bound; *: not safe, the hard block loses completions if the host sends them in pieces of 64 bytes"
