#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A tag is used again only when no completion of its request can come: quarantine, resets, loss of the link."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from litepcie_soc.common.pcie import REASON_BUS_MASTER, REASON_NONE, REASON_TIMEOUT

from test.gateware.simulation import Stalls
from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import Host
from test.gateware.tlp.test_read_errors import errors

SIZE    = 256
FOREVER = 2**26

# Helpers ------------------------------------------------------------------------------------------

def make(*, tags=8, count=40, timeout_us=640, pause=0.0, pool=32, **options):
    """A bench with one reader of `count` requests, which are made with random pauses."""
    bench  = Bench(64, host=Host(split=64, latency=60), timeout_us=timeout_us, tags=pool, **options)
    port   = bench.layer.add_read_port("port", tags)
    reader = Reader(port, [(0x10000 + SIZE*n, SIZE, SIZE*n) for n in range(count)], Stalls(), Stalls(pause, 7))
    return bench, reader


def until(condition):
    while not condition():
        yield


def wait(cycles):
    for _ in range(cycles):
        yield


def first(count):
    """Holds back the completions of the first `count` requests."""
    seen = []
    def hold(tlp):
        seen.append(tlp)
        return len(seen) <= count
    return hold


def reasons(reader):
    return [reason for reason, _ in reader.retired]

# Late Completions ---------------------------------------------------------------------------------

@pytest.mark.parametrize("come", ["while the next requests are outstanding", "one by one", "never"])
def test_late_completion_is_not_taken_for_the_next_request(come):
    """The first request is lost. Many requests later, in which its tag would have been used again, its completions
    come. No byte of them is delivered, and the tag is used again after the last one came."""
    bench, reader = make(count=120, pause=0.9)
    host      = bench.host
    host.hold = first(1)

    def late():
        yield from until(lambda: len(host.reads) >= 80)
        tag = host.reads[0].tag
        assert tag not in [tlp.tag for tlp in host.reads[1:]]
        if come == "one by one":
            completions = host.held[tag]
            for completion in completions:
                host.held[tag] = [completion]
                yield from host.let_go(tag)
                host.held[tag] = []
                yield from wait(100)
            del host.held[tag]
        elif come != "never":
            yield from host.let_go(tag)

    bench.run([reader], [late()])
    assert reasons(reader) == [REASON_TIMEOUT] + [REASON_NONE]*119
    assert bench.errors == errors(timeout=1, unexpected=0 if come == "never" else 4)
    again = [tlp.tag for tlp in host.reads[80:]].count(host.reads[0].tag)
    assert (again > 0) == (come != "never")


def test_error_completion_ends_the_quarantine():
    """A completion with an error status is the last one of its request, also after the timeout."""
    bench, reader = make(count=80, pause=0.9)
    host      = bench.host
    host.hold = first(1)
    def late():
        yield from until(lambda: reader.retired)
        tag = host.reads[0].tag
        bad = host.held[tag][0]
        host.held[tag] = [type(bad)(fmt=0, type=bad.type, requester=bad.requester, tag=tag, status=1,
            byte_count=bad.byte_count, lower_address=bad.lower_address)]
        yield from host.let_go(tag)
    bench.run([reader], [late()])
    assert reasons(reader) == [REASON_TIMEOUT] + [REASON_NONE]*79
    assert bench.errors == errors(timeout=1, unexpected=1)
    assert host.reads[0].tag in [tlp.tag for tlp in host.reads[1:]]


def test_quarantine_ends():
    """A tag whose completions never come is used again after the quarantine, and not before."""
    bench, reader = make(count=150, quarantine_us=1024)
    host      = bench.host
    host.hold = first(1)
    times     = {}
    def watch():
        yield from until(lambda: reader.retired)
        ended = host.cycle
        tag   = host.reads[0].tag
        yield from until(lambda: host.cycle - ended > 900)
        assert tag not in [tlp.tag for tlp in host.reads[1:]]
        del host.held[tag]
        yield from until(lambda: tag in [tlp.tag for tlp in host.reads[1:]])
        times["again"] = host.cycle - ended
    bench.run([reader], [watch()])
    assert reasons(reader) == [REASON_TIMEOUT] + [REASON_NONE]*149
    assert 1024 <= times["again"] <= 1024*9//8 + 32*40  # The free list is a queue of 32 tags.


def test_other_requester():
    """Completions with the requester ID of another function are dropped, and do not end a request."""
    bench, reader = make(tags=4, count=20, timeout_us=1600)
    host = bench.host
    def answer(tlp, completions):
        strangers = zip((1, 0x100, 8, 0x8000), completions)
        return [replace(c, requester=c.requester ^ bit) for bit, c in strangers] + completions
    host.answer = answer
    bench.run([reader])
    assert reasons(reader) == [REASON_NONE]*20
    assert bench.errors == errors(unexpected=80)

# Time ---------------------------------------------------------------------------------------------

class Closed(Stalls):
    """The PHY does not accept in some cycles of the host's clock."""
    def __init__(self, host, begin, end):
        Stalls.__init__(self, 1.0)
        self.host, self.begin, self.end = host, begin, end

    def next(self):
        return self.begin <= self.host.cycle < self.end


