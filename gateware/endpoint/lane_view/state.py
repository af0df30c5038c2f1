#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""State of the lane for the person at the bench: registers on the bus of the SoC, see `layout`.

They need no host: a serial port reaches them when the link does not come up.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

from litepcie_soc.endpoint.lane_view.layout import (
    LINK_WINDOW, MAGIC, REGISTERS_PAGE, SNAPSHOT_PAGE, STATE, VERSION, WORDS,
)
from litepcie_soc.endpoint.lane_view.sample import LaneSampler
from litepcie_soc.endpoint.physical.states import STATE_BITS, State
from litepcie_soc.endpoint.serdes.interface import UNDECODABLE
from litepcie_soc.phy.crossing import in_pcie

# Link Clock ---------------------------------------------------------------------------------------

CLOCK_BITS = 19  # Enough for a ``sys`` of 32 MHz.


class ClockCount(LiteXModule):
    """Counts cycles of ``pcie`` in a window of LINK_WINDOW cycles of ``sys``.

    Attributes
    ----------
    cycles : CLOCK_BITS, **out**, pcie; of the last whole window. 0: there was none.
    ended  : 1, **out**, pcie; a window ends in this cycle.
    """
    def __init__(self, window=LINK_WINDOW):
        self.cycles = Signal(CLOCK_BITS, reset_less=True)
        self.ended  = Signal()

        # # #

        left, toggle = Signal(max=window), Signal()
        self.sync   += [left.eq(left - 1), If(left == 0, left.eq(window - 1), toggle.eq(~toggle))]
        seen, before = Signal(), Signal(reset_less=True)
        count        = Signal(CLOCK_BITS, reset_less=True)
        begun        = Signal(reset_less=True)
        self.specials  += MultiReg(toggle, seen, "pcie")
        self.comb      += self.ended.eq(seen != before)
        self.sync.pcie += [
            before.eq(seen),
            count.eq(count + 1),
            If(self.ended,
                count.eq(1),
                begun.eq(1),
                If(begun, self.cycles.eq(count)),
            ),
        ]

# Receiver -----------------------------------------------------------------------------------------


class ReceiverState(LiteXModule):
    """What the SerDes says of its receiver, whatever the link makes of it.

    A lane without a usable receiver looks like one on which nobody sends. The recovered clock tells them apart: it
    stands still, wanders without lock, or has the rate of the other end.

    Parameters
    ----------
    ended      : 1, pcie; of `ClockCount`, whose window this uses.
    los, lol   : 1, asynchronous; loss of signal, loss of lock.
    per_symbol : the clock of ``pcie_rx`` has a cycle for each symbol: 250 MHz instead of 125.

    Attributes
    ----------
    clock     : CLOCK_BITS - 3, **out**, pcie; cycles of 8 ns of ``pcie_rx`` in the last window, divided by 8.
    lock_lost : 1, **out**, pcie; a pulse: the SerDes lost the lock while a signal came.
    """
    def __init__(self, ended, los, lol, per_symbol=False):
        self.clock     = Signal(CLOCK_BITS - 3, reset_less=True)
        self.lock_lost = Signal()

        # # #

        divider           = Signal(5 if per_symbol else 4, reset_less=True)
        self.sync.pcie_rx += divider.eq(divider + 1)
        toggle, no_signal = Signal(), Signal()
        no_lock           = Signal(reset=1, reset_less=True)  # The begin is no loss.
        before            = Signal(2, reset=0b10, reset_less=True)
        count             = Signal(CLOCK_BITS - 3, reset_less=True)
        self.specials += [
            MultiReg(divider[-1], toggle, "pcie"),
            MultiReg(los, no_signal, "pcie"),
            MultiReg(lol, no_lock, "pcie", reset=1),
        ]
        self.comb      += self.lock_lost.eq(no_lock & ~before[1] & ~no_signal)
        self.sync.pcie += [
            before.eq(Cat(toggle, no_lock)),
            count.eq(Mux(ended, 0, count) + (toggle ^ before[0])),
            If(ended, self.clock.eq(count)),
        ]

