#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completions of the host held against what was asked for."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import (
    COMPLETION_CA, COMPLETION_SC, LENGTH_BITS, REASON_BAD_LENGTH, REASON_COMPLETER_ABORT, REASON_NONE,
    REASON_POISONED, REASON_TIMEOUT, REASON_UNSUPPORTED_REQUEST, TAG_BITS,
)
from litepcie_soc.tlp.context import COST_BITS, PROGRESS, REASON_KEPT_BITS
from litepcie_soc.tlp.issue import event_layout
from litepcie_soc.tlp.parser import has_data, tlp_layout

# Layout -------------------------------------------------------------------------------------------

def checked_layout(data_width, client_bits):
    """A completion that is good (`empty` off: data follows), or the bare end of a request (`empty`)."""
    return stream.EndpointDescription(
        payload_layout = [("dat", data_width)],
        param_layout   = [
            ("empty",       1),
            ("client",      client_bits),
            ("destination", 32),                # Of its first byte.
            ("lower",       2),                 # Host byte address within a dword.
            ("chunk",       LENGTH_BITS),       # Bytes.
            ("done",        1),                 # Its request is over with it:
            ("tag",         TAG_BITS),
            ("lap",         1),
            ("reason",      REASON_KEPT_BITS),
            ("bytes",       LENGTH_BITS),       # Landed without a gap.
            ("cost",        COST_BITS),
        ],
    )

# Completion Check ---------------------------------------------------------------------------------

