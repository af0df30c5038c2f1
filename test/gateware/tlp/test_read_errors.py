# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Bad, late and missing completions: the client gets a reason, a counter counts, and other requests succeed."""

from dataclasses import replace
from unittest import mock

import pytest

from litepcie_soc.common.pcie import (REASON_BAD_LENGTH, REASON_BUS_MASTER, REASON_COMPLETER_ABORT, REASON_NONE,
    REASON_POISONED, REASON_TIMEOUT, REASON_UNSUPPORTED_REQUEST)
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.tlp.layer import ERRORS
from test.gateware.simulation import Stalls, memory_read, read_completions
from test.gateware.steps import wait
from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import HOST, Host

LENGTH = 256   # Bytes of every request: four completions of 64 bytes.
COUNT  = 12    # Requests.
VICTIM = 4     # The request whose completions are modified.


def run(answer, *, count=COUNT, width=64, stall=0.2, timeout_us=2000, reorder=True, tags=4, **options):
    """Makes `count` reads; the host sends `answer(completions)` for the victim. Returns bench and reader.

    `answer` may be {number of a request: function} for several victims.
    """
    answers = answer if isinstance(answer, dict) else {VICTIM: answer}
    host  = Host(split=64, latency=20, reorder=reorder)
    bench = Bench(width, host=host, stall=stall, timeout_us=timeout_us, **options)
    seen  = []
    def tamper(tlp, completions):
        seen.append(tlp)
        return answers.get(len(seen) - 1, lambda c: c)(completions)
    host.answer = tamper
    port        = bench.layer.add_read_port("port", tags)
    reader      = Reader(port, [(0x10000 + 0x1000*n, LENGTH, 0x1003*n) for n in range(count)], bench.stalls())
    bench.run([reader], watchers=[bench.blame("unexpected", "bad_length", "poisoned")])
    others = [result for n, result in enumerate(reader.retired) if n not in answers]
    assert others == [(REASON_NONE, LENGTH)]*(count - len(answers)), "another request failed"
    return bench, reader


def errors(**counts):
    return {**{name: 0 for name, _ in ERRORS}, **counts}


def headers(*tlps):
    return [tlp.dwords("big")[:3] for tlp in tlps]


def failed(completion, status):
    """`completion` (CplD) as a Cpl with an error status."""
    return replace(completion, fmt=0b000, length=0, status=status, data=b"")

STATUS = [
    (0b001, REASON_UNSUPPORTED_REQUEST, 0),
    (0b100, REASON_COMPLETER_ABORT,     3),
    (0b010, REASON_UNSUPPORTED_REQUEST, 1),     # CRS is for configuration requests only.
    (0b111, REASON_UNSUPPORTED_REQUEST, 0),     # Reserved.
]


def test_error_status():
    """An error status after `good` completions ends the request at once."""
    def answer(status, good):
        return lambda c: c[:good] + [failed(c[good], status)]
    bench, reader = run({3*n: answer(status, good) for n, (status, _, good) in enumerate(STATUS)})
    assert reader.retired[::3] == [(reason, 64*good) for _, reason, good in STATUS]
    assert bench.errors == errors(unsupported_request=3, completer_abort=1)


# Rules: 2.7.2.2
def test_poisoned():
    """The data of the poisoned completion and of those after it is dropped; they do not count as unexpected."""
    def answer(which):
        return lambda c: [replace(p, ep=int(n == which)) for n, p in enumerate(c)]
    bench, reader = run({2: answer(0), 6: answer(3)})
    assert reader.retired[2:7:4] == [(REASON_POISONED, 0), (REASON_POISONED, 192)]
    assert bench.errors == errors(poisoned=2)
    for number, count in ((2, 0), (6, 192)):
        assert len([at for at in reader.landed if 0x1003*number <= at < 0x1003*number + LENGTH]) == count

BAD = {
    "byte count too small":    lambda c: [replace(c[0], byte_count=LENGTH - 4)],
    "byte count too large":    lambda c: [replace(c[0], byte_count=LENGTH + 64)],
    "byte count 4096":         lambda c: [replace(c[0], byte_count=4096)],
    "lower address":           lambda c: [replace(c[0], lower_address=64)],
    "second one skipped":      lambda c: [c[0], c[2]],
    "last one too long":       lambda c: c[:3] + [replace(c[3], length=20, data=c[3].data + bytes(16))],
    "last one too short":      lambda c: c[:3] + [replace(c[3], length=15, data=c[3].data[:60])],
    "ends off a block":        lambda c: [replace(c[0], length=9, data=c[0].data[:36])],
    "no data":                 lambda c: [failed(c[0], 0)],
    "again":                   lambda c: [c[0], c[0]]}

