#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reads of host memory through the whole layer: alignment, order, tags, completion buffer."""

import random

import pytest

from litepcie_soc.tlp.tags import allocate_tags

from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import Host

NO_ERRORS = dict(unsupported_request=0, completer_abort=0, poisoned=0, unexpected=0, timeout=0, bad_length=0,
    refused=0)

# Helpers ------------------------------------------------------------------------------------------

def random_requests(rng, count, longest):
    """Requests from random byte addresses to random destinations; none crosses 4 KiB, and no destinations overlap."""
    requests    = []
    destination = 0x40_0000
    for _ in range(count):
        length  = rng.choice([1, 2, 3, 4, 5, 63, 64, 65, rng.randrange(1, longest + 1), longest])
        page    = rng.choice([0x0000_1000, 0x89ab_c000, 0xffff_f000, 0x1_0000_0000, 0xfedc_ba98_7654_3000])
        offset  = rng.randrange(0, 4096 - length + 1)
        requests.append((page + offset, length, destination + rng.randrange(64)))
        destination += 8192
    return requests


def readers_of(bench, lists):
    ports = [bench.layer.add_read_port(f"port{n}", tags) for n, (tags, _) in enumerate(lists)]
    return [Reader(port, requests, bench.stalls()) for port, (_, requests) in zip(ports, lists)]


def run_readers(bench, readers, **options):
    bench.run(readers, **options)
    for reader in readers:
        assert len(set(reader.landed)) == len(reader.landed), "a byte was written twice"

# Tests --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
@pytest.mark.parametrize("shape, endianness", [("shared", "big"), ("split", "little")])
def test_random_reads(data_width, shape, endianness):
    """Three clients, completions of 64 bytes in random order, stalls at all streams: all data is correct."""
    rng   = random.Random(data_width)
    bench = Bench(data_width, shape=shape, endianness=endianness, stall=0.25,
        host=Host(split=64, latency=30, reorder=True))
    readers = readers_of(bench, [
        (28, random_requests(rng, 50, 512)), (2, random_requests(rng, 20, 64)), (2, random_requests(rng, 20, 200))])
    run_readers(bench, readers)
    assert all(reason == 0 for reader in readers for reason, _ in reader.retired)
    assert bench.errors == NO_ERRORS


@pytest.mark.parametrize("shape, endianness", [("shared", "little"), ("split", "big")])
def test_other_endianness(shape, endianness):
    bench   = Bench(128, shape=shape, endianness=endianness, host=Host(split=128, reorder=True), stall=0.1)
    readers = readers_of(bench, [(4, random_requests(random.Random(3), 20, 300))])
    run_readers(bench, readers)
    assert bench.errors == NO_ERRORS


def test_longest_request():
    bench   = Bench(64, host=Host(split=256))
    readers = readers_of(bench, [(4, [(0x3000, 4096, 0x100), (0x4000, 4096, 0x1103), (0x5001, 4095, 0x2200)])])
    run_readers(bench, readers)
    assert bench.errors == NO_ERRORS


@pytest.mark.one_at_a_time(data_width=128)
@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
@pytest.mark.parametrize("split, offset", [(64, 0), (256, 0), (64, 1), (64, 5), (64, 12), (64, 31)])
def test_completions_at_full_rate(data_width, split, offset):
    """Reads of 512 bytes to any byte alignment: the layer accepts a beat of completions in every cycle."""
    count   = 28
    bench   = Bench(data_width, host=Host(split=split, latency=400), buffer_blocks=count*8)
    readers = readers_of(bench, [(count, [(0x10000 + 512*n, 512, 512*n + offset) for n in range(count)])])
    run_readers(bench, readers)
    beats = [beat["cycle"] for beat in bench.rx[0].beats]
    assert beats == list(range(beats[0], beats[0] + len(beats)))


def test_exactly_the_allocated_tags_are_used():
    bench   = Bench(64, host=Host(latency=600), buffer_blocks=1000)
    readers = readers_of(bench, [
        (28, [(0x10000 + 64*n, 64, 64*n) for n in range(60)]), (2, [(0x30000 + 64*n, 16, 64*n) for n in range(6)])])
    run_readers(bench, readers)
    assert sorted({tlp.tag for tlp in bench.host.reads}) == list(range(30))
    first = [tlp.tag for tlp in bench.host.reads if tlp.address < 0x30000]
    assert first == [n % 28 for n in range(60)]


