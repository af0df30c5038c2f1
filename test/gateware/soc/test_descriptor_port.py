# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Descriptors of the user's logic: bytes, checks, ends that nobody takes, faults of the host, resets."""

import random

import pytest
from litex.soc.integration.soc_core import SoCMini

from litepcie_soc.common import abi, pcie
from litepcie_soc.memory.bram import EndpointMemory
from litepcie_soc.soc.descriptor_port import DescriptorPort
from test.gateware.simulation import full, pattern
from test.gateware.soc.test_host_port import HIGH, LIMIT, LOW, PAGE, READ, User, unsupported, values
from test.gateware.soc.test_user_bus import platform, with_card
from test.gateware.steps import send, wait
from test.gateware.tlp.host import Host

MEMORY = 0x4000
TO_CARD, TO_HOST = 0, 1


class Logic(User):
    """The port in a transaction layer beside the bus port, a driver, and the user's logic."""
    def __init__(self, data_width=128, longest_read=4096, **options):
        User.__init__(self, data_width, **options)
        layer, memory = self.bench.layer, EndpointMemory(MEMORY, data_width)
        self.bench.memory = memory
        self.bench.user = self.port = DescriptorPort(self.dut,
            read_port    = layer.add_read_port("user", 16, ordered=True, destination_bits=15),
            write_port   = layer.add_write_port("user"),
            memory_write = memory.add_write_port(),
            memory_read  = memory.add_read_port(),
            longest_read = longest_read)
        self.bench.comb += [self.port.can_send.eq(layer.enable), self.dut.reset.eq(self.port.reset),
            layer.abandon.eq(self.port.reset), self.port.max_payload_size.eq(256), self.port.max_request_size.eq(512)]
        self.ends = []      # (tag, write, reason)

    def submit(self, write, number, offset, endpoint, length, tag=0):
        yield from send(self.port.sink, write=write, address=number*LIMIT + offset, endpoint=endpoint, length=length,
            tag=tag)

    def take(self, count, limit=20000):
        source = self.port.source
        yield source.ready.eq(1)
        for _ in range(limit):
            if len(self.ends) >= count:
                break
            yield
            if (yield source.valid):
                self.ends.append(tuple((yield from values(source.tag, source.write, source.reason))))
        assert len(self.ends) == count, f"{len(self.ends)} of {count} descriptors ended"
        yield source.ready.eq(0)

    def moves(self, *descriptor):
        before = len(self.ends)
        yield from self.submit(*descriptor)
        yield from self.take(before + 1)
        return self.ends[-1][2]

    def run_with(self, process, **options):
        def setup():
            yield from self.give(0, LOW, LIMIT)
            yield from self.give(1, HIGH, LIMIT)
            yield from process
        self.run(setup(), cycles=200000, **options)


@pytest.mark.parametrize("data_width, shape, endianness", [(128, "split", "little"), *full((64, "shared", "big"))])
def test_bytes_there_and_back(data_width, shape, endianness):
    """Any offset and length, with back-pressure and completions in any order; many descriptors at once."""
    logic = Logic(data_width, shape=shape, endianness=endianness, stall=0.1, host=Host(latency=40, reorder=True))
    rng   = random.Random(data_width)
    def process():
        for n in range(4):
            batch  = []
            for tag in range(4):
                length   = rng.choice([1, 2, 3, 63, 64, 65, 512, rng.randrange(1, 2000)])
                batch.append((rng.randrange(LIMIT - length), tag*0x1000 + rng.randrange(0x1000 - length), length))
            target = rng.randrange(64)
            for tag, (offset, endpoint, length) in enumerate(batch):
                yield from logic.submit(TO_CARD, 0, offset, endpoint, length, tag)
            yield from logic.take(8*n + 4)
            for tag, (_, endpoint, length) in enumerate(batch):
                yield from logic.submit(TO_HOST, 1, tag*0x1000 + target, endpoint, length, 0x80 + tag)
            yield from logic.take(8*n + 8)
            assert logic.ends[-8:] == [(tag, 0, 0) for tag in range(4)] + [(0x80 + tag, 1, 0) for tag in range(4)]
            for tag, (offset, _, length) in enumerate(batch):
                there = HIGH + tag*0x1000 + target
                assert [logic.host.written.pop(there + at) for at in range(length)] == \
                    [pattern(LOW + offset + at) for at in range(length)]
            assert logic.host.written == {}, "bytes that nobody asked for"
    logic.run_with(process())


def test_requests_are_as_short_as_the_buffer_for_completions_wants():
    logic = Logic(longest_read=128)
    def process():
        assert (yield from logic.moves(TO_CARD, 0, 0, 0, 512)) == 0
    logic.run_with(process())
    assert {4*tlp.length for tlp in logic.host.reads} == {128}


