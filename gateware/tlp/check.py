#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checks the completions of the host against the outstanding requests."""

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
    """Beats of completions; a completion without data has one beat."""
    return stream.EndpointDescription([("dat", data_width)])


def entry_layout(data_width, client_bits):
    """The result of a check: one entry for each completion, and one for each event that ends a request."""
    return [
        ("has_beats",   1),                     # The entry is for a completion; an event has no beats.
        ("good",        1),                     # The data is to be delivered; otherwise it is to be dropped.
        ("client",      client_bits),
        ("destination", 32),                    # Address of the first byte in the client's space.
        ("lower",       2),                     # Host byte address of the first byte within its dword.
        ("chunk",       word_bits(data_width)), # Bytes of the completion, modulo the bytes of a beat.
        ("done",        1),                     # The request ends; the fields below say how.
        ("tag",         TAG_BITS),
        ("generation",  1),
        ("reason",      REASON_KEPT_BITS),
        ("bytes",       LENGTH_BITS),           # Bytes that arrived without a gap from the start of the request.
        ("cost",        COST_BITS),             # Blocks of the completion buffer that become free.
    ]

# Completion Check ---------------------------------------------------------------------------------

class CompletionCheck(LiteXModule):
    """Looks up the request of each completion by its tag, checks the completion, and updates the request's progress.

    The beats of a completion leave at once; the result of its check (the entry) follows four cycles after its first
    beat. The pipeline between never stalls, because a completion is accepted only if there is room for its entry. It
    transfers one beat per cycle, and accepts one completion every two cycles.

    A completion for a tag that is not in use is dropped ("unexpected"), and so is the data of a bad completion. A
    request ends with its last byte, with an error status (PCIe 4.0 2.2.9), or with an event such as a timeout.

    A completion is bad if it is poisoned, or if its byte count, lower address or length differs from what the request
    still expects ("bad length"). Such a completion does not end the request at once. The request stays open until its
    remaining bytes arrived or its timeout passed, and then ends with the first such reason. Until then the tag is not
    used again, so that no late completion can be taken for part of another request.

    Parameters
    ----------
    data_width : int, bits.
    contexts   : TagContexts, holds the requests.
    tags       : int, tags 0 to `tags - 1` may be in use.

    Attributes
    ----------
    sink   : stream of `tlp_layout`, **in**, completions.
    event  : stream of `event_layout`, **in**, ends a request; accepted between completions.
    beats  : stream of `beats_layout`, **out**.
    entry  : Record of `valid` and `entry_layout`, **out**; each entry is valid for one cycle.
    room   : Signal(), **in**, there is room for four entries: those in the pipeline, and that of the next completion.
    error  : Record of Signal(), **out**, one-cycle strobes: `unsupported_request`, `completer_abort`, `poisoned`,
        `unexpected`, `timeout`, `bad_length`.
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

        # The registers after each step of the pipeline.
        header  = Record(self.header_layout())
        read    = Record(self.read_layout())
        found   = Record(self.found_layout(client_bits))
        updated = Record(PROGRESS)      # The most recent update, which the RAMs may not show yet.
        self.add_lookup(header, read, found, contexts, tags)
        self.add_read(header, read, found)
        self.add_compare(read, found, updated, contexts)
        self.add_decision(found, updated, contexts)

    # Step 1: take the header fields, address the RAMs ---------------------------------------------

    @staticmethod
    def header_layout():
        """Fields of the header; `available` is the number of bytes that the completion holds for the request."""
        return [
            ("valid", 1), ("tag", TAG_BITS), ("in_range", 1), ("same_tag", 1), ("event", 1), ("generation", 1),
            ("reason", REASON_KEPT_BITS), ("poisoned", 1), ("has_data", 1), ("available", LENGTH_BITS),
            ("byte_count", LENGTH_BITS), ("lower", 7),
        ]

    def add_lookup(self, header, read, found, contexts, tags):
        sink, event = self.sink, self.event
        inside       = Signal()   # A completion has begun and not ended, so no event may go in.
        choose_event = Signal()   # An event goes in before the next completion.
        # A lookup may start. At most every second cycle: then the RAMs show every update but that of the previous
        # lookup, and one forwarding register (`updated`) is enough.
        may_look_up  = Signal()
        take         = Signal()   # The beat on `sink` may leave.
        tag          = Signal(TAG_BITS)
        previous_tag = Signal(TAG_BITS)
        status       = sink.dw1[13:16]
        self.comb += [
            choose_event.eq(event.valid & ~inside),
            may_look_up.eq(self.room & ~header.valid & ~contexts.clearing),
            take.eq(~choose_event & (~sink.first | may_look_up)),
            self.beats.valid.eq(sink.valid & take),
            self.beats.first.eq(sink.first),
            self.beats.last.eq(sink.last),
            self.beats.dat.eq(sink.dat),
            sink.ready.eq(self.beats.ready & take),
            event.ready.eq(choose_event & may_look_up),
            tag.eq(Mux(choose_event, event.tag, sink.dw2[8:16])),
            contexts.lookup_tag.eq(tag),
        ]
        reason = Signal(REASON_KEPT_BITS)
        # A reserved status, and one meant for configuration requests only, count as UR (PCIe 4.0 2.3.2).
        self.comb += If(choose_event,
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
            If(header.valid, previous_tag.eq(header.tag)),
            header.valid.eq(event.ready | (sink.valid & sink.ready & sink.first)),
            header.tag.eq(tag),
            header.in_range.eq(tag < tags),
            # The previous lookup, two or three cycles ago, had the same tag; the RAMs do not show its update yet.
            header.same_tag.eq((tag == previous_tag) & (read.valid | found.valid)),
            header.event.eq(choose_event),
            header.generation.eq(event.generation),
            header.reason.eq(reason),
            header.poisoned.eq(sink.dw0[14]),
            header.has_data.eq(has_data(sink.dw0)),
            header.available.eq(Cat(Constant(0, 2), dwords) - sink.dw2[:2]),
            header.byte_count.eq(Cat(sink.dw1[:12], sink.dw1[:12] == 0)),
            header.lower.eq(sink.dw2[:7]),
        ]

    # Step 2: the RAMs read; compare the length of the completion with its byte count --------------

    def read_layout(self):
        """Adds to the header fields:

        final : the completion reaches the end of the request.
        exact : it also has no dword more than the request needs.
        chunk : bytes of the completion that belong to the request.
        rest  : bytes of the request that are missing after it.
        """
        return [(name, bits) for name, bits in self.header_layout() if name != "available"] + [
            ("exact", 1), ("final", 1), ("chunk", LENGTH_BITS), ("rest", LENGTH_BITS)]

    def add_read(self, header, read, found):
        # Bytes of the completion after the end of the request, modulo 2**14; the last dword may hold up to 3.
        past          = Signal(LENGTH_BITS + 1)
        final         = Signal()    # The completion reaches the end of the request.
        previous_live = Signal()    # `found.live` of the previous lookup.
        self.sync += If(found.valid, previous_live.eq(found.live))
        self.comb += [
            past.eq(header.available - header.byte_count),
            final.eq(~past[-1]),
        ]
        self.sync += [
            *[getattr(read, name).eq(getattr(header, name))
                for name, _ in self.header_layout() if name not in ("available", "same_tag")],
            # A lookup of a tag that was not in use made no update that would have to be forwarded.
            read.same_tag.eq(header.same_tag & Mux(found.valid, found.live, previous_live)),
            read.exact.eq(past[2:] == 0),
            read.final.eq(final),
            read.chunk.eq(Mux(final, header.byte_count, header.available)),
            read.rest.eq(header.byte_count - header.available),
        ]

    # Step 3: compare the header with what the request still expects -------------------------------

    @staticmethod
    def found_layout(client_bits):
        """Fields of the request that was found, and the result of the comparison:

        live   : the tag is in use (for an event: by the same request).
        match  : the completion is the one that the request expects next.
        left   : bytes that were missing before it.
        prior  : reason of an earlier bad completion.
        landed : bytes that had arrived before the first bad completion.
        """
        return [
            ("valid", 1), ("tag", TAG_BITS), ("live", 1), ("event", 1), ("reason", REASON_KEPT_BITS),
            ("poisoned", 1), ("match", 1), ("exact", 1), ("final", 1), ("chunk", LENGTH_BITS),
            ("rest", LENGTH_BITS), ("left", LENGTH_BITS),
            ("prior", REASON_KEPT_BITS), ("landed", LENGTH_BITS), ("length", LENGTH_BITS), ("lower", 2),
            ("client", client_bits), ("destination", 32), ("generation", 1), ("cost", COST_BITS),
        ]

    def add_compare(self, read, found, updated, contexts):
        context  = contexts.context
        progress = Record(PROGRESS)
        lower    = Signal(7)
        self.comb += [
            If(read.same_tag,
                *[getattr(progress, name).eq(getattr(updated, name)) for name, _ in PROGRESS]
            ).Else(
                *[getattr(progress, name).eq(getattr(contexts.progress, name)) for name, _ in PROGRESS]
            ),
            lower.eq(context.lower_end - read.byte_count),
        ]
        self.sync += [
            *[getattr(found, name).eq(getattr(read, name)) for name in (
                "valid", "tag", "event", "reason", "poisoned", "lower", "exact", "final", "chunk", "rest")],
            found.live.eq(read.in_range & (progress.left != 0) &
                ~(read.event & (read.generation != context.generation))),
            found.match.eq(read.has_data & (read.byte_count == progress.left) & (read.lower == lower)),
            found.left.eq(progress.left),
            found.prior.eq(progress.reason),
            found.landed.eq(Mux(progress.reason != REASON_NONE, progress.landed, context.length - progress.left)),
            found.length.eq(context.length),
            found.client.eq(context.client),
            found.destination.eq(context.end - read.byte_count),
            found.generation.eq(context.generation),
            found.cost.eq(context.cost),
        ]

    # Step 4: decide, update the progress ----------------------------------------------------------

    def add_decision(self, found, updated, contexts):
        update, error = contexts.update, self.error
        entry    = Record(self.entry.layout)
        kill     = Signal()                 # The request ends although bytes of it are missing.
        reason   = Signal(REASON_KEPT_BITS) # Why this completion is bad.
        good     = Signal()
        done     = Signal()
        mismatch = Signal()                 # The completion is not what the request still expects.
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
            entry.has_beats.eq(~found.event),
            entry.good.eq(found.live & good),
            entry.done.eq(found.live & done),
            entry.reason.eq(Mux(found.prior != REASON_NONE, found.prior, reason)),
            entry.bytes.eq(Mux(good, found.length, found.landed)),
            *[getattr(entry, name).eq(getattr(found, name))
                for name in ("destination", "client", "lower", "chunk", "tag", "generation", "cost")],

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
