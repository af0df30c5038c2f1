# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A model of the host: its memory, its requests to the card, and the checks of the card's requests."""

import random
from collections import deque

from test.gateware.simulation import fail, pattern, read_completions, written_bytes

CARD = 0x0300   # Bus, device, function.
HOST = 0x0008


class Host:
    """A root port with memory.

    It completes a read after `latency` cycles, in completions of `split` bytes. With `reorder`, completions of
    different requests come in random order.
    """
    def __init__(self, *, split=64, latency=20, reorder=False, seed=1, max_payload=256):
        self.split       = split
        self.latency     = latency
        self.reorder     = reorder
        self.max_payload = max_payload
        self.random      = random.Random(seed)
        self.reads       = []      # MRds received, in order.
        self.writes      = []      # MWrs received, in order.
        self.completions = []      # Completions received, in order.
        self.written     = {}      # Host memory: address -> byte.
        self.pending     = {}      # tag -> [completions to send, cycle from which to send them].
        self.requests    = deque() # Requests of the host to send.
        self.answer      = None    # Function: (MRd, its completions) -> completions to send instead.
        self.hold        = None    # Function: MRd -> whether its completions are held back until `let_go`.
        self.held        = {}      # tag -> completions that are held back.
        self.cycle       = 0
        self.outstanding = {}      # tag -> bytes of the request that still have to come, 0 if all came.
        self.rcb         = 64      # Read Completion Boundary in bytes.
        self.blocks      = {}      # tag -> blocks of RCB bytes that completions still to come may fill.
        self.most_blocks = 0       # The largest number of blocks that were outstanding at a time.

    def take(self, tlp):
        """Receives a TLP of the card."""
        if tlp.is_completion:
            self.completions.append(tlp)
        elif tlp.fmt & 2:
            self.check_request(tlp)
            self.writes.append(tlp)
            self.written.update(written_bytes(tlp))
        else:
            self.check_request(tlp)
            self.reads.append(tlp)
            self.start_read(tlp)

    def fail(self, what, expected, found, tlp):
        __tracebackhide__ = True
        fail(f"the host got a wrong request: {what}", expected=expected, found=found, cycle=self.cycle,
            kind="write" if tlp.fmt & 2 else "read", address=tlp.address, length=f"{tlp.length} dwords", tag=tlp.tag)

    def check_request(self, tlp):
        if tlp.requester != CARD:
            self.fail("requester", f"{CARD:#06x}", f"{tlp.requester:#06x}", tlp)
        if tlp.address % 4096 + 4*tlp.length > 4096:
            self.fail("it crosses 4 KiB", "one page", f"up to {tlp.address + 4*tlp.length - 1:#x}", tlp)
        if not tlp.first_be or bool(tlp.last_be) != (tlp.length > 1):
            self.fail("byte enables", "the first not 0, the last 0 only with one dword",
                f"first {tlp.first_be:#x}, last {tlp.last_be:#x}", tlp)
        if (tlp.address >= 1 << 32) != bool(tlp.fmt & 1):
            self.fail("dwords of the header", 4 if tlp.address >> 32 else 3, 3 + (tlp.fmt & 1), tlp)

    def start_read(self, tlp):
        completions = list(read_completions(tlp, self.memory, split=self.split))
        if self.outstanding.get(tlp.tag) or tlp.tag in self.held:
            self.fail("its tag is in use", f"another tag than {sorted({*self.outstanding, *self.held})}", tlp.tag, tlp)
        self.outstanding[tlp.tag] = completions[0].byte_count
        self.count_blocks(completions[0], completions[0].byte_count)
        if self.answer:
            completions = self.answer(tlp, completions)
        if self.hold and self.hold(tlp):
            self.held[tlp.tag] = completions
            del self.outstanding[tlp.tag]
            return
        self.pending[tlp.tag] = [deque(completions), self.cycle + self.latency]

    def let_go(self, tag):
        """Sends the completions of a request that were held back, before those of other requests."""
        self.pending = {("late", tag): [deque(self.held[tag]), 0], **self.pending}
        while ("late", tag) in self.pending:
            yield
        del self.held[tag]

    def count_blocks(self, tlp, left, most=1024):
        """Counts the blocks of the last `left` bytes of a request of which `tlp` is the first completion to come.

        A completion whose byte count is wrong does not add to the `most` blocks that the request had before it.
        """
        end = tlp.lower_address + tlp.byte_count
        self.blocks[tlp.tag] = min(most, -(-end//self.rcb) - (end - left)//self.rcb) if left else 0
        self.most_blocks = max(self.most_blocks, sum(self.blocks.values()))

    def memory(self, address):
        return self.written.get(address, pattern(address))

    def next_completion(self):
        """The next completion of the card's reads, or None."""
        ready = [tag for tag, (completions, due) in self.pending.items() if due <= self.cycle]
        if not ready:
            return None
        tag  = self.random.choice(ready) if self.reorder else ready[0]
        tlps = self.pending[tag][0]
        tlp  = tlps.popleft() if tlps else None
        if tlp and tlp.fmt & 2 and tlp.status == 0:
            last = tlp.byte_count <= 4*tlp.length - tlp.lower_address % 4
            self.outstanding[tag] = 0 if last else self.outstanding.get(tag, 0)
            left = 0 if last else tlp.byte_count - 4*tlp.length + tlp.lower_address % 4
            self.count_blocks(tlp, left, self.blocks.get(tlp.tag, 0))
        if not tlps:
            del self.pending[tag]
            self.outstanding.pop(tag, None)
            self.blocks.pop(tag, None)
        return tlp
