#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The state of each read request by its tag: where its data goes, its progress, and its result."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import LENGTH_BITS

# Layouts ------------------------------------------------------------------------------------------

REASON_KEPT_BITS = 4  # Bits of a reason in the RAMs; every reason fits.
BLOCKS_BITS      = 7  # Bits of a number of blocks of the completion buffer, see issue.py.

def context_layout(clients, destination_bits):
    """The constant part of a request's state, written when it is issued.

    `end` and `lower_end` are the destination and the host address after the last byte. Subtracting the byte count of a
    completion from them gives the addresses of its first byte.
    """
    return [
        ("client", max(1, bits_for(clients - 1))), ("end", destination_bits), ("lower_end", 7), ("length", LENGTH_BITS),
        ("generation", 1),
    ]

# The progress of a request, written when it is issued and by each of its completions. `left` is the number of bytes
# that are missing, 0 for a tag that is not in use. `reason` is that of the first bad completion; `landed` is the number
# of bytes that had arrived before it. `late`: the request ended without its last completions, so the tag is in
# quarantine; `retired`: the client has been told.
PROGRESS = [("left", LENGTH_BITS), ("reason", REASON_KEPT_BITS), ("landed", LENGTH_BITS), ("late", 1), ("retired", 1)]

# The result of a request, written when it ends.
RESULT = [("reason", REASON_KEPT_BITS), ("bytes", LENGTH_BITS)]

# Words of each RAM. From this depth on synthesis tools infer a block RAM, which costs less than that many LUTs.
BLOCK_RAM_DEPTH = 256

def layout_bits(layout):
    return sum(bits for _, bits in layout)

def packed(record, layout):
    return Cat(*[getattr(record, name) for name, _ in layout])

# Tag Contexts -------------------------------------------------------------------------------------

class TagContexts(LiteXModule):
    """RAMs with one word for each tag. They are cleared after reset.

    Context, progress and result are block RAMs with an output register, so a word is valid two cycles after its tag.
    The generation of the last request that ended is a RAM of LUTs, which is read at once. It is equal to the generation
    of the tag's current request if that request has ended, and differs if an earlier request with that tag was the last
    to end. A further bit of this RAM says that the tag is in quarantine.

    Parameters
    ----------
    tags    : int, tags 0 to `tags - 1` may be in use.
    clients : int, number of clients.
    destination_bits : int, bits of a destination that are kept.

    Attributes
    ----------
    layout            : list, fields of `context`.
    tag_bits          : int, bits of a tag in use; the RAMs and FIFOs of all modules keep no more.
    issue             : Record, **in**: `write` stores the context fields and starts the progress of `tag`. `ready`
        (**out**) is deasserted while a completion uses the write port, and while clearing, when `length` must be 0.
    lookup_tag        : Signal(tag_bits), **in**, tag to look up.
    context, progress : Record, **out**, state of `lookup_tag`, two cycles later.
    update            : Record, **in**: `write` stores the PROGRESS fields of `tag`; `valid` reserves the write port. A
        lookup in the next cycle sees the update.
    finish            : Record, **in**: `write` stores the RESULT fields, `generation` and `late` of `tag`: its request
        ended, or left quarantine.
    retire_tag        : Signal(tag_bits), **in**, tag to retire.
    retire_generation : Signal(), **out**, generation of the last request of `retire_tag` that ended, in the same cycle.
    retire_late       : Signal(), **out**, that request is in quarantine.
    result            : Record, **out**, result of `retire_tag`, two cycles later.
    clearing          : Signal(), **out**, nothing may be issued, looked up or retired.
    walk              : Signal(tag_bits), **out**, tag that is cleared while `clearing`.
    """
    def __init__(self, tags, clients, destination_bits=32):
        self.layout  = layout = context_layout(clients, destination_bits)
        self.tag_bits = tag_bits = bits_for(tags - 1)
        self.issue   = issue  = Record([("write", 1), ("ready", 1), ("tag", tag_bits)] + layout)
        self.update  = update = Record([("valid", 1), ("write", 1), ("tag", tag_bits)] + PROGRESS)
        self.finish  = finish = Record([("write", 1), ("tag", tag_bits), ("generation", 1), ("late", 1)] + RESULT)
        self.lookup_tag = Signal(tag_bits)
        self.context    = context  = Record(layout)
        self.progress   = progress = Record(PROGRESS)
        self.retire_tag = Signal(tag_bits)
        self.retire_generation = Signal()
        self.retire_late       = Signal()
        self.result     = result = Record(RESULT)
        self.clearing   = Signal(reset=1)
        self.walk       = walk = Signal(tag_bits)

        # # #

        # Clear: write all words in turn, because RAMs have no reset --------------------------------
        self.sync += If(self.clearing,
            walk.eq(walk + 1),
            If(walk == tags - 1, self.clearing.eq(0)),
        )

        # Context ----------------------------------------------------------------------------------
        write = self.block_ram(layout, self.lookup_tag, context)
        self.comb += [
            issue.ready.eq(~update.valid & ~self.clearing),
            write.adr.eq(issue.tag),
            write.dat_w.eq(packed(issue, layout)),
            write.we.eq(issue.write & issue.ready),
        ]

        # Progress ---------------------------------------------------------------------------------
        # While clearing, no update is valid and `issue.length` is 0. `landed` has no meaning without a `reason`.
        write = self.block_ram(PROGRESS, self.lookup_tag, progress)
        after = Record(PROGRESS)
        self.comb += [
            after.landed.eq(update.landed),
            If(update.valid,
                *[getattr(after, name).eq(getattr(update, name)) for name, _ in PROGRESS if name != "landed"],
            ).Else(
                after.left.eq(issue.length),
            ),
            write.dat_w.eq(packed(after, PROGRESS)),
            If(self.clearing,
                write.adr.eq(walk),
                write.we.eq(1),
            ).Elif(update.valid,
                write.adr.eq(update.tag),
                write.we.eq(update.write),
            ).Else(
                write.adr.eq(issue.tag),
                write.we.eq(issue.write),
            ),
        ]

        # Result and generation --------------------------------------------------------------------
        write = self.block_ram(RESULT, self.retire_tag, result)
        ended       = Memory(2, tags)
        write_ended = ended.get_port(write_capable=True)
        read_ended  = ended.get_port(async_read=True)
        self.specials += ended, write_ended, read_ended
        self.comb += [
            write.adr.eq(finish.tag),
            write.dat_w.eq(packed(finish, RESULT)),
            write.we.eq(finish.write),
            write_ended.adr.eq(Mux(self.clearing, walk, finish.tag)),
            write_ended.dat_w.eq(Mux(self.clearing, 0, Cat(finish.generation, finish.late))),
            write_ended.we.eq(finish.write | self.clearing),
            read_ended.adr.eq(self.retire_tag),
            Cat(self.retire_generation, self.retire_late).eq(read_ended.dat_r),
        ]

    def block_ram(self, layout, tag, word):
        """Adds a block RAM that drives `word` with the word of `tag`, two cycles later; returns its write port."""
        memory = Memory(layout_bits(layout), BLOCK_RAM_DEPTH)
        write  = memory.get_port(write_capable=True, mode=READ_FIRST)
        read   = memory.get_port(mode=READ_FIRST)
        self.specials += memory, write, read
        self.comb += read.adr.eq(tag)
        self.sync += word.raw_bits().eq(read.dat_r)
        return write
