# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""TLPs of every kind through UltraScale's PHYs, with a model instead of the hard block."""

import random
from dataclasses import replace

import pytest

from litepcie_soc.phy.framing import MAX_PAYLOAD
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from test.gateware.phy.bench import Bench, Platform, check_non_posted, pads, receive, run, send, until, wait_for
from test.gateware.phy.ultrascale.model import Interface
from test.gateware.simulation import TLP, Stalls, Watch, accept, drive, forever, memory_read, memory_write
from test.gateware.steps import wait


SHAPES = [(UltraScalePHY, 1, 128), (UltraScalePHY, 4, 128), (UltraScalePHY, 8, 256), (UltraScalePlusPHY, 8, 256),
    (UltraScalePlusPHY, 16, 512), (UltraScalePHY, 8, 512)]
NARROW, WIDE = SHAPES[0], SHAPES[4]


def shapes(usual, chosen=SHAPES):
    """Parameters `shape`: in `make test`, the `usual` ones only."""
    return pytest.mark.parametrize("shape", [pytest.param(shape, marks=[] if shape in usual else pytest.mark.full)
        for shape in chosen], ids=lambda shape: f"{shape[0].__name__}-x{shape[1]}-{shape[2]}")


every_shape = shapes([WIDE])
# The narrowest of one family and the widest of the other: `make test` runs one of them.
narrow, wide = shapes([NARROW], [NARROW, WIDE]), shapes([WIDE], [NARROW, WIDE])


def bench(shape):
    phy_class, lanes, data_width = shape
    return Bench(phy_class(Platform(), pads(lanes), data_width=data_width, bar0_size=0x200000))


def interface(shape):
    """The interface of the hard block."""
    return Interface({1: 64, 8: 256}.get(shape[1], shape[2]), shape[0].plus)


def up(dut):
    """Waits for the link, with bus mastering and MSI on."""
    yield [dut.ports["o_cfg_function_status"].eq(0b100), dut.ports["o_cfg_interrupt_msi_enable"].eq(1)]
    yield from wait_for(dut.shape.link_up)


def requests(rng):
    made = []
    for base in (0x8000_1000, 0x7_0000_2000):
        for length in (*range(1, 70), 128, 200, 256, MAX_PAYLOAD):
            fields = dict(attr=rng.randrange(8), tc=rng.randrange(8), requester=0x0300, tag=rng.randrange(256))
            made  += [memory_write(base + rng.randrange(4), rng.randbytes(length), **fields),
                memory_read(base + rng.randrange(64), length, **fields)]
    rng.shuffle(made)
    return [*made, memory_read(0x1000, 4096), memory_write(0x1000, b"poison", ep=1), memory_read(0x1000, 0)]


def completions(rng):
    made = []
    for length in range(1, 33):
        fields = dict(attr=rng.randrange(8), tc=rng.randrange(8), requester=rng.randrange(1 << 16),
            tag=rng.randrange(256), completer=0x0100)
        offset = rng.randrange(4)
        count  = 4*length - offset
        made  += [
            TLP(fmt=2, type=0b01010 | (length % 5 == 0), length=length, byte_count=count, data=rng.randbytes(4*length),
                lower_address=4*rng.randrange(32) + offset, **fields),
            TLP(fmt=0, type=0b01010, status=1 + 3*(length % 2), byte_count=count % 4096, **fields)]
    return [*made, TLP(fmt=0, type=0b01011, status=1, byte_count=0, requester=5)]


def sent_through(dut, name, tlps, share, data_width):
    packets = []
    sink    = dut.shape.req_sink if name == "rq" else dut.shape.cmp_sink
    beats   = [beat for tlp in tlps for beat in tlp.beats(data_width, "little")]
    def work():
        yield from up(dut)
        yield from drive(sink, beats, Stalls(share, 1))
        yield from until(lambda: len(packets) == len(tlps))
    run(dut, [work()], [forever(receive(dut.axi(f"s_axis_{name}"), packets.append, Stalls(share, 2)))])
    return packets


