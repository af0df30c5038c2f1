#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The life of a tag: the pool that all clients share, the end of late requests, and quarantine."""

from math import ceil

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import (
    REASON_BUS_MASTER, REASON_NONE, REASON_TIMEOUT, TAGS_WITHOUT_EXTENDED, TAGS_WITH_EXTENDED, TAG_BITS,
)
from litepcie_soc.tlp.context import REASON_KEPT_BITS, layout_bits, packed
from litepcie_soc.tlp.request import sent_layout

# Pool ---------------------------------------------------------------------------------------------
# The pool of tags that all clients share, with a reserve for each client.


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

# Timeout ------------------------------------------------------------------------------------------
# Ends requests that the host does not complete in time, and the quarantine of their tags.


def event_layout():
    """What `CompletionCheck` is told about a request, besides its completions.

    `generation` distinguishes the request from others with the same tag; with `any`, it is ignored. One of:

    - `end`: the request ends with `reason`. Without `free`, its completions may still come.
    - `free`: no completion of the request can come any more. Without `end`, the request has ended before.
    - neither: the request, which ended before its last completion, has retired.

    `unsent`, with `end` and `free`: the request took no room in the completion buffer.
    """
    return [("tag", TAG_BITS), ("generation", 1), ("any", 1), ("end", 1), ("free", 1), ("unsent", 1),
        ("reason", REASON_KEPT_BITS)]

TICKS         = 16    # Ticks of one timeout; a request ends after 16 to 17 of them.
SLOW_TICKS    = 8     # Slow ticks of one quarantine, which ends after 8 to 9 of them.
STAMP_BITS    = 6     # Bits of a time in ticks; several timeouts, because the walk may be late.
SLOW_BITS     = 4
QUARANTINE_US = 2**26 # Longer than 64 s, the end of the longest range of completion timeouts (PCIe 4.0 2.8, 7.5.3.15).


class Ticks(LiteXModule):
    """Time in ticks of a timeout, and in slow ticks of a quarantine.

    The timeout is `timeout_us` rounded down to a multiple of 16, at least 16, plus at most one sixteenth.

    Parameters
    ----------
    clk_freq      : float, frequency of `sys` in Hz, at least 1 MHz.
    quarantine_us : int, the shortest quarantine in microseconds; rounded up to a power of two.

    Attributes
    ----------
    timeout_us : Signal(32), **in**, microseconds.
    hold       : Signal(), **in**, time does not advance.
    now        : Signal(6), **out**, ticks, modulo 64.
    slow       : Signal(4), **out**, slow ticks, modulo 16.
    """
    def __init__(self, clk_freq, quarantine_us):
        if clk_freq < 1e6:
            raise ValueError(f"clk_freq {clk_freq!r} is too low; give 1e6 (Hz) or more")
        self.timeout_us = Signal(32)
        self.hold       = Signal()
        self.now        = Signal(STAMP_BITS)
        self.slow       = Signal(SLOW_BITS)

        # # #

        cycles = ceil(clk_freq/1e6)
        cycle  = Signal(max=max(cycles, 2))
        us     = Signal(28, reset=1, reset_less=True)  # Needs no reset: it is correct after one tick at the latest.
        over   = Signal()
        ends   = Signal()  # The last cycle of a microsecond.
        # `us` counts from 1 to timeout_us/16, or to 1 if that is 0. The comparisons are registered if a microsecond has
        # more than one cycle.
        compare = over.eq(us >= self.timeout_us[4:])
        if cycles > 1:
            self.sync += compare, ends.eq(cycle == cycles - 2)
        else:
            self.comb += compare, ends.eq(1)
        # The top bit of `slow_us` is the slow tick.
        slow_us = Signal(bits_for(max(1, ceil(quarantine_us/SLOW_TICKS) - 1)) + 1)
        self.sync += [
            cycle.eq(cycle + 1),
            slow_us[-1].eq(0),
            If(slow_us[-1] & ~self.hold, self.slow.eq(self.slow + 1)),
            If(ends,
                cycle.eq(0),
                us.eq(us + 1),
                slow_us.eq(slow_us[:-1] + 1),
                If(over,
                    us.eq(1),
                    If(~self.hold, self.now.eq(self.now + 1)),
                ),
            ),
        ]

# What the walk knows about a tag. It is not told of the end of a request: an event for a request that has ended has no
# effect.
KIND_NONE    = 0
KIND_SENT    = 1  # The PHY accepted the request at `stamp`, in ticks.
KIND_DROPPED = 2  # The request was not sent.
KIND_LATE    = 3  # The timeout of the request passed at `stamp`, in slow ticks.
WATCHED      = [("generation", 1), ("kind", 2), ("stamp", STAMP_BITS)]


