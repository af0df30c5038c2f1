#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Physical layer of an endpoint in gateware, between a SerDes and the data link layer."""

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.physical.compliance import CompliancePattern, Loopback, PatternLock
from litepcie_soc.endpoint.physical.framing import FrameReceiver, FrameTransmitter
from litepcie_soc.endpoint.physical.ltssm import LTSSM
from litepcie_soc.endpoint.physical.ordered_sets import SetReceiver, SetTransmitter
from litepcie_soc.endpoint.physical.scrambler import Descrambler, Scrambler

# Link ---------------------------------------------------------------------------------------------


class Link(LiteXModule):
    """Trains the lane, and carries packets over it.

    All signals are in the clock domain of the endpoint (``pcie``, 125 MHz, two symbols per cycle), which is ``sys``
    here.

    Parameters
    ----------
    serdes   : `SerDesInterface`.
    clk_freq : Hz; another value than 125e6 only if the SerDes has another rate.

    Attributes
    ----------
    source    : stream of `framing.RX_FRAME`, **out**; received packets, always taken.
    sink      : stream of `framing.TX_FRAME`, **in**; packets to be sent. One that has begun has a word in every cycle.
    link_up   : 1, **out**; LinkUp.
    active    : 1, **out**; L0. Packets that are given without it are dropped.
    hot_reset : 1, **out**; a pulse: everything above is to be reset.
    retrain   : 1, **in**; the data link layer wants Recovery. Held until ``active`` falls.
    alive     : 1, **in**; a pulse: an update of flow control was received.
    ltssm     : `LTSSM`, for its ``state``.
    symbol_error, set_error, framing_error, overflow : 2, 1, 2, 1, **out**; pulses for counters: symbols with a wrong
                code while the link is up and awake, damaged training sets, malformed packets, symbols that the elastic
                buffer lost.
    """
    def __init__(self, serdes, clk_freq=125e6):
        self.descrambler = descrambler = Descrambler()
        self.frames_in   = frames_in   = FrameReceiver()
        self.sets_in     = sets_in     = SetReceiver()
        self.ltssm       = ltssm       = LTSSM(clk_freq)
        self.sets_out    = sets_out    = SetTransmitter()
        self.frames_out  = frames_out  = FrameTransmitter()
        self.scrambler   = scrambler   = Scrambler()
        self.source      = frames_in.source
        self.sink        = frames_out.sink
        self.link_up     = ltssm.link_up
        self.active      = ltssm.active
        self.hot_reset   = ltssm.hot_reset
        self.retrain     = Signal()
        self.alive       = ltssm.alive
        self.symbol_error  = Signal(2)
        self.set_error     = sets_in.damaged
        self.framing_error = frames_in.malformed
        self.overflow      = serdes.rx_overflow

        # # #

        # Receive ----------------------------------------------------------------------------------
        self.comb += [
            descrambler.valid.eq(serdes.rx_valid),
            descrambler.data.eq(serdes.rx_data),
            descrambler.k.eq(serdes.rx_k),
            descrambler.error.eq(serdes.rx_error),
            descrambler.off.eq(ltssm.no_scrambling),
            frames_in.listen.eq(ltssm.listen),
            self.symbol_error.eq(Mux(serdes.rx_valid & self.link_up & ~ltssm.asleep, serdes.rx_error, 0)),
        ]
        for unit in (frames_in, sets_in):
            self.comb += [
                unit.valid.eq(descrambler.out_valid),
                unit.data.eq(descrambler.out_data),
                unit.k.eq(descrambler.out_k),
                unit.error.eq(descrambler.out_error),
            ]

        # Training ---------------------------------------------------------------------------------
        self.comb += [
            ltssm.ready.eq(serdes.ready),
            ltssm.rx_idle.eq(serdes.rx_idle),
            ltssm.detect_done.eq(serdes.detect_done),
            ltssm.detect_present.eq(serdes.detect_present),
            serdes.detect.eq(ltssm.detect),
            serdes.polarity.eq(ltssm.polarity),
            serdes.rx_align.eq(ltssm.rx_align),
            serdes.rx_strict.eq(self.link_up),
            [getattr(ltssm, name).eq(getattr(sets_in, name))
                for name in ("ts", "ts2", "inverted", "in_a_row", "idle", "skp", "eios")],
            ltssm.received.eq(sets_in.fields),
            sets_in.clear.eq(ltssm.clear),
            [getattr(ltssm, name).eq(getattr(sets_out, name)) for name in ("ts_sent", "eios_sent", "idle_sent")],
            ltssm.retrain.eq(self.retrain | serdes.rx_overflow),
        ]

        # Transmit ---------------------------------------------------------------------------------
        idle = Signal(4, reset=0b1111)  # Electrical idle, as long as the scrambler takes.
        self.comb += [
            frames_out.active.eq(ltssm.active),
            frames_out.hold.eq(sets_out.hold),
            sets_out.send.eq(ltssm.send),
            sets_out.fields.eq(ltssm.sent_fields),
            sets_out.packet.eq(frames_out.valid),
            sets_out.packet_data.eq(frames_out.data),
            sets_out.packet_k.eq(frames_out.k),
            scrambler.valid.eq(1),
            scrambler.data.eq(sets_out.data),
            scrambler.k.eq(sets_out.k),
            scrambler.plain.eq(sets_out.plain),
            scrambler.off.eq(ltssm.no_scrambling),
        ]
        self.sync += idle.eq(Cat(sets_out.idle, idle[:2]))
        self.add_tests(serdes, idle[2:])

    def add_tests(self, serdes, idle):
        """Compliance and Loopback instead of what the scrambler gives, as many cycles after the state changed."""
        ltssm, scrambler, aligner = self.ltssm, self.scrambler, self.sets_in.aligner
        self.pattern  = pattern  = CompliancePattern()
        self.lock     = lock     = PatternLock()
        self.loopback = loopback = Loopback()
        begun, now    = Signal(2), Signal(2)
        test          = Signal()
        self.sync    += [begun.eq(Cat(ltssm.compliance, ltssm.loopback)), now.eq(begun), test.eq(now != 0)]
        self.comb    += [
            Cat(pattern.enable, loopback.enable).eq(now),
            pattern.modified.eq(ltssm.modified),
            pattern.status.eq(lock.status),
            lock.enable.eq(ltssm.compliance),
            [getattr(lock, name).eq(getattr(aligner, f"out_{name}")) for name in ("valid", "data", "k", "error")],
            [getattr(loopback, name).eq(getattr(serdes, f"rx_{name}")) for name in ("valid", "data", "k", "error")],
            serdes.tx_data.eq(Mux(test, pattern.data | loopback.data_out, scrambler.out_data)),
            serdes.tx_k.eq(Mux(test, pattern.k | loopback.k_out, scrambler.out_k)),
            serdes.tx_idle.eq(Mux(test, 0, idle)),
            serdes.tx_negative.eq(pattern.negative),
        ]
