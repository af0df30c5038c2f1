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

from litepcie_soc.common import REASON_TIMEOUT
from litepcie_soc.tlp.arbiter import round_robin
from litepcie_soc.tlp.issue import event_layout

# Retire -------------------------------------------------------------------------------------------

class Retire(LiteXModule):
    """Looks at the oldest request of one client a cycle, and retires it if it is over.

    A client is looked at every second cycle at most.

    Parameters
    ----------
    ports, windows : lists of MemoryReadPort and TagWindow of the same clients.
    contexts       : TagContexts.
    """
    def __init__(self, ports, windows, contexts):
        clients = len(ports)
        busy    = Signal(clients)
        grant   = Signal(max=max(clients, 2))
        looking = Signal()
        client  = Signal.like(grant)
        lap     = Signal()
        over    = Signal()

        # # #

        lap_now = Signal()
        self.comb += [
            *[busy[n].eq((window.outstanding != 0) & ~(looking & (client == n)))
                for n, window in enumerate(windows)],
            round_robin([busy[n] for n in range(clients)], client, grant),
            Case(grant, {n: [contexts.retire_tag.eq(window.tail), lap_now.eq(window.tail_lap)]
                for n, window in enumerate(windows)}),
        ]
        self.sync += [
            looking.eq((busy != 0) & ~contexts.clearing),
            client.eq(grant),
            lap.eq(lap_now),
        ]
        self.comb += over.eq(looking & (contexts.result.lap == lap))
        for n, (port, window) in enumerate(zip(ports, windows)):
            self.comb += [
                window.release.eq(over & (client == n)),
                port.outstanding.eq(window.outstanding),
                port.retire.valid.eq(window.release),
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
    event      : stream of `event_layout`, **out**, `sys`; `valid` falls when the request ends by itself.
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
        us     = Signal(28, reset=1)
        tick   = Signal()
        self.sync += [
            tick.eq(0),
            cycle.eq(cycle + 1),
            If(cycle == cycles - 1,
                cycle.eq(0),
                us.eq(us + 1),
                If(us >= self.timeout_us[4:],  # 1 to n; a period of 0 is taken as 1.
                    us.eq(1),
                    tick.eq(1),
                ),
            ),
        ]

        # Oldest requests --------------------------------------------------------------------------
        fires = Signal(len(windows))
        for n, window in enumerate(windows):
            count  = Signal(max=TICKS + 2)
            chosen = fires[n] if n == 0 else fires[n] & (fires[:n] == 0)
            self.comb += [
                fires[n].eq(count[4] & count[0]),  # TICKS + 1, where it stops.
                If(chosen, event.valid.eq(1), event.tag.eq(window.tail), event.lap.eq(window.tail_lap)),
            ]
            self.sync += If(window.release | (window.outstanding == 0) | (chosen & event.ready),
                count.eq(0)
            ).Elif(tick & ~self.hold & ~fires[n],
                count.eq(count + 1)
            )
        self.comb += event.reason.eq(REASON_TIMEOUT)
