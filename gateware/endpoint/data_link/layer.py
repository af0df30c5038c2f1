#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Data link layer of an endpoint in gateware, between the framing of symbols and TLPs."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.dllp import (
    COMPLETION, CREDITS, FOR_ACK, FOR_INIT, FOR_NAK, FOR_POWER, FOR_UPDATE, NONPOSTED, POSTED, DLLPReceiver,
    DLLPSelector, DLLPTransmitter,
)
from litepcie_soc.endpoint.data_link.flow_control import Advertiser, CreditEntrance, FlowControlInit
from litepcie_soc.endpoint.data_link.lcrc import LCRCAppender
from litepcie_soc.endpoint.data_link.receiver import AckScheduler, LengthCheck, Receiver
from litepcie_soc.endpoint.data_link.replay import ReplayBuffer

RX_FRAME = [("data", 16), ("dllp", 1), ("edb", 1), ("error", 1)]
TX_FRAME = [("data", 16), ("dllp", 1), ("edb", 1)]

# Data Link Layer ----------------------------------------------------------------------------------


class DataLink(LiteXModule):
    """Carries TLPs over a link that loses and damages packets: LCRC, ACK and NAK, replay, flow control.

    All signals are in the clock domain of the endpoint (``pcie``, 125 MHz, two symbols per cycle), which is ``sys``
    here. Words have the first byte on the wire in bits 7:0.

    Packets begin on ``tx`` only while ``active`` is asserted, and in the two cycles after it fell. One that has begun
    has a word in every cycle to its end: without ``active``, the framing takes its words and drops them.

    Order of sending: NAK, ACK, initialization and updates of flow control, TLPs that were lost, new TLPs, power
    management.

    The types of TLPs wait for credits by themselves, and pass each other. A producer that wants the order of two
    packets of different types kept offers the second one after ``last`` of the first one was taken. When the link
    goes down, TLPs on ``sinks`` are taken and dropped, and the TLP on ``source`` is cut.

    Parameters
    ----------
    max_payload   : int, bytes; the largest MPS: 128, 256 or 512.
    posted        : (int, int), headers and units of 16 bytes that the partner may send before an update.
    nonposted     : (int, int), the same.
    receive_words : int, words of 16 bits for received TLPs. What the credits do not need is for completions.

    Attributes
    ----------
    rx         : stream of RX_FRAME, **in**; packets from the framing. It is always taken.
    tx         : stream of TX_FRAME, **out**; packets for the framing.
    link_up    : 1, **in**; LinkUp of the LTSSM. All state is lost without it.
    active     : 1, **in**; L0. It falls in Recovery.
    retrain    : 1, **out**; the link must be retrained. Falls when ``active`` falls.
    mps        : 3, **in**; Max_Payload_Size as encoded: 128 bytes shifted by the value.
    sinks      : [stream of 16 bits], **in**; TLPs by type: POSTED, NONPOSTED, COMPLETION. After the first word of a TLP
                 there is no cycle without a word.
    discard    : 1, **in**; non-posted requests are dropped, but one that is on its way to the replay buffer.
    source     : stream of 16 bits, **out**; received TLPs.
    free_ph, free_pd, free_nph, free_npd : 1, 8, 1, 1, **in**; credits of ``source`` to be given back, see `Advertiser`.
    power      : stream of ``dword`` (32), **in**; DLLPs of power management to be sent.
    quiet      : 1, **out**; there is no TLP to send, and all are acknowledged; four cycles late.
    ready      : 1, **out**; with ``quiet``: there are credits for the longest TLP of each type.
    power_seen : 1, **out**; a pulse: a DLLP of power management was received, ``dllp.dword``.
    dl_up      : 1, **out**; DL_Up: flow control is initialized.
    lcrc_error, dllp_error, nak_sent, nak_received, replay, timeout, rollover, ack_error, overflow, protocol_error,
    malformed  : 1, **out**; pulses for counters. A protocol error is an ACK or NAK with a wrong number (ack_error), or
                 a TLP for which there was no credit left (overflow). A malformed TLP is acknowledged and dropped, and
                 its credits are not given back, as its header cannot be trusted.

    PCIe 2.1 chapter 3.
    """
    def __init__(self, max_payload=256, posted=(16, 64), nonposted=(8, 8), receive_words=2048):
        if max_payload not in (128, 256, 512):
            raise ValueError(f"max_payload is 128, 256 or 512, not {max_payload!r}")
        needed = 8*(sum(posted) + sum(nonposted))
        if receive_words < needed + 512:
            raise ValueError(f"receive_words is at least {needed + 512} with these credits, not {receive_words!r}")
        if posted[1] < max_payload//16:
            raise ValueError(f"credits for posted data are at least {max_payload//16}, not {posted[1]!r}")
        self.rx         = stream.Endpoint(RX_FRAME)
        self.tx         = stream.Endpoint(TX_FRAME)
        self.link_up    = Signal()
        self.active     = Signal()
        self.mps        = Signal(3, reset=log2_int(max_payload//128))
        self.power      = stream.Endpoint([("dword", 32)])
        self.quiet      = Signal()
        self.ready      = Signal()
        self.dl_up      = Signal()
        down            = Signal(reset=1)
        self.sync      += down.eq(~self.link_up)

        # # #

        def resets(module):
            """The module, which loses its state when the link goes down."""
            module = ResetInserter()(module)
            self.comb += module.reset.eq(down)
            return module

        self.dllp       = resets(DLLPReceiver())
        self.receiver   = resets(Receiver(receive_words))
        self.length     = resets(LengthCheck())
        self.acks       = resets(AckScheduler())
        self.init       = resets(FlowControlInit())
        self.advertiser = resets(Advertiser(posted, nonposted))
        self.selector   = resets(DLLPSelector())
        self.replayer   = resets(ReplayBuffer(longest=max_payload//2 + 8))
        self.appender   = resets(LCRCAppender())
        self.sender     = resets(DLLPTransmitter())
        self.output     = resets(stream.Buffer(TX_FRAME, pipe_valid=True, pipe_ready=True))
        self.entrances  = [resets(CreditEntrance()) for _ in range(3)]
        for name, entrance in zip(("posted", "nonposted", "completion"), self.entrances):
            self.add_module(name, entrance)
        self.sinks      = [entrance.sink for entrance in self.entrances]
        self.discard    = self.entrances[NONPOSTED].discard
        self.source     = self.receiver.source
        self.retrain    = self.replayer.retrain
        for name in ("free_ph", "free_pd", "free_nph", "free_npd"):
            setattr(self, name, getattr(self.advertiser, name))
        self.add_receive()
        self.add_tlps(down)
        self.add_dllps()
        self.add_output(down)
        self.add_counters()

    def add_receive(self):
        """Gives received packets and credits to their units."""
        rx, dllp, receiver, init = self.rx, self.dllp, self.receiver, self.init
        self.comb += [
            rx.ready.eq(1),
            dllp.data.eq(rx.data),
            dllp.valid.eq(rx.valid & rx.dllp),
            dllp.last.eq(rx.last),
            dllp.damaged.eq(rx.error | rx.edb),
            receiver.data.eq(rx.data),
            receiver.valid.eq(rx.valid & ~rx.dllp),
            receiver.first.eq(rx.first),
            receiver.last.eq(rx.last),
            receiver.edb.eq(rx.edb),
            receiver.damaged.eq(rx.error),
            receiver.listen.eq(init.accept),
            receiver.malformed.eq(self.length.malformed),
            self.length.data.eq(rx.data),
            self.length.valid.eq(rx.valid & ~rx.dllp),
            self.length.first.eq(rx.first),
            self.length.last.eq(rx.last),
            self.length.mps.eq(self.mps),
            init.confirmed.eq(dllp.init2 | dllp.update | receiver.accepted),
            init.recorded.eq(Reduce("AND", [entrance.recorded for entrance in self.entrances])),
            self.dl_up.eq(init.up),
        ]
        for credits, entrance in enumerate(self.entrances):
            mine = dllp.credits == credits
            self.comb += [
                entrance.header_fc.eq(dllp.header_fc),
                entrance.data_fc.eq(dllp.data_fc),
                entrance.record.eq(init.listen & (dllp.init1 | dllp.init2) & mine),
                entrance.update.eq(init.accept & dllp.update & mine),
            ]

    def add_tlps(self, down):
        """Takes TLPs of the three types in turn."""
        replayer, appender = self.replayer, self.appender
        requests  = Cat(*[entrance.request for entrance in self.entrances])
        grant     = Signal(3)
        busy      = Signal(3)  # One TLP moves.
        previous  = Signal(2)
        self.coming = Signal()  # A TLP is on its way to the output, or may go.
        orders    = {last: [(last + step) % 3 for step in (1, 2, 3)] for last in (POSTED, NONPOSTED, COMPLETION)}
        self.comb += [
            If(replayer.room & self.init.up & (busy == 0),
                Case(previous, {last: [If(requests[order[0]], grant[order[0]].eq(1)).Elif(requests[order[1]],
                    grant[order[1]].eq(1)).Elif(requests[order[2]], grant[order[2]].eq(1))]
                    for last, order in orders.items()})
            ),
            [entrance.grant.eq(grant[n]) for n, entrance in enumerate(self.entrances)],
            [If(busy[n], entrance.source.connect(replayer.sink)) for n, entrance in enumerate(self.entrances)],
            replayer.active.eq(self.active),
            replayer.mps_128.eq(self.mps == 0),
            replayer.ack.eq(self.dllp.ack),
            replayer.nak.eq(self.dllp.nak),
            replayer.sequence.eq(self.dllp.sequence),
            replayer.source.connect(appender.sink),
        ]
        self.sync += [
            If(grant != 0, busy.eq(grant)),
            [If(grant[n], previous.eq(n)) for n in range(3)],
            self.coming.eq((requests != 0) | (busy != 0) | replayer.waiting | replayer.replaying),
            If((replayer.sink.valid & replayer.sink.last) | down, busy.eq(0)),
            self.quiet.eq(Reduce("AND", [entrance.idle for entrance in self.entrances]) & (busy == 0)
                & replayer.empty & ~self.coming),
            self.ready.eq(Reduce("AND", [entrance.ready for entrance in self.entrances])),
        ]
        for entrance in (self.entrances[POSTED], self.entrances[COMPLETION]):
            self.comb += Case(self.mps, {code: entrance.largest.eq(32 << code) for code in range(3)} | {
                "default": entrance.largest.eq(128)})

    def add_dllps(self):
        """Asks for DLLPs, and says which was sent."""
        selector, acks, init, advertiser = self.selector, self.acks, self.init, self.advertiser
        self.comb += [
            acks.accepted.eq(self.receiver.accepted),
            acks.duplicate.eq(self.receiver.duplicate),
            acks.rejected.eq(self.receiver.rejected),
            acks.mps_128.eq(self.mps == 0),
            selector.requests.eq(Cat(acks.nak_due, acks.ack_due, init.request, advertiser.due,
                self.power.valid & init.up)),
            selector.kind.eq(init.kind),
            selector.credits.eq(init.credits),
            selector.update.eq(advertiser.credits),
            selector.header_fc.eq(advertiser.header_fc),
            selector.data_fc.eq(advertiser.data_fc),
            selector.newest.eq(self.receiver.newest),
            selector.power.eq(self.power.dword),
            advertiser.chosen.eq(selector.chosen),
            advertiser.up.eq(init.up),
            [advertiser.sent[credits].eq(selector.sent[FOR_UPDATE] & (selector.source.dword[CREDITS] == credits))
                for credits in (POSTED, NONPOSTED)],
            acks.nak_sent.eq(selector.sent[FOR_NAK]),
            acks.ack_sent.eq(selector.sent[FOR_ACK]),
            init.sent.eq(selector.sent[FOR_INIT]),
            self.power.ready.eq(selector.sent[FOR_POWER]),
            self.sender.sink.dword.eq(selector.source.dword),
        ]

    def add_output(self, down):
        """Chooses between DLLPs and TLPs when a packet begins."""
        tlp, dllp, queued = self.appender.source, self.sender.source, self.selector.source
        out    = self.output.sink
        inside = Signal()   # A packet has begun.
        chosen = Signal()   # It is a DLLP.
        choice = Signal()
        go     = Signal()
        self.comb += [
            # The later words of a DLLP do not ask the selector.
            self.sender.sink.valid.eq(queued.valid & ~inside & self.active
                & ~(queued.late & (tlp.valid | self.coming))),
            choice.eq(Mux(inside, chosen, self.sender.sink.valid)),
            queued.ready.eq(self.sender.sink.ready & self.sender.sink.valid),
            go.eq(inside | self.active),
            out.valid.eq(Mux(choice, dllp.valid, tlp.valid & go)),
            dllp.ready.eq(out.ready & choice),
            tlp.ready.eq(out.ready & ~choice & go),
            [getattr(out, name).eq(Mux(choice, getattr(dllp, name), getattr(tlp, name)))
                for name in ("data", "first", "last")],
            out.dllp.eq(choice),
            self.output.source.connect(self.tx),
        ]
        self.sync += [
            If(out.valid & out.ready,
                inside.eq(~out.last),
                chosen.eq(choice),
            ),
            If(down, inside.eq(0)),
        ]

    def add_counters(self):
        """Pulses for what a person at the bench counts."""
        self.lcrc_error     = self.receiver.error
        self.dllp_error     = self.dllp.error
        self.nak_sent       = self.acks.nak_sent
        self.nak_received   = self.replayer.refused
        self.replay         = self.replayer.replay
        self.timeout        = self.replayer.timeout
        self.rollover       = self.replayer.rollover
        self.ack_error      = self.replayer.error
        self.overflow       = self.receiver.overflow
        self.protocol_error = Signal()
        self.power_seen     = self.dllp.power
        self.malformed      = Signal()
        self.comb += [
            self.protocol_error.eq(self.ack_error | self.overflow),
            self.malformed.eq(self.receiver.accepted & self.length.malformed),
        ]
