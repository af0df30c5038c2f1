#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Receives TLPs in their order and stores them until they are known to be good."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.phy.soft.lcrc import WORD, LCRCChecker

# Receiver -----------------------------------------------------------------------------------------


class Receiver(LiteXModule):
    """Checks LCRC and sequence number of received TLPs, and gives those that are good and in order.

    A TLP is stored while it comes. Its last word and LCRC decide whether it stays. The pulses come six cycles after
    the last word at the latest, and at most one of them for each TLP; a nullified TLP has none. A TLP that finds no
    room is treated as a bad one, so that a partner which ignores credits sends it again.

    Parameters
    ----------
    words         : int, a power of two; words of 16 bits in the buffer.
    sequence_bits : int, of sequence numbers. Fewer than 12 are for proofs.

    Attributes
    ----------
    data      : 16, **in**; a word, from the sequence number to the LCRC.
    valid     : 1, **in**; there is a word. Between two TLPs is at least one cycle without a word.
    first     : 1, **in**; it is the first word of a TLP.
    last      : 1, **in**; it is the last word of a TLP. Every TLP has one.
    edb       : 1, **in**; with ``last``: the TLP ended with EDB.
    damaged   : 1, **in**; with ``last``: the TLP had a wrong symbol or a wrong end.
    listen    : 1, **in**; TLPs are for us. Others are dropped.
    malformed : 1, **in**; the TLP whose ``last`` was two to six cycles ago is dropped if it is good: see `LengthCheck`.
    source    : stream of 16 bits, **out**; good TLPs, without sequence number and LCRC.
    newest    : 12, **out**; number of the last good TLP.
    accepted  : 1, **out**; a pulse: a good TLP. ``newest`` has its number in the next cycle.
    duplicate : 1, **out**; a pulse: a TLP that was received before.
    rejected  : 1, **out**; a pulse: any other TLP. A NAK is wanted.
    error     : 1, **out**; a pulse, with ``rejected``: because of its LCRC, symbols, end or length.
    overflow  : 1, **out**; a pulse, with ``rejected``: because there was no room.

    PCIe 2.1 3.5.3.1.
    """
    def __init__(self, words=2048, sequence_bits=12):
        self.data      = Signal(16)
        self.valid     = Signal()
        self.first     = Signal()
        self.last      = Signal()
        self.edb       = Signal()
        self.damaged   = Signal()
        self.listen    = Signal()
        self.malformed = Signal()
        self.source    = stream.Endpoint(WORD)
        self.newest    = Signal(sequence_bits, reset=2**sequence_bits - 1)
        self.accepted  = Signal()
        self.duplicate = Signal()
        self.rejected  = Signal()
        self.error     = Signal()
        self.overflow  = Signal()

        # # #

        self.checker   = LCRCChecker()
        # Not an attribute: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memory         = Memory(17, words)
        self.write     = memory.get_port(write_capable=True)
        self.reading   = memory.get_port(has_re=True)
        self.specials += memory, self.write, self.reading
        self.bits      = log2_int(words)
        # Addresses have one bit more than the memory needs.
        self.end       = Signal(self.bits + 1)  # Of what is stored.
        self.committed = Signal(self.bits + 1)  # Of what is good.
        self.read      = Signal(self.bits + 1)
        self.lost      = Signal()               # The TLP found no room.
        self.short     = Signal()               # The TLP is shorter than its sequence number, a header and the LCRC.
        self.add_storage()
        self.add_decision()
        self.add_output()

    def add_storage(self):
        """Stores each word two words later: then it is known not to be of the LCRC."""
        place   = Signal(2)  # Words of the TLP before this one, at most 3.
        earlier = [Signal(16, name=f"earlier{n}") for n in (1, 2)]
        store   = Signal()
        level   = Signal(self.bits + 1)
        full    = Signal()
        self.comb += [
            store.eq(self.valid & ~self.first & (place == 3) & ~full),
            self.write.adr.eq(self.end[:-1]),
            self.write.dat_w.eq(Cat(earlier[1], self.last)),
            self.write.we.eq(store),
            self.checker.data.eq(self.data),
            self.checker.valid.eq(self.valid),
            self.checker.last.eq(self.last),
        ]
        self.sync += [
            level.eq(self.end - self.read),
            # A few words before it is so: the level is late.
            full.eq(level[-1] | (level[3:-1] == 2**(self.bits - 3) - 1)),
            If(self.valid,
                earlier[0].eq(self.data),
                earlier[1].eq(earlier[0]),
                If(self.first,
                    place.eq(1),
                    self.lost.eq(0),
                ).Else(
                    If(place != 3, place.eq(place + 1)),
                    If((place == 3) & full, self.lost.eq(1)),
                ),
                self.short.eq(self.first | (place != 3)),
            ),
            If(store, self.end.eq(self.end + 1)),
        ]

    def add_decision(self):
        """Says what the TLP is, and keeps it or forgets it."""
        number, distance    = Signal.like(self.newest), Signal.like(self.newest)
        following, received = Signal(), Signal()  # It is the next one; it was received before.
        edb, damaged        = Signal(), Signal()
        checker             = self.checker
        sound, null, done   = Signal(), Signal(), Signal()
        lost, good          = Signal(), Signal()
        bits                = len(number)
        self.comb += good.eq(sound & ~lost & following)
        self.sync += [
            If(self.valid & self.first, number.eq(Cat(self.data[8:], self.data[:8])[:bits])),
            distance.eq(self.newest - number),
            following.eq(distance == 2**bits - 1),
            received.eq(~distance[-1]),
            If(self.valid & self.last,
                edb.eq(self.edb),
                damaged.eq(self.damaged),
            ),
            # What the checker says. The next TLP may begin now, and changes all that is not in a register of its own.
            lost.eq(self.lost),
            done.eq(checker.done & self.listen),
            sound.eq(checker.good & ~edb & ~damaged & ~self.short),
            null.eq(checker.nullified & edb & ~damaged),
            # What follows.
            self.accepted.eq(done & good),
            self.duplicate.eq(done & sound & received),
            self.rejected.eq(done & ~null & ~good & ~(sound & received)),
            self.error.eq(done & ~null & ~sound),
            self.overflow.eq(done & sound & lost & following),
            If(done & good,
                self.newest.eq(self.newest + 1),
                If(~self.malformed, self.committed.eq(self.end)),
            ),
            If((done & (~good | self.malformed)) | (checker.done & ~self.listen), self.end.eq(self.committed)),
        ]

    def add_output(self):
        """Reads good TLPs from the memory."""
        source, port  = self.source, self.reading
        go, available = Signal(), Signal()
        fetched       = Signal()
        first         = Signal(reset=1)
        self.comb += [
            go.eq(source.ready | ~source.valid),
            available.eq(self.read != self.committed),
            port.adr.eq(self.read[:-1]),
            port.re.eq(go),
        ]
        self.sync += If(go,
            fetched.eq(available),
            If(available, self.read.eq(self.read + 1)),
            source.valid.eq(fetched),
            source.data.eq(port.dat_r[:16]),
            source.first.eq(first),
            source.last.eq(port.dat_r[16]),
            If(fetched, first.eq(port.dat_r[16])),
        )
