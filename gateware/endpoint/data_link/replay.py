#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Replay buffer: TLPs that were sent, until they are acknowledged."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.words import WORD

# Window -------------------------------------------------------------------------------------------
# Window of the TLPs that are sent and not acknowledged.


class AckWindow(LiteXModule):
    """Checks the numbers of received ACK and NAK DLLPs against the TLPs in flight, and moves the window.

    A number is right if it is that of a TLP in flight, or of the last one that was acknowledged. The results come
    three cycles after the DLLP. Between two DLLPs are at least four cycles, as they have eight symbols.

    Parameters
    ----------
    tlps          : int, a power of two that the number of TLPs in flight stays below.
    sequence_bits : int, of sequence numbers. Fewer than 12 are for proofs.

    Attributes
    ----------
    ack, nak  : 1, **in**; a pulse: a DLLP was received, with
    sequence  : 12, **in**; this number.
    sent      : log2(tlps) + 1, **in**; low bits of the number after that of the newest TLP that was sent once.
    oldest    : 12, **out**; number of the oldest TLP in flight, or of the next TLP if there is none.
    number    : 12, **out**; of the last DLLP, from the cycle after it.
    progress  : 1, **out**; a pulse: ``number`` and those before are acknowledged. ``oldest`` moves with it.
    refused   : 1, **out**; a pulse: a NAK with a number that is right. What is still in flight must be sent again.
    error     : 1, **out**; a pulse: the number is wrong. The DLLP has no effect.

    PCIe 2.1 3.5.2.1.
    """
    def __init__(self, tlps=64, sequence_bits=12):
        bits = log2_int(tlps)
        self.ack      = Signal()
        self.nak      = Signal()
        self.sequence = Signal(sequence_bits)
        self.sent     = Signal(bits + 1)
        self.oldest   = Signal(sequence_bits)
        self.number   = Signal(sequence_bits)
        self.progress = Signal()
        self.refused  = Signal()
        self.error    = Signal()

        # # #

        measured = Signal(2)              # A DLLP in the cycle before: ACK, NAK.
        checked  = Signal(2)
        offset   = Signal(sequence_bits)  # From the oldest TLP in flight.
        flying   = Signal(bits + 1)
        inside   = Signal()
        again    = Signal()               # It is the number that was acknowledged last.
        right    = Signal()
        # Proofs read them.
        self.measured, self.checked, self.offset = measured, checked, offset
        self.flying, self.inside, self.again = flying, inside, again
        self.comb += [
            right.eq(inside | again),
            self.progress.eq((checked != 0) & inside),
        ]
        self.sync += [
            # One subtraction.
            measured.eq(Cat(self.ack, self.nak)),
            offset.eq(self.sequence - self.oldest),
            flying.eq(self.sent - self.oldest[:bits + 1]),
            If(self.ack | self.nak, self.number.eq(self.sequence)),
            # One comparison.
            checked.eq(measured),
            inside.eq((offset[bits:] == 0) & (offset[:bits] < flying)),
            again.eq(offset == 2**sequence_bits - 1),
            # Result.
            If(self.progress, self.oldest.eq(self.number + 1)),
            self.refused.eq(checked[1] & right),
            self.error.eq((checked != 0) & ~right),
        ]

# Buffer -------------------------------------------------------------------------------------------

# Bits of the replay timer that end it, for MPS 128 and for more, in cycles of two symbols: 1024 and 2048 symbols.
# PCIe 2.1 table 3-4 has 711 for MPS 128, 1248 for 256 and 1677 for 512, each up to its double.
EXPIRES = 9, 10
REPLAYS = 3  # Replays without progress; the next one waits for a retraining of the link (REPLAY_NUM).


