#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tags of one client: a window, used and freed in order."""

from migen import *

from litex.gen import *

from litepcie_soc.common import TAG_BITS, TAGS_WITH_EXTENDED, TAGS_WITHOUT_EXTENDED

# Allocation ---------------------------------------------------------------------------------------

def allocate_tags(wanted, with_extended_tag):
    """First tag of each client.

    The client with the most tags comes last: without Extended Tag Field Enable it alone is cut, to what is
    left below 32. Raises ValueError if that, or the tags in all, does not fit.
    """
    limit = TAGS_WITH_EXTENDED if with_extended_tag else TAGS_WITHOUT_EXTENDED
    if any(tags < 1 for tags in wanted):
        raise ValueError(f"tags of a read port must be 1 or more, not {min(wanted)}")
    if sum(wanted) > limit:
        raise ValueError(f"tags of the read ports are {sum(wanted)} in all, more than {limit}")
    order  = sorted(range(len(wanted)), key=lambda n: wanted[n])
    bases  = [0]*len(wanted)
    in_all = 0
    for n in order:
        bases[n] = in_all
        in_all  += wanted[n]
    if bases and max(bases) >= TAGS_WITHOUT_EXTENDED:
        raise ValueError(f"tags of the smaller read ports are {max(bases)}, not below {TAGS_WITHOUT_EXTENDED}")
    return bases

# Tag Window ---------------------------------------------------------------------------------------

class TagWindow(LiteXModule):
    """Tags `base` to `base + tags - 1` in a circle: taken at the head, freed at the tail.

    `lap` changes each time round, so that what is known of a tag can be told from its last use.

    Parameters
    ----------
    base, tags : int.

    Attributes
    ----------
    extended    : Signal(), **in**, tags of 32 and more may be used; changes only together with `clear`.
    clear       : Signal(), **in**, back to the start; only while nothing is outstanding.
    take        : Signal(), **in**, the head is used; only while `free`.
    release     : Signal(), **in**, the tail is over.
    free        : Signal(), **out**.
    head, tail  : Signal(8), **out**, tags.
    head_lap, tail_lap : Signal(), **out**.
    outstanding : Signal(9), **out**.
    """
    def __init__(self, base, tags):
        self.extended    = Signal()
        self.clear       = Signal()
        self.take        = Signal()
        self.release     = Signal()
        self.free        = Signal()
        self.head        = Signal(TAG_BITS, reset=base)
        self.tail        = Signal(TAG_BITS, reset=base)
        self.head_lap    = Signal(reset=1)
        self.tail_lap    = Signal(reset=1)
        self.outstanding = Signal(9)

        # # #

        end   = base + tags - 1
        final = Constant(end, TAG_BITS)
        if end >= TAGS_WITHOUT_EXTENDED:
            final = Mux(self.extended, end, TAGS_WITHOUT_EXTENDED - 1)
        size = final - base + 1 if end >= TAGS_WITHOUT_EXTENDED else tags

        self.comb += self.free.eq(self.outstanding != size)
        for strobe, tag, lap in [
            (self.take,    self.head, self.head_lap),
            (self.release, self.tail, self.tail_lap),
        ]:
            self.sync += If(self.clear,
                tag.eq(base), lap.eq(1),
            ).Elif(strobe,
                If(tag == final, tag.eq(base), lap.eq(~lap)).Else(tag.eq(tag + 1)),
            )
        self.sync += self.outstanding.eq(self.outstanding + self.take - self.release)
