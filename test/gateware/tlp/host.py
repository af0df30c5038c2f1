#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The host of the tests: its memory, what it asks of the card, and the rules it holds the card's requests to."""

import random

from collections import deque

from test.gateware.simulation import pattern, read_completions, written_bytes

CARD = 0x0300   # Bus, device, function.
HOST = 0x0008

# Host ---------------------------------------------------------------------------------------------

class Host:
    """Memory behind a root port. Reads are answered in pieces of `split` bytes after `latency` cycles,
    the completions of different requests in any order if `reorder`."""
    def __init__(self, *, split=64, latency=20, reorder=False, seed=1, max_payload=256):
        self.split       = split
        self.latency     = latency
        self.reorder     = reorder
        self.max_payload = max_payload
        self.random      = random.Random(seed)
        self.reads       = []      # MRds that came, in order.
        self.writes      = []      # MWrs that came, in order.
        self.completions = []      # Completions that came.
        self.written     = {}      # Host memory: address -> byte.
        self.pending     = {}      # tag -> completions to send, and when.
        self.requests    = deque() # TLPs of the host's own.
        self.answer      = None    # Takes the MRd and its completions, gives what to send.
        self.cycle       = 0
        self.outstanding = {}      # tag -> (request, bytes left).
        self.blocks      = {}      # tag -> blocks of 64 bytes its completions may need.
        self.most_blocks = 0

    def take(self, tlp):
        """A TLP of the card."""
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
        # 0: all came, and what a test sends besides is dropped with the tag.
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
        """The next TLP to the card's reads, or None."""
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