class ReplayBuffer(LiteXModule):
    """Stores TLPs, sends each with its sequence number, and again if it is lost.

    A TLP is sent while it is being stored, when those before were sent. One more can be stored meanwhile. A NAK, and
    a timer that no acknowledgement stops, send everything again that is not acknowledged. A TLP that is being sent is
    always sent to its end.

    Parameters
    ----------
    words         : int, a power of two; words of 16 bits in the buffer.
    longest       : int, words of the longest TLP.
    tlps          : int, a power of two that the number of stored TLPs stays below.
    sequence_bits : int, of sequence numbers.
    expires       : (int, int), as EXPIRES. Other values of the last three are for proofs.

    Attributes
    ----------
    sink      : stream of 16 bits, **in**; TLPs. After the first word of a TLP there is no cycle without a word.
    empty     : 1, **out**; no TLP is stored; two cycles late.
    room      : 1, **out**; a TLP may begin. It must be asserted when a TLP begins, or in one of the two cycles before.
    source    : stream of 16 bits, **out**; TLPs with their sequence numbers, for the LCRC.
    ack, nak, sequence : as in `AckWindow`, **in**.
    active    : 1, **in**; the link is in L0. Without it the timer stands still.
    mps_128   : 1, **in**; MPS is 128.
    retrain   : 1, **out**; the link must be retrained. Nothing is sent until ``active`` falls.
    replay    : 1, **out**; a pulse: TLPs are sent again.
    timeout   : 1, **out**; a pulse: because of the timer.
    rollover  : 1, **out**; a pulse: REPLAYS brought no progress, and the link is to be retrained.
    refused   : 1, **out**; a pulse: there was a right NAK.
    error     : 1, **out**; a pulse: there was an ACK or NAK with a wrong number.

    PCIe 2.1 3.5.2.1.
    """
    def __init__(self, words=2048, longest=136, tlps=64, sequence_bits=12, expires=EXPIRES):
        self.sink     = stream.Endpoint(WORD)
        self.source   = stream.Endpoint(WORD)
        self.window   = window = AckWindow(tlps, sequence_bits)
        self.ack      = window.ack
        self.nak      = window.nak
        self.sequence = window.sequence
        self.refused  = window.refused
        self.error    = window.error
        self.empty    = Signal()
        self.room     = Signal()
        self.active   = Signal()
        self.mps_128  = Signal()
        self.retrain  = Signal()
        self.replay   = Signal()
        self.timeout  = Signal()
        self.rollover = Signal()

        # # #

        self.index_bits  = log2_int(tlps) + 1
        self.address_bits = log2_int(words)
        # Not an attribute: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memory           = Memory(17, words)
        self.reading     = memory.get_port(has_re=True)
        self.write       = memory.get_port(write_capable=True)
        self.specials   += memory, self.reading, self.write
        # Low bits of sequence numbers: of the next TLP to store, and after the newest that was sent once.
        self.next_index  = Signal(self.index_bits)
        self.sent_index  = window.sent
        # Sequence number and address of the next TLP to send, or of the one that is being sent.
        self.read        = Signal(sequence_bits)
        self.address     = Signal(self.address_bits)
        self.freed       = Signal(self.address_bits)  # Address of the oldest TLP in flight.
        self.open        = Signal()  # A TLP is being stored, and has its first word.
        self.waiting     = Signal()  # A TLP is stored, and was not begun to be sent.
        self.replaying   = Signal()
        self.first_time  = Signal()  # The TLP at `read` was never sent.
        self.begin       = Signal()  # Send the next TLP now.
        self.end         = Signal()  # The last word of a TLP is being taken from the memory.
        self.again       = Signal()  # There is a reason to send again.
        self.comb += self.first_time.eq(self.read[:self.index_bits] == self.sent_index)
        self.add_writer(words, longest, tlps)
        self.add_reader()
        self.add_replay()
        self.add_timer(*expires)

    def add_writer(self, words, longest, tlps):
        """Stores TLPs, with the address after the end of each, and says when there is room for one more."""
        sink, write = self.sink, self.write
        ends   = Memory(self.address_bits, tlps)
        end    = ends.get_port(write_capable=True)
        freed  = ends.get_port(async_read=True)
        self.specials += ends, end, freed
        self.write_address = address = Signal(self.address_bits)
        following = Signal(self.address_bits)
        after     = Signal(self.address_bits)  # End of the newest TLP that is acknowledged.
        used      = Signal(self.address_bits)
        stored    = Signal(self.index_bits)
        # Up to four words are stored that `used` does not hold yet. A multiple of few bits is a small comparison.
        step      = max(1, words//32)
        most      = (words - longest - 4)//step*step
        self.comb += [
            sink.ready.eq(1),
            write.adr.eq(address),
            write.we.eq(sink.valid),
            write.dat_w.eq(Cat(sink.data, sink.last)),
            following.eq(address + 1),
            end.adr.eq(self.next_index[:-1]),
            end.dat_w.eq(following),
            end.we.eq(sink.valid & sink.last),
            freed.adr.eq(self.window.number[:log2_int(tlps)]),
        ]
        self.sync += [
            If(sink.valid,
                address.eq(following),
                self.open.eq(~sink.last),
                If(sink.last, self.next_index.eq(self.next_index + 1)),
            ),
            If(self.begin & self.first_time, self.waiting.eq(0)),
            If(sink.valid & sink.first, self.waiting.eq(1)),
            after.eq(freed.dat_r),
            If(self.window.progress, self.freed.eq(after)),
            used.eq(address - self.freed),
            stored.eq(self.next_index - self.window.oldest[:self.index_bits]),
            self.empty.eq((stored == 0) & ~self.open & ~self.waiting),
            self.replaying.eq(~self.first_time),
            self.room.eq(~self.waiting & ~self.open & ~sink.valid & ~self.replaying & (used < most)
                & (stored < tlps - 2)),
        ]

    def add_reader(self):
        """Sends the TLPs from `read` on."""
        source, port = self.source, self.reading
        running, go  = Signal(), Signal()
        last         = port.dat_r[16]
        number       = Signal(16)
        self.behind  = behind = Signal()  # The next TLP is acknowledged already.
        self.back    = Signal()           # Send from the oldest TLP in flight on.
        self.comb += [
            go.eq(source.ready | ~source.valid),
            self.begin.eq(go & ~running & ~self.again & ~behind & ~self.retrain
                & (self.open | (self.read[:self.index_bits] != self.next_index))),
            self.end.eq(go & running & last),
            self.back.eq(~running & (self.again | behind)),
            port.adr.eq(self.address),
            port.re.eq(go),
            number.eq(self.read),
        ]
        self.sync += [
            behind.eq(Cat(self.read[:self.index_bits] - self.window.oldest[:self.index_bits])[self.index_bits - 1]),
            If(go,
                source.valid.eq(self.begin | running),
                source.first.eq(self.begin),
                source.last.eq(running & last),
                source.data.eq(port.dat_r[:16]),
                # The most significant byte goes first.
                If(~running, source.data.eq(Cat(number[8:], number[:8]))),
            ),
            If(self.begin, running.eq(1)),
            If(self.begin | (go & running & ~last), self.address.eq(self.address + 1)),
            If(self.end,
                running.eq(0),
                self.read.eq(self.read + 1),
                If(self.first_time, self.sent_index.eq(self.sent_index + 1)),
            ),
            If(self.back,
                self.read.eq(self.window.oldest),
                self.address.eq(self.freed),
            ),
        ]

    def add_replay(self):
        """Begins replays, and counts those without progress."""
        count    = Signal(max=REPLAYS + 1)
        self.flying = Signal()
        self.comb += [
            self.flying.eq(self.sent_index != self.window.oldest[:self.index_bits]),
            self.replay.eq(self.back & self.again & self.flying),
            self.rollover.eq(self.replay & (count == REPLAYS)),
        ]
        self.sync += [
            If(self.back, self.again.eq(0)),
            If(self.refused | self.timeout, self.again.eq(1)),
            If(~self.active, self.retrain.eq(0)),
            If(self.replay,
                count.eq(count + 1),
                If(self.rollover,
                    count.eq(0),
                    self.retrain.eq(self.active),
                )
            ),
            If(self.window.progress, count.eq(0)),
        ]

    def add_timer(self, short, long):
        """Counts cycles without progress while TLPs are in flight."""
        timer   = Signal(long + 1)
        started = Signal()
        self.sync += [
            self.timeout.eq(0),
            If(self.active & started, timer.eq(timer + 1)),
            If(self.end, started.eq(1)),
            If(timer[long] | (self.mps_128 & timer[short]),
                self.timeout.eq(1),
                timer.eq(0),
                started.eq(0),
            ),
            If(self.replay | self.refused,
                timer.eq(0),
                started.eq(0),
            ),
            If(~self.flying | self.window.progress,
                timer.eq(0),
            ),
        ]
