#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Retires ended requests to their clients, in the order of issue."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.tlp.context import BLOCK_RAM_DEPTH
from litepcie_soc.tlp.tags import event_layout

# Order --------------------------------------------------------------------------------------------

def rings_of(ports):
    """Ring of each client in the order RAM: a list of (base, size), and the words of the RAM.

    A ring is larger than the number of requests that its client can have outstanding, and its base is a multiple of its
    size.
    """
    sizes = [2**bits_for(port.tags) for port in ports]
    bases = [0]*len(ports)
    depth = 0
    for n in sorted(range(len(ports)), key=lambda n: -sizes[n]):
        bases[n] = depth
        depth   += sizes[n]
    return list(zip(bases, sizes)), max(depth, BLOCK_RAM_DEPTH)

# Retire -------------------------------------------------------------------------------------------

class Retire(LiteXModule):
    """Retires the oldest request of a client once it has ended.

    Requests may end in any order, but the client sees them retire in the order of issue. A block RAM holds the tags of
    each client in this order, as a ring, and `first` holds the oldest one. It is checked when any request of that
    client ended, and when it has become the oldest. While it is checked, the RAM reads the next one. Two checks of the
    same client are at least two cycles apart, except with `per_cycle`: if no other client waits, the next one is
    checked in the next cycle. `retire` is valid two cycles after the check.

    Parameters
    ----------
    ports    : list of MemoryReadPort.
    pool     : TagPool.
    contexts : TagContexts; `issue` has the request that enters.
    per_cycle : bool, one request per cycle.

    Attributes
    ----------
    entered : Signal(), **in**, the request of `contexts.issue` is outstanding from now on.
    ended   : Signal(), **in**, a request ended; asserted in the same cycle as `contexts.finish.write`.
    client  : Signal(), **in**, index of the port of that request.
    refused : Record of `valid`, `client` and `reason`, **in**, a request that ended before it got a tag.
    event   : stream of `event_layout`, **out**, a request in quarantine has retired.
    put     : Record of `valid`, `tag` and `generation`, **out**, the tag of a retired request is free.
    """
    def __init__(self, ports, pool, contexts, per_cycle=False):
        clients      = len(ports)
        issue        = contexts.issue
        self.entered = Signal()
        self.ended   = Signal()
        self.client  = Signal.like(issue.client)
        self.refused = Record([("valid", 1), ("client", len(issue.client)), ("reason", len(contexts.result.reason))])
        self.event   = event = stream.Endpoint(event_layout())
        self.put     = Record([("valid", 1), ("tag", contexts.tag_bits), ("generation", 1)])

        # # #

        rings, depth = rings_of(ports)
        tag_bits = contexts.tag_bits
        order  = Memory(tag_bits + 1, depth)
        write  = order.get_port(write_capable=True, mode=READ_FIRST)
        read   = order.get_port(mode=READ_FIRST)
        self.specials += order, write, read

        def place(base, index):
            """Address of word `index` of the ring at `base`."""
            return Cat(index, Constant(base >> len(index), max(1, bits_for(depth - 1) - len(index))))

        # Choose -----------------------------------------------------------------------------------
        wanted     = Signal(clients)    # The oldest request of each client is to be checked.
        loaded     = Signal(clients)    # `first` is valid.
        eligible   = Signal(clients)
        grant      = Signal.like(issue.client)
        checking   = Signal()           # The check of `client`.
        client     = Signal.like(issue.client)
        has_first  = Signal()
        has_next   = Signal()
        generation = Signal()
        heads      = [Signal(max=size) for _, size in rings]    # Where the next request enters.
        nexts      = [Signal(max=size) for _, size in rings]    # The request after `first`.
        firsts     = [Signal(tag_bits + 1) for _ in rings]      # Tag and generation of the oldest request.
        more       = Signal(clients)                            # The word at `next` is valid.
        again      = Signal()           # With `per_cycle`: the next request of `client` is to be checked.
        self.comb += [
            round_robin([eligible[n] for n in range(clients)], client, grant),
            Case(issue.client, {n: write.adr.eq(place(base, head))
                for n, ((base, _), head) in enumerate(zip(rings, heads))}),
            write.dat_w.eq(Cat(issue.tag, issue.generation)),
            write.we.eq(self.entered),
            Case(grant, {n: read.adr.eq(place(base, following))
                for n, ((base, _), following) in enumerate(zip(rings, nexts))}),
        ]
        self.sync += [
            checking.eq((eligible != 0) | again),
            client.eq(grant),
            Case(grant, {n: [
                Cat(contexts.retire_tag, generation).eq(firsts[n]),
                has_first.eq(loaded[n]),
                has_next.eq(more[n]),
            ] for n in range(clients)}),
            If(pool.walking, contexts.retire_tag.eq(pool.walk)),
        ]

        # Check ------------------------------------------------------------------------------------
        retired = Record([("valid", 1), ("late", 1), ("client", len(client)), ("tag", tag_bits), ("generation", 1)])
        over   = Signal()   # The request under check has ended, and retires.
        busy   = Signal()   # It has ended, but the event of an earlier one has to be accepted first.
        shift  = Signal()   # `first` is to be loaded.
        ended  = Signal()
        self.comb += [
            ended.eq(checking & has_first & (contexts.retire_generation == generation)),
            busy.eq(ended & contexts.retire_late & (event.valid | (retired.valid & retired.late))),
            over.eq(ended & ~busy),
            shift.eq(checking & (~has_first | over)),
        ]
        for n in range(clients):
            checked = Signal()
            wants   = Signal()  # `wanted`, also in the cycle in which a request ended.
            self.comb += [
                checked.eq(checking & (client == n)),
                more[n].eq(heads[n] != nexts[n]),
                wants.eq(wanted[n] | (self.ended & (self.client == n))),
                eligible[n].eq((wants | (~loaded[n] & more[n])) & ~checked),
            ]
            self.sync += [
                If(self.entered & (issue.client == n), heads[n].eq(heads[n] + 1)),
                wanted[n].eq(wants & ~(eligible[n] & (grant == n))),
                If(checked & shift,
                    loaded[n].eq(has_next),
                    firsts[n].eq(read.dat_r),
                    nexts[n].eq(nexts[n] + has_next),
                ),
                If(checked & ((shift & has_next & ~again) | busy), wanted[n].eq(1)),
            ]

        # Check the next one at once: it is at the output of the RAM, which meanwhile reads the one after it.
        if per_cycle:
            afters = [Signal.like(following) for following in nexts]
            self.comb += [
                *[after.eq(following + 1) for after, following in zip(afters, nexts)],
                again.eq(shift & has_next & (eligible == 0)),
                If(again, Case(client, {n: read.adr.eq(place(base, after))
                    for n, ((base, _), after) in enumerate(zip(rings, afters))})),
            ]
            self.sync += If(again,
                Cat(contexts.retire_tag, generation).eq(read.dat_r),
                has_first.eq(1),
                Case(client, {n: has_next.eq(head != after) for n, (head, after) in enumerate(zip(heads, afters))}),
            )

        # Give the tag back, or tell that a request in quarantine has retired ----------------------
        self.comb += [
            pool.retire.eq(retired.valid),
            pool.retire_client.eq(retired.client),
            self.put.valid.eq(retired.valid & ~retired.late),
            self.put.tag.eq(retired.tag),
            self.put.generation.eq(~retired.generation),
        ]
        self.sync += [
            retired.valid.eq(over),
            retired.late.eq(contexts.retire_late),
            retired.client.eq(client),
            retired.tag.eq(contexts.retire_tag),
            retired.generation.eq(generation),
            If(event.ready, event.valid.eq(0)),
            If(retired.valid & retired.late,
                event.valid.eq(1),
                event.tag.eq(retired.tag),
                event.generation.eq(retired.generation),
            ),
        ]

        # Report: the result comes out of a block RAM two cycles later ------------------------------
        # Nothing is outstanding when a request is refused, so it can use the same path.
        reports = [[over & (client == n) | self.refused.valid & (self.refused.client == n) for n in range(clients)]]
        refused = [self.refused]
        for _ in range(2):
            later = [Signal() for _ in ports]
            again = Record(self.refused.layout)
            self.sync += [after.eq(before) for after, before in zip(later, reports[-1])]
            self.sync += again.eq(refused[-1])
            reports.append(later)
            refused.append(again)
        reason = Signal(len(self.refused.reason))
        arrived = Signal(len(contexts.result.bytes))
        self.comb += If(refused[-1].valid,
            reason.eq(refused[-1].reason),
        ).Else(
            reason.eq(contexts.result.reason),
            arrived.eq(contexts.result.bytes),
        )
        for port, outstanding, valid in zip(ports, pool.outstanding, reports[-1]):
            self.comb += [
                port.outstanding.eq(outstanding),
                port.retire.valid.eq(valid),
                port.retire.first.eq(1),
                port.retire.last.eq(1),
                port.retire.reason.eq(reason),
                port.retire.bytes.eq(arrived),
            ]
