#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the layer knows of each tag: where its bytes go, how far it is, how it ended."""

from migen import *

from litex.gen import *

from litepcie_soc.common import LENGTH_BITS, TAG_BITS

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

# Written when a request is over: `lap` is that of its tag's window, which tells it from the one before.
RESULT = [("reason", REASON_KEPT_BITS), ("bytes", LENGTH_BITS), ("lap", 1)]

def layout_bits(layout):
    return sum(bits for _, bits in layout)

# Tag Contexts -------------------------------------------------------------------------------------

class TagContexts(LiteXModule):
    """Three RAMs with a word for each tag, cleared after reset and when `clear` is asked for.

    Parameters
    ----------
    tags, clients : int, how many.

    Attributes
    ----------
    layout       : that of `context`.
    issue        : Record: `write` **in**, `ready` **out**, `tag`, context fields **in**: a request is issued. Waits
        for completions, which use the same write port.
    lookup_tag, lookup_enable : **in**; `context`, `progress` **out**: a cycle later, held while not enabled.
    update       : Record: `write`, `tag`, PROGRESS fields, **in**. A lookup made in the next cycle sees it.
    updating     : Record, **out**: `update` a cycle later, as it is written; a lookup made the cycle before misses it.
    finish       : Record: `write`, `tag`, RESULT fields, **in**.
    retire_tag   : **in**; `result` **out**, a cycle later.
    clear        : Signal(), **in**, every tag back to "not in use".
    clearing     : Signal(), **out**, nothing may be issued, looked up or retired.
    """
    def __init__(self, tags, clients):
        tag_bits     = bits_for(tags - 1)
        self.layout  = layout = context_layout(clients)
        self.issue   = issue  = Record([("write", 1), ("ready", 1), ("tag", TAG_BITS)] + layout)
        self.update  = update = Record([("write", 1), ("tag", TAG_BITS)] + PROGRESS)
        self.finish  = finish = Record([("write", 1), ("tag", TAG_BITS)] + RESULT)
        self.lookup_tag    = Signal(TAG_BITS)
        self.lookup_enable = Signal()
        self.context       = context  = Record(layout)
        self.progress      = progress = Record(PROGRESS)
        self.retire_tag    = Signal(TAG_BITS)
        self.result        = result = Record(RESULT)
        self.clear         = Signal()
        self.clearing      = Signal(reset=1)

        # # #

        # Clear: a walk over all tags, RAMs have no reset -------------------------------------------
        walk = Signal(tag_bits)
        self.sync += If(self.clearing,
            walk.eq(walk + 1),
            If(walk == tags - 1, walk.eq(0), self.clearing.eq(0)),
        ).Elif(self.clear,
            self.clearing.eq(1),
        )

        self.updating = updating = Record(update.layout)
        self.sync += updating.eq(update)

        # Context ----------------------------------------------------------------------------------
        context_write, context_read = self.ram(layout, tags, READ_FIRST, enable=self.lookup_enable)
        self.comb += [
            issue.ready.eq(~updating.write & ~self.clearing),
            context_write.adr.eq(issue.tag),
            context_write.dat_w.eq(Cat(*[getattr(issue, name) for name, _ in layout])),
            context_write.we.eq(issue.write & issue.ready),
            context_read.adr.eq(self.lookup_tag),
            context.raw_bits().eq(context_read.dat_r),
        ]

        # Progress ---------------------------------------------------------------------------------
        # Write first: what is written while a lookup waits shows.
        progress_write, progress_read = self.ram(PROGRESS, tags, WRITE_FIRST, enable=self.lookup_enable)
        self.comb += [
            progress_read.adr.eq(self.lookup_tag),
            progress.raw_bits().eq(progress_read.dat_r),
            progress_write.we.eq(updating.write | issue.write | self.clearing),
            If(self.clearing,
                progress_write.adr.eq(walk),
                progress_write.dat_w.eq(0),
            ).Elif(updating.write,
                progress_write.adr.eq(updating.tag),
                progress_write.dat_w.eq(Cat(*[getattr(updating, name) for name, _ in PROGRESS])),
            ).Else(
                progress_write.adr.eq(issue.tag),
                progress_write.dat_w.eq(issue.length),
            ),
        ]

        # Result -----------------------------------------------------------------------------------
        result_write, result_read = self.ram(RESULT, tags, READ_FIRST)
        self.comb += [
            result_read.adr.eq(self.retire_tag),
            result.raw_bits().eq(result_read.dat_r),
            result_write.we.eq(finish.write | self.clearing),
            If(self.clearing,
                result_write.adr.eq(walk),
                result_write.dat_w.eq(0),
            ).Else(
                result_write.adr.eq(finish.tag),
                result_write.dat_w.eq(Cat(*[getattr(finish, name) for name, _ in RESULT])),
            ),
        ]

    def ram(self, layout, tags, mode, enable=None):
        memory = Memory(layout_bits(layout), tags)
        write  = memory.get_port(write_capable=True)
        read   = memory.get_port(has_re=enable is not None, mode=mode)
        self.specials += memory, write, read
        if enable is not None:
            self.comb += read.re.eq(enable)
        return write, read
