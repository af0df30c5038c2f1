#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The pool of tags that all clients share, with a reserve for each client."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import TAG_BITS, TAGS_WITH_EXTENDED, TAGS_WITHOUT_EXTENDED

# Checks -------------------------------------------------------------------------------------------

def check_tags(tags):
    """Raises ValueError if a pool of `tags` tags is not supported."""
    if not TAGS_WITHOUT_EXTENDED <= tags <= TAGS_WITH_EXTENDED:
        raise ValueError(f"tags {tags!r} is not supported; give {TAGS_WITHOUT_EXTENDED} to {TAGS_WITH_EXTENDED}")


def check_port(tags, reserve, reserves):
    """Raises ValueError if a client that wants `tags` tags, `reserve` of them at any time, does not fit beside clients
    with `reserves`. The reserves must fit in the tags that a host without Extended Tags allows."""
    if not 1 <= tags <= TAGS_WITH_EXTENDED:
        raise ValueError(f"a read port with {tags} tags is not supported; give it 1 to {TAGS_WITH_EXTENDED}")
    if not 1 <= reserve <= tags:
        raise ValueError(f"a reserve of {reserve} tags is not supported; give 1 to {tags}")
    if sum(reserves) + reserve > TAGS_WITHOUT_EXTENDED:
        raise ValueError(f"the reserves of all read ports are {sum(reserves) + reserve} tags; give them at most "
            f"{TAGS_WITHOUT_EXTENDED}, which the host allows without Extended Tags")

# Tag Pool -----------------------------------------------------------------------------------------