def check_order(got, wanted):
    """Reads and writes leave in the order of their kind, and each read after the writes before it."""
    def writes_before_reads(tlps):
        return [sum(tlp.fmt >> 1 for tlp in tlps[:n]) for n, tlp in enumerate(tlps) if not tlp.fmt & 2]
    for kind in (0, 2):
        assert [tlp for tlp in got if tlp.fmt & 2 == kind] == [tlp for tlp in wanted if tlp.fmt & 2 == kind]
    assert all(found >= least for found, least in zip(writes_before_reads(got), writes_before_reads(wanted)))


@every_shape
def test_requests_of_every_length(shape):
    wanted  = requests(random.Random(1))
    packets = sent_through(bench(shape), "rq", wanted, 0.3, shape[2])
    got     = [interface(shape).request(packet) for packet in packets]
    check_order([tlp for tlp, _ in got], wanted)
    posted  = 0x20 if shape[0].plus else 0x8
    assert [sequence for _, sequence in got] == [posted*(tlp.fmt >> 1) for tlp, _ in got]


@wide
def test_no_cycle_is_lost_between_writes_and_reads(shape):
    """While the host has credits for reads, a beat leaves in every cycle, and no more beats than needed."""
    rng     = random.Random(8)
    wanted  = [tlp for n in range(20) for tlp in
        (memory_write((7 << 32) + 256*n, rng.randbytes(64)), memory_read(8 << 32, 256, tag=n))]
    packets = sent_through(bench(shape), "rq", wanted, 0, shape[2])
    assert [interface(shape).request(packet)[0] for packet in packets] == wanted
    assert sum(map(len, packets)) == sum(-(-(4 + len(tlp.data)//4)//interface(shape).dwords) for tlp in wanted)
    cycles  = [beat["cycle"] for packet in packets[4:] for beat in packet]
    assert shape[1] == 1 or cycles == list(range(cycles[0], cycles[-1] + 1))


@narrow
def test_writes_pass_reads_that_wait_for_credits(shape):
    """A read goes to the block only with a credit, in order, and after the writes before it. Writes wait for none."""
    rng     = random.Random(9)
    plus    = shape[0].plus
    writes  = [memory_write(0x1000 + 256*n, rng.randbytes(rng.choice((4, 64, 100)))) for n in range(60)]
    reads   = [memory_read(0x2000 + 64*n, 64, tag=n) for n in range(60)]
    wanted  = [tlp for pair in zip(writes, reads) for tlp in pair]
    dut     = bench(shape)
    packets = []
    given   = [0]   # Credits so far.
    decoded = []
    def got():
        decoded.extend(interface(shape).request(packet)[0] for packet in packets[len(decoded):])
        return decoded
    def layer():
        yield from up(dut)
        yield from wait(10)
        yield from drive(dut.shape.req_sink, [beat for tlp in wanted for beat in tlp.beats(shape[2], "little")])
        yield from until(lambda: len(packets) == 60)
        assert got() == writes[:60]
        given[0] += 5
        yield from drive(dut.shape.req_sink, [beat for tlp in wanted for beat in tlp.beats(shape[2], "little")])
        yield from until(lambda: len(packets) == 4*60)
    def host():
        while True:
            if given[0]:
                given[0] += rng.choice((0, 0, 1, 5, 20))
            yield from wait(rng.randrange(30))
    def credits():
        """The block shows its credits two cycles late, and their count some more."""
        late, sent = [0]*9, 0
        while True:
            if len(decoded) < len(packets):
                sent = sum(tlp.fmt & 2 == 0 for tlp in got())
            left = given[0] - sent
            assert left >= 0, "a read without a credit"
            late.append(left)
            yield [dut.ports["o_pcie_tfc_nph_av"].eq(min(late[-3], 15 if plus else 3)),
                dut.ports["o_cfg_fc_nph"].eq(min(late.pop(0), 128))]
            yield
    run(dut, [layer(), forever(host())],
        [forever(receive(dut.axi("s_axis_rq"), packets.append, Stalls(0.2, 2))), forever(credits())], cycles=9000)
    check_order(got(), 2*wanted)


@every_shape
def test_completions_of_every_length(shape):
    wanted  = completions(random.Random(2))
    packets = sent_through(bench(shape), "cc", wanted, 0.3, shape[2])
    assert [interface(shape).completion(packet) for packet in packets] == wanted


def host_requests(rng):
    made = []
    for length in (*range(1, 40), 64, 128, 256):
        fields = dict(attr=rng.randrange(8), tc=rng.randrange(8), requester=rng.randrange(1 << 16),
            tag=rng.randrange(256))
        made  += [memory_write(0x9000_0000 + rng.randrange(64), rng.randbytes(length), **fields),
            memory_read(0x3_9000_0000 + rng.randrange(64), length, **fields)]
    for be in range(16):    # All byte enables, also with gaps.
        made += [replace(memory_write(0x100, b"four"), first_be=be), replace(memory_read(0x100, 4), first_be=be)]
    made += [
        TLP(fmt=0, type=0b00010, length=1, first_be=15, address=0x100), TLP(fmt=2, type=0b00010, length=1, first_be=1,
            address=0x100, data=b"port"), TLP(fmt=0, type=0b00001, length=2, first_be=15, last_be=15, address=0x80),
        TLP(fmt=2, type=0b01100, length=1, address=0x100, data=b"atom"),
        TLP(fmt=2, type=0b01110, length=4, address=0x100, data=bytes(16)),
        replace(memory_read(0, 4096), length=1024)]
    rng.shuffle(made)
    return made


def host_completions(rng):
    made = []
    for length in (*range(1, 36), 64):
        fields = dict(attr=rng.randrange(8), tc=rng.randrange(8), requester=rng.randrange(1 << 16),
            tag=rng.randrange(256), completer=rng.randrange(1 << 16))
        offset = rng.randrange(4)
        made  += [TLP(fmt=2, type=0b01010, length=length, byte_count=rng.choice([4*length - offset, 1000, 0]),
                ep=length % 3 == 0, lower_address=4*rng.randrange(32) + offset, data=rng.randbytes(4*length), **fields),
            TLP(fmt=0, type=0b01010, status=rng.choice([1, 2, 4]), byte_count=4*length, **fields)]
    rng.shuffle(made)
    return made


def received(dut, name, tlps, packets, share, data_width):
    source = dut.shape.req_source if name == "cq" else dut.shape.cmp_source
    watch  = Watch(source, name=name)
    def block():
        yield from wait_for(dut.shape.link_up)
        yield from send(dut.axi(f"m_axis_{name}"), packets, Stalls(share, 1))
    run(dut, [until(lambda: len(watch.packets()) == tlps), forever(accept(source, Stalls(share, 2))),
        forever(watch.watch())], [forever(block())])
    return watch


def decode(watch, data_width):
    return [TLP.from_beats(packet, data_width, "little") for packet in watch.packets()]


@every_shape
def test_requests_of_the_host(shape):
    sent  = host_requests(random.Random(3))
    raw   = [list(interface(shape).completer_request(tlp)) for tlp in sent]
    watch = received(bench(shape), "cq", len(sent), raw, 0.3, shape[2])
    assert decode(watch, shape[2]) == [replace(tlp, fmt=tlp.fmt | 1) for tlp in sent]


@shapes([WIDE], [WIDE])
def test_writes_pass_reads_that_are_not_complete(shape):
    """The block hands over reads while it has credits for them, and writes at any time."""
    dut    = bench(shape)
    reads  = [memory_read((1 << 32) + 0x100*n, 4, tag=n) for n in range(40)]
    writes = [memory_write((1 << 32) + 0x100*n, bytes(64)) for n in range(20)]
    req, count = dut.ports["i_pcie_cq_np_req"], dut.ports["o_pcie_cq_np_req_count"]
    credits    = [0, 0]     # Given, and used.
    def hand_over(tlp):
        credits[1] += not tlp.fmt & 2
        yield from send(dut.axi("m_axis_cq"), [interface(shape).completer_request(tlp)], Stalls())
    def may_read():
        yield from ()
        return credits[0] > credits[1]
    def counter():
        """A credit shows in the count some cycles late."""
        late = [0]*5
        while True:
            credits[0] = min(credits[1] + 32, credits[0] + (yield req))
            late.append(credits[0] - credits[1])
            yield count.eq(late.pop(0))
            yield
    check_non_posted(dut, reads, writes, lambda packet: TLP.from_beats(packet, shape[2], "little"), hand_over, may_read,
        [counter()])


@wide
def test_messages_stay_messages(shape):
    """A message keeps the type of a message, so the completer drops it."""
    sent  = [TLP(fmt=1, type=0b10100), TLP(fmt=3, type=0b10010, length=2, data=bytes(8))]
    raw   = [list(interface(shape).completer_request(tlp)) for tlp in sent]
    watch = received(bench(shape), "cq", len(sent), raw, 0, shape[2])
    assert [(tlp.fmt, tlp.type >> 3, tlp.data) for tlp in decode(watch, shape[2])] == [(1, 2, b""), (3, 2, bytes(8))]


@every_shape
def test_completions_of_the_host(shape):
    """Completions arrive, also poisoned and failed ones, except those that the block generates itself."""
    sent, model = host_completions(random.Random(4)), interface(shape)
    raw         = []
    for n, tlp in enumerate(sent):
        if n % 4 == 0:
            raw.append(list(model.requester_completion(replace(tlp, byte_count=4), error=0b1001 - n//4 % 2)))
        raw.append(list(model.requester_completion(tlp)))
    watch = received(bench(shape), "rc", len(sent), raw, 0.3, shape[2])
    assert decode(watch, shape[2]) == sent


@narrow
@pytest.mark.parametrize("name", ["rc", pytest.param("cq", marks=pytest.mark.full)])
def test_no_cycle_is_lost_on_receive(shape, name):
    model = interface(shape)
    if name == "cq":
        raw = [list(model.completer_request(tlp)) for tlp in host_requests(random.Random(3))]
    else:
        raw = [list(model.requester_completion(tlp)) for tlp in host_completions(random.Random(4))]
    beats = received(bench(shape), name, len(raw), raw, 0, shape[2]).beats
    given = sum(map(len, raw)) - (shape[1] == 1)    # At x1, the first output beat needs two input beats.
    assert beats[-1]["cycle"] - beats[0]["cycle"] == given - 1


# The marks of `tuser` at 256 bits and at 512 bits differ: `make test` has each once.

@shapes(SHAPES[3:4], SHAPES[3:5])
def test_completions_share_beats(shape):
    """Completions of every length begin in the beat in which the one before them ends, or do not."""
    rng, model = random.Random(5), interface(shape)
    sent  = host_completions(rng) + host_completions(rng)
    beats = model.straddled([model.requester_completion_dwords(tlp)[0] for tlp in sent], lambda: rng.random() < 0.5)
    watch = received(bench(shape), "rc", len(sent), [[beat] for beat in beats], 0.3, shape[2])
    assert decode(watch, shape[2]) == sent


@shapes(SHAPES[4:5], SHAPES[3:5])
@pytest.mark.parametrize("payload", [64, pytest.param(256, marks=pytest.mark.full)])
def test_straddled_completions_at_full_rate(shape, payload):
    """Completions that follow each other without a gap: the block's interface never waits. They leave with no more
    beats than they need, one beat per cycle, at the width of the block."""
    rng, model = random.Random(6), interface(shape)
    sent  = [TLP(fmt=2, type=0b01010, length=payload//4, byte_count=payload, data=rng.randbytes(payload), tag=n)
        for n in range(40)]
    beats = model.straddled([model.requester_completion_dwords(tlp)[0] for tlp in sent], lambda: True)
    dut   = bench(shape)
    watch = Watch(dut.phy.rc_adapter.source, name="rc")
    waits = []
    def block():
        yield from wait_for(dut.shape.link_up)
        port = dut.axi("m_axis_rc")
        for beat in beats:
            yield port.valid.eq(1)
            yield [getattr(port, name).eq(value) for name, value in beat.items()]
            yield
            waits.append(not (yield port.ready))
        yield port.valid.eq(0)
    def slow():
        """The card takes nothing until all is in the buffer."""
        yield dut.shape.cmp_source.ready.eq(0)
        yield from until(lambda: len(waits) == len(beats))
        yield from wait(60)
        yield dut.shape.cmp_source.ready.eq(1)
        yield from until(lambda: len(watch.packets()) == len(sent))
    run(dut, [slow()], [forever(block()), forever(watch.watch())], sys=80 if shape[2] == model.data_width else 120)
    assert not any(waits)
    assert [TLP.from_beats(packet, model.data_width, "little") for packet in watch.packets()] == sent
    assert len(watch.beats) == len(sent)*-(-(3 + payload//4)//model.dwords)
