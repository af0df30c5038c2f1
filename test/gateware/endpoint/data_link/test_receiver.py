# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The receiver: packets of all lengths, a full buffer, and TLPs that are not as their headers say."""

import random

import pytest

from litepcie_soc.endpoint.data_link.receiver import Receiver
from test.gateware.endpoint.bench import Bench, completion, header, memory_read, memory_write
from test.gateware.endpoint.packets import inverted, joined, numbered, record, send_words
from test.gateware.simulation import Watch, accept, forever, simulate
from test.gateware.steps import wait

PULSES = ("accepted", "duplicate", "rejected", "error", "overflow")


def receive(packets, ready=True, depth=2048, listen=1):
    """(TLPs, [names of pulses]) for packets (bytes, {field: value of the last word})."""
    dut, events = Receiver(depth), []
    watch       = Watch(dut.source)
    def send():
        yield dut.listen.eq(listen)
        yield from send_words(dut, packets)
        yield from wait(20 + sum(len(data) for data, _ in packets)*ready)
    parts = [record(dut, PULSES, events), watch.watch()] + ([accept(dut.source)] if ready else [])
    simulate(dut, [send(), *map(forever, parts)])
    return [joined(beats) for beats in watch.packets()], events


def random_tlps(count):
    rng = random.Random(1)
    return [rng.randbytes(4*rng.choice([3, 4, 5, rng.randint(3, 40)])) for _ in range(count)]


def test_forgets_all_others():
    tlps, packets, expected = random_tlps(6), [], []
    for n, tlp in enumerate(tlps):
        good = numbered(n, tlp)
        packets += [(good[:-1] + bytes([good[-1] ^ 1]), {}), (good, dict(damaged=1)), (good, dict(edb=1)),
            (good[:-4] + inverted(good[-4:]), dict(edb=1)), (good[:-4] + inverted(good[-4:]), {}),
            (numbered((n + 1) % 4096, tlp), {}), (numbered((n + 2000) % 4096, tlp), {}), (numbered(n, b""), {}),
            (good[:2], {}), (good[:4], {}), (good[:6], {}),
            (good, {}), (good, {}), (numbered((n - 2047) % 4096, tlp), {})]
        bad = ["rejected", "error"]
        expected += 3*bad + bad + 2*["rejected"] + 4*bad + ["accepted", "duplicate", "duplicate"]
    assert receive(packets) == (tlps, expected)


def test_listens_only_when_it_shall():
    assert receive([(numbered(0, bytes(12)), {}), (bytes(12), {})], listen=0) == ([], [])


@pytest.mark.parametrize("length", [12, 40])
def test_a_full_buffer_rejects_and_loses_nothing(length):
    tlps         = [bytes([n])*length for n in range(50)]
    packets      = [(numbered(n, tlp), {}) for n, tlp in enumerate(tlps)]
    _, events    = receive(packets, ready=False, depth=256)
    fits         = events.index("rejected")
    assert (256 - 24)//(length//2) <= fits <= 256//(length//2)
    assert events == ["accepted"]*fits + ["rejected", "overflow"] + ["rejected"]*(50 - fits - 1)


def test_gives_good_tlps_in_order_and_the_buffer_wraps():
    tlps = random_tlps(60)
    assert receive([(numbered(n, tlp), {}) for n, tlp in enumerate(tlps)], depth=256) == (tlps, ["accepted"]*60)


def with_digest(tlp, digest=bytes(4)):
    return bytes([tlp[0], tlp[1], tlp[2] | 0x80, *tlp[3:]]) + digest


def malformed():
    rng   = random.Random(1)
    write = memory_write(rng, 5)
    return [
        # Longer or shorter than the header says; without payload; a read with payload.
        write + bytes(4), write[:-4], memory_write(rng, 3, wide=True)[:-4], write[:12], memory_read(rng) + bytes(4),
        # A digest that is missing, or comes without TD.
        with_digest(write, b""), write + bytes(4),
        # Above MPS, and 1024 dwords.
        memory_write(rng, 33), completion(rng, 33), completion(rng, 1024)[:12] + bytes(128),
        # A prefix; two dwords; half a dword.
        bytes([0x80, 0, 0, 0]) + write, write[:8], write + bytes(2)]


def test_drops_and_counts():
    """Each of the cases, with good TLPs around it."""
    rng    = random.Random(2)
    wrong  = malformed()
    around = [memory_write(rng, 32), with_digest(memory_write(rng, 1)), memory_read(rng, wide=True), completion(rng, 0),
        header(0x00, 0, rng, 12)]
    bench  = Bench()
    sent   = [around[n % len(around)] for n in range(len(wrong) + 1)]
    bench.partner.tlps.extend([sent[0], *[tlp for pair in zip(wrong, sent[1:]) for tlp in pair]])
    bench.run(bench.all_moved(len(sent)))
    assert bench.got == sent
    assert bench.counts == dict.fromkeys(bench.counts, 0) | {"malformed": len(wrong)}


@pytest.mark.full
def test_takes_256_bytes_when_mps_says_so():
    rng   = random.Random(3)
    tlps  = [memory_write(rng, 64), completion(rng, 64)]
    bench = Bench(mps_128=False)
    bench.partner.tlps.extend([memory_write(rng, 65), *tlps])
    bench.run(bench.all_moved(len(tlps)))
    assert bench.got == tlps and bench.counts["malformed"] == 1
