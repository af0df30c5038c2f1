#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Streams between a client and the endpoint memory."""

from migen import Signal, log2_int

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width

# Helpers ------------------------------------------------------------------------------------------


def word_address_width(data_width, size):
    """Bits of a word address: words of ``data_width`` bits in a memory of ``size`` bytes.

    Raises ``ValueError`` if ``data_width`` is not supported, or ``size`` is not a power of two of at least two words.
    """
    check_data_width(data_width)
    if size < 2 * data_width // 8 or size & (size - 1):
        raise ValueError(f"memory size must be a power of two of at least two words ({2 * data_width // 8} bytes), "
            f"not {size!r}")
    return log2_int(size // (data_width // 8))

# Layouts ------------------------------------------------------------------------------------------


def memory_write_layout(data_width, size):
    return [
        ("address", word_address_width(data_width, size)),
        ("dat",     data_width),
        ("be",      data_width // 8),
    ]


def memory_command_layout(data_width, size):
    return [("address", word_address_width(data_width, size))]


def memory_data_layout(data_width):
    return [("dat", data_width)]

# Outcome ------------------------------------------------------------------------------------------

OUTCOME_BITS = 16  # Less than half of the numbers are beats that a memory has accepted and not stored.


class MemoryOutcome:
    """What became of the accesses of a client, at a memory where they may fail.

    Parameters
    ----------
    counts : whether the client writes.

    Attributes
    ----------
    failed   : Signal(), **out** of the memory, one cycle: an access of this client failed. For a read no later than
        its word, for a write no later than ``stored`` counts it.
    accepted : Signal(OUTCOME_BITS), **out**, beats accepted in earlier cycles, of all clients. None for reads.
    stored   : Signal(OUTCOME_BITS), **out**, of these, the beats that were stored or failed, in their order.
    """
    def __init__(self, counts):
        self.failed   = Signal()
        self.accepted = Signal(OUTCOME_BITS) if counts else None
        self.stored   = Signal(OUTCOME_BITS) if counts else None

# Memory Write Stream ------------------------------------------------------------------------------


class MemoryWriteStream(stream.Endpoint):
    """Writes to the endpoint memory, one beat per cycle.

    Every read command that is accepted in a later cycle sees an accepted beat.

    Parameters
    ----------
    data_width : bits of a word (64, 128, 256, 512).
    size       : bytes of the memory.

    Attributes
    ----------
    valid, ready : 1, **in**, **out** of the memory.
    address      : log2(size / (data_width / 8)), **in**, word address.
    dat          : data_width, **in**, byte 0 of memory in bits 7:0.
    be           : data_width / 8, **in**, bytes to write; a beat without any is legal.
    outcome      : ``MemoryOutcome``, or None if each accepted beat is stored.
    """
    outcome = None

    def __init__(self, data_width, size):
        self.data_width = data_width
        self.size       = size
        stream.Endpoint.__init__(self, memory_write_layout(data_width, size))

# Memory Read Stream -------------------------------------------------------------------------------


class MemoryReadStream:
    """Reads from the endpoint memory: one command per cycle, data in the order of the commands.

    Parameters
    ----------
    data_width : bits of a word (64, 128, 256, 512).
    size       : bytes of the memory.
    in_flight  : words that a client must have in flight to get a word per cycle.

    Attributes
    ----------
    command : Endpoint(``address``), **in** to the memory; each accepted command returns one word.
    data    : Endpoint(``dat``), **out** of the memory, with any latency; held until ``ready``.
    outcome : ``MemoryOutcome``, or None if no read fails.
    """
    outcome = None

    def __init__(self, data_width, size, in_flight=16):
        self.data_width = data_width
        self.size       = size
        self.in_flight  = in_flight
        self.command    = stream.Endpoint(memory_command_layout(data_width, size))
        self.data       = stream.Endpoint(memory_data_layout(data_width))

    def connect(self, other):
        """Statements that connect this stream, of a client, to ``other``, of a memory."""
        return [self.command.connect(other.command), other.data.connect(self.data)]
