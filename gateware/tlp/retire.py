#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The end of requests: told to the clients in order, and forced when the host stays silent."""

from math import ceil

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.common.pcie import REASON_TIMEOUT
from litepcie_soc.tlp.issue import event_layout

# Retire -------------------------------------------------------------------------------------------

class Retire(LiteXModule):
    """Looks whether the oldest request of a client is over when there is a reason to, and retires it if it is.

    Reasons are the end of any request of that client, and that one was just retired. A look and the next at the
    same client are two cycles apart; `retire` is told two cycles after a look.

    Parameters
    ----------
    ports, windows : lists of MemoryReadPort and TagWindow of the same clients.
    contexts       : TagContexts.

    Attributes
    ----------
    ended, client : **in**, a request of this client is over, as `contexts.finish.write` says in the same cycle.
    """
    def __init__(self, ports, windows, contexts):
        clients     = len(ports)
        self.ended  = Signal()
        self.client = Signal(max=max(clients, 2))

        # # #

        # Choose -----------------------------------------------------------------------------------
        wanted  = Signal(clients)
        grant   = Signal.like(self.client)
        looking = Signal()
        client  = Signal.like(self.client)
        lap     = Signal()
        over    = Signal()
        look = Signal(clients)
        self.comb += [
            *[look[n].eq(wanted[n] & ~(looking & (client == n))) for n in range(clients)],
            round_robin([look[n] for n in range(clients)], client, grant),
        ]
        self.sync += [
            looking.eq(look != 0),
            client.eq(grant),
            Case(grant, {n: [contexts.retire_tag.eq(window.tail), lap.eq(window.tail_lap)]
                for n, window in enumerate(windows)}),
        ]

        # Look -------------------------------------------------------------------------------------
        self.comb += over.eq(looking & (contexts.retire_lap == lap))
        for n, window in enumerate(windows):
            self.comb += window.release.eq(over & (client == n))
            self.sync += [
                If(look[n] & (grant == n), wanted[n].eq(0)),
                If(window.release | (self.ended & (self.client == n)), wanted[n].eq(1)),
            ]

        # Tell: what ended it comes out of a block RAM ---------------------------------------------
        released = [[window.release for window in windows]]
        for _ in range(2):
            later = [Signal() for _ in windows]
            self.sync += [after.eq(before) for after, before in zip(later, released[-1])]
            released.append(later)
        for port, window, valid in zip(ports, windows, released[-1]):
            self.comb += [
                port.outstanding.eq(window.outstanding),
                port.retire.valid.eq(valid),
                port.retire.first.eq(1),
                port.retire.last.eq(1),
                port.retire.reason.eq(contexts.result.reason),
                port.retire.bytes.eq(contexts.result.bytes),
            ]

# Timeout ------------------------------------------------------------------------------------------

TICKS = 16  # Of one timeout: it ends between 16 and 17 of them.


class Timeout(LiteXModule):
    """Ends the oldest request of a client when it has been the oldest for too long.

    The time is `timeout_us` rounded down to a multiple of 16, at least 16, and up to a sixteenth more.

    Parameters
    ----------
    clk_freq : Hz, at least 1 MHz.
    windows  : list of TagWindow.

    Attributes
    ----------
    timeout_us : Signal(32), **in**, microseconds.
    hold       : Signal(), **in**, completions wait for a client: the time is not the host's.
    event      : stream of `event_layout`, **out**, `sys`; its request may have ended by itself meanwhile.
    """
    def __init__(self, clk_freq, windows):
        if clk_freq < 1e6:
            raise ValueError(f"clk_freq must be at least 1e6 (Hz), not {clk_freq!r}")
        self.timeout_us = Signal(32)
        self.hold       = Signal()
        self.event      = event = stream.Endpoint(event_layout())

        # # #

        # Ticks ------------------------------------------------------------------------------------
        cycles = ceil(clk_freq/1e6)
        cycle  = Signal(max=max(cycles, 2))
        us     = Signal(28, reset=1, reset_less=True)  # Wherever it begins, it is right after a period.
        over   = Signal()
        tick   = Signal()
        # 1 to n; a period of 0 is taken as 1. A cycle late, if a microsecond has more than one.
        compare = over.eq(us >= self.timeout_us[4:])
        if cycles > 1:
            self.sync += compare
        else:
            self.comb += compare
        self.sync += [
            tick.eq(0),
            cycle.eq(cycle + 1),
            If(cycle == cycles - 1,
                cycle.eq(0),
                us.eq(us + 1),
                If(over,
                    us.eq(1),
                    tick.eq(1),
                ),
            ),
        ]

        # A walk over the clients with each tick; the count of the oldest request is a word of a RAM ----
        walking = Signal()
        client  = Signal(max=max(len(windows), 2))
        fresh   = Signal(len(windows), reset=2**len(windows) - 1)  # The oldest was not it at the last tick.
        visit   = Signal()
        counts  = Memory(log2_int(TICKS), max(len(windows), 2))
        count   = counts.get_port(async_read=True, write_capable=True)
        self.specials += counts, count
        expires = Signal()
        now     = Signal()      # Of `fresh`.
        tag     = Signal.like(event.tag)
        lap     = Signal()
        self.comb += [
            visit.eq(walking & ~event.valid),
            Case(client, {n: [now.eq(fresh[n]), tag.eq(window.tail), lap.eq(window.tail_lap)]
                for n, window in enumerate(windows)}),
            expires.eq(visit & ~now & (count.dat_r == TICKS - 1)),
            count.adr.eq(client),
            count.we.eq(visit),
            If(~now, count.dat_w.eq(count.dat_r + 1)),
            event.reason.eq(REASON_TIMEOUT),
        ]
        self.sync += [
            If(tick & ~self.hold,
                walking.eq(1),
            ).Elif(visit & (client == len(windows) - 1),
                walking.eq(0),
            ),
            If(visit, client.eq(Mux(client == len(windows) - 1, 0, client + 1))),
            If(event.ready, event.valid.eq(0)),
            If(expires, event.valid.eq(1), event.tag.eq(tag), event.lap.eq(lap)),
            *[If(window.release | ~window.busy,
                fresh[n].eq(1),
            ).Elif(visit & (client == n),
                fresh[n].eq(0),
            ) for n, window in enumerate(windows)],
        ]
