#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Rows of figures for claims, report, terminal and plots: of links, boards, hosts, stock and published tables."""

from dataclasses import dataclass
from statistics import median

from litepcie_bench import bounds
from litepcie_bench.bounds import alone_most, bound, buffer_bound, doorbell_bound, rate, share_words
from litepcie_bench.points import HOSTS, OURS, PENDING, STOCK, STOCK_TAGS, link_name
from litepcie_bench.published import application_notes
from litepcie_bench.sweeps import DESCRIPTORS
from litepcie_soc.common.pcie import RCB_BYTES

# Boards -------------------------------------------------------------------------------------------

BOARD_SWEEPS = ("boards", "links")

# Shares of the bound to reach, %.
READ, READ_X16  = 98, 95       # Reads at 1 us.
SPLIT           = 95           # The same with completions of 64 bytes.
TOLERATED       = 95           # Reads at the latency that a board tolerates.
SMALLEST, SMALL = 90, 97       # Small transfers to 32 bytes, and longer ones.
ALONE           = {(2, 4): 97.5, (3, 8): 91}  # One read of 100 KB, by link.


def share(result, direction):
    """Returns a figure of a result as % of its bound, or None."""
    return result and 100*rate(result, direction)/bound(result, direction)


def allowed(result):
    """Returns reads as % of what the link and the completion buffer allow, or None."""
    return result and 100*rate(result, "read")/min(bound(result, "read"), buffer_bound(result))


def buffered(result):
    """Returns what the completion buffer allows as % of the link's bound of reads, or None."""
    return result and 100*buffer_bound(result)/bound(result, "read")


def of_chain(result, direction):
    """Returns a figure of a chain as % of the bound that counts its descriptors and its start-up."""
    return 100*rate(result, direction)/doorbell_bound(result, direction)


def least_of(size):
    """Returns the share that transfers of `size` bytes in a chain are to reach, %."""
    return SMALLEST if size <= 32 else SMALL


@dataclass(frozen=True)
class BoardRow:
    """The results of one ``Hardware``; None: not measured.

    one, both, split : 20 x 100 KB at 1 us: one direction at a time, both at once, completions of 64 bytes.
    alone, direct    : one transfer per doorbell at 1 us; with its descriptor in the card's registers.
    latencies        : results of ``one`` by latency in ns.
    """
    hardware:  object
    one:       object
    both:      object
    split:     object
    alone:     object
    direct:    object
    latencies: dict

    @property
    def tolerated(self):
        """Largest measured latency in ns up to which reads reach TOLERATED, or None."""
        reached = None
        for ns, result in sorted(self.latencies.items()):
            if share(result, "read") < TOLERATED:
                break
            reached = ns
        return reached


def board_rows(results, sweeps=BOARD_SWEEPS):
    """Returns a ``BoardRow`` for each ``Hardware`` that was measured."""
    good  = [r for r in results if r.point.sweep in sweeps and not r.failure]
    found = []
    for hardware in dict.fromkeys(r.point.hardware for r in good):
        mine    = [r for r in good if r.point.hardware == hardware]
        chained = [r for r in mine if r.point.batch > 1]
        plain   = {r.point.latency_ns: r for r in chained
            if r.point.sequence == "write-then-read" and not r.point.completion}

        def only(some):
            return next(iter(some), None)
        found.append(BoardRow(hardware, plain.get(1000),
            only(r for r in chained if r.point.sequence == "read-and-write"),
            only(r for r in chained if r.point.completion == 64),
            *(only(r for r in mine if r.point.batch == 1 and r.point.direct == direct) for direct in (False, True)),
            plain))
    return found


def judged_boards(results):
    """Yields (goal, what, value, must, unit, result, direction, asked) for each figure of a board."""
    for row in board_rows(results):
        link, where = row.hardware.link, f"{row.hardware.title}, Gen{row.hardware.gen} x{row.hardware.lanes}, " \
            f"{row.hardware.width} bit"
        must = READ_X16 if link[1] == 16 else READ
        for name, result, direction, least, asked in (
            ("reads at 1 us",                   row.one,   "read",  must,  True),
            ("reads, 64-byte completions",      row.split, "read",  SPLIT, True),
            ("writes",                          row.one,   "write", must,  False),
            ("both at once, read",              row.both,  "read",  must,  False),
            ("both at once, write",             row.both,  "write", must,  False),
            ("one read of 100 KB alone",        row.direct, "read", ALONE.get(link), True),
            ("one read of 100 KB alone, descriptor fetched", row.alone, "read", ALONE.get(link), False),
        ):
            if result and least:
                yield (f"boards: {name}", where, share(result, direction), least, "% of bound", result, direction,
                    asked)
    for result in results:
        point = result.point
        if point.sweep == "board_sizes" and not result.failure:
            for direction in ("read", "write"):
                yield (f"boards: small transfers, {DESCRIPTORS} descriptors", f"Gen{point.gen} x{point.lanes}, "
                    f"{point.bytes} B {direction}", of_chain(result, direction), least_of(point.bytes),
                    "% of bound with descriptors", result, direction, True)

# Boards on the hosts of `litepcie_host --host` ----------------------------------------------------


def fitting(hardware):
    """Returns the names of the hosts that have a slot for this ``Hardware``."""
    return [name for name, host in HOSTS.items() if hardware.lanes <= host.lanes]


def host_cells(row, names=tuple(HOSTS)):
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


def host_rows(results):
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

# Stock at its best --------------------------------------------------------------------------------

# More pending requests than its default, as far as the hard block of a board allows. An endpoint must be able to store
# the completions of all its outstanding reads, in pieces as small as the host may send them. Stock does not count them:
# its number of pending requests, fixed when it is built, is its only limit.

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


