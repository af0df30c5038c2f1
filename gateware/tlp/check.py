#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checks the completions of the host against the outstanding requests."""

from litex.soc.interconnect import stream

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import (
    COMPLETION_CA, COMPLETION_SC, LENGTH_BITS, RCB_BYTES, REASON_BAD_LENGTH, REASON_COMPLETER_ABORT, REASON_NONE,
    REASON_POISONED, REASON_TIMEOUT, REASON_UNSUPPORTED_REQUEST, TAG_BITS, has_data, word_bits,
)
from litepcie_soc.tlp.context import PROGRESS, REASON_KEPT_BITS
from litepcie_soc.tlp.parser import tlp_layout
from litepcie_soc.tlp.tags import event_layout

# Layouts ------------------------------------------------------------------------------------------
# Layouts of the check of completions: its registers after each step, and its results.


def beats_layout(data_width):
    """Beats of completions; a completion without data has one beat."""
    return stream.EndpointDescription([("dat", data_width)])


def entry_layout(data_width, client_bits, destination_bits):
    """The result of a check: one entry for each completion, and one for each event that ends a request."""
    return [
        ("has_beats",   1),                     # The entry is for a completion; an event has no beats.
        ("live",        1),                     # The entry is for a request; otherwise its beats are to be dropped.
        ("good",        1),                     # The data is to be delivered; otherwise it is to be dropped.
        ("client",      client_bits),
        ("destination", destination_bits),      # Address of the first byte in the client's space.
        ("lower",       7),                     # Low bits of the host address of the first byte.
        ("chunk",       word_bits(data_width)), # Bytes of the completion, modulo the bytes of a beat.
        ("covered",     LENGTH_BITS),           # Bytes from `lower` on that do not have to come any more.
        ("covers_end",  1),                     # These are all bytes that were missing.
        ("half",        1),                     # The request took half a block of the completion buffer.
        ("returned",    1),                     # The tag leaves quarantine.
        ("done",        1),                     # The request ends; the fields below say how.
        ("late",        1),                     # Its completions may still come.
        ("tag",         TAG_BITS),
        ("generation",  1),
        ("reason",      REASON_KEPT_BITS),
        ("bytes",       LENGTH_BITS),           # Bytes that arrived without a gap from the start of the request.
    ]


def header_layout():
    """Fields of the header; `available` is the number of bytes that the completion holds for the request."""
    return [
        ("valid", 1), ("tag", TAG_BITS), ("in_range", 1), ("same_tag", 1), ("event", 1), ("generation", 1),
        ("any", 1), ("end", 1), ("free", 1), ("unsent", 1),
        ("reason", REASON_KEPT_BITS), ("poisoned", 1), ("has_data", 1), ("available", LENGTH_BITS),
        ("byte_count", LENGTH_BITS), ("lower", 7),
    ]


def read_layout():
    """Adds to the header fields:

    final : the completion reaches the end of the request.
    exact : it has no dword more than the request needs, or else ends at a multiple of RCB_BYTES.
    chunk : bytes of the completion that belong to the request.
    rest  : bytes of the request that are missing after it.
    """
    return [(name, bits) for name, bits in header_layout() if name != "available"] + [
        ("exact", 1), ("final", 1), ("chunk", LENGTH_BITS), ("rest", LENGTH_BITS)]


def found_layout(client_bits, destination_bits):
    """Fields of the request that was found, and the result of the comparison:

    live   : the completion or the event is for a request with this tag.
    match  : the completion is the one that the request expects next.
    left   : bytes that were missing before it.
    start  : low bits of the host address of the first byte that was missing.
    late   : the request has ended before its last completion.
    retired : the client has been told.
    prior  : reason of an earlier bad completion.
    landed : bytes that had arrived before the first bad completion.
    half   : the request took half a block of the completion buffer.
    """
    return [
        ("valid", 1), ("tag", TAG_BITS), ("live", 1), ("event", 1), ("end", 1), ("free", 1), ("unsent", 1),
        ("reason", REASON_KEPT_BITS), ("poisoned", 1), ("match", 1), ("exact", 1), ("final", 1),
        ("chunk", LENGTH_BITS), ("rest", LENGTH_BITS), ("left", LENGTH_BITS), ("start", 7), ("late", 1),
        ("retired", 1), ("prior", REASON_KEPT_BITS), ("landed", LENGTH_BITS), ("length", LENGTH_BITS),
        ("client", client_bits), ("destination", destination_bits), ("generation", 1), ("half", 1),
    ]

# Check --------------------------------------------------------------------------------------------

