# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Reads through the whole transaction layer: gateware/tlp/layer.py."""

import contextlib
from unittest import mock

from migen import *
from litex.gen import *

from litepcie_soc.common.pcie import FMT_TYPE_CPLD, TAG_BITS
from litepcie_soc.tlp import completion_writer, context, issue, layer, retire, tags
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases
from test.gateware.tlp.bench import SplitPHY

TAGS     = 2
PLACES   = 3    # Bits of a request's number.
LATEST   = 40   # Cycles after which no completion of a request comes.

# Small parts, so that much happens in few cycles.
SMALL = [(tags, "TAGS_WITHOUT_EXTENDED", TAGS), (layer, "TAGS_WITHOUT_EXTENDED", TAGS), (tags, "TICKS", 2),
    (tags, "SLOW_TICKS", 8), (context, "BLOCK_RAM_DEPTH", 2), (retire, "BLOCK_RAM_DEPTH", 2),
    (completion_writer, "DEPTH", 8)]


class Reads(Harness):
    """One client that reads single dwords, and a host that answers in any order, late, or not at all.

    With `calm`, the client always has a request, and neither the PHY nor the client applies back-pressure. At 64 bit,
    TLPs have two beats; at 256 bit, where a request may be issued, checked and retired in each cycle, one.

    Request n is for the host's dword 8n, which holds n, and its destination is 8n. A completion comes at most `LATEST`
    cycles after the host accepted its request, which is less than timeout and quarantine together.
    """
    def __init__(self, calm, data_width=64):
        Harness.__init__(self)
        self.phy = phy = SplitPHY(data_width)
        beats    = 2 if data_width == 64 else 1
        with contextlib.ExitStack() as stack:
            for module, name, value in SMALL:
                stack.enter_context(mock.patch.object(module, name, value))
            self.dut = dut = layer.TransactionLayer(phy, data_width, 1e6, tags=TAGS, completion_blocks=(8, 8),
                quarantine_us=48)
            self.port = port = dut.add_read_port("read", TAGS)
            dut.finalize()
        self.submodules += phy
        self.comb += [phy.bus_master_enable.eq(1), phy.link_up.eq(1)]
        self.tied("*")
        self.number = number = Signal(PLACES)
        self.free(number)
        if calm:
            self.comb += [port.request.valid.eq(1), port.data.ready.eq(1)]
        else:
            self.free(port.request.valid, port.data.ready, port.soon)
            self.assume("soon", (~port.soon | ~port.request.valid) & (~self.previous(port.soon) | port.request.valid))
        self.comb += [port.request.address.eq(number << 3), port.request.destination.eq(number << 3),
            port.request.length.eq(4)]
        self.assume("request", self.stable(port.request))
        request, completion = phy.req_sink, phy.cmp_source
        if calm:
            self.comb += request.ready.eq(1)
        else:
            self.free(request.ready)
        header  = Signal(64)
        tag     = Signal(TAG_BITS)
        self.accepted = accepted = Signal()
        self.opened   = opened = Array([Signal(name=f"open{n}") for n in range(TAGS)])  # A completion may come.
        self.numbers  = numbers = Array([Signal(PLACES, name=f"number{n}") for n in range(TAGS)])
        ages    = [Signal(max=LATEST + 1, name=f"age{n}") for n in range(TAGS)]
        self.sync += If(request.valid & request.ready & request.first, header.eq(request.dat))
        self.comb += [tag.eq(header[40:48] if beats == 2 else request.dat[40:48]),
            accepted.eq(request.valid & request.ready & request.last)]
        place  = 0 if beats == 2 else 64        # Bit of the last header dword in its beat.
        chosen = Signal(max=TAGS)
        second = Signal()
        held   = Signal(max=TAGS)
        self.free(completion.valid, chosen)
        self.assume("completion", ~completion.valid | second | opened[chosen])
        self.assume("no_gap", ~second | completion.valid)
        last = second if beats == 2 else 1
        self.assume("same_tag", ~(second | self.previous(completion.valid & ~completion.ready)) | (chosen == held))
        self.assume("waits", ~self.previous(completion.valid & ~completion.ready) | completion.valid)
        self.comb += [completion.first.eq(~second), completion.last.eq(last), completion.be.eq(2**(data_width//8) - 1)]
        header_end = [completion.dat[place:place + 8].eq(numbers[chosen] << 3),
            completion.dat[place + 8:place + 16].eq(chosen), completion.dat[place + 32:place + 64].eq(numbers[chosen])]
        header_begin = [completion.dat[24:32].eq(FMT_TYPE_CPLD), completion.dat[:10].eq(1), completion.dat[32:44].eq(4)]
        if beats == 2:
            self.comb += If(second, *header_end).Else(*header_begin)
        else:
            self.comb += header_end + header_begin
        self.sync += [
            held.eq(chosen),
            If(completion.valid & completion.ready,
                second.eq(~last),
                If(last, opened[chosen].eq(0)))]
        for n in range(TAGS):
            busy = completion.valid & (chosen == n)
            self.sync += [
                If(opened[n], ages[n].eq(ages[n] + 1)),
                If(opened[n] & (ages[n] >= LATEST - 1) & ~busy, opened[n].eq(0)),
                If(accepted & (tag == n), opened[n].eq(1), ages[n].eq(0),
                    numbers[n].eq(request.dat[place + 3:place + 3 + PLACES]))]
            self.assume(f"not_later_{n}", ages[n] != LATEST)
        self.tag = tag


class TagsNotReissued(Reads):
    """No tag is sent again while a completion of its last request may come, and every word lands at its place."""
    def __init__(self, calm, data_width=64):
        Reads.__init__(self, calm, data_width)
        port = self.port
        self.implies("in_range", self.accepted, self.tag < TAGS)
        open = Reduce("OR", [self.opened[n] & (self.tag == n) for n in range(TAGS)])
        self.implies("not_reissued", self.accepted, ~open)
        data = port.data
        words = data_width//64      # Requests whose destinations are in one word.
        low   = log2_int(words)
        begin = [data.valid & data.be[8*word] for word in range(words)]
        for word in range(words):
            number = data.dat[64*word:64*word + PLACES]
            self.implies(f"right_place_{word}", begin[word],
                (number[low:] == data.address[:PLACES - low]) & ((number[:low] == word) if low else 1))
            self.implies(f"only_the_dword_{word}", begin[word], data.be == 0xf << 8*word)
        self.implies("a_dword", data.valid, Reduce("OR", begin))
        self.implies("takes_a_request", port.request.ready, port.request.valid)
        # No more ends than requests.
        count = Signal(max=TAGS + 3)
        self.sync += count.eq(count + (port.request.valid & port.request.ready) - port.retire.valid)
        self.implies("one_done", port.retire.valid, count != 0)

PROOFS = [
    Proof("reads", TagsNotReissued, depth=42, options=dict(calm=True), replay=False),
    Proof("reads, at any time", TagsNotReissued, depth=18, options=dict(calm=False), replay=False,
        variant=True),
    Proof("reads, each cycle", TagsNotReissued, depth=26, options=dict(calm=True, data_width=256), replay=False,
        deep=True),
    Proof("reads, each cycle, at any time", TagsNotReissued, depth=16, options=dict(calm=False, data_width=256),
        replay=False, deep=True),
    Proof("reads, longer", TagsNotReissued, depth=56, options=dict(calm=True), replay=False, deep=True)]

MUTANTS = [
    Mutant("timeout_frees_the_tag", PROOFS[0], tags,
        "event.free.eq(is_dropped | self.lost", "event.free.eq(1 | self.lost"),
    Mutant("takes_a_request_that_is_not_there", PROOFS[1], issue, "(port.request.valid | port.soon)",
        "(1 | port.soon)")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
