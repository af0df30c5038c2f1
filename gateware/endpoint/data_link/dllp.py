#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Data link layer packets (DLLPs): receive, transmit, and which one is next."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.lcrc import crc_step
from litepcie_soc.endpoint.data_link.words import WORD

# Format -------------------------------------------------------------------------------------------

# A DLLP is a dword, the most significant byte first, and its CRC, the least significant byte first (PCIe 2.1 3.4.1).
CRC16 = 0xd008  # Polynomial, reflected.
ONES  = 0xffff

# Types: the most significant byte of the dword.
ACK, NAK     = 0x00, 0x10
ENTER_L1     = 0x20
ENTER_L23    = 0x21
REQUEST_ACK  = 0x24
VENDOR, NOP  = 0x30, 0x31

# Kinds of flow control: bits 7:6 of the type. Bits 5:4 are the type of the credits, bits 2:0 the virtual channel.
INIT1, UPDATE, INIT2          = 1, 2, 3
POSTED, NONPOSTED, COMPLETION = 0, 1, 2

# Fields of the dword.
SEQUENCE  = slice(0, 12)   # Of ACK and NAK.
DATA_FC   = slice(0, 12)   # Units of 16 bytes.
HEADER_FC = slice(14, 22)
CREDITS   = slice(28, 30)  # Of flow control: POSTED, NONPOSTED or COMPLETION.
KIND      = slice(30, 32)


# Receive ------------------------------------------------------------------------------------------


class DLLPReceiver(LiteXModule):
    """Checks and decodes received DLLPs.

    Types that are unknown, and other virtual channels than 0, are ignored: later generations have more of them.
    The pulses come three cycles after the last word. ``dword`` keeps its value for three cycles more.

    Attributes
    ----------
    data          : 16, **in**; a word of a DLLP, from its type to its CRC. The first byte is in bits 7:0.
    valid         : 1, **in**; there is a word.
    last          : 1, **in**; it is the last one of its DLLP.
    damaged       : 1, **in**; with ``last``: the DLLP had a wrong symbol or a wrong end.
    dword         : 32, **out**; the DLLP of the last pulse.
    ack, nak      : 1, **out**; a pulse: ``sequence`` is acknowledged, or is the last one before what was lost.
    sequence      : 12, **out**.
    init1, init2  : 1, **out**; a pulse: the first or second initialization of flow control.
    update        : 1, **out**; a pulse: an update of flow control.
    credits       : 2, **out**; POSTED, NONPOSTED or COMPLETION, for these three.
    header_fc     : 8, **out**; headers.
    data_fc       : 12, **out**; units of 16 bytes.
    power         : 1, **out**; a pulse: power management, types 20h to 27h.
    vendor        : 1, **out**; a pulse: a type of the vendor.
    ignored       : 1, **out**; a pulse: an unknown type, or another virtual channel.
    error         : 1, **out**; a pulse: wrong CRC, length, symbol or end. The DLLP is dropped.

    PCIe 2.1 3.4.1 and 3.5.2.2.
    """
    def __init__(self):
        self.data      = Signal(16)
        self.valid     = Signal()
        self.last      = Signal()
        self.damaged   = Signal()
        self.dword     = Signal(32)
        self.sequence  = self.dword[SEQUENCE]
        self.header_fc = self.dword[HEADER_FC]
        self.data_fc   = self.dword[DATA_FC]
        self.credits   = self.dword[CREDITS]
        self.ack       = Signal()
        self.nak       = Signal()
        self.init1     = Signal()
        self.init2     = Signal()
        self.update    = Signal()
        self.power     = Signal()
        self.vendor    = Signal()
        self.ignored   = Signal()
        self.error     = Signal()

        # # #

        received = Signal()
        words    = Array(Signal(16, name=f"word{n}") for n in range(2))
        self.add_check(words, received)
        self.add_decoder(words, received)

    def add_check(self, words, received):
        """Collects the words; ``received``: a pulse for a DLLP without an error."""
        place   = Signal(2)  # Of the next word; 3: there were too many.
        crc     = Signal(16, reset=ONES)
        ended   = Signal()
        whole   = Signal()
        matches = Signal()
        self.sync += [
            ended.eq(self.valid & self.last),
            whole.eq((place == 2) & ~self.damaged),
            matches.eq((self.data ^ crc) == ONES),
            If(self.valid,
                crc.eq(Cat(*crc_step(crc, self.data, CRC16))),
                If(place != 3, place.eq(place + 1)),
                If(place == 0, words[0].eq(self.data)),
                If(place == 1, words[1].eq(self.data)),
                If(self.last, place.eq(0), crc.eq(ONES)),
            ),
            received.eq(ended & whole & matches),
            self.error.eq(ended & ~(whole & matches)),
        ]

    def add_decoder(self, words, received):
        """Registers the type of a good DLLP."""
        kind, low = Signal(4), Signal(4)
        control   = Signal()
        self.comb += [
            low.eq(words[0][:4]),
            kind.eq(words[0][4:8]),
            # InitFC1, UpdateFC and InitFC2 have three types of credits each, and the virtual channel.
            control.eq((kind[2:] != 0) & (kind[:2] != 3) & (low == 0)),
        ]
        pulses = {
            self.ack:    (kind == ACK >> 4) & (low == 0),
            self.nak:    (kind == NAK >> 4) & (low == 0),
            self.power:  (kind == ENTER_L1 >> 4) & ~low[3],
            self.vendor: (kind == VENDOR >> 4) & (low == 0),
            self.init1:  control & (kind[2:] == INIT1),
            self.update: control & (kind[2:] == UPDATE),
            self.init2:  control & (kind[2:] == INIT2),
        }
        self.sync += [signal.eq(received & condition) for signal, condition in pulses.items()]
        self.sync += [
            self.ignored.eq(received & ~Reduce("OR", [condition for condition in pulses.values()])),
            If(received, self.dword.eq(Cat(words[1][8:], words[1][:8], words[0][8:], words[0][:8]))),
        ]