LOWER_BITS = 7  # Of the lower address (PCIe 4.0 2.2.9).


class CompletionCheck(LiteXModule):
    """Looks up the request of each completion by its tag, checks the completion, and updates the request's progress.

    The beats of a completion leave at once; the result of its check (the entry) follows four cycles after its first
    beat. The pipeline between never stalls, because a completion is accepted only if there is room for its entry. It
    transfers one beat per cycle, and accepts one completion every two cycles. With `per_cycle` it accepts one per
    cycle, except for a second one of the same request, which comes two cycles after the first, and for an event, which
    comes two cycles after whatever was before.

    A completion for a tag that is not in use, or with another requester ID, is dropped ("unexpected"), and so is the
    data of a bad completion. A request ends with its last byte, with an error status (PCIe 4.0 2.2.9), or with an event
    such as a timeout.

    A request that an event ended although its completions may still come leaves its tag in quarantine. Later
    completions are dropped as unexpected, but still counted to it. The tag is returned when the request has retired and
    the last completion came, or an event says that none can come any more.

    A completion is bad if it is poisoned, or if its byte count, lower address or length differs from what the request
    still expects ("bad length"). All completions but the last must end at a multiple of RCB_BYTES (PCIe 4.0 2.3.1.1);
    the RAM of descriptors relies on that. A bad completion does not end the request at once. The request stays open
    until its remaining bytes arrived or its timeout passed, and then ends with the first such reason.

    Parameters
    ----------
    data_width : int, bits.
    contexts   : TagContexts, holds the requests.
    tags       : int, tags 0 to `tags - 1` may be in use.
    per_cycle  : bool, accept one completion per cycle; `contexts` has the same.
    lower_bits : int, bits of the lower address to rely on: all 7, or the lowest 2 if the others may belong to the
        request instead of the completion. With 2, the address that the request expects next says where a completion
        must end.

    Attributes
    ----------
    sink   : stream of `tlp_layout`, **in**, completions.
    requester : Signal(16), **in**, bus, device and function number of the card; 0 if it is not known (UltraScale, whose
        block compares it), or not known yet: then every completion is for the card.
    event  : stream of `event_layout`, **in**, accepted between completions.
    beats  : stream of `beats_layout`, **out**.
    entry  : Record of `valid` and `entry_layout`, **out**; each entry is valid for one cycle.
    busy   : Signal(), **out**, a completion or an event is being checked.
    room   : Signal(), **in**, there is room for six entries: those in the pipeline, and those of the completions of
        this cycle and the next one.
    error  : Record of Signal(), **out**, one-cycle strobes: `unsupported_request`, `completer_abort`, `poisoned`,
        `unexpected`, `timeout`, `bad_length`.
    header : Signal(96), **out**, the header of the completion that `error` is about; its first dword in bits 31:0.
    """
    def __init__(self, data_width, contexts, tags, per_cycle=False, lower_bits=LOWER_BITS):
        context     = contexts.context
        sizes       = len(context.client), len(context.end)
        self.sink   = stream.Endpoint(tlp_layout(data_width))
        self.requester = Signal(16)
        self.event  = stream.Endpoint(event_layout())
        self.beats  = stream.Endpoint(beats_layout(data_width))
        self.entry  = Record([("valid", 1)] + entry_layout(data_width, *sizes))
        self.busy   = Signal()
        self.room   = Signal()
        self.error  = Record([(name, 1) for name in (
            "unsupported_request", "completer_abort", "poisoned", "unexpected", "timeout", "bad_length")])
        self.header = Signal(96)

        # # #

        # The registers after each step of the pipeline.
        header  = Record(header_layout())
        read    = Record(read_layout())
        found   = Record(found_layout(*sizes))
        updated = Record(PROGRESS)      # The most recent update, which the RAMs may not show yet.
        self.comb += self.busy.eq(header.valid | read.valid | found.valid | self.entry.valid)
        self.add_lookup(header, read, found, contexts, tags, per_cycle)
        self.add_read(header, read, found, per_cycle)
        self.add_compare(read, found, updated, contexts, lower_bits)
        self.add_decision(found, updated, contexts)
        self.add_header()

    def add_header(self):
        steps = [Cat(self.sink.dw0, self.sink.dw1, self.sink.dw2), *[Signal(96, reset_less=True) for _ in range(3)]]
        self.sync += [after.eq(before) for before, after in zip(steps, steps[1:])]
        self.comb += self.header.eq(steps[-1])

    # Step 1: take the header fields, address the RAMs ---------------------------------------------

    def add_lookup(self, header, read, found, contexts, tags, per_cycle):
        sink, event = self.sink, self.event
        inside       = Signal()   # A completion has begun and not ended, so no event may go in.
        choose_event = Signal()   # An event goes in before the next completion.
        # A lookup may start. At most every second cycle for each tag: then the RAMs show every update but that of the
        # previous lookup, and one forwarding register (`updated`) is enough.
        may_look_up  = Signal()
        take         = Signal()   # The beat on `sink` may leave.
        tag          = Signal(TAG_BITS)
        previous_tag = Signal(TAG_BITS)
        too_soon     = Signal()   # For this tag; without `per_cycle`, for any.
        known        = Signal()   # `requester` is known.
        status       = sink.dw1[13:16]
        self.comb += [
            choose_event.eq(event.valid & ~inside),
            too_soon.eq(header.valid & ((choose_event | (tag[:contexts.tag_bits] == header.tag)) if per_cycle else 1)),
            may_look_up.eq(self.room & ~too_soon & ~contexts.clearing),
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
            header.tag.eq(tag[:contexts.tag_bits]),
            known.eq(self.requester != 0),
            header.in_range.eq(choose_event | ((tag < tags) & (~known | (sink.dw2[16:] == self.requester)))),
            # The previous lookup, two or three cycles ago, had the same tag; the RAMs do not show its update yet. With
            # `per_cycle` they show that of three cycles ago.
            header.same_tag.eq((tag[:contexts.tag_bits] == read.tag) & read.valid if per_cycle else
                (tag == previous_tag) & (read.valid | found.valid)),
            header.event.eq(choose_event),
            *[getattr(header, name).eq(getattr(event, name))
                for name in ("generation", "any", "end", "free")],
            header.unsent.eq(choose_event & event.unsent),
            header.reason.eq(reason),
            header.poisoned.eq(sink.dw0[14]),
            header.has_data.eq(has_data(sink.dw0)),
            header.available.eq(Cat(Constant(0, 2), dwords) - sink.dw2[:2]),
            header.byte_count.eq(Cat(sink.dw1[:12], sink.dw1[:12] == 0)),
            header.lower.eq(sink.dw2[:7]),
        ]

    # Step 2: the RAMs read; compare the length of the completion with its byte count --------------

    def add_read(self, header, read, found, per_cycle):
        # Bytes of the completion after the end of the request, modulo 2**14; the last dword may hold up to 3.
        past          = Signal(LENGTH_BITS + 1)
        final         = Signal()    # The completion reaches the end of the request.
        end           = Signal(log2_int(RCB_BYTES))     # Where the completion ends in its block of RCB_BYTES.
        previous_live = Signal()    # `found.live` of the previous lookup.
        self.sync += If(found.valid, previous_live.eq(found.live))
        self.comb += [
            past.eq(header.available - header.byte_count),
            end.eq(header.lower + header.available),
            final.eq(~past[-1]),
        ]
        self.sync += [
            *[getattr(read, name).eq(getattr(header, name))
                for name, _ in header_layout() if name not in ("available", "same_tag")],
            # A lookup of a tag that was not in use made no update that would have to be forwarded.
            read.same_tag.eq(header.same_tag & (found.live if per_cycle else
                Mux(found.valid, found.live, previous_live))),
            read.exact.eq(Mux(final, past[2:] == 0, end[2:] == 0)),
            read.final.eq(final),
            read.chunk.eq(Mux(final, header.byte_count, header.available)),
            read.rest.eq(header.byte_count - header.available),
        ]

    # Step 3: compare the header with what the request still expects -------------------------------

    def add_compare(self, read, found, updated, contexts, lower_bits):
        context  = contexts.context
        progress = Record(PROGRESS)
        lower    = Signal(LOWER_BITS)
        exact    = read.exact
        if lower_bits < LOWER_BITS:
            end        = Signal(log2_int(RCB_BYTES))    # Where the completion must end in its block of RCB_BYTES.
            self.comb += end.eq(context.lower_end - read.rest)
            exact      = Mux(read.final, read.exact, end[2:] == 0)
        missing  = Signal()     # Bytes of the request are missing.
        known    = Signal()     # The event is for a request with this tag.
        self.comb += [
            If(read.same_tag,
                *[getattr(progress, name).eq(getattr(updated, name)) for name, _ in PROGRESS]
            ).Else(
                *[getattr(progress, name).eq(getattr(contexts.progress, name)) for name, _ in PROGRESS]
            ),
            lower.eq(context.lower_end - read.byte_count),
            missing.eq(progress.left != 0),
            # An event ends a request once, and releases a tag from quarantine once.
            known.eq(((read.generation == context.generation) | read.any) &
                Mux(read.end, missing & (read.free | ~progress.late), progress.late)),
        ]
        self.sync += [
            *[getattr(found, name).eq(getattr(read, name)) for name in (
                "valid", "tag", "event", "end", "free", "unsent", "reason", "poisoned", "final", "chunk", "rest")],
            found.exact.eq(exact),
            found.live.eq(read.in_range & Mux(read.event, known, missing)),
            found.match.eq(read.has_data & (read.byte_count == progress.left) &
                (read.lower[:lower_bits] == lower[:lower_bits])),
            found.left.eq(progress.left),
            found.start.eq(context.lower_end - progress.left),
            found.late.eq(progress.late),
            found.retired.eq(progress.retired),
            found.prior.eq(progress.reason),
            found.landed.eq(Mux(progress.reason != REASON_NONE, progress.landed, context.length - progress.left)),
            found.length.eq(context.length),
            found.client.eq(context.client),
            found.destination.eq(context.end - read.byte_count),
            found.generation.eq(context.generation),
            found.half.eq(getattr(context, "half", 0)),
        ]

    # Step 4: decide, update the progress ----------------------------------------------------------

    def add_decision(self, found, updated, contexts):
        update, error = contexts.update, self.error
        entry    = Record(self.entry.layout)
        kill     = Signal()                 # No completion can come any more, although bytes are missing.
        reason   = Signal(REASON_KEPT_BITS) # Why this completion is bad.
        good     = Signal()
        mismatch = Signal()                 # The completion is not what the request still expects.
        over     = Signal()                 # No byte is missing any more.
        retired  = Signal()
        live     = Signal()                 # The request has not ended yet.
        self.comb += [
            live.eq(found.live & ~found.late),
            retired.eq(found.retired | (found.event & ~found.end & ~found.free)),
            mismatch.eq(~found.match | ~found.exact),
            If(found.event | (found.reason != REASON_NONE),
                kill.eq(~found.event | found.free), reason.eq(found.reason),
            ).Elif(mismatch,
                reason.eq(REASON_BAD_LENGTH),
            ).Elif(found.poisoned,
                reason.eq(REASON_POISONED),
            ),
            good.eq((reason == REASON_NONE) & (found.prior == REASON_NONE)),
            over.eq(Mux(found.event | kill, kill | (found.left == 0), found.final & ~mismatch)),

            entry.valid.eq(found.valid & (found.live | ~found.event)),
            entry.has_beats.eq(~found.event),
            entry.live.eq(found.live),
            entry.good.eq(live & good & ~found.event),
            entry.done.eq(live & (over | found.event)),
            entry.late.eq(~over),
            entry.returned.eq(found.live & found.late & over & retired),
            entry.reason.eq(Mux(found.prior != REASON_NONE, found.prior, reason)),
            entry.bytes.eq(Mux(good, found.length, found.landed)),
            entry.lower.eq(found.start),
            If(kill,
                entry.covered.eq(Mux(found.unsent, 0, found.left)),
            ).Elif(~found.event & ~mismatch,
                entry.covered.eq(found.chunk),
            ),
            entry.covers_end.eq(over & ~found.unsent & (found.left != 0)),
            *[getattr(entry, name).eq(getattr(found, name))
                for name in ("destination", "client", "chunk", "tag", "generation", "half")],

            update.valid.eq(found.valid),
            update.write.eq(found.valid & found.live),
            update.tag.eq(found.tag),
            update.generation.eq(found.generation),
            If(~over, update.left.eq(Mux(found.event | mismatch, found.left, found.rest))),
            update.reason.eq(entry.reason),
            update.landed.eq(found.landed),
            update.late.eq((found.late & ~entry.returned) | (found.event & ~over)),
            update.retired.eq(retired & ~entry.returned),
        ]
        self.sync += self.entry.eq(entry)
        self.sync += If(found.valid, *[getattr(updated, name).eq(getattr(update, name)) for name, _ in PROGRESS])
        self.comb += [
            If(found.valid & live, Case(reason, {
                REASON_UNSUPPORTED_REQUEST: error.unsupported_request.eq(1),
                REASON_COMPLETER_ABORT:     error.completer_abort.eq(1),
                REASON_POISONED:            error.poisoned.eq(1),
                REASON_TIMEOUT:             error.timeout.eq(1),
                REASON_BAD_LENGTH:          error.bad_length.eq(1),
            })),
            error.unexpected.eq(found.valid & ~live & ~found.event),
        ]