class TagPool(LiteXModule):
    """Free tags, and the number of tags that each client has taken.

    A client may take a free tag while it has fewer than its reserve, or while more tags are free than the other
    clients' reserves still need. `spare` counts the tags beyond these reserves. It is negative while so many tags are
    in quarantine that the reserves cannot be kept.

    A tag with its generation distinguishes a request from the previous request with the same tag: the generation
    toggles each time a tag is taken.

    The free list is filled after reset, and again when `fill` is asserted, with the tags that may be used and are not
    in quarantine.

    Parameters
    ----------
    tags    : int, tags 0 to `tags - 1` may be used; those from 32 on only while Extended Tags are enabled.
    ports   : list of MemoryReadPort; `tags` is the most that a client may have taken, `reserve` its reserve.

    Attributes
    ----------
    extended        : Signal(), **in**, Extended Tags are enabled. It may change only with `fill`.
    fill            : Signal(), **in**, empty the free list and fill it again; only while no request is outstanding.
    may_fill        : Signal(), **in**, contexts are cleared, and no `put` is pending.
    filling         : Signal(), **out**, no tag can be taken.
    walking         : Signal(), **out**, the walk that fills the list visits tag `walk`, which is to be given as
        `visited` in the next cycle.
    walk            : Signal(), **out**, as many bits as a tag in use needs.
    visited         : Signal(8), **in**.
    visited_generation : Signal(), **in**, generation of the last request of `visited`.
    visited_late    : Signal(), **in**, tag `visited` is in quarantine.
    allowed         : Signal(ports), **out**, the client may take the next tag.
    allowed_again   : Signal(ports), **out**, the client may take the tag after the next one, when any client took that.
    empty           : Signal(), **out**, no tag is free.
    tag, generation : Signal(8), Signal(), **out**, the next tag, and the generation of its next request.
    take            : Signal(), **in**, `take_client` takes the next tag.
    retire          : Signal(), **in**, a request of `retire_client` has retired.
    put             : Record, **in**, `tag` is free; its next request has `generation`.
    outstanding     : list of Signal(), **out**, requests of each client that have not retired.
    live            : Signal(), **out**, their sum.
    """
    def __init__(self, tags, ports):
        check_tags(tags)
        clients              = len(ports)
        self.extended        = Signal()
        self.fill            = Signal()
        self.may_fill        = Signal()
        self.filling         = Signal(reset=1)
        self.walking         = Signal()
        self.walk            = Signal(bits_for(tags - 1))
        self.visited         = Signal(TAG_BITS)
        self.visited_generation = Signal()
        self.visited_late    = Signal()
        self.allowed         = Signal(clients)
        self.allowed_again   = Signal(clients)
        self.empty           = Signal()
        self.tag             = Signal(TAG_BITS)
        self.generation      = Signal()
        self.take            = Signal()
        self.take_client     = Signal(max=max(clients, 2))
        self.retire          = Signal()
        self.retire_client   = Signal(max=max(clients, 2))
        self.put             = Record([("valid", 1), ("tag", TAG_BITS), ("generation", 1)])
        self.outstanding     = [Signal(max=port.tags + 1) for port in ports]
        self.live            = Signal(max=tags + 1)

        # # #

        # Free list --------------------------------------------------------------------------------
        self.free = free = ResetInserter()(stream.SyncFIFO([("tag", len(self.walk)), ("generation", 1)],
            depth=tags, buffered=True))
        begin  = Signal()   # The walk begins in the next cycle.
        visit  = Signal()   # `visited` is valid.
        usable = Signal()   # The host allows the tag that is to enter the list.
        self.comb += [
            begin.eq(self.filling & ~self.walking & ~visit & self.may_fill),
            free.reset.eq(begin),
            self.empty.eq(free.level == 0),
            self.tag.eq(free.source.tag),
            self.generation.eq(free.source.generation),
            free.source.ready.eq(self.take),
            If(visit,
                free.sink.valid.eq(~self.visited_late & usable),
                free.sink.tag.eq(self.visited),
                free.sink.generation.eq(~self.visited_generation),
            ).Else(
                free.sink.valid.eq(self.put.valid & usable),
                free.sink.tag.eq(self.put.tag),
                free.sink.generation.eq(self.put.generation),
            ),
            usable.eq(self.extended | (free.sink.tag < TAGS_WITHOUT_EXTENDED)),
        ]
        self.sync += [
            visit.eq(self.walking),
            If(self.walking,
                self.walk.eq(self.walk + 1),
                If(self.walk == tags - 1, self.walk.eq(0), self.walking.eq(0)),
            ).Elif(begin,
                self.walking.eq(1),
            ).Elif(visit,
                self.filling.eq(0),
            ),
            If(self.fill, self.filling.eq(1)),
        ]

        # Reserves ---------------------------------------------------------------------------------
        spare = Signal((len(self.live) + 2, True))
        # A tag enters the list. It counts a cycle later, when it cannot have left the list yet.
        entered = Signal()
        used  = Signal(clients)     # The client takes a spare tag.
        kept  = Signal(clients)     # The tag that the client gives back belongs to its reserve.
        total = sum(port.reserve for port in ports)
        limit = [tags - total + port.reserve for port in ports]     # Tags that a client can reach.
        for n, (port, outstanding) in enumerate(zip(ports, self.outstanding)):
            takes   = self.take   & (self.take_client   == n)
            retires = self.retire & (self.retire_client == n)
            below   = Signal()
            bounded = port.tags < limit[n]
            room    = (outstanding != port.tags) if bounded else 1
            room_again = (outstanding < port.tags - 1) if bounded else 1
            self.comb += [
                below.eq(outstanding < port.reserve),
                self.allowed[n].eq(free.source.valid & ~self.filling & room & (below | (spare > 0))),
                self.allowed_again[n].eq((free.level > 1) & ~self.filling & room_again &
                    ((outstanding + 1 < port.reserve) | (spare > 1))),
                used[n].eq(takes & ~below),
                kept[n].eq(retires & (below | ((outstanding == port.reserve) & ~takes))),
            ]
            self.sync += outstanding.eq(outstanding + takes - retires)
        self.sync += [
            self.live.eq(self.live + self.take - self.retire),
            entered.eq(free.sink.valid & free.sink.ready),
            spare.eq(spare + entered - (used != 0) - (kept != 0)),
            If(begin, spare.eq(-total)),
        ]
