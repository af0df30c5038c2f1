#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tags of the clients: who has which, and the window of one client, used and freed in order."""

from collections import namedtuple

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import TAG_BITS, TAGS_WITH_EXTENDED, TAGS_WITHOUT_EXTENDED

# Allocation ---------------------------------------------------------------------------------------

TagRange = namedtuple("TagRange", "base tags")  # Tags `base` to `base + tags - 1`.


def allocate_tags(wanted, with_extended_tag):
    """Tags of each client: a list of (range without, range with Extended Tag Field Enable).

    Without it 32 are shared: who wants little gets it, the others get the same, and what then is left goes to
    those who want most, one each. Raises ValueError if there are more tags than there can be, or more clients.
    """
    limit = TAGS_WITH_EXTENDED if with_extended_tag else TAGS_WITHOUT_EXTENDED
    if any(tags < 1 for tags in wanted):
        raise ValueError(f"tags of a read port must be 1 or more, not {min(wanted)}")
    if sum(wanted) > limit:
        raise ValueError(f"tags of the read ports are {sum(wanted)} in all, more than {limit}")
    if len(wanted) > TAGS_WITHOUT_EXTENDED:
        raise ValueError(f"read ports are {len(wanted)}, more than the {TAGS_WITHOUT_EXTENDED} tags there are "
            f"without Extended Tag")
    return list(zip(ranges_of(level(wanted, TAGS_WITHOUT_EXTENDED)), ranges_of(wanted)))


def level(wanted, limit):
    """`wanted`, cut at one level so that there are `limit` in all at most; the rest to the largest, one each."""
    def cut(most):
        return [min(tags, most) for tags in wanted]
    most   = max(n for n in range(1, limit + 1) if sum(cut(n)) <= limit)
    shares = cut(most)
    eager  = sorted((n for n, tags in enumerate(wanted) if tags > most), key=lambda n: -wanted[n])
    for n in eager[:limit - sum(shares)]:
        shares[n] += 1
    return shares


def ranges_of(shares):
    return [TagRange(sum(shares[:n]), tags) for n, tags in enumerate(shares)]

# Tag Window ---------------------------------------------------------------------------------------

class TagWindow(LiteXModule):
    """The tags of a range in a circle: taken at the head, freed at the tail.

    `lap` changes each time round, so that what is known of a tag can be told from its last use.

    Parameters
    ----------
    plain, full : TagRange, used while `extended` is off and on.

    Attributes
    ----------
    extended    : Signal(), **in**, changes only together with `clear`, which stays a cycle longer at least.
    clear       : Signal(), **in**, to the start of the range; only while nothing is outstanding.
    take        : Signal(), **in**, the head is used; only while `free`.
    release     : Signal(), **in**, the tail is over.
    free        : Signal(), **out**.
    busy        : Signal(), **out**, something is outstanding.
    head, tail  : Signal(8), **out**, tags.
    head_lap, tail_lap : Signal(), **out**.
    outstanding : Signal(9), **out**.
    """
    def __init__(self, plain, full):
        self.extended    = Signal()
        self.clear       = Signal()
        self.take        = Signal()
        self.release     = Signal()
        self.free        = Signal()
        self.busy        = Signal()
        self.head        = Signal(TAG_BITS, reset=plain.base)
        self.tail        = Signal(TAG_BITS, reset=plain.base)
        self.head_lap    = Signal(reset=1)
        self.tail_lap    = Signal(reset=1)
        self.outstanding = Signal(9)

        # # #

        def either(with_extended, without):
            return without if with_extended == without else Mux(self.extended, with_extended, without)
        first = either(full.base, plain.base)
        final = either(full.base + full.tags - 1, plain.base + plain.tags - 1)
        size  = either(full.tags, plain.tags)
        meet  = Signal()
        wraps = Signal()  # The head is a lap ahead.
        self.comb += [
            meet.eq(self.head == self.tail),
            wraps.eq(self.head_lap != self.tail_lap),
            self.free.eq(~(meet & wraps)),
            self.busy.eq(~meet | wraps),
            self.outstanding.eq(self.head - self.tail + Mux(wraps, size, 0)),
        ]
        for strobe, tag, lap in [
            (self.take,    self.head, self.head_lap),
            (self.release, self.tail, self.tail_lap),
        ]:
            self.sync += If(self.clear,
                tag.eq(first), lap.eq(1),
            ).Elif(strobe,
                If(tag == final, tag.eq(first), lap.eq(~lap)).Else(tag.eq(tag + 1)),
            )
