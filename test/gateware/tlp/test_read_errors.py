#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Bad, late and missing completions: the client gets a reason, a counter counts, and other requests succeed."""

from collections import deque
from dataclasses import replace
from unittest import mock

import pytest

from litepcie_soc.common.pcie import (
    REASON_BAD_LENGTH, REASON_BUS_MASTER, REASON_COMPLETER_ABORT, REASON_NONE, REASON_POISONED, REASON_TIMEOUT,
    REASON_UNSUPPORTED_REQUEST,
)
from litepcie_soc.phy.sim import SimPHY

from test.gateware.simulation import TLP, WIDTHS, Stalls, full, read_completions
from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import HOST, Host

LENGTH = 256   # Bytes of every request: four completions of 64 bytes.
COUNT  = 12    # Requests.
VICTIM = 4     # The request whose completions are modified.

# Helpers ------------------------------------------------------------------------------------------

def run(answer, *, width=64, stall=0.2, timeout_us=2000, reorder=True, tags=4, **options):
    """Makes COUNT reads; the host sends `answer(completions)` for the victim. Returns bench and reader."""
    host  = Host(split=64, latency=20, reorder=reorder)
    bench = Bench(width, host=host, stall=stall, timeout_us=timeout_us, **options)
    seen  = []

    def tamper(tlp, completions):
        seen.append(tlp)
        return answer(completions) if len(seen) - 1 == VICTIM else completions

    host.answer = tamper
    port        = bench.layer.add_read_port("port", tags)
    reader      = Reader(port, [(0x10000 + 0x1000*n, LENGTH, 0x1003*n) for n in range(COUNT)], bench.stalls())
    bench.run([reader], watchers=[bench.blame("unexpected", "bad_length", "poisoned")])
    others = [result for n, result in enumerate(reader.retired) if n != VICTIM]
    assert others == [(REASON_NONE, LENGTH)]*(COUNT - 1), "another request failed"
    return bench, reader


def errors(**counts):
    zero = dict.fromkeys(("unsupported_request", "completer_abort", "poisoned", "unexpected", "timeout",
        "bad_length", "refused"), 0)
    return {**zero, **counts}


def headers(*tlps):
    return [tlp.dwords("big")[:3] for tlp in tlps]


def failed(completion, status):
    """`completion` (CplD) as a Cpl with an error status."""
    return replace(completion, fmt=0b000, length=0, status=status, data=b"")

# Status -------------------------------------------------------------------------------------------

@pytest.mark.one_at_a_time
@pytest.mark.parametrize("status, reason, counter", [
    (0b001, REASON_UNSUPPORTED_REQUEST, "unsupported_request"),
    (0b100, REASON_COMPLETER_ABORT,     "completer_abort"),
    (0b010, REASON_UNSUPPORTED_REQUEST, "unsupported_request"),  # CRS is for configuration requests only.
    (0b111, REASON_UNSUPPORTED_REQUEST, "unsupported_request"),  # Reserved.
])
@pytest.mark.parametrize("good", [0, 1, 3])
def test_error_status(status, reason, counter, good):
    """An error status after `good` completions ends the request at once."""
    bench, reader = run(lambda c: c[:good] + [failed(c[good], status)])
    assert reader.retired[VICTIM] == (reason, 64*good)
    assert bench.errors == errors(**{counter: 1})


@pytest.mark.parametrize("width", WIDTHS)
def test_completions_after_an_error_are_unexpected(width):
    bench, reader = run(lambda c: [failed(c[0], 1)] + c[1:], width=width, tags=28)
    assert reader.retired[VICTIM] == (REASON_UNSUPPORTED_REQUEST, 0)
    assert bench.errors == errors(unsupported_request=1, unexpected=3)

# Poisoned -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("which", [0, 1, 3])
def test_poisoned(which):
    """The data of the poisoned completion and of those after it is dropped; they do not count as unexpected."""
    bench, reader = run(lambda c: [replace(p, ep=int(n == which)) for n, p in enumerate(c)])
    assert reader.retired[VICTIM] == (REASON_POISONED, 64*which)
    assert bench.errors == errors(poisoned=1)
    landed = [at for at in reader.landed if 0x1003*VICTIM <= at < 0x1003*VICTIM + LENGTH]
    assert len(landed) == 64*which