def test_what_is_refused_reaches_no_memory():
    logic = Logic()
    def process():
        yield from logic.give(2, LOW + 0x10000, PAGE, READ)
        for write, number, offset, endpoint, length, reason in (
                (TO_CARD, 3, 0,         0,          64,       abi.HOST_REASON_NO_BUFFER),
                (TO_CARD, 4, 0,         0,          64,       abi.HOST_REASON_NO_BUFFER),
                (TO_HOST, 2**32 // LIMIT - 1, 0, 0, 64,       abi.HOST_REASON_NO_BUFFER),
                (TO_HOST, 2, 0,         0,          64,       abi.HOST_REASON_DENIED),
                (TO_CARD, 0, 0,         0,          0,        pcie.REASON_ZERO_LENGTH),
                (TO_CARD, 2, PAGE,      0,          1,        pcie.REASON_MEMORY_RANGE),
                (TO_CARD, 2, PAGE - 1,  0,          2,        pcie.REASON_MEMORY_RANGE),
                (TO_CARD, 0, 0,         0,          LIMIT + 1, pcie.REASON_MEMORY_RANGE),
                (TO_HOST, 1, LIMIT - 1, 0,          2**24 - 1, pcie.REASON_MEMORY_RANGE),
                (TO_CARD, 0, 0,         MEMORY - 1, 2,        pcie.REASON_MEMORY_RANGE),
                (TO_HOST, 1, 0,         2**32 - 4,  8,        pcie.REASON_MEMORY_RANGE),
                (TO_HOST, 1, 0,         1,          MEMORY,   pcie.REASON_MEMORY_RANGE)):
            errors = yield logic.dut.errors.status
            assert (yield from logic.moves(write, number, offset, endpoint, length)) == reason
            fields = logic.dut.error.fields
            assert (yield from values(logic.dut.errors.status, fields.reason, fields.number, fields.write)) == \
                [errors + 1, reason, number % 4, write]
        assert logic.requests == []
        assert (yield from logic.moves(TO_CARD, 2, PAGE - 1, MEMORY - 1, 1)) == 0
        assert (yield from logic.moves(TO_HOST, 1, LIMIT - 1, MEMORY - 1, 1)) == 0
        assert logic.host.written == {HIGH + LIMIT - 1: pattern(LOW + 0x10000 + PAGE - 1)}
    logic.run_with(process())


def test_the_first_error_of_the_host_is_the_reason():
    logic = Logic()
    def process():
        logic.host.answer = lambda *read: unsupported(*read) if len(logic.host.reads) == 2 else read[1]
        yield from logic.submit(TO_CARD, 0, 0, 0, PAGE, 7)
        yield from logic.submit(TO_CARD, 0, 0, 0, 64, 8)
        yield from logic.take(2)
        assert logic.ends == [(7, 0, pcie.REASON_UNSUPPORTED_REQUEST), (8, 0, 0)]
    logic.run_with(process())


@pytest.mark.parametrize("cause, write", [("reset", TO_CARD),
    *full(("link_up", TO_CARD), ("bus_master_enable", TO_HOST))])
def test_a_reset_at_any_time(cause, write):
    """Every descriptor ends, soon and once; no request follows; afterwards all works again."""
    logic  = Logic(host=Host(latency=200 if write == TO_CARD else 30), stall=0.2)
    signal = logic.port.reset if cause == "reset" else getattr(logic.bench.phy, cause)
    def process():
        for cycles in range(0, 120, 20):
            yield from logic.give(0, LOW, LIMIT)
            before = len(logic.ends)
            for tag in range(3):
                yield from logic.submit(write, 0, tag*PAGE, tag*PAGE, 1500, tag)
            yield from wait(cycles)
            yield signal.eq(cause == "reset")
            yield
            yield
            yield from logic.take(before + 3, limit=4000)
            assert sorted(tag for tag, *_ in logic.ends[before:]) == [0, 1, 2]
            if cause == "reset":
                assert not (yield logic.port.busy) and (yield from logic.busy()) == 0
                while not (yield logic.bench.layer.drained):
                    yield
            requests = len(logic.requests)
            yield from wait(100)
            assert len(logic.requests) == requests
            yield signal.eq(cause != "reset")
            yield from wait(300)
            if cause == "link_up":      # The host has forgotten them; otherwise they came late.
                logic.host.pending.clear()
                logic.host.outstanding.clear()
            yield from logic.give(0, LOW, LIMIT)
            yield from logic.give(1, HIGH, LIMIT)
            assert (yield from logic.moves(TO_CARD, 0, 5, 6, 700)) == 0
            assert (yield from logic.moves(TO_HOST, 1, 7, 6, 700)) == 0
            assert all(logic.host.written[HIGH + 7 + at] == logic.host.memory(LOW + 5 + at) for at in range(700))
    logic.run_with(process())
    reasons = {reason for *_, reason in logic.ends}
    assert reasons == {0, pcie.REASON_BUS_MASTER}


def test_in_a_soc():
    card = with_card(SoCMini(platform(), 100e6), host_buffers=4, host_descriptors=True).litepcie
    assert [port.name for port in card.tlp.read_ports if port.name == "user"] == ["user"]


def test_descriptors_without_buffers_cannot_be():
    with pytest.raises(ValueError, match="host_descriptors need host_buffers; give host_buffers=1 to 16"):
        with_card(SoCMini(platform(), 100e6), host_descriptors=True)
