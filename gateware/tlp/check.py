#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completions of the host held against what was asked for."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import (
    COMPLETION_CA, COMPLETION_SC, LENGTH_BITS, REASON_BAD_LENGTH, REASON_COMPLETER_ABORT, REASON_NONE,
    REASON_POISONED, REASON_TIMEOUT, REASON_UNSUPPORTED_REQUEST, TAG_BITS, has_data, word_bits,
)
from litepcie_soc.tlp.context import COST_BITS, PROGRESS, REASON_KEPT_BITS
from litepcie_soc.tlp.issue import event_layout
from litepcie_soc.tlp.parser import tlp_layout

# Layouts ------------------------------------------------------------------------------------------

def beats_layout(data_width):
    """Beats of completions; a completion without data is one beat."""
    return stream.EndpointDescription([("dat", data_width)])


def entry_layout(data_width, client_bits):
    """What is to be done: for every completion, and for every request that ends without one."""
    return [
        ("beats",       1),                     # A completion: it has beats,
        ("good",        1),                     # which go to their place; else they are dropped.
        ("client",      client_bits),
        ("destination", 32),                    # Of its first byte.
        ("lower",       2),                     # Host byte address within a dword.
        ("chunk",       word_bits(data_width)), # Bytes, modulo those of a beat.
        ("done",        1),                     # Its request is over with it:
        ("tag",         TAG_BITS),
        ("lap",         1),
        ("reason",      REASON_KEPT_BITS),
        ("bytes",       LENGTH_BITS),           # Landed without a gap.
        ("cost",        COST_BITS),
    ]

# Completion Check ---------------------------------------------------------------------------------