# Symbols ------------------------------------------------------------------------------------------


def symbol_events(valid, data, k, status):
    """Returns {name: events} of a pair of symbols, for those of COUNTERS that count in every state.

    valid, data, k : 1, 16, 2; the pair.
    status         : 6; what the SerDes reports with both symbols.
    """
    wrong = [k[half] & (data[8*half:8*half + 8] == UNDECODABLE) for half in range(2)]
    return {
        "undecodable": Mux(valid, wrong[0] + wrong[1], 0),
        **{f"status_{n}": valid & ((status[:3] == n) | (status[3:] == n)) for n in range(1, 8)},
    }

# Data Link Layer ----------------------------------------------------------------------------------


def events_of(layer):
    """Returns {name: event} of a data link layer; None has none."""
    if layer is None:
        return {}
    tlps = layer.appender.source
    return {
        "lcrc_errors":     layer.lcrc_error,
        "dllp_errors":     layer.dllp_error,
        "naks_sent":       layer.nak_sent,
        "naks_received":   layer.nak_received,
        "replays":         layer.replay,
        "replay_timeouts": layer.timeout,
        "rollovers":       layer.rollover,
        "protocol_errors": layer.protocol_error,
        "malformed_tlps":  layer.malformed,
        "duplicates":      layer.receiver.duplicate,
        "tlps_received":   layer.receiver.accepted,
        "tlps_sent":       tlps.valid & tlps.ready & tlps.last,
    }

# Registers ----------------------------------------------------------------------------------------


class LaneRegisters(LiteXModule):
    """Registers on the bus of the SoC, at REGISTERS_PAGE.

    Parameters
    ----------
    clk_freq : Hz of ``sys``.
    bringup  : of the image for bring-up, which does not believe receiver detection until it is told to.

    Registers
    ---------
    Those of ``software/user/util/litepcie_lane.h``.
    """
    def __init__(self, clk_freq, bringup=False):
        self.magic    = CSRStatus(32, reset=MAGIC, description="Reads as MAGIC_VALUE.")
        self.version  = CSRStatus(32, reset=VERSION, description="Of this map.")
        self.control  = CSRStorage(description="Requests.", fields=[
            CSRField("sample", pulse=True, description="copies all into the snapshot"),
            CSRField("clear",  pulse=True, description="clears the counters, and forgets the fewest credits"),
        ])
        self.busy     = CSRStatus(description="Requests that wait for the link's clock.", fields=[
            CSRField("sample"),
            CSRField("clear"),
        ])
        self.clock_hz = CSRStatus(32, reset=int(clk_freq), description="Clock of this bus.")
        self.locks    = CSRStatus(description="What the SerDes says.", fields=[
            CSRField("known",  description="the other bits and REFCLK_* have a meaning"),
            CSRField("refclk", description="the reference clock has 100 or 200 MHz, within 2 %"),
            CSRField("pll",    description="the transmit PLL is locked"),
            CSRField("cdr",    description="the receiver is locked, and out of its reset"),
            CSRField("signal", description="there is a signal at the receiver"),
            CSRField("measured", description="the reference clock is measured; if not, REFCLK is as PLL"),
            CSRField("pll_lol", description="by the SerDes, the transmit PLL is not locked; without effect"),
        ])
        self.refclk_hz     = CSRStatus(32, description="Reference clock for which the transmit PLL is set.")
        self.refclk_window = CSRStatus(32, description="Cycles of the reference clock in a window.")
        self.refclk_cycles = CSRStatus(32, description="Cycles of CLOCK_HZ in the last window; 0: it stands still.")
        self.ignore   = CSRStorage(description="What the SerDes says and the link does not believe.", fields=[
            CSRField("receiver", reset=int(bringup), description="receiver detection: there always is a receiver"),
        ])
        self.image = CSRStatus(description="Which image this is.", reset=int(bringup), fields=[
            CSRField("bringup", reset=int(bringup),
                description="for bring-up: it has the registers from TEST on, and no data link layer"),
        ])