def test_poisoned_and_remaining_completions_missing():
    bench, reader = run(lambda c: [c[0], replace(c[1], ep=1)], timeout_us=600)
    assert reader.retired[VICTIM] == (REASON_POISONED, 64)
    assert bench.errors == errors(poisoned=1, timeout=1)

# Lengths ------------------------------------------------------------------------------------------

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
    "again":                   lambda c: [c[0], c[0]],
}

@pytest.mark.one_at_a_time
@pytest.mark.parametrize("width", [64, *full(256, 512)])
@pytest.mark.parametrize("what", BAD)
def test_bad_length(what, width):
    """The request ends at the timeout: until then its remaining completions may come, so its tag stays in use."""
    bench, reader = run(BAD[what], width=width, timeout_us=600)
    landed = {"second one skipped": 64, "last one too long": 192, "last one too short": 192, "again": 64}.get(what, 0)
    assert reader.retired[VICTIM] == (REASON_BAD_LENGTH, landed)
    assert bench.errors == errors(bad_length=1, timeout=1)


TWO_BITS = ["byte count too small", "second one skipped", "ends off a block"]
OTHERS   = [name for name in BAD if name not in ("lower address", *TWO_BITS)]

@pytest.mark.parametrize("what", [*TWO_BITS, *full(*OTHERS)])
def test_bad_length_with_two_bits_of_the_lower_address(what):
    """The other bits are those of the request's first byte, as PG156 and PG213 can be read."""
    def answer(completions):
        return [replace(tlp, lower_address=completions[0].lower_address) for tlp in BAD[what](completions)]
    with mock.patch.object(SimPHY, "lower_address_bits", 2, create=True):
        bench, reader = run(answer, timeout_us=600)
    assert reader.retired[VICTIM][0] == REASON_BAD_LENGTH
    assert bench.errors == errors(bad_length=1, timeout=1)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_duplicate_in_the_middle(which):
    """After a completion that comes twice, the remaining completions are still counted to their own request."""
    bench, reader = run(lambda c: c[:which] + [c[which]] + c[which:])
    assert reader.retired[VICTIM] == (REASON_BAD_LENGTH, 64*(which + 1))
    assert bench.errors == errors(bad_length=1)

# Unexpected ---------------------------------------------------------------------------------------

def test_duplicate_of_the_last_completion():
    bench, reader = run(lambda c: c + [c[-1]])
    assert reader.retired[VICTIM] == (REASON_NONE, LENGTH)
    assert bench.errors == errors(unexpected=1)


@pytest.mark.parametrize("width", [64, 256, *full(128)])
def test_tags_not_in_use(width):
    """Unexpected completions among good ones, with tags inside and outside the allocated range."""
    def stray(tag):
        request = TLP(fmt=0, type=0, length=4, first_be=15, last_be=15, address=0x1000, tag=tag, requester=HOST)
        return list(read_completions(request, lambda address: 0))
    bench, _ = run(lambda c: c[:2] + stray(255) + c[2:3] + stray(31) + stray(4) + c[3:], width=width)
    assert bench.errors == errors(unexpected=3)
    assert bench.blamed == headers(*stray(255), *stray(31), *stray(4))


@pytest.mark.parametrize("width", [64, 256])
def test_headers_of_completions_in_a_row(width):
    """Each error has the header of its own completion, in spite of those right before and after."""
    sent = []

    def stray(tag):
        request = TLP(fmt=0, type=0, length=1, first_be=15, last_be=0, address=0x1000 + 4*tag, tag=tag, requester=HOST)
        return list(read_completions(request, lambda address: 0))

    def answer(c):
        sent.extend([tlp for tag in range(40, 48) for tlp in stray(tag)])
        return [replace(c[0], ep=1), *c[1:], *sent]
    bench, _ = run(answer, width=width, stall=0.0, reorder=False)
    assert bench.errors == errors(poisoned=1, unexpected=8)
    assert bench.blamed[1:] == headers(*sent) and bench.blamed[0][0] & 1 << 14

# Timeout ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("arrived", [0, 2])
def test_timeout(arrived):
    bench, reader = run(lambda c: c[:arrived], timeout_us=500)
    assert reader.retired[VICTIM] == (REASON_TIMEOUT, 64*arrived)
    assert bench.errors == errors(timeout=1)