class CompletionCheck(LiteXModule):
    """Looks up the tag of a completion, checks it, updates its progress; a beat a cycle, a completion in two.

    Beats go past the check; four cycles after the first of them comes the entry that says what to do with them. The
    steps between never wait: nothing is taken unless there is room for its entry.

    Dropped are completions for a tag that is not in use (unexpected) and the data of bad ones. A request is over with
    an error status (PCIe 4.0 2.2.9), with an event (timeout), or with its last byte. A poisoned completion, and one
    whose byte count, lower address or length is not what remains (bad length), leaves its request open until what
    remains came or the timeout, so that nothing of it is taken for another request's; it ends with that reason.

    Attributes
    ----------
    sink   : stream of `tlp_layout`, **in**, `sys`: completions.
    event  : stream of `event_layout`, **in**, `sys`: ends a request between completions.
    beats  : stream of `beats_layout`, **out**, `sys`.
    entry  : Record: `valid`, and `entry_layout`, **out**, one cycle each.
    room   : Signal(), **in**, for four entries: those on their way, and one more.
    error  : Record of strobes, **out**: `unsupported_request`, `completer_abort`, `poisoned`, `unexpected`,
        `timeout`, `bad_length`.
    """
    def __init__(self, data_width, contexts, tags):
        client_bits = len(contexts.context.client)
        self.sink   = stream.Endpoint(tlp_layout(data_width))
        self.event  = stream.Endpoint(event_layout())
        self.beats  = stream.Endpoint(beats_layout(data_width))
        self.entry  = Record([("valid", 1)] + entry_layout(data_width, client_bits))
        self.room   = Signal()
        self.error  = Record([(name, 1) for name in (
            "unsupported_request", "completer_abort", "poisoned", "unexpected", "timeout", "bad_length")])

        # # #

        looked  = Record(self.looked_layout())
        read    = Record(self.read_layout())
        found   = Record(self.found_layout(client_bits))
        updated = Record(PROGRESS)      # By the latest: not yet in what was read.
        self.add_lookup(looked, read, found, contexts, tags)
        self.add_read(looked, read, found)
        self.add_compare(read, found, updated, contexts)
        self.add_decision(found, updated, contexts)

    # Lookup: header fields, and the RAMs' address -------------------------------------------------

    @staticmethod
    def looked_layout():
        return [
            ("valid", 1), ("tag", TAG_BITS), ("in_range", 1), ("again", 1), ("event", 1), ("lap", 1),
            ("reason", REASON_KEPT_BITS), ("poisoned", 1), ("has_data", 1), ("available", LENGTH_BITS),
            ("byte_count", LENGTH_BITS), ("lower", 7),
        ]

    def add_lookup(self, looked, read, found, contexts, tags):
        sink, event = self.sink, self.event
        inside = Signal()   # In a completion: no place for an event.
        choose = Signal()   # An event goes in.
        may    = Signal()   # A lookup every second cycle, so that the one before the latest shows in the RAMs.
        take   = Signal()   # A beat goes.
        tag    = Signal(TAG_BITS)
        latest = Signal(TAG_BITS)
        status = sink.dw1[13:16]
        self.comb += [
            choose.eq(event.valid & ~inside),
            may.eq(self.room & ~looked.valid & ~contexts.clearing),
            take.eq(~choose & (~sink.first | may)),
            self.beats.valid.eq(sink.valid & take),
            self.beats.first.eq(sink.first),
            self.beats.last.eq(sink.last),
            self.beats.dat.eq(sink.dat),
            sink.ready.eq(self.beats.ready & take),
            event.ready.eq(choose & may),
            tag.eq(Mux(choose, event.tag, sink.dw2[8:16])),
            contexts.lookup_tag.eq(tag),
        ]
        reason = Signal(REASON_KEPT_BITS)
        # A status that is reserved, or for configuration requests only, counts as UR (PCIe 4.0 2.3.2).
        self.comb += If(choose,
            reason.eq(event.reason)
        ).Else(
            Case(status, {
                COMPLETION_SC: reason.eq(REASON_NONE),
                COMPLETION_CA: reason.eq(REASON_COMPLETER_ABORT),
                "default":     reason.eq(REASON_UNSUPPORTED_REQUEST),
            })
        )
        dwords = Cat(sink.dw0[:10], sink.dw0[:10] == 0)
        self.sync += [
            If(sink.valid & sink.ready, inside.eq(~sink.last)),
            If(looked.valid, latest.eq(looked.tag)),
            looked.valid.eq(event.ready | (sink.valid & sink.ready & sink.first)),
            looked.tag.eq(tag),
            looked.in_range.eq(tag < tags),
            # Of the same tag as the latest lookup, two or three cycles ago, whose update the RAMs do not show.
            looked.again.eq((tag == latest) & (read.valid | found.valid)),
            looked.event.eq(choose),
            looked.lap.eq(event.lap),
            looked.reason.eq(reason),
            looked.poisoned.eq(sink.dw0[14]),
            looked.has_data.eq(has_data(sink.dw0)),
            looked.available.eq(Cat(Constant(0, 2), dwords) - sink.dw2[:2]),
            looked.byte_count.eq(Cat(sink.dw1[:12], sink.dw1[:12] == 0)),
            looked.lower.eq(sink.dw2[:7]),
        ]

    # Read: the RAMs answer; what came with what its header says -----------------------------------

    def read_layout(self):
        return [(name, bits) for name, bits in self.looked_layout() if name != "available"] + [
            ("exact", 1), ("final", 1), ("chunk", LENGTH_BITS), ("rest", LENGTH_BITS)]

    def add_read(self, looked, read, found):
        past  = Signal(LENGTH_BITS + 1)  # Bytes behind the end, modulo 2**14: up to 3 with the last dword.
        final = Signal()
        live  = Signal()    # The latest before this one was.
        self.sync += If(found.valid, live.eq(found.live))
        self.comb += [
            past.eq(looked.available - looked.byte_count),
            final.eq(~past[-1]),
        ]
        self.sync += [
            *[getattr(read, name).eq(getattr(looked, name))
                for name, _ in self.looked_layout() if name not in ("available", "again")],
            read.again.eq(looked.again & Mux(found.valid, found.live, live)),
            read.exact.eq(past[2:] == 0),
            read.final.eq(final),
            read.chunk.eq(Mux(final, looked.byte_count, looked.available)),
            read.rest.eq(looked.byte_count - looked.available),
        ]

    # Compare: with what is left -------------------------------------------------------------------

    @staticmethod
    def found_layout(client_bits):
        return [
            ("valid", 1), ("tag", TAG_BITS), ("live", 1), ("event", 1), ("reason", REASON_KEPT_BITS),
            ("poisoned", 1), ("match", 1), ("exact", 1), ("final", 1), ("chunk", LENGTH_BITS),
            ("rest", LENGTH_BITS), ("left", LENGTH_BITS),
            ("prior", REASON_KEPT_BITS), ("landed", LENGTH_BITS), ("length", LENGTH_BITS), ("lower", 2),
            ("client", client_bits), ("destination", 32), ("lap", 1), ("cost", COST_BITS),
        ]

    def add_compare(self, read, found, updated, contexts):
        context  = contexts.context
        progress = Record(PROGRESS)
        lower    = Signal(7)
        self.comb += [
            If(read.again,
                *[getattr(progress, name).eq(getattr(updated, name)) for name, _ in PROGRESS]
            ).Else(
                *[getattr(progress, name).eq(getattr(contexts.progress, name)) for name, _ in PROGRESS]
            ),
            lower.eq(context.lower_end - read.byte_count),
        ]
        self.sync += [
            *[getattr(found, name).eq(getattr(read, name)) for name in (
                "valid", "tag", "event", "reason", "poisoned", "lower", "exact", "final", "chunk", "rest")],
            found.live.eq(read.in_range & (progress.left != 0) & ~(read.event & (read.lap != context.lap))),
            found.match.eq(read.has_data & (read.byte_count == progress.left) & (read.lower == lower)),
            found.left.eq(progress.left),
            found.prior.eq(progress.reason),
            found.landed.eq(Mux(progress.reason != REASON_NONE, progress.landed, context.length - progress.left)),
            found.length.eq(context.length),
            found.client.eq(context.client),
            found.destination.eq(context.end - read.byte_count),
            found.lap.eq(context.lap),
            found.cost.eq(context.cost),
        ]

    # Decision -------------------------------------------------------------------------------------

    def add_decision(self, found, updated, contexts):
        update, error = contexts.update, self.error
        entry    = Record(self.entry.layout)
        kill     = Signal()                 # The request is over whatever is left.
        reason   = Signal(REASON_KEPT_BITS) # What is wrong with this completion.
        good     = Signal()
        done     = Signal()
        mismatch = Signal()                 # With what remains.
        self.comb += [
            mismatch.eq(~found.match | (found.final & ~found.exact)),
            If(found.reason != REASON_NONE,
                kill.eq(1), reason.eq(found.reason),
            ).Elif(mismatch,
                reason.eq(REASON_BAD_LENGTH),
            ).Elif(found.poisoned,
                reason.eq(REASON_POISONED),
            ),
            good.eq((reason == REASON_NONE) & (found.prior == REASON_NONE)),
            done.eq(kill | (found.final & ~mismatch)),

            entry.valid.eq(found.valid & (found.live | ~found.event)),
            entry.beats.eq(~found.event),
            entry.good.eq(found.live & good),
            entry.done.eq(found.live & done),
            entry.reason.eq(Mux(found.prior != REASON_NONE, found.prior, reason)),
            entry.bytes.eq(Mux(good, found.length, found.landed)),
            *[getattr(entry, name).eq(getattr(found, name))
                for name in ("destination", "client", "lower", "chunk", "tag", "lap", "cost")],

            update.valid.eq(found.valid),
            update.write.eq(found.valid & found.live),
            update.tag.eq(found.tag),
            update.left.eq(Mux(done, 0, Mux(mismatch, found.left, found.rest))),
            update.reason.eq(entry.reason),
            update.landed.eq(found.landed),
        ]
        self.sync += self.entry.eq(entry)
        self.sync += If(found.valid, *[getattr(updated, name).eq(getattr(update, name)) for name, _ in PROGRESS])
        self.comb += [
            If(update.write, Case(reason, {
                REASON_UNSUPPORTED_REQUEST: error.unsupported_request.eq(1),
                REASON_COMPLETER_ABORT:     error.completer_abort.eq(1),
                REASON_POISONED:            error.poisoned.eq(1),
                REASON_TIMEOUT:             error.timeout.eq(1),
                REASON_BAD_LENGTH:          error.bad_length.eq(1),
            })),
            error.unexpected.eq(found.valid & ~found.live & ~found.event),
        ]
