#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Layouts of the check of completions: its registers after each step, and its results."""

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import LENGTH_BITS, TAG_BITS, word_bits
from litepcie_soc.tlp.context import REASON_KEPT_BITS

# Results ------------------------------------------------------------------------------------------

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

# Registers ----------------------------------------------------------------------------------------

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