def stock_rows(results):
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


def stock_cells(row):
    """Returns a row's figures as text: stock by pending requests, its best that is safe, and ours."""
    best = f"{share_words(row.best[1], '')} ({row.best[0]})" if row.best else "-"
    return [*(share_words(row.stock[n], "") + "*"*(not safe(row.hardware, n)) for n in PENDING), best,
        share_words(row.ours, "")]


STOCK_HEADS = (*(f"stock, {n} pending" + " (as shipped)"*(n == STOCK_TAGS) for n in PENDING),
    "stock at its best that is safe (pending)", "ours")
STOCK_CAPTION = "% of bound; *: not safe, the hard block loses completions if the host sends them in pieces of 64 bytes"

# Links: 100 KB x 20 -------------------------------------------------------------------------------

NOTE_SWEEPS = ("notes", "gen3", "shapes")


@dataclass(frozen=True)
class Row:
    """One direction of one link.

    Attributes
    ----------
    where     : link and data path in words, with everything that differs from the default.
    both      : whether the other direction runs at the same time.
    direction : "read" or "write".
    found     : results by (design, whether chained).
    published : best figure of AN 456 and AN 855 in bytes per second, or None.
    """
    where:     str
    both:      bool
    direction: str
    found:     dict
    published: float

    @property
    def what(self):
        return "both: "*self.both + self.direction

    def _of(self, figure, design, chained):
        result = self.found.get((design, chained))
        return result and figure(result, self.direction)

    def rate(self, design, chained):
        """Returns bytes per second, or None if not measured."""
        return self._of(rate, design, chained)

    def bound(self, design=OURS, chained=True):
        """Returns the bound, or None if not measured. With both directions at once each design has its own."""
        return self._of(bounds.bound, design, chained)

    def net_bound(self, design):
        """Returns the bound of one transfer per doorbell with the design's start-up, or None if not measured."""
        return self._of(doorbell_bound, design, False)

    def alone_most(self, design):
        """Returns what one transfer per doorbell reaches at most, or None if not measured."""
        return self._of(alone_most, design, False)

    def theory(self):
        return next(iter(self.found.values())).data["theory_bytes_per_second"]


def _published():
    best = {}
    for row in application_notes():
        for cell, value in row.rates.items():
            if not row.misprint(cell):
                key = link_name(row.gen, row.lanes, row.width), cell
                best[key] = max(best.get(key, 0), value)
    return best


def note_rows(results):
    """Returns a ``Row`` for each measured link, direction and sequence under the UpdateFC guideline."""
    good = [r for r in results if r.point.sweep in NOTE_SWEEPS and not r.failure
        and r.point.update_fc == "guideline"]
    printed, rows = _published(), []
    for where in dict.fromkeys(r.point.where for r in sorted(good, key=_order)):
        for both in (False, True):
            sequence = "read-and-write" if both else "write-then-read"
            found    = {(r.point.design, r.point.batch > 1): r for r in good
                if (r.point.where, r.point.sequence) == (where, sequence)}
            if found:
                rows += [Row(where, both, direction, found,
                    printed.get((where, "both_"*both + direction))) for direction in ("read", "write")]
    return rows


def _order(result):
    point = result.point
    return point.link, point.clock_hz, point.phy

# AN 456, AN 855: what their figures are compared with ---------------------------------------------


def measured_for(row, cell, results, chained=False):
    """Returns our results for the link and sequence of a printed figure, by credit policy.

    ``results`` are of one latency of the host, on the ideal PHY or on one board. A board has a data path of its own.
    """
    sequence = "read-and-write" if cell.startswith("both_") else "write-then-read"
    return {r.point.update_fc: r for r in results if r.point.design == OURS and not r.failure
        and (r.point.gen, r.point.lanes) == (row.gen, row.lanes) and (r.point.hardware or r.point.width == row.width)
        and r.point.sequence == sequence and (r.point.batch > 1) == chained}


def judged_note(row, cell, results):
    """Returns (result, whether its policy is "minimum") that a printed figure is compared with, or None.

    The result under the specification's guideline, unless the printed figure exceeds what an ideal card reaches there.
    """
    mine      = measured_for(row, cell, results)
    guideline = mine.get("guideline")
    if guideline is None:
        return None
    above = row.rates[cell] > doorbell_bound(guideline, cell.removeprefix("both_"))
    if above and "minimum" in mine:
        return mine["minimum"], True
    return guideline, False


def _reached(results):
    """Returns (printed figures of AN 456 and AN 855 that are reached, printed figures)."""
    choices = [(printed, cell, judged_note(row, cell, results)) for row in application_notes()
        for cell, printed in row.rates.items() if not row.misprint(cell)]
    held    = [(printed, cell, choice[0]) for printed, cell, choice in choices if choice]
    return sum(rate(result, cell.removeprefix("both_")) >= printed for printed, cell, result in held), len(held)


def published_counts(results):
    """Returns (printed figures that are reached, printed figures) by place, and by latency of the host in ns.

    Places are "ideal PHY" with the data paths of the notes, and the boards, with the links that each has.
    """
    mine   = [r for r in results if r.point.sweep in ("notes", "published") and not r.failure]
    builds = {}
    for hardware in dict.fromkeys(r.point.hardware for r in mine):
        for name in hardware.names if hardware else ("ideal PHY",):
            builds.setdefault(name, []).append(hardware)
    places = {}
    for name, some in builds.items():
        places.setdefault(tuple(some), []).append(name)
    found = {}
    for some, names in places.items():
        here = [r for r in mine if r.point.hardware in some]
        found[", ".join(names)] = {ns: _reached([r for r in here if r.point.latency_ns == ns])
            for ns in sorted({r.point.latency_ns for r in here})}
    return found