# Transmit -----------------------------------------------------------------------------------------


class DLLPTransmitter(LiteXModule):
    """Sends a dword as a DLLP: three words, without a gap.

    Attributes
    ----------
    sink   : stream of ``dword`` (32), **in**; taken with the first word. Until then it may change.
    source : stream of 16 bits, **out**.

    PCIe 2.1 3.4.1.
    """
    def __init__(self):
        self.sink   = sink   = stream.Endpoint([("dword", 32)])
        self.source = source = stream.Endpoint(WORD)

        # # #

        second, third = Signal(), Signal()
        low = Signal(16)
        crc = Signal(16, reset=ONES)
        swapped = Cat(sink.dword[24:], sink.dword[16:24], sink.dword[8:16], sink.dword[:8])
        self.comb += [
            source.valid.eq(sink.valid | second | third),
            source.first.eq(~second & ~third),
            source.last.eq(third),
            sink.ready.eq(source.ready & ~second & ~third),
            source.data.eq(swapped[:16]),
            If(second, source.data.eq(low)),
            If(third,  source.data.eq(~crc)),
        ]
        self.sync += If(source.valid & source.ready,
            second.eq(~second & ~third),
            third.eq(second),
            If(~second, low.eq(swapped[16:])),
            crc.eq(Cat(*crc_step(crc, source.data, CRC16))),
            If(third, crc.eq(ONES)),
        )

# Selector -----------------------------------------------------------------------------------------
# The DLLP to be sent next.

# What a DLLP is for, in the order of priority. TLPs come before the last one.
REASONS = FOR_NAK, FOR_ACK, FOR_INIT, FOR_UPDATE, FOR_POWER = range(5)


class DLLPSelector(LiteXModule):
    """Composes the DLLP that is to be sent next, in three steps.

    Until a DLLP is taken, a more important one replaces it, and its contents are renewed in every cycle.

    Attributes
    ----------
    requests : 5, **in**; one bit for each of REASONS.
    kind     : 2, **in**; of the initialization of flow control.
    credits  : 2, **in**; of the initialization of flow control.
    update   : 2, **in**; credits of the update of flow control.
    chosen   : 2, **out**; credits whose limits are wanted.
    header_fc, data_fc : 8 and 12, **in**; the limits, in the cycle after ``chosen``.
    newest   : 12, **in**; number of the last good TLP.
    power    : 32, **in**; DLLP of power management.
    source   : stream of ``dword`` (32) and ``late`` (TLPs come before it), **out**.
    sent     : 5, **out**; a pulse for the reason of the DLLP that is taken from ``source``.
    """
    def __init__(self):
        self.requests  = Signal(len(REASONS))
        self.kind      = Signal(2)
        self.credits   = Signal(2)
        self.update    = Signal(2)
        self.chosen    = Signal(2)
        self.header_fc = Signal(8)
        self.data_fc   = Signal(12)
        self.newest    = Signal(12)
        self.power     = Signal(32)
        self.source    = source = stream.Endpoint([("dword", 32), ("late", 1)])
        self.sent      = Signal(len(REASONS))

        # # #

        reasons = [Signal(len(REASONS), name=f"reason{step}") for step in range(3)]
        kinds   = [Signal(2, name=f"kind{step}") for step in range(2)]
        credits = Signal(2)
        taken   = Signal()
        first   = Cat(*[self.requests[n] & (self.requests[:n] == 0) if n else self.requests[0] for n in REASONS])
        self.comb += [
            taken.eq(source.valid & source.ready),
            source.valid.eq(reasons[2] != 0),
            source.late.eq(reasons[2][FOR_POWER]),
            If(taken, self.sent.eq(reasons[2])),
        ]
        self.sync += [
            reasons[0].eq(first),
            kinds[0].eq(self.kind),
            self.chosen.eq(self.credits),
            If(~self.requests[FOR_INIT],
                kinds[0].eq(UPDATE),
                self.chosen.eq(self.update),
            ),
            # The limits are looked up.
            reasons[1].eq(reasons[0]),
            kinds[1].eq(kinds[0]),
            credits.eq(self.chosen),
            # The DLLP is composed.
            reasons[2].eq(reasons[1]),
            source.dword.eq(Cat(self.data_fc, C(0, 2), self.header_fc, C(0, 6), credits, kinds[1])),
            If(reasons[1][FOR_NAK], source.dword.eq(Cat(self.newest, C(0, 12), C(NAK, 8)))),
            If(reasons[1][FOR_ACK], source.dword.eq(Cat(self.newest, C(0, 12), C(ACK, 8)))),
            If(reasons[1][FOR_POWER], source.dword.eq(self.power)),
            # What is on its way was asked for by the same request.
            If(taken, *[reason.eq(0) for reason in reasons]),
        ]
