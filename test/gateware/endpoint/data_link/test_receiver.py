# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The receiver: packets of all lengths, a full buffer, wrong TLPs; where each kind of TLP goes, and its credits."""

import random

import pytest
from migen import *

from litepcie_soc.endpoint.data_link.receiver import Receiver
from litepcie_soc.endpoint.transaction.requests import RequestSorter
from test.gateware.endpoint.bench import Bench, End, completion, header, memory_read, memory_write
from test.gateware.endpoint.packets import inverted, joined, numbered, record, send_words, words
from test.gateware.simulation import Stalls, Watch, accept, drive, forever, simulate
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


BAR0, SIZE = 0xfe200000, 0x200000
ERRORS     = "unsupported", "unsupported_posted", "poisoned", "poisoned_posted"


def tlp(kind, dwords, rest, data=0):
    return bytes([kind, 0, dwords >> 8, dwords & 255]) + rest + bytes(range(4*data))


def memory(kind, address, dwords=1, data=0):
    wide = kind & 0x20
    return tlp(kind, dwords, b"\1\2\3\x0f" + address.to_bytes(8 if wide else 4, "big"), data)


def config(kind, function=0, data=0):
    return tlp(kind, 1, bytes([0, 0, 7, 0x0f, 5, function, 0, 4]), data)


def message(code, kind=0x30, data=0):
    return tlp(kind, data, bytes([0, 0, 0, code]) + bytes(8), data)


def poisoned(data):
    return data[:2] + bytes([data[2] | 0x40]) + data[3:]


def locked(read):
    return bytes([read[0] | 1]) + read[1:]


READ, WIDE = memory(0x00, BAR0 + SIZE - 4), memory(0x20, BAR0)
ABOVE, BELOW, FAR = memory(0x00, BAR0 + SIZE), memory(0x00, BAR0 - 4), memory(0x20, BAR0 | 1 << 32)

# Name: (TLP, what leaves source, what leaves config, pulses).
CASES = {
    "read":              (READ, READ, None, {}),
    "wide read":         (WIDE, WIDE, None, {}),
    "read above":        (ABOVE, locked(ABOVE), None, {"unsupported": 1}),
    "read below":        (BELOW, locked(BELOW), None, {"unsupported": 1}),
    "read above 4 GiB":  (FAR, locked(FAR), None, {"unsupported": 1}),
    "poisoned read":     (poisoned(READ), poisoned(READ), None, {"unsupported": 1}),
    "locked read":       (locked(READ), locked(READ), None, {"unsupported": 1}),
    "write":             (memory(0x40, BAR0 + 8, 3, 3),) + (memory(0x40, BAR0 + 8, 3, 3), None, {}),
    "write above":       (memory(0x40, BAR0 + SIZE, 5, 5), None, None, {"unsupported_posted": 1}),
    "wide write above":  (memory(0x60, 1 << 40 | BAR0, 1, 1), None, None, {"unsupported_posted": 1}),
    "poisoned write":    (poisoned(memory(0x40, BAR0 + 8, 3, 3)), None, None, {"poisoned_posted": 1}),
    "poisoned wide write": (poisoned(memory(0x60, BAR0, 1, 1)), None, None, {"poisoned_posted": 1}),
    "poisoned write above": (poisoned(memory(0x40, BAR0 + SIZE, 5, 5)), None, None, {"unsupported_posted": 1}),
    "config read":       (config(0x04), None, config(0x04), {}),
    "config write":      (config(0x44, data=1), None, config(0x44, data=1), {}),
    "poisoned config write": (poisoned(config(0x44, data=1)), None, poisoned(config(0x44, data=1)), {"poisoned": 1}),
    "poisoned config read": (poisoned(config(0x04)), None, poisoned(config(0x04)), {}),
    "function 5":        (config(0x04, 5), config(0x04, 5), None, {"unsupported": 1}),
    "config type 1":     (config(0x45, data=1), config(0x45, data=1), None, {"unsupported": 1}),
    "poisoned type 1":   (poisoned(config(0x45, data=1)), poisoned(config(0x45, data=1)), None, {"unsupported": 1}),
    "I/O write":         (memory(0x42, BAR0, 1, 1), memory(0x42, BAR0, 1, 1), None, {"unsupported": 1}),
    "completion":        (tlp(0x4a, 2, bytes(8), 2), tlp(0x4a, 2, bytes(8), 2), None, {}),
    "poisoned completion": (poisoned(tlp(0x4a, 2, bytes(8), 2)), poisoned(tlp(0x4a, 2, bytes(8), 2)), None, {}),
    "slot power limit":  (message(0x50, 0x74, 1), None, None, {"take_limit": 1}),
    "poisoned power limit": (poisoned(message(0x50, 0x74, 1)), None, None, {"poisoned_posted": 1}),
    "power limit, no data": (message(0x50, 0x34), None, None, {"unsupported_posted": 1}),
    "unlock":            (message(0x00, 0x33), None, None, {}),
    "vendor type 1":     (message(0x7f), None, None, {}),
    "vendor type 0":     (message(0x7e), None, None, {"unsupported_posted": 1}),
    "unknown message":   (message(0x33), None, None, {"unsupported_posted": 1}),
    "poisoned unknown message": (poisoned(message(0x33, 0x74, 1)), None, None, {"unsupported_posted": 1}),
    "PME_Turn_Off":      (message(0x19, 0x33), None, None, {"pme_turn_off": 1})}


