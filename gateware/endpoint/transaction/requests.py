#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Sorts received TLPs: configuration requests, messages, and what is for the transaction layer."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import TYPE_COMPLETION, TYPE_MEMORY, TYPE_MESSAGE_4_3
from litepcie_soc.endpoint.data_link.receiver import payload_dwords
from litepcie_soc.endpoint.data_link.words import HEADER_BITS, WORD, HeaderWords, swapped

TYPE_CONFIG_0 = 0b00100

# Codes of messages (PCIe 2.1 2.2.8).
PME_TURN_OFF = 0x19
SLOT_POWER   = 0x50
# Taken without a trace: Unlock, those that an endpoint ignores, vendor-defined type 1.
IGNORED      = (0x00, 0x40, 0x41, 0x43, 0x44, 0x45, 0x47, 0x48, 0x7f)

# What happens to a TLP.
PASS, REFUSE, CONFIGURE, DROP = range(4)

# Requests -----------------------------------------------------------------------------------------


class RequestSorter(LiteXModule):
    """Decides by the header of each received TLP where it goes, and gives back its credits.

    - Type 0 configuration requests of function 0 go to ``config``.
    - Memory requests of BAR0, completions, and non-posted requests of every other kind go to ``source``. The completer
      there answers the last ones with Unsupported Request. It does so with a locked read, too, so a memory read that
      is not for BAR0 becomes one.
    - Memory writes that are not for BAR0, or are poisoned, are dropped, and reported.
    - Messages end here.

    Of the errors of a request, one is reported: unsupported, before poisoned (PCIe 2.1 6.2.3.2.3).

    Parameters
    ----------
    bar0_size : int, bytes, a power of two, at least 16.

    Attributes
    ----------
    sink    : stream of 16 bits, **in**; TLPs that are well-formed.
    source  : stream of 16 bits, **out**; for the transaction layer.
    config  : stream of 16 bits, **out**; configuration requests.
    bar0    : 32, **in**; base address.
    enable  : 1, **in**; BAR0 answers: Memory Space Enable, and the function is in D0.
    free_ph, free_pd, free_nph, free_npd : 1, 8, 1, 1, **out**; credits of what has left ``sink``, see `Advertiser`.
    unsupported, poisoned : 1, **out**; pulses: a non-posted request is refused.
    unsupported_posted, poisoned_posted : 1, **out**; pulses: a posted request was refused.
    header       : 128, **out**; the header of the request, see `HeaderWords`.
    whole        : 1, **out**; a pulse, in the cycle before those of errors: the header has come.
    pme_turn_off : 1, **out**; a pulse: this message came.
    power_limit  : 10, **out**; value and scale of the slot's power limit.
    take_limit   : 1, **out**; a pulse: it came, by Set_Slot_Power_Limit.
    busy         : 1, **out**; there is a TLP that has not left.

    PCIe 2.1 2.3.1 and 2.2.8.
    """
    def __init__(self, bar0_size):
        self.sink    = stream.Endpoint(WORD)
        self.source  = stream.Endpoint(WORD)
        self.config  = stream.Endpoint(WORD)
        self.bar0    = Signal(32)
        self.enable  = Signal()
        self.free_ph, self.free_pd, self.free_nph, self.free_npd = Signal(), Signal(8), Signal(), Signal()
        self.unsupported, self.unsupported_posted = Signal(), Signal()
        self.poisoned, self.poisoned_posted       = Signal(), Signal()
        self.header       = Signal(HEADER_BITS)
        self.pme_turn_off = Signal()
        self.power_limit  = Signal(10)
        self.take_limit   = Signal()

        # # #

        self.words     = stream.SyncFIFO(WORD, 16)
        self.decisions = stream.SyncFIFO([("kind", 2)], 8)
        self.busy      = self.words.source.valid
        self.comb     += self.sink.connect(self.words.sink)
        self.add_header(2**32 - bar0_size)
        self.add_decision()
        self.add_output()
        self.add_credits()

    def add_header(self, mask):
        """Looks at the words of a header as they come."""
        sink  = self.sink
        word  = swapped(sink.data)
        place = Signal(max=10)
        self.fmt_type  = Signal(8)
        self.dwords    = Signal(10)
        self.marked    = Signal()  # As poisoned.
        self.code      = Signal(8)
        self.outside   = Signal()  # Not in BAR0.
        self.other     = Signal()  # Not function 0.
        self.whole     = Signal()  # The header has come in the cycle before.
        high           = Signal(16)
        low            = Signal(16)
        wide           = self.fmt_type[5]
        taken          = Signal()
        self.collected = HeaderWords(place)
        self.comb += [
            self.collected.word.eq(sink.data),
            self.collected.take.eq(taken),
            self.header.eq(self.collected.header),
            taken.eq(sink.valid & sink.ready),
            high.eq((word ^ self.bar0[16:]) & mask >> 16),
            low.eq((word ^ self.bar0[:16]) & mask & 0xfffc),
        ]
        self.sync += [
            self.take_limit.eq(taken & (place == 8) & self.fmt_type[6] & (self.fmt_type[3:5] == TYPE_MESSAGE_4_3)
                & (self.code == SLOT_POWER) & ~self.marked),
            self.whole.eq(taken & (place == Mux(wide, 7, 5))),
            If(taken,
                place.eq(place + (place != 9)),
                If(sink.last, place.eq(0)),
                Case(place, {
                    0: [self.fmt_type.eq(sink.data[:8]), self.outside.eq(~self.enable)],
                    1: [self.dwords.eq(payload_dwords(sink.data)), self.marked.eq(sink.data[6])],
                    3: self.code.eq(sink.data[8:]),
                    4: [self.other.eq(sink.data[8:11] != 0), If(Mux(wide, word, high) != 0, self.outside.eq(1))],
                    5: If(Mux(wide, word, low) != 0, self.outside.eq(1)),
                    6: If(wide & (high != 0), self.outside.eq(1)),
                    7: If(wide & (low != 0), self.outside.eq(1)),
                    8: self.power_limit.eq(sink.data[:10]),
                }),
            ),
        ]

    def add_decision(self):
        """Decides in the cycle after the header."""
        kind, code   = self.decisions.sink.kind, self.code
        self.memory  = self.fmt_type[:5] == TYPE_MEMORY
        self.message = self.fmt_type[3:5] == TYPE_MESSAGE_4_3
        ignored      = Reduce("OR", [code == number for number in IGNORED])
        self.comb += [
            self.decisions.sink.valid.eq(self.whole),
            kind.eq(PASS),
            If(self.memory & self.outside, kind.eq(Mux(self.fmt_type[6], DROP, REFUSE))),
            If(self.memory & self.fmt_type[6] & self.marked, kind.eq(DROP)),
            If((self.fmt_type[:5] == TYPE_CONFIG_0) & ~self.other, kind.eq(CONFIGURE)),
            If(self.message, kind.eq(DROP)),
        ]
        has_data   = self.fmt_type[6]
        completion = self.fmt_type[1:5] == TYPE_COMPLETION >> 1
        limit      = (code == SLOT_POWER) & has_data
        self.sync += [
            self.unsupported_posted.eq(self.whole & Mux(self.message, ~(ignored | (code == PME_TURN_OFF) | limit),
                self.memory & self.outside & has_data)),
            self.poisoned_posted.eq(self.whole & self.marked & Mux(self.message, limit,
                self.memory & ~self.outside & has_data)),
            # What the completer answers so.
            self.unsupported.eq(self.whole & ~self.message & ~completion & (kind != CONFIGURE)
                & ~(self.memory & (has_data | ~(self.outside | self.marked)))),
            self.poisoned.eq(self.whole & self.marked & has_data & (kind == CONFIGURE)),
            self.pme_turn_off.eq(self.whole & self.message & (code == PME_TURN_OFF)),
        ]

    def add_output(self):
        """Moves a TLP when its decision is known."""
        words, decision = self.words.source, self.decisions.source
        source, config  = self.source, self.config
        self.comb += [
            words.connect(source, omit={"valid", "ready"}),
            words.connect(config, omit={"valid", "ready"}),
            If(decision.valid, Case(decision.kind, {
                CONFIGURE: [config.valid.eq(words.valid), words.ready.eq(config.ready)],
                DROP:      words.ready.eq(1),
                "default": [source.valid.eq(words.valid), words.ready.eq(source.ready)],
            })),
            If(words.first & (decision.kind == REFUSE), source.data[0].eq(1)),
            decision.ready.eq(words.valid & words.ready & words.last),
        ]

    def add_credits(self):
        """Gives back credits in the cycles after the last word. A non-posted request has at most two units of data."""
        ended, posted, nonposted = Signal(), Signal(), Signal()
        units = Signal(8)
        more  = Signal()
        self.comb += [
            posted.eq(self.message | (self.memory & self.fmt_type[6])),
            nonposted.eq(~posted & (self.fmt_type[1:5] != TYPE_COMPLETION >> 1)),
            If(self.fmt_type[6], units.eq((self.dwords + 3)[2:])),
        ]
        self.sync += [
            ended.eq(self.sink.valid & self.sink.ready & self.sink.last),
            self.free_ph.eq(ended & posted),
            self.free_pd.eq(Mux(ended & posted, units, 0)),
            self.free_nph.eq(ended & nonposted),
            self.free_npd.eq((ended & nonposted & (units != 0)) | more),
            more.eq(ended & nonposted & (units > 1)),
        ]
