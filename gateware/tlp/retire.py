#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Retires ended requests to their clients in order, and ends requests that the host does not complete in time."""

from math import ceil

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.common.pcie import REASON_TIMEOUT
from litepcie_soc.tlp.issue import event_layout

# Retire -------------------------------------------------------------------------------------------

class Retire(LiteXModule):
    """Retires the oldest request of a client once it has ended.

    Requests may end in any order, but the client sees them retire in the order of issue. The block therefore checks
    the oldest request of a client after any request of that client ended, and again after it retired one. Two checks
    of the same client are at least two cycles apart. `retire` is valid two cycles after the check.

    Parameters
    ----------
    ports    : list of MemoryReadPort.
    windows  : list of TagWindow, one per port.
    contexts : TagContexts.

    Attributes
    ----------
    ended  : Signal(), **in**, a request ended; asserted in the same cycle as `contexts.finish.write`.
    client : Signal(), **in**, index of the port of that request.
    """
    def __init__(self, ports, windows, contexts):
        clients     = len(ports)
        self.ended  = Signal()
        self.client = Signal(max=max(clients, 2))

        # # #

        # Choose -----------------------------------------------------------------------------------
        wanted     = Signal(clients)    # The oldest request of each client is to be checked.
        grant      = Signal.like(self.client)
        checking   = Signal()           # The check of `client`.
        client     = Signal.like(self.client)
        generation = Signal()
        over       = Signal()           # The request under check has ended.
        eligible   = Signal(clients)
        self.comb += [
            *[eligible[n].eq(wanted[n] & ~(checking & (client == n))) for n in range(clients)],
            round_robin([eligible[n] for n in range(clients)], client, grant),
        ]
        self.sync += [
            checking.eq(eligible != 0),
            client.eq(grant),
            Case(grant, {n: [contexts.retire_tag.eq(window.tail), generation.eq(window.tail_generation)]
                for n, window in enumerate(windows)}),
        ]

        # Check ------------------------------------------------------------------------------------
        self.comb += over.eq(checking & (contexts.retire_generation == generation))
        for n, window in enumerate(windows):
            self.comb += window.release.eq(over & (client == n))
            self.sync += [
                If(eligible[n] & (grant == n), wanted[n].eq(0)),
                If(window.release | (self.ended & (self.client == n)), wanted[n].eq(1)),
            ]

        # Report: the result comes out of a block RAM two cycles later -----------------------------
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

TICKS = 16  # Ticks of one timeout; a request ends after 16 to 17 of them.


class Timeout(LiteXModule):
    """Ends the oldest request of a client when it has been the oldest for too long.

    The timeout is `timeout_us` rounded down to a multiple of 16, at least 16, plus at most one sixteenth.

    Parameters
    ----------
    clk_freq : float, frequency of `sys` in Hz, at least 1 MHz.
    windows  : list of TagWindow.

    Attributes
    ----------
    timeout_us : Signal(32), **in**, microseconds.
    hold       : Signal(), **in**, completions wait for a client; this time does not count, as the host is not late.
    event      : stream of `event_layout`, **out**; its request may have ended in the meantime.
    """
    def __init__(self, clk_freq, windows):
        if clk_freq < 1e6:
            raise ValueError(f"clk_freq {clk_freq!r} is too low; give 1e6 (Hz) or more")
        self.timeout_us = Signal(32)
        self.hold       = Signal()
        self.event      = event = stream.Endpoint(event_layout())

        # # #

        # Ticks ------------------------------------------------------------------------------------
        cycles = ceil(clk_freq/1e6)
        cycle  = Signal(max=max(cycles, 2))
        us     = Signal(28, reset=1, reset_less=True)  # Needs no reset: it is correct after one tick at the latest.
        over   = Signal()
        tick   = Signal()
        # `us` counts from 1 to timeout_us/16, or to 1 if that is 0. The comparison is registered if a microsecond has
        # more than one cycle.
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

        # At each tick visit all clients; a RAM holds the ticks that the oldest request of each has seen ----
        walking = Signal()
        client  = Signal(max=max(len(windows), 2))
        fresh   = Signal(len(windows), reset=2**len(windows) - 1)  # The oldest request has not seen a tick yet.
        visit   = Signal()
        counts  = Memory(log2_int(TICKS), max(len(windows), 2))
        count   = counts.get_port(async_read=True, write_capable=True)
        self.specials += counts, count
        expires = Signal()
        first   = Signal()      # `fresh` of the client that is visited.
        tag     = Signal.like(event.tag)
        generation = Signal()
        self.comb += [
            visit.eq(walking & ~event.valid),
            Case(client, {n: [first.eq(fresh[n]), tag.eq(window.tail), generation.eq(window.tail_generation)]
                for n, window in enumerate(windows)}),
            expires.eq(visit & ~first & (count.dat_r == TICKS - 1)),
            count.adr.eq(client),
            count.we.eq(visit),
            If(~first, count.dat_w.eq(count.dat_r + 1)),
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
            If(expires, event.valid.eq(1), event.tag.eq(tag), event.generation.eq(generation)),
            *[If(window.release | ~window.busy,
                fresh[n].eq(1),
            ).Elif(visit & (client == n),
                fresh[n].eq(0),
            ) for n, window in enumerate(windows)],
        ]
