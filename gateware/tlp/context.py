#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the layer knows of each tag: where its bytes go, how far it is, how it ended."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import LENGTH_BITS, TAG_BITS

# Layouts ------------------------------------------------------------------------------------------

REASON_KEPT_BITS = 4  # Of a reason, in the RAMs.
COST_BITS        = 7  # Blocks of the completion buffer, see issue.py.

def context_layout(clients):
    """Written at issue: `end` and `lower_end` are destination and host address behind the last byte, so that a
    completion's place is found from its byte count alone."""
    return [
        ("client", max(1, bits_for(clients - 1))), ("end", 32), ("lower_end", 7), ("length", LENGTH_BITS),
        ("cost", COST_BITS), ("lap", 1),
    ]

# Written at issue and by every completion: `left` is 0 for a tag not in use; once `reason` is set, `landed` stays.
PROGRESS = [("left", LENGTH_BITS), ("reason", REASON_KEPT_BITS), ("landed", LENGTH_BITS)]

# Written when a request is over.
RESULT = [("reason", REASON_KEPT_BITS), ("bytes", LENGTH_BITS)]

BLOCK_RAM_DEPTH = 256  # From here on tools take a block RAM; so many LUTs are worth more than one.

def layout_bits(layout):
    return sum(bits for _, bits in layout)

def packed(record, layout):
    return Cat(*[getattr(record, name) for name, _ in layout])

# Tag Contexts -------------------------------------------------------------------------------------

class TagContexts(LiteXModule):
    """RAMs with a word for each tag, cleared after reset and when `clear` is asked for.

    Block RAMs with a register behind them, two cycles from tag to word; only the lap, which tells a request that is
    over from the one before it with its tag, is a RAM of LUTs.

    Parameters
    ----------
    tags, clients : int, how many.

    Attributes
    ----------
    layout       : that of `context`.
    issue        : Record: `write` **in**, `ready` **out**, `tag`, context fields **in**: a request is issued. Waits
        for completions, which use the same write port.
    lookup_tag   : **in**; `context`, `progress` **out**: two cycles later.
    update       : Record: `valid`, `write`, `tag`, PROGRESS fields, **in**. `valid`: there may be a `write`. A lookup
        made in the next cycle sees it.
    finish       : Record: `write`, `tag`, `lap`, RESULT fields, **in**.
    retire_tag   : **in**; `retire_lap` **out**: at once; `result` **out**: two cycles later.
    clear        : Signal(), **in**, every tag back to "not in use".
    clearing     : Signal(), **out**, nothing may be issued, looked up or retired.
    """
    def __init__(self, tags, clients):
        self.layout  = layout = context_layout(clients)
        self.issue   = issue  = Record([("write", 1), ("ready", 1), ("tag", TAG_BITS)] + layout)
        self.update  = update = Record([("valid", 1), ("write", 1), ("tag", TAG_BITS)] + PROGRESS)
        self.finish  = finish = Record([("write", 1), ("tag", TAG_BITS), ("lap", 1)] + RESULT)
        self.lookup_tag = Signal(TAG_BITS)
        self.context    = context  = Record(layout)
        self.progress   = progress = Record(PROGRESS)
        self.retire_tag = Signal(TAG_BITS)
        self.retire_lap = Signal()
        self.result     = result = Record(RESULT)
        self.clear      = Signal()
        self.clearing   = Signal(reset=1)

        # # #

        # Clear: a walk over all tags, RAMs have no reset -------------------------------------------
        walk = Signal(TAG_BITS)
        self.sync += If(self.clearing,
            walk.eq(walk + 1),
            If(walk == tags - 1, walk.eq(0), self.clearing.eq(0)),
        ).Elif(self.clear,
            self.clearing.eq(1),
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
        write = self.block_ram(PROGRESS, self.lookup_tag, progress)
        self.comb += [
            If(self.clearing,
                write.adr.eq(walk),
                write.we.eq(1),
            ).Elif(update.valid,
                write.adr.eq(update.tag),
                write.dat_w.eq(packed(update, PROGRESS)),
                write.we.eq(update.write),
            ).Else(
                write.adr.eq(issue.tag),
                write.dat_w.eq(issue.length),
                write.we.eq(issue.write),
            ),
        ]

        # Result and lap ---------------------------------------------------------------------------
        write = self.block_ram(RESULT, self.retire_tag, result)
        laps  = Memory(1, max(tags, 2))
        lap   = laps.get_port(write_capable=True)
        now   = laps.get_port(async_read=True)
        self.specials += laps, lap, now
        self.comb += [
            write.adr.eq(finish.tag),
            write.dat_w.eq(packed(finish, RESULT)),
            write.we.eq(finish.write),
            lap.adr.eq(Mux(self.clearing, walk, finish.tag)),
            lap.dat_w.eq(finish.lap & ~self.clearing),
            lap.we.eq(finish.write | self.clearing),
            now.adr.eq(self.retire_tag),
            self.retire_lap.eq(now.dat_r),
        ]

    def block_ram(self, layout, tag, word):
        """The word of `tag`, two cycles later; returns the port that writes."""
        memory = Memory(layout_bits(layout), BLOCK_RAM_DEPTH)
        write  = memory.get_port(write_capable=True, mode=READ_FIRST)
        read   = memory.get_port(mode=READ_FIRST)
        self.specials += memory, write, read
        self.comb += read.adr.eq(tag)
        self.sync += word.raw_bits().eq(read.dat_r)
        return write