def as_registers(data):
    """The header as `HeaderWords` has it, without an undefined fourth dword."""
    dwords = [int.from_bytes(data[at:at + 4], "big") for at in range(0, 16 if data[0] & 0x20 else 12, 4)]
    return sum(dword << 32*n for n, dword in enumerate(dwords))


def run(tlps, enable=1, stalls=0.0, headers=None):
    """(TLPs of source, TLPs of config, pulses, credits). Adds the headers of errors to ``headers``."""
    headers = [] if headers is None else headers
    dut     = RequestSorter(SIZE)
    watches = [Watch(dut.source), Watch(dut.config)]
    pulses  = dict.fromkeys((*ERRORS, "pme_turn_off", "take_limit"), 0)
    credits = dict.fromkeys(("ph", "pd", "nph", "npd"), 0)
    def count():
        whole, header = 0, None
        while True:
            if (yield Cat(*[getattr(dut, name) for name in ERRORS])):
                assert whole, "the header comes with the cycle before"
                headers.append(header)
            whole, header = (yield dut.whole), (yield dut.header)
            for name in pulses:
                pulses[name] += (yield getattr(dut, name))
            for name in credits:
                credits[name] += (yield getattr(dut, f"free_{name}"))
            yield
    def send():
        yield [dut.bar0.eq(BAR0), dut.enable.eq(enable)]
        yield
        yield from drive(dut.sink, [beat for data in tlps for beat in words(data)], Stalls(stalls, 3))
        yield dut.sink.valid.eq(0)
        yield from wait(80)
    takes = [accept(endpoint, Stalls(stalls, seed)) for seed, endpoint in ((1, dut.source), (2, dut.config))]
    simulate(dut, [send(), *map(forever, [count(), *takes, *[watch.watch() for watch in watches]])], cycles=100000)
    passed, configured = ([joined(beats) for beats in watch.packets()] for watch in watches)
    return passed, configured, pulses, credits


def expected_credits(tlps):
    def one(data):
        if data[0] & 0x18 == 0x10:
            return 1, -(-(data[3] if data[0] & 0x40 else 0)//4), 0, 0
        return End.freed(data)
    return dict(zip(("ph", "pd", "nph", "npd"), map(sum, zip(*map(one, tlps)))))


def test_no_memory_without_memory_space():
    got = run([READ, memory(0x40, BAR0, 1, 1)], enable=0)
    assert got[:2] == ([locked(READ)], [])
    assert got[2] == {**dict.fromkeys(got[2], 0), "unsupported": 1, "unsupported_posted": 1}


def test_atomic_operation_of_two_units():
    assert run([memory(0x6e, BAR0, 8, 8)])[3] == {"ph": 0, "pd": 0, "nph": 1, "npd": 2}


# Rules: 2.3.1; 2.7.2.2
@pytest.mark.parametrize("stalls", [0.0, 0.4])
def test_each_kind_between_others(stalls):
    rng   = random.Random(1)
    names = list(CASES)*4
    rng.shuffle(names)
    cases = [CASES[name] for name in names]
    tlps  = [case[0] for case in cases]
    headers = []
    passed, configured, pulses, credits = run(tlps, stalls=stalls, headers=headers)
    assert passed == [case[1] for case in cases if case[1]] and configured == [case[2] for case in cases if case[2]]
    assert pulses == {name: sum(case[3].get(name, 0) for case in cases) for name in pulses}
    assert credits == expected_credits(tlps)
    wrong = [case[0] for case in cases if set(case[3]) & set(ERRORS)]
    assert [header & (2**128 - 1 if header >> 29 & 1 else 2**96 - 1) for header in headers] == list(
        map(as_registers, wrong)) and len(wrong) > 40