def test_every_request_lost():
    """The host completes nothing: the requests end together, one timeout after the PHY accepted them."""
    host  = Host(latency=10)
    bench = Bench(64, host=host, timeout_us=640)
    ports = [bench.layer.add_read_port(f"port{n}", 5) for n in range(2)]
    host.answer = lambda tlp, completions: []
    readers = [Reader(port, [(0x10000 + 64*n, 64, 64*n) for n in range(5)], Stalls()) for port in ports]
    bench.run(readers)
    for reader in readers:
        assert reader.retired == [(REASON_TIMEOUT, 0)]*5
        assert all(640 <= cycle <= 640 + 200 for cycle in reader.cycles)    # At 1 MHz, a cycle is 1 us.
    assert bench.errors == errors(timeout=10)


def test_late_completions_are_dropped():
    """Completions after the timeout are unexpected; the next requests, with other tags, succeed."""
    host    = Host(split=64, latency=20)
    bench   = Bench(64, host=host, timeout_us=320)
    port    = bench.layer.add_read_port("port", 8)
    reader  = Reader(port, [(0x10000 + 256*n, 256, 256*n) for n in range(6)], Stalls())
    delayed = []

    def answer(tlp, completions):
        if len(host.reads) == 1:
            delayed.extend(completions)
            return []
        return completions

    def send_late():
        while not reader.retired:
            yield
        host.pending["late"] = [deque(delayed), 0]
        while "late" in host.pending:
            yield

    host.answer = answer
    bench.run([reader], [send_late()])
    assert reader.retired == [(REASON_TIMEOUT, 0)] + [(REASON_NONE, 256)]*5
    assert bench.errors == errors(timeout=1, unexpected=4)


def test_back_pressure_of_a_client_causes_no_timeout():
    """The timeout does not count while completions wait for the client."""
    host   = Host(split=64, latency=20)
    bench  = Bench(64, host=host, timeout_us=320)
    port   = bench.layer.add_read_port("port", 4)
    reader = Reader(port, [(0x10000 + 256*n, 256, 256*n) for n in range(8)], Stalls(0.985, 4))
    bench.run([reader])
    assert reader.retired == [(REASON_NONE, 256)]*8
    assert bench.errors == errors()

# Bus Master ---------------------------------------------------------------------------------------

def test_bus_master_off():
    """No request is sent; each ends with REASON_BUS_MASTER at once."""
    bench   = Bench(64)
    ports   = [bench.layer.add_read_port("port", 4), bench.layer.add_read_port("other", 2)]
    readers = [Reader(port, [(0x10000 + 64*n, 64, 64*n) for n in range(9)], Stalls()) for port in ports]
    bench.run(readers, bus_master=0, cycles=500)
    for reader in readers:
        assert reader.retired == [(REASON_BUS_MASTER, 0)]*9
    assert not bench.host.reads
    assert bench.errors == errors()


def test_bus_master_goes_off_and_on():
    bench  = Bench(64, host=Host(latency=50), timeout_us=3000)
    port   = bench.layer.add_read_port("port", 4)
    reader = Reader(port, [(0x10000 + 256*n, 256, 256*n) for n in range(150)], Stalls(), Stalls(0.95))
    def switch():
        for value in (0, 1, 0, 1):
            for _ in range(700):
                yield
            yield bench.phy.bus_master_enable.eq(value)
    bench.run([reader], [switch()])
    reasons = {reason for reason, _ in reader.retired}
    assert reasons == {REASON_NONE, REASON_BUS_MASTER}
    assert reader.retired[0][0] == reader.retired[-1][0] == REASON_NONE
    assert bench.errors == errors()


def test_shorter_timeout_applies_at_once():
    """The timeout changes from an hour to 160 us; an outstanding request ends after the new timeout."""
    host   = Host(latency=10)
    bench  = Bench(64, host=host, timeout_us=2**32 - 1)
    reader = Reader(bench.layer.add_read_port("port", 2), [(0x10000, 64, 0)], Stalls())
    host.answer = lambda tlp, completions: []
    def shorten():
        for _ in range(300):
            yield
        yield bench.layer.timeout_us.eq(160)
    bench.run([reader], [shorten()], cycles=1000)
    assert reader.retired == [(REASON_TIMEOUT, 0)]
    assert 460 <= reader.cycles[0] <= 530
