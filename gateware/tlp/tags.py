#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Allocation of tags to the clients, and the tag window of each client."""

from collections import namedtuple

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import TAG_BITS, TAGS_WITH_EXTENDED, TAGS_WITHOUT_EXTENDED

# Allocation ---------------------------------------------------------------------------------------

TagRange = namedtuple("TagRange", "base tags")  # Tags `base` to `base + tags - 1`.


def allocate_tags(wanted, with_extended_tag):
    """Tags of each client: a list of (range without, range with Extended Tag Field Enable).

    While the host disables Extended Tags, the clients share 32 tags. The smallest wishes are granted in full, and the
    other clients get equal shares. Tags that remain go to the clients with the largest wishes, one each.

    Raises ValueError if the clients want more tags than exist, or if there are too many clients.
    """
    limit = TAGS_WITH_EXTENDED if with_extended_tag else TAGS_WITHOUT_EXTENDED
    if any(tags < 1 for tags in wanted):
        raise ValueError(f"a read port with {min(wanted)} tags is not supported; give it 1 or more")
    if sum(wanted) > limit:
        raise ValueError(f"the read ports want {sum(wanted)} tags in all; give them at most {limit}")
    if len(wanted) > TAGS_WITHOUT_EXTENDED:
        raise ValueError(f"{len(wanted)} read ports are too many; at most {TAGS_WITHOUT_EXTENDED} can share the tags "
            f"that the host allows without Extended Tags")
    return list(zip(ranges_of(level(wanted, TAGS_WITHOUT_EXTENDED)), ranges_of(wanted)))


def level(wanted, limit):
    """`wanted`, limited to a common maximum so that the sum is at most `limit`; the rest goes to the largest wishes."""
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
    """A range of tags used as a ring: tags are taken at the head and released at the tail, in order.

    The generation bit of head and tail toggles each time it wraps. A tag with its generation distinguishes a request
    from the previous request with the same tag.

    Parameters
    ----------
    plain : TagRange, tags in use while `extended` is 0.
    full  : TagRange, tags in use while `extended` is 1.

    Attributes
    ----------
    extended        : Signal(), **in**, Extended Tags are enabled. It may change only while `clear` is asserted, and
        `clear` stays asserted for at least one more cycle.
    clear           : Signal(), **in**, go to the start of the range; only while nothing is outstanding.
    take            : Signal(), **in**, take the tag at the head; only while `free`.
    release         : Signal(), **in**, release the tag at the tail.
    free            : Signal(), **out**, a tag is free.
    busy            : Signal(), **out**, a tag is taken.
    head            : Signal(8), **out**, the next tag to take.
    tail            : Signal(8), **out**, the oldest tag taken.
    head_generation : Signal(), **out**, generation of `head`.
    tail_generation : Signal(), **out**, generation of `tail`.
    outstanding     : Signal(9), **out**, number of tags taken.
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
        self.head_generation = Signal(reset=1)
        self.tail_generation = Signal(reset=1)
        self.outstanding = Signal(9)

        # # #

        def either(with_extended, without):
            return without if with_extended == without else Mux(self.extended, with_extended, without)
        first = either(full.base, plain.base)
        final = either(full.base + full.tags - 1, plain.base + plain.tags - 1)
        size  = either(full.tags, plain.tags)
        meet  = Signal()
        wraps = Signal()  # The head has wrapped once more than the tail.
        self.comb += [
            meet.eq(self.head == self.tail),
            wraps.eq(self.head_generation != self.tail_generation),
            self.free.eq(~(meet & wraps)),
            self.busy.eq(~meet | wraps),
            self.outstanding.eq(self.head - self.tail + Mux(wraps, size, 0)),
        ]
        for strobe, tag, generation in [
            (self.take,    self.head, self.head_generation),
            (self.release, self.tail, self.tail_generation),
        ]:
            self.sync += If(self.clear,
                tag.eq(first), generation.eq(1),
            ).Elif(strobe,
                If(tag == final, tag.eq(first), generation.eq(~generation)).Else(tag.eq(tag + 1)),
            )