class Timeout(LiteXModule):
    """Walks over all tags without end. It ends the requests whose timeout passed, and then their quarantine.

    The time of a request starts when the PHY accepted it. All requests whose time has passed end in one walk. A request
    that was not sent ends at once.

    Parameters
    ----------
    ticks : Ticks.
    tags  : int, tags 0 to `tags - 1` are visited.

    Attributes
    ----------
    sent     : Record of `sent_layout`, **in**.
    abandon  : Signal(), **in**, every request ends.
    lost     : Signal(), **in**, the link was lost: every request and every quarantine ends.
    event    : stream of `event_layout`, **out**; its request may have ended in the meantime.
    clearing : Signal(), **in**, clear tag `clear_tag`.
    walked   : Signal(), **out**, a walk ends.
    quiet    : Signal(), **out**, with `walked`: this walk found nothing to do.
    """
    def __init__(self, ticks, tags):
        self.sent      = sent = Record(sent_layout())
        self.abandon   = Signal()
        self.lost      = Signal()
        self.event     = event = stream.Endpoint(event_layout())
        self.clearing  = Signal()
        self.clear_tag = Signal(TAG_BITS)
        self.walked    = Signal()
        self.quiet     = Signal()

        # # #

        memory = Memory(layout_bits(WATCHED), tags)     # RAM of LUTs with few tags: a block RAM would be nearly empty.
        write  = memory.get_port(write_capable=True, mode=READ_FIRST)
        read   = memory.get_port(mode=READ_FIRST)
        self.specials += memory, write, read

        # Walk: the tag that is read, the tag on the RAM's output, and the tag in `word` -------------
        tags_of = [Signal(max=tags) for _ in range(3)]
        valid   = [Constant(1)] + [Signal() for _ in range(2)]
        fresh   = [Constant(0)] + [Signal() for _ in range(2)]  # The word was written after it was read.
        retry   = Signal()                                      # Go back to the tag in `word`.
        word    = Record(WATCHED)
        self.comb += read.adr.eq(tags_of[0])
        self.sync += [
            tags_of[0].eq(tags_of[0] + 1),
            If(tags_of[0] == tags - 1, tags_of[0].eq(0)),
            If(retry, tags_of[0].eq(tags_of[2])),
            word.raw_bits().eq(read.dat_r),
        ]
        for n in range(2):
            self.sync += [
                tags_of[n + 1].eq(tags_of[n]),
                valid[n + 1].eq(valid[n] & ~retry & ~self.clearing),
                fresh[n + 1].eq(fresh[n] | (sent.valid & (sent.tag == tags_of[n]))),
            ]

        # Decide -----------------------------------------------------------------------------------
        tag   = tags_of[2]
        age   = Signal(STAMP_BITS)
        aged  = Signal(SLOW_BITS)
        due   = Signal()
        found = Signal()    # The request in `word` is to end, or its quarantine.
        act   = Signal()
        is_sent, is_dropped, is_late = [word.kind == kind for kind in (KIND_SENT, KIND_DROPPED, KIND_LATE)]
        self.comb += [
            age.eq(ticks.now - word.stamp),
            aged.eq(ticks.slow - word.stamp[:SLOW_BITS]),
            Case(word.kind, {
                KIND_NONE:    due.eq(0),
                KIND_SENT:    due.eq((age > TICKS) | self.lost),
                KIND_DROPPED: due.eq(1),
                KIND_LATE:    due.eq((aged > SLOW_TICKS) | self.lost),
            }),
            found.eq(valid[2] & ~fresh[2] & (due | self.abandon)),
            retry.eq(found & (event.valid | sent.valid)),
            act.eq(found & ~retry),
            self.walked.eq(valid[2] & (tag == tags - 1) & ~found),
        ]
        self.sync += If(found | sent.valid | self.clearing,
            self.quiet.eq(0),
        ).Elif(valid[2] & (tag == tags - 1),
            self.quiet.eq(1),
        )

        # Event ------------------------------------------------------------------------------------
        # `abandon` ends requests that wait for the PHY too, of which the walk does not know yet.
        self.sync += [
            If(event.ready, event.valid.eq(0)),
            If(act,
                event.valid.eq(1),
                event.tag.eq(tag),
                event.generation.eq(word.generation),
                event.any.eq(self.abandon & ~is_dropped & ~self.lost),
                event.end.eq(~is_late | self.abandon),
                event.free.eq(is_dropped | self.lost | (is_late & ~self.abandon)),
                event.reason.eq(Mux(is_late & ~self.abandon, REASON_NONE,
                    Mux(is_sent & ~self.abandon & ~self.lost, REASON_TIMEOUT, REASON_BUS_MASTER))),
            ),
        ]

        # Write ------------------------------------------------------------------------------------
        after = Record(WATCHED)
        late  = Signal()
        self.comb += [
            If(sent.valid,
                after.generation.eq(sent.generation),
                after.kind.eq(Mux(sent.refused, KIND_NONE, Mux(sent.dropped, KIND_DROPPED, KIND_SENT))),
                after.stamp.eq(ticks.now),
            ).Else(
                late.eq((is_sent & ~self.lost) | (is_late & self.abandon & ~self.lost)),
                after.generation.eq(word.generation),
                after.kind.eq(Mux(late, KIND_LATE, KIND_NONE)),
                after.stamp.eq(Mux(is_late, word.stamp, ticks.slow)),
            ),
            write.adr.eq(Mux(self.clearing, self.clear_tag, Mux(sent.valid, sent.tag, tag))),
            write.dat_w.eq(Mux(self.clearing, 0, packed(after, WATCHED))),
            write.we.eq(self.clearing | sent.valid | act),
        ]
