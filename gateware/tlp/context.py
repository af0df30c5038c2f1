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

def context_layout(clients, destination_bits, halves=False):
    """The constant part of a request's state, written when it is issued.

    `end` and `lower_end` are the destination and the host address after the last byte. Subtracting the byte count of a
    completion from them gives the addresses of its first byte. `half`: it took half a block, see `Budget`.
    """
    return [
        ("client", max(1, bits_for(clients - 1))), ("end", destination_bits), ("lower_end", 7), ("length", LENGTH_BITS),
        ("generation", 1),
    ] + [("half", 1)]*halves

# The progress of a request, written when it is issued and by each of its completions. `left` is the number of bytes
# that are missing, 0 for a tag that is not in use. `reason` is that of the first bad completion; `landed` is the number
# of bytes that had arrived before it. `late`: the request ended without its last completions, so the tag is in
# quarantine; `retired`: the client has been told.
PROGRESS = [("left", LENGTH_BITS), ("reason", REASON_KEPT_BITS), ("landed", LENGTH_BITS), ("late", 1), ("retired", 1)]

# The result of a request, written when it ends.
RESULT = [("reason", REASON_KEPT_BITS), ("bytes", LENGTH_BITS)]

# Width from which a read is issued, checked and retired in each cycle: a request of one beat with its header, and its
# completion, take one cycle there. Narrower paths save the LUTs.
PER_CYCLE_BITS = 256

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
    halves    : bool, keep `half` of `context_layout`.
    per_cycle : bool, a request may be issued in the cycle of an update, and a lookup made in every cycle.

    Attributes
    ----------
    layout            : list, fields of `context`.
    tag_bits          : int, bits of a tag in use; the RAMs and FIFOs of all modules keep no more.
    issue             : Record, **in**: `write` stores the context fields and starts the progress of `tag`. `ready`
        (**out**) is deasserted while clearing, when `length` must be 0, and without `per_cycle` while a completion uses
        the write port.
    lookup_tag        : Signal(tag_bits), **in**, tag to look up.
    context, progress : Record, **out**, state of `lookup_tag`, two cycles later.
    update            : Record, **in**: `write` stores the PROGRESS fields of `tag`, whose request has `generation`;
        `valid` reserves the write port. A lookup in the next cycle sees the update; with `per_cycle`, one in the same
        cycle too.
    finish            : Record, **in**: `write` stores the RESULT fields, `generation` and `late` of `tag`: its request
        ended, or left quarantine.
    retire_tag        : Signal(tag_bits), **in**, tag to retire.
    retire_generation : Signal(), **out**, generation of the last request of `retire_tag` that ended, in the same cycle.
    retire_late       : Signal(), **out**, that request is in quarantine.
    result            : Record, **out**, result of `retire_tag`, two cycles later.
    clearing          : Signal(), **out**, nothing may be issued, looked up or retired.
    walk              : Signal(tag_bits), **out**, tag that is cleared while `clearing`.
    """
    def __init__(self, tags, clients, destination_bits=32, *, per_cycle=False, halves=False):
        self.layout  = layout = context_layout(clients, destination_bits, halves)
        self.tag_bits = tag_bits = bits_for(tags - 1)
        self.issue   = issue  = Record([("write", 1), ("ready", 1), ("tag", tag_bits)] + layout)
        self.update  = Record([("valid", 1), ("write", 1), ("tag", tag_bits), ("generation", 1)] + PROGRESS)
        self.finish  = Record([("write", 1), ("tag", tag_bits), ("generation", 1), ("late", 1)] + RESULT)
        self.lookup_tag = Signal(tag_bits)
        self.context    = context  = Record(layout)
        self.progress   = Record(PROGRESS)
        self.retire_tag = Signal(tag_bits)
        self.retire_generation = Signal()
        self.retire_late       = Signal()
        self.result     = Record(RESULT)
        self.clearing   = Signal(reset=1)
        self.walk       = walk = Signal(tag_bits)

        # # #

        # Clear: write all words in turn, because RAMs have no reset --------------------------------
        self.sync += If(self.clearing,
            walk.eq(walk + 1),
            If(walk == tags - 1, self.clearing.eq(0)),
        )

        # Context ----------------------------------------------------------------------------------
        self.shown = Record(layout)     # The context at the output of the RAM, a cycle before `context`.
        write = self.block_ram(layout, self.lookup_tag, context, self.shown)
        self.comb += [
            issue.ready.eq(~self.clearing & (1 if per_cycle else ~self.update.valid)),
            write.adr.eq(issue.tag),
            write.dat_w.eq(packed(issue, layout)),
            write.we.eq(issue.write & issue.ready),
        ]
        if per_cycle:
            self.add_progress(write)
        else:
            self.add_shared_progress()
        self.add_result(tags)

    def add_shared_progress(self):
        """Adds the RAM of the progress, which the issue and the updates write through one port."""
        issue, update, walk = self.issue, self.update, self.walk
        # While clearing, no update is valid and `issue.length` is 0. `landed` has no meaning without a `reason`.
        write = self.block_ram(PROGRESS, self.lookup_tag, self.progress)
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

    def add_progress(self, write_context):
        """Adds a RAM of the progress that only updates write.

        A word has the generation of its request. If it differs from that in the context, a request was issued and not
        updated yet: the word is that of the tag's previous request. Clearing makes both generations 0.
        """
        update, walk = self.update, self.walk
        layout = PROGRESS + [("generation", 1)]
        memory = Memory(layout_bits(layout), BLOCK_RAM_DEPTH)
        write  = memory.get_port(write_capable=True, mode=READ_FIRST)
        read   = memory.get_port(mode=READ_FIRST)
        self.specials += memory, write, read
        after  = Record(layout)     # The update of this cycle.
        recent = Record(PROGRESS)   # That of the previous cycle.
        same   = Signal()           # It was made in the cycle of the lookup, for its tag.
        stored = Record(layout)
        self.comb += [
            *[getattr(after, name).eq(getattr(update, name)) for name, _ in layout],
            write.adr.eq(Mux(self.clearing, walk, update.tag)),
            write.dat_w.eq(Mux(self.clearing, 0, packed(after, layout))),
            write.we.eq(self.clearing | update.write),
            If(self.clearing,
                write_context.adr.eq(walk),
                write_context.dat_w.eq(0),
                write_context.we.eq(1),
            ),
            read.adr.eq(self.lookup_tag),
            stored.raw_bits().eq(read.dat_r),
        ]
        self.sync += [
            same.eq(update.write & (update.tag == self.lookup_tag)),
            *[getattr(recent, name).eq(getattr(after, name)) for name, _ in PROGRESS],
            If(same,
                self.progress.eq(recent),
            ).Elif(stored.generation != self.shown.generation,
                self.progress.raw_bits().eq(0),
                self.progress.left.eq(self.shown.length),
            ).Else(
                *[getattr(self.progress, name).eq(getattr(stored, name)) for name, _ in PROGRESS],
            ),
        ]

    def add_result(self, tags):
        """Adds the RAMs of the result and of the generation of the last request that ended."""
        finish, walk = self.finish, self.walk
        write = self.block_ram(RESULT, self.retire_tag, self.result)
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

    def block_ram(self, layout, tag, word, shown=None):
        """Adds a block RAM that drives `word` with the word of `tag`, two cycles later; returns its write port.

        It drives `shown` with the same one cycle earlier.
        """
        memory = Memory(layout_bits(layout), BLOCK_RAM_DEPTH)
        write  = memory.get_port(write_capable=True, mode=READ_FIRST)
        read   = memory.get_port(mode=READ_FIRST)
        self.specials += memory, write, read
        self.comb += read.adr.eq(tag)
        if shown is not None:
            self.comb += shown.raw_bits().eq(read.dat_r)
        self.sync += word.raw_bits().eq(read.dat_r)
        return write