def run_bad(names, change):
    """Returns {name: (reason, bytes)} of requests with a wrong completion each, which `change` changes further."""
    victims = {2*n + 1: name for n, name in enumerate(names)}
    bench, reader = run({n: (lambda c, name=name: change(c, BAD[name](c))) for n, name in victims.items()},
        count=2*len(names) + 2, timeout_us=600)
    assert bench.errors == errors(bad_length=len(names), timeout=len(names))
    return {name: reader.retired[n] for n, name in victims.items()}


def test_bad_length():
    """The request ends at the timeout: until then its remaining completions may come, so its tag stays in use."""
    landed = {"second one skipped": 64, "last one too long": 192, "last one too short": 192, "again": 64}
    found  = run_bad(BAD, lambda c, bad: bad)
    assert found == {name: (REASON_BAD_LENGTH, landed.get(name, 0)) for name in BAD}


TWO_BITS = ["byte count too small", "second one skipped", "ends off a block"]


def test_bad_length_with_two_bits_of_the_lower_address():
    """The other bits are those of the request's first byte, as PG156 and PG213 can be read."""
    with mock.patch.object(SimPHY, "lower_address_bits", 2, create=True):
        found = run_bad(TWO_BITS, lambda c, bad: [replace(tlp, lower_address=c[0].lower_address) for tlp in bad])
    assert {reason for reason, _ in found.values()} == {REASON_BAD_LENGTH}


def test_duplicate_in_the_middle():
    """After a completion that comes twice, the remaining completions are still counted to their own request."""
    bench, reader = run(lambda c: [*c[:2], *c[1:]])
    assert reader.retired[VICTIM] == (REASON_BAD_LENGTH, 128)
    assert bench.errors == errors(bad_length=1)


def stray(tag):
    return list(read_completions(memory_read(0x1000 + 16*tag, 16, tag=tag, requester=HOST), lambda address: 0))


# Rules: TXN.3.3#1; TXN.3.3#2
def test_tags_not_in_use():
    """Unexpected completions among good ones, with tags inside and outside the allocated range."""
    bench, _ = run(lambda c: c[:2] + stray(255) + c[2:3] + stray(31) + stray(4) + c[3:])
    assert bench.errors == errors(unexpected=3)
    assert bench.blamed == headers(*stray(255), *stray(31), *stray(4))


@pytest.mark.parametrize("width", [64, 256])
def test_headers_of_completions_in_a_row(width):
    """Each error has the header of its own completion, in spite of those right before and after."""
    sent = []
    def answer(c):
        sent.extend([tlp for tag in range(40, 48) for tlp in stray(tag)])
        return [replace(c[0], ep=1), *c[1:], *sent]
    bench, _ = run(answer, width=width, stall=0.0, reorder=False)
    assert bench.errors == errors(poisoned=1, unexpected=8)
    assert bench.blamed[1:] == headers(*sent) and bench.blamed[0][0] & 1 << 14


# Rules: 2.8
def test_timeout():
    bench, reader = run({2: lambda c: [], 5: lambda c: c[:2]}, timeout_us=500)
    assert reader.retired[2:6:3] == [(REASON_TIMEOUT, 0), (REASON_TIMEOUT, 128)]
    assert bench.errors == errors(timeout=2)


def test_back_pressure_of_a_client_causes_no_timeout():
    """The timeout does not count while completions wait for the client."""
    host   = Host(split=64, latency=20)
    bench  = Bench(64, host=host, timeout_us=320)
    port   = bench.layer.add_read_port("port", 4)
    reader = Reader(port, [(0x10000 + 256*n, 256, 256*n) for n in range(3)], Stalls(0.985, 4))
    bench.run([reader])
    assert reader.retired == [(REASON_NONE, 256)]*3
    assert bench.errors == errors()


def test_bus_master_off():
    bench   = Bench(64)
    ports   = [bench.layer.add_read_port("port", 4), bench.layer.add_read_port("other", 2)]
    readers = [Reader(port, [(0x10000 + 64*n, 64, 64*n) for n in range(9)], Stalls()) for port in ports]
    bench.run(readers, bus_master=0, cycles=500)
    for reader in readers:
        assert reader.retired == [(REASON_BUS_MASTER, 0)]*9
    assert not bench.host.reads
    assert bench.errors == errors()


def test_shorter_timeout_applies_at_once():
    """The timeout changes from an hour to 1600 us; an outstanding request ends after the new timeout, not before."""
    host   = Host(latency=10)
    bench  = Bench(64, host=host, timeout_us=2**32 - 1)
    reader = Reader(bench.layer.add_read_port("port", 2), [(0x10000, 64, 0)], Stalls())
    host.answer = lambda tlp, completions: []
    def shorten():
        yield from wait(300)
        yield bench.layer.timeout_us.eq(1600)
    bench.run([reader], [shorten()], cycles=2500)
    assert reader.retired == [(REASON_TIMEOUT, 0)]
    assert 1900 <= reader.cycles[0] <= 1970