# Lane State ---------------------------------------------------------------------------------------


class LaneState(LaneRegisters):
    """Registers and snapshot of an endpoint in gateware. `add_lane_state` adds them to a SoC.

    Parameters
    ----------
    link     : `Link` in ``pcie``.
    layer    : `DataLink` in ``pcie``. None: the image for bring-up, which has none.
    serdes   : `SerDesInterface` of the link.
    clk_freq : Hz of ``sys``.
    view     : `SerDesView`, for clocks, locks and status. None: they are unknown.
    """
    def __init__(self, link, layer, serdes, clk_freq, view=None):
        LaneRegisters.__init__(self, clk_freq, bringup=layer is None)

        # # #

        memory    = Memory(32, WORDS, name="snapshot")
        write     = memory.get_port(write_capable=True, clock_domain="pcie")
        self.snapshot  = memory
        self.specials += write
        self.sampler = sampler = in_pcie(LaneSampler())
        self.comb   += [write.adr.eq(sampler.address), write.dat_w.eq(sampler.data), write.we.eq(sampler.write)]
        self.add_requests(sampler)
        self.link_clock = ClockCount()
        self.receiver   = view and ReceiverState(self.link_clock.ended, view.los, view.lol, view.per_symbol)
        self.add_events(link, layer, serdes, view)
        self.add_state(link, layer, serdes, view)
        if view is not None:
            self.add_locks(view)

    def get_memories(self):
        """LiteX puts the snapshot onto the bus, to be read only."""
        return [(True, self.snapshot)]

    def add_requests(self, sampler):
        """A request is a change of a bit, which no reset of the link can lose."""
        control, busy = self.control.fields, self.busy.fields
        for name, done in (("sample", sampler.sampled), ("clear", sampler.cleared)):
            seen, asked    = Signal(), getattr(sampler, name)
            self.specials += MultiReg(done, seen)
            self.comb     += getattr(busy, name).eq(seen != asked)
            self.sync     += If(getattr(control, name) & (seen == asked), asked.eq(~asked))

    def add_events(self, link, layer, serdes, view):
        """Registers the events, so that the paths of the endpoint do not grow."""
        before = Signal(STATE_BITS)
        state  = link.ltssm.state
        events = events_of(layer) | {
            "symbol_errors":   link.symbol_error[0] + link.symbol_error[1],
            "set_errors":      link.set_error,
            "framing_errors":  link.framing_error[0] + link.framing_error[1],
            "overflows":       link.overflow,
            "recoveries":      (state == State.RECOVERY_LOCK) & (before == State.L0),
            "hot_resets":      link.hot_reset,
            "compliances":     (state == State.POLLING_COMPLIANCE) & (before != State.POLLING_COMPLIANCE),
            "loopbacks":       (state == State.LOOPBACK_ACTIVE) & (before != State.LOOPBACK_ACTIVE),
            "detections":      (state == State.DETECT_ACTIVE) & (before == State.DETECT_QUIET),
        }
        status = view.status if view is not None else Signal(6)
        events |= symbol_events(serdes.rx_valid, serdes.rx_data, serdes.rx_k, status)
        if view is not None and view.skp_removed is not None:
            # No reset changes this bit, so that a reset is no event.
            toggle, seen, last = Signal(reset_less=True), Signal(), Signal(reset_less=True)
            self.specials     += MultiReg(toggle, seen, "pcie")
            self.sync.pcie_rx += If(view.skp_removed, toggle.eq(~toggle))
            self.sync.pcie    += last.eq(seen)
            events |= {"skp_added": view.skp_added, "skp_removed": seen ^ last}
        if self.receiver is not None:
            events["lock_losses"] = self.receiver.lock_lost
        self.sync.pcie += [before.eq(state), *[self.sampler.events[name].eq(event) for name, event in events.items()]]

    def add_state(self, link, layer, serdes, view):
        """Composes the words of STATE."""
        log    = self.sampler.log
        gates  = [entrance.gate for entrance in layer.entrances] if layer is not None else []
        pools  = [pool for gate in gates for pool in (gate.header, gate.data)]
        values = {
            "ltssm":          link.ltssm.state,
            "link_up":        link.link_up,
            "dl_up":          layer.dl_up if layer is not None else 0,
            "inverted":       link.ltssm.polarity,
            "rx_idle":        serdes.rx_idle,
            "detect_done":    serdes.detect_done,
            "detect_present": serdes.detect_present,
            "no_scrambling":  link.ltssm.no_scrambling,
            "ready":          serdes.ready,
            "infinite":       Cat(*[pool.infinite for pool in pools]) if pools else 0,
            "headers":        2**8 - 1,   # No TLP needed them.
            "data":           2**12 - 1,
            "time_lo":        log.time[:32],
            "time_hi":        log.time[32:],
            "logged":         log.count,
            "link_clock":     self.link_clock.cycles,
            "missing":        view.missing if view is not None else 0,
            "clock":          self.receiver.clock if view is not None else 0,
        }
        for word, (name, fields) in zip(self.sampler.state, STATE.items()):
            if gates and name in ("posted", "nonposted", "completion"):
                gate   = gates[("posted", "nonposted", "completion").index(name)]
                values = values | {"headers": gate.header.fewest, "data": gate.data.fewest}
            self.comb += [word[low:low + bits].eq(values[field]) for field, low, bits, _ in fields]
        for gate in gates:
            for pool in (gate.header, gate.data):
                self.comb += pool.forget.eq(self.sampler.forget)
        self.comb += [
            log.state.eq(link.ltssm.state),
            log.causes["expired"].eq(link.ltssm.expired),
            log.causes["retrain"].eq(layer.retrain if layer is not None else 0),
            log.causes["overflow"].eq(link.overflow),
            log.causes["silence"].eq(link.ltssm.rx_align),
            log.causes["set"].eq(link.ltssm.view.came),
            log.causes["idle"].eq(serdes.rx_idle),
        ]

    def add_locks(self, view):
        """Shows what the SerDes says of its clocks."""
        locks = self.locks.fields
        self.comb += [
            view.ignore.eq(self.ignore.fields.receiver),
            locks.known.eq(1),
            locks.refclk.eq(view.refclk_ok),
            locks.pll.eq(view.pll),
            locks.cdr.eq(view.cdr),
            locks.signal.eq(~view.idle),
            locks.measured.eq(view.refclk_window is not None),
            locks.pll_lol.eq(view.pll_lol),
            self.refclk_hz.status.eq(view.refclk_hz),
            self.refclk_window.status.eq(view.refclk_window if view.refclk_window is not None else 0),
            self.refclk_cycles.status.eq(view.refclk_cycles),
        ]

# SoC ----------------------------------------------------------------------------------------------

SERIAL_BAUD = 115200  # Of the boards.


def add_lane_state(soc, serdes, view=None, baud=SERIAL_BAUD):
    """Adds `LaneState` to a SoC with ``pcie_phy``, a `SoftPHY`, and a serial port that reaches the bus of the SoC.

    serdes, view : as of `LaneState`.
    baud         : of the serial port, LiteX's UARTBone.
    """
    stack    = soc.pcie_phy.endpoint.stack
    soc.lane = LaneState(stack.link, stack.data_link, serdes, soc.sys_clk_freq, view)
    add_lane_port(soc, baud)
    soc.litepcie.identity.has_lane()


def add_lane_port(soc, baud):
    """Gives the registers of ``soc.lane`` their places, and a serial port to the bus."""
    soc.csr.add("lane", n=REGISTERS_PAGE)
    soc.csr.add("lane_snapshot", n=SNAPSHOT_PAGE)
    if not hasattr(soc, "uartbone"):  # LiteScope has added the same one.
        soc.add_uartbone(baudrate=baud)
