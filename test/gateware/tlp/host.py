#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A model of the host: its memory, its requests to the card, and the checks of the card's requests."""

import random

from collections import deque

from test.gateware.simulation import pattern, read_completions, written_bytes

CARD = 0x0300   # Bus, device, function.
HOST = 0x0008

# Host ---------------------------------------------------------------------------------------------

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
        self.cycle       = 0
        self.outstanding = {}      # tag -> bytes of the request that still have to come, 0 if all came.
        self.blocks      = {}      # tag -> blocks of 64 bytes that its completions may fill.
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

    @staticmethod
    def check_request(tlp):
        assert tlp.requester == CARD
        assert tlp.address % 4096 + 4*tlp.length <= 4096, "crosses 4 KiB"
        assert tlp.first_be and (tlp.last_be if tlp.length > 1 else not tlp.last_be), "byte enables"
        assert (tlp.address >= 1 << 32) == bool(tlp.fmt & 1), "header size"

    def start_read(self, tlp):
        completions = list(read_completions(tlp, self.memory, split=self.split))
        assert not self.outstanding.get(tlp.tag), f"tag {tlp.tag} is in use"
        self.outstanding[tlp.tag] = completions[0].byte_count
        self.count_blocks(tlp, completions)
        if self.answer:
            completions = self.answer(tlp, completions)
        self.pending[tlp.tag] = [deque(completions), self.cycle + self.latency]

    def count_blocks(self, tlp, completions):
        start  = tlp.address & ~63
        end    = (tlp.address & ~3) + completions[0].lower_address % 4 + completions[0].byte_count
        self.blocks[tlp.tag] = -(-(end - start)//64)
        live = sum(self.blocks[tag] for tag in self.outstanding)
        self.most_blocks = max(self.most_blocks, live)

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
        if not tlps:
            del self.pending[tag]
            self.outstanding.pop(tag, None)
        return tlp