class CompletionCheck(LiteXModule):
    """Looks up the tag of a completion, checks it, updates its progress; a beat a cycle, latency 2.

    Dropped are completions for a tag that is not in use (unexpected) and the data of bad ones. A request is over with
    an error status (PCIe 4.0 2.2.9), with an event (timeout), or with its last byte. A poisoned completion, and one
    whose byte count, lower address or length is not what remains (bad length), leaves its request open until what
    remains came or the timeout, so that nothing of it is taken for another request's; it ends with that reason.

    Attributes
    ----------
    sink   : stream of `tlp_layout`, **in**, `sys`: completions.
    event  : stream of `event_layout`, **in**, `sys`: ends a request between completions.
    source : stream of `checked_layout`, **out**, `sys`.
    error  : Record of strobes, **out**: `unsupported_request`, `completer_abort`, `poisoned`, `unexpected`,
        `timeout`, `bad_length`.
    """
    def __init__(self, data_width, contexts, tags):
        self.sink   = sink   = stream.Endpoint(tlp_layout(data_width))
        self.event  = event  = stream.Endpoint(event_layout())
        self.source = source = stream.Endpoint(checked_layout(data_width, len(contexts.context.client)))
        self.error  = error  = Record([(name, 1) for name in (
            "unsupported_request", "completer_abort", "poisoned", "unexpected", "timeout", "bad_length")])

        # # #

        # A completion of 64 bytes is two beats of 512 bit, and no narrower path has the next sooner than its tag's
        # progress is written: there it is taken on its way, which costs the timing of all a mux.
        self.with_bypass = data_width == 512

        looked  = stream.Endpoint(self.looked_layout(data_width))
        found   = stream.Endpoint(self.found_layout(data_width, len(contexts.context.client)))
        advance = Signal()
        self.add_lookup(sink, event, looked, found, contexts, advance, tags)
        self.add_compare(looked, found, contexts, advance)
        self.add_decision(found, source, contexts, advance, error)

    # Lookup: header fields, and the RAMs' address -------------------------------------------------

    @staticmethod
    def looked_layout(data_width):
        return [
            ("dat", data_width), ("tag", TAG_BITS), ("in_range", 1), ("event", 1), ("lap", 1),
            ("reason", REASON_KEPT_BITS), ("poisoned", 1), ("has_data", 1), ("available", LENGTH_BITS),
            ("byte_count", LENGTH_BITS), ("lower", 7),
        ]

    def add_lookup(self, sink, event, looked, found, contexts, advance, tags):
        inside = Signal()   # In a completion: no place for an event.
        choose = Signal()   # An event goes in.
        first  = Signal()
        hazard = Signal()   # What is to be read is about to be written.
        go     = Signal()
        tag    = Signal(TAG_BITS)
        status = sink.dw1[13:16]
        self.comb += [
            choose.eq(event.valid & ~inside),
            first.eq(choose | sink.first),
            tag.eq(Mux(choose, event.tag, sink.dw2[8:16])),
            hazard.eq(first & (
                (looked.valid & looked.first & (looked.tag == tag)) |
                (found.valid & found.first & (found.tag == tag) & (not self.with_bypass)))),
            go.eq(advance & ~hazard & ~contexts.clearing),
            sink.ready.eq(go & ~choose),
            event.ready.eq(go & choose),
            contexts.lookup_tag.eq(tag),
            contexts.lookup_enable.eq(advance),
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
            If(advance,
                looked.valid.eq(go & (choose | sink.valid)),
                looked.first.eq(first),
                looked.last.eq(choose | sink.last),
                looked.dat.eq(sink.dat),
                looked.tag.eq(tag),
                looked.in_range.eq(tag < tags),
                looked.event.eq(choose),
                looked.lap.eq(event.lap),
                looked.reason.eq(reason),
                looked.poisoned.eq(sink.dw0[14]),
                looked.has_data.eq(has_data(sink.dw0)),
                looked.available.eq(Cat(Constant(0, 2), dwords) - sink.dw2[:2]),
                looked.byte_count.eq(Cat(sink.dw1[:12], sink.dw1[:12] == 0)),
                looked.lower.eq(sink.dw2[:7]),
            ),
        ]

    # Compare: what came with what is left ---------------------------------------------------------

    @staticmethod
    def found_layout(data_width, client_bits):
        return [
            ("dat", data_width), ("tag", TAG_BITS), ("live", 1), ("event", 1), ("reason", REASON_KEPT_BITS),
            ("poisoned", 1), ("match", 1), ("exact", 1), ("final", 1), ("chunk", LENGTH_BITS),
            ("rest", LENGTH_BITS), ("left", LENGTH_BITS),
            ("prior", REASON_KEPT_BITS), ("landed", LENGTH_BITS), ("length", LENGTH_BITS), ("lower", 2),
            ("client", client_bits), ("destination", 32), ("lap", 1), ("cost", COST_BITS),
        ]

    def add_compare(self, looked, found, contexts, advance):
        context, progress = contexts.context, contexts.progress
        if self.with_bypass:
            updating = contexts.updating
            progress = Record(PROGRESS)
            self.comb += If(updating.write & (updating.tag == looked.tag),
                *[getattr(progress, name).eq(getattr(updating, name)) for name, _ in PROGRESS]
            ).Else(
                progress.raw_bits().eq(contexts.progress.raw_bits())
            )
        past  = Signal(LENGTH_BITS + 1)  # Bytes behind the end, modulo 2**14: up to 3 with the last dword.
        final = Signal()
        lower = Signal(7)
        self.comb += [
            past.eq(looked.available - looked.byte_count),
            final.eq(~past[-1]),
            lower.eq(context.lower_end - looked.byte_count),
        ]
        self.sync += If(advance,
            found.valid.eq(looked.valid),
            found.first.eq(looked.first),
            found.last.eq(looked.last),
            *[getattr(found, name).eq(getattr(looked, name))
                for name in ("dat", "tag", "event", "reason", "poisoned", "lower")],
            found.live.eq(looked.in_range & (progress.left != 0) & ~(looked.event & (looked.lap != context.lap))),
            found.match.eq(looked.has_data & (looked.byte_count == progress.left) & (looked.lower == lower)),
            found.exact.eq(past[2:] == 0),
            found.final.eq(final),
            found.chunk.eq(Mux(final, looked.byte_count, looked.available)),
            found.rest.eq(looked.byte_count - looked.available),
            found.left.eq(progress.left),
            found.prior.eq(progress.reason),
            found.landed.eq(Mux(progress.reason != REASON_NONE, progress.landed, context.length - progress.left)),
            found.length.eq(context.length),
            found.client.eq(context.client),
            found.destination.eq(context.end - looked.byte_count),
            found.lap.eq(context.lap),
            found.cost.eq(context.cost),
        )

    # Decision -------------------------------------------------------------------------------------

    def add_decision(self, found, source, contexts, advance, error):
        update  = contexts.update
        kill    = Signal()                  # The request is over whatever is left.
        reason  = Signal(REASON_KEPT_BITS)  # What is wrong with this completion.
        good    = Signal()
        done    = Signal()
        passing = Signal()                  # Further beats go on.
        offer   = Signal()
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
            offer.eq(Mux(found.first, found.live & (good | done), passing)),
            source.valid.eq(found.valid & offer),
            advance.eq(~found.valid | ~offer | source.ready),
            source.first.eq(found.first),
            source.last.eq(found.last | source.empty),
            source.empty.eq(found.first & ~good),
            source.done.eq(done),
            source.reason.eq(Mux(found.prior != REASON_NONE, found.prior, reason)),
            source.bytes.eq(Mux(good, found.length, found.landed)),
            *[getattr(source, name).eq(getattr(found, name))
                for name in ("dat", "client", "destination", "lower", "chunk", "tag", "lap", "cost")],

            update.write.eq(found.valid & found.first & found.live & advance),
            update.tag.eq(found.tag),
            update.left.eq(Mux(done, 0, Mux(mismatch, found.left, found.rest))),
            update.reason.eq(source.reason),
            update.landed.eq(found.landed),
        ]
        self.sync += If(found.valid & found.first & advance, passing.eq(found.live & good & ~found.last))
        self.comb += [
            If(update.write, Case(reason, {
                REASON_UNSUPPORTED_REQUEST: error.unsupported_request.eq(1),
                REASON_COMPLETER_ABORT:     error.completer_abort.eq(1),
                REASON_POISONED:            error.poisoned.eq(1),
                REASON_TIMEOUT:             error.timeout.eq(1),
                REASON_BAD_LENGTH:          error.bad_length.eq(1),
            })),
            error.unexpected.eq(found.valid & found.first & advance & ~found.live & ~found.event),
        ]