def test_no_timeout_while_the_phy_does_not_accept():
    """The PHY does not accept for three timeouts. No request ends before it was sent, no tag is on the link twice."""
    bench, reader = make(tags=4, count=40, timeout_us=320)
    bench.tx_stalls = Closed(bench.host, 150, 1200)
    bench.run([reader])
    assert reasons(reader) == [REASON_NONE]*40
    assert bench.errors == errors()
    assert len(bench.host.reads) == 40


@pytest.mark.parametrize("pool, lost", [(32, 30), (64, 52)])
def test_lost_requests_end_together(pool, lost):
    """All requests that are older than the timeout end together, not one timeout after another."""
    bench, reader = make(tags=lost, count=lost, pool=pool, buffer_blocks=1000, timeout_us=1600)
    bench.host.answer = lambda tlp, completions: []
    bench.run([reader], extended_tag=1, cycles=8000)
    assert reasons(reader) == [REASON_TIMEOUT]*lost
    assert reader.cycles[-1] - reader.cycles[0] < 300 + 100
    assert 1600 <= reader.cycles[0] <= 2100
    assert bench.errors == errors(timeout=lost)

# All Tags in Quarantine ---------------------------------------------------------------------------

@pytest.mark.parametrize("what", ["tags", "room"])
def test_no_hang_when_quarantine_leaves_nothing(what):
    """Requests end at once when quarantine leaves no tag, or not enough room. After the completions came they succeed
    again."""
    bench, reader = make(tags=32, count=120, pause=0.97, timeout_us=3200, buffer_blocks=1000 if what == "tags" else 20)
    host      = bench.host
    lost      = 32 if what == "tags" else 5
    host.hold = lambda tlp: len(host.reads) <= lost
    took      = []
    def late():
        yield from until(lambda: len(reader.retired) >= lost)
        since = host.cycle
        yield from until(lambda: len(reader.retired) >= lost + 20)
        took.append(host.cycle - since)
        for tag in list(host.held):
            yield from host.let_go(tag)
    bench.run([reader], [late()])
    assert took[0] < 20*60
    assert reasons(reader)[:lost + 20] == [REASON_TIMEOUT]*(lost + 20)
    assert reasons(reader)[-10:] == [REASON_NONE]*10
    assert len(reader.retired) == 120
    assert bench.errors["unexpected"] == 4*lost

# Resets -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("stalled", [False, True])
def test_abandon(stalled):
    """While `abandon` is asserted every request ends at once, also those that wait for the PHY. The tags of requests
    that were sent are not used again before their completions came."""
    bench, reader = make(tags=8, count=60, timeout_us=FOREVER)
    host      = bench.host
    host.hold = lambda tlp: len(host.reads) <= 8
    if stalled:
        bench.tx_stalls = Closed(host, 130, 1400)
    drained = []
    stop    = []
    reader.request_stalls = SimpleNamespace(next=lambda: reader.issued >= 20 and len(stop) == 1)
    def reset():
        yield from wait(400)
        stop.append(1)
        yield bench.layer.abandon.eq(1)
        yield from wait(200)
        for _ in range(300):
            drained.append((yield bench.layer.drained))
            yield
        yield bench.layer.abandon.eq(0)
        stop.append(1)
        yield from wait(1400)
        for tag in list(host.held):
            yield from host.let_go(tag)
    bench.run([reader], [reset()])
    assert sum(drained) > 250
    assert set(reasons(reader)) <= {REASON_BUS_MASTER, REASON_NONE}
    assert reader.retired[0] == (REASON_BUS_MASTER, 0)
    assert reasons(reader)[-30:] == [REASON_NONE]*30
    assert bench.errors["timeout"] == 0


@pytest.mark.parametrize("late", [0, 4])
def test_loss_of_the_link_frees_all_tags(late):
    """After the link was down, all requests have ended with REASON_BUS_MASTER and every tag can be used, those in
    quarantine too."""
    bench, reader = make(tags=32, count=200, timeout_us=1600, buffer_blocks=1000)
    host      = bench.host
    host.hold = lambda tlp: len(host.reads) <= 32
    def link():
        yield from until(lambda: len(host.reads) == 32)
        yield from wait(2600 if late else 100)      # Their timeout passes, or does not.
        yield bench.phy.link_up.eq(0)
        host.held.clear()
        yield from wait(3)
        yield bench.phy.link_up.eq(1)
    reader.request_stalls = Stalls(0.97, 3)
    bench.run([reader], [link()])
    assert reasons(reader)[-50:] == [REASON_NONE]*50
    assert len({tlp.tag for tlp in host.reads[32:]}) == 32
    assert len(reader.retired) == 200


def test_extended_tag_changes_with_tags_in_quarantine():
    """The free list is filled again without the tags in quarantine."""
    bench, reader = make(tags=64, count=200, pool=64, buffer_blocks=1000, pause=0.97, timeout_us=3200)
    host      = bench.host
    host.hold = lambda tlp: len(host.reads) in range(20, 50)
    def switch():
        yield from until(lambda: len(reader.retired) > 60)
        held = len(host.held)
        assert held == 30
        for value in (0, 1, 0, 1):
            yield bench.phy.extended_tag.eq(value)
            yield from wait(600)
        for tag in list(host.held):
            yield from host.let_go(tag)
        yield from wait(200)
    bench.run([reader], [switch()], extended_tag=1)
    assert reasons(reader).count(REASON_TIMEOUT) == 30
    assert set(reasons(reader)) == {REASON_NONE, REASON_TIMEOUT}
    assert bench.errors == errors(timeout=30, unexpected=120)