@pytest.mark.parametrize("blocks", [1, 8, 9, 20])
def test_completion_buffer_is_not_exceeded(blocks):
    """A read of 512 bytes that is not aligned needs 9 blocks. If the buffer is smaller, reads are issued one by one."""
    bench   = Bench(64, host=Host(latency=40), buffer_blocks=blocks)
    readers = readers_of(bench, [(28, [(0x10020 + 1024*n, 512, 512*n) for n in range(12)])])
    most    = max(blocks, 9)
    bench.buffer_blocks = most
    run_readers(bench, readers)
    assert bench.host.most_blocks == {1: 9, 8: 9, 9: 9, 20: 18}[blocks]


def test_no_tag_is_reported():
    bench   = Bench(64, host=Host(latency=300), buffer_blocks=1000)
    readers = readers_of(bench, [(2, [(0x10000 + 64*n, 64, 64*n) for n in range(4)]), (2, [(0x20000, 64, 0)])])
    cycles  = [0, 0]
    def watch():
        for _ in range(250):
            for n, reader in enumerate(readers):
                cycles[n] += (yield reader.port.no_tag)
            yield
    bench.run(readers, [watch()])
    assert cycles[0] > 150 and cycles[1] == 0


@pytest.mark.parametrize("extended_tag, tags", [(0, 32), (1, 64)])
def test_extended_tags_follow_the_host(extended_tag, tags):
    bench   = Bench(64, host=Host(latency=2000, split=64), buffer_blocks=1000, with_extended_tag=True)
    readers = readers_of(bench, [(2, [(0x1000, 16, 0)]), (62, [(0x10000 + 64*n, 32, 64*n) for n in range(140)])])
    run_readers(bench, readers, extended_tag=extended_tag)
    assert len({tlp.tag for tlp in bench.host.reads if tlp.address >= 0x10000}) == tags - 2
    assert max(tlp.tag for tlp in bench.host.reads) == tags - 1


def test_extended_tag_changes_while_reading():
    """Extended Tag Field Enable changes under load. Each change takes effect, and no request is lost."""
    bench   = Bench(64, host=Host(latency=50, split=64), buffer_blocks=1000, with_extended_tag=True)
    readers = readers_of(bench, [(tags, [(0x10000*tags + 64*n, 16, 64*n) for n in range(12*tags)])
        for tags in (4, 30, 40)])
    changes = []
    def switch():
        while not all(reader.retired for reader in readers):
            yield
        for value in (1, 0, 1, 0):
            yield bench.phy.extended_tag.eq(value)
            for _ in range(700):
                yield
            changes.append(len(bench.host.reads))
    run_readers(bench, readers, processes=[switch()])
    assert bench.errors == NO_ERRORS
    tags = [tlp.tag for tlp in bench.host.reads]
    for value, end in zip((1, 0, 1, 0), changes):
        assert (max(tags[end - 40:end]) >= 32) == bool(value)


@pytest.mark.parametrize("wanted, without", [
    ([56, 4, 4],                [24, 4, 4]),
    ([24, 4, 4]*2,              [8, 4, 4]*2),
    ([12, 2, 2]*4,              [4, 2, 2]*4),
    ([28, 4, 4]*7,              [2, 2, 2]*2 + [2, 1, 1]*5),
    ([200],                     [32]),
    ([2, 3],                    [2, 3]),
    ([1]*32,                    [1]*32),
])
def test_allocation(wanted, without):
    """Without Extended Tags all ports share 32; with them each gets the tags it requests. No tag has two owners."""
    ranges = allocate_tags(wanted, True)
    shares = [[window.tags for window in column] for column in zip(*ranges)]
    assert shares == [without, wanted]
    for column in zip(*ranges):
        used = [tag for window in column for tag in range(window.base, window.base + window.tags)]
        assert used == list(range(len(used)))


@pytest.mark.parametrize("ports, with_extended_tag, message", [
    ([28, 5],      False, "the read ports want 33 tags in all; give them at most 32"),
    ([0],          False, "a read port with 0 tags is not supported; give it 1 or more"),
    ([200, 57],    True,  "the read ports want 257 tags in all; give them at most 256"),
    ([1]*33,       True,  "33 read ports are too many; at most 32 can share"),
])
def test_tags_that_do_not_fit(ports, with_extended_tag, message):
    bench = Bench(64, with_extended_tag=with_extended_tag)
    with pytest.raises(ValueError, match=message):
        for n, tags in enumerate(ports):
            bench.layer.add_read_port(f"port{n}", tags)
