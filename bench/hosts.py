#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Boards on the hosts of `litepcie_host --host`: 100 KB x 20 after one doorbell, and what a skeptic would quote."""

from dataclasses import dataclass
from statistics import median

from litepcie_bench.board_rows import share
from litepcie_bench.bounds import share_words
from litepcie_bench.points import HOSTS


def fitting(hardware):
    """Returns the names of the hosts that have a slot for this ``Hardware``."""
    return [name for name, host in HOSTS.items() if hardware.lanes <= host.lanes]


def cells(row, names=tuple(HOSTS)):
    """Returns the shares of a ``HostRow`` as text, one for each of these hosts."""
    return [share_words(row.shares.get(name), "") for name in names]


@dataclass(frozen=True)
class HostRow:
    """Shares of the bound in % of one ``Hardware`` in one direction, by host."""
    hardware:  object
    direction: str
    shares:    dict

    @property
    def measured(self):
        """Shares on the hosts whose properties were measured."""
        return [value for host, value in self.shares.items() if HOSTS[host].measured]

    @property
    def slowest(self):
        """Name of the measured host with the lowest share."""
        return min((host for host in self.shares if HOSTS[host].measured), key=self.shares.get)

    @property
    def headline(self):
        """Median, lowest and highest share of these."""
        return median(self.measured), min(self.measured), max(self.measured)


def overall(found, direction):
    """Returns median, lowest and highest share of the ``HostRow``s of a direction, over their measured hosts."""
    shares = [share for row in found if row.direction == direction for share in row.measured]
    return median(shares), min(shares), max(shares)


def rows(results):
    """Returns a ``HostRow`` for each board and direction that was measured on all hosts that fit."""
    good  = [r for r in results if r.point.sweep == "hosts" and not r.failure]
    found = []
    for hardware in dict.fromkeys(r.point.hardware for r in good):
        mine = {r.point.host: r for r in good if r.point.hardware == hardware}
        if set(mine) != set(fitting(hardware)):
            continue
        found += [HostRow(hardware, direction, {host: share(mine[host], direction) for host in mine})
            for direction in ("read", "write")]
    return found
