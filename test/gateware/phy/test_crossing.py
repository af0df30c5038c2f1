# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Clock crossings with several ratios, phases and data widths (periods in units of 100 ps); completion buffer."""

import random

import pytest
from litex.soc.interconnect import stream
from migen import ClockDomain, ClockDomainsRenamer, Module, Signal

from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.common.pcie import phy_layout
from litepcie_soc.phy.completion_buffer import beats_of, blocks_of, CompletionBuffer, DEPTH, keeps_up
from litepcie_soc.phy.crossing import LinkCrossing
from litepcie_soc.phy.gate import LinkGate
from litepcie_soc.phy.order import CommittedCounter
from litepcie_soc.phy.sim import SimPHY
from test.gateware.phy.bench import run, wait_for
from test.gateware.simulation import accept, drive, forever, memory_read, memory_write, simulate, Stalls, TLP, Watch
from test.gateware.steps import wait


class Ends(Module):
    """A crossing in each direction; the test drives the side of the hard block and its clock."""
    def __init__(self, data_width, pcie_data_width):
        self.clock_domains.cd_sys  = ClockDomain()
        self.clock_domains.cd_pcie = ClockDomain()
        self.up        = Signal()  # The hard block reports that the link is up.
        self.to_host   = stream.Endpoint(phy_layout(pcie_data_width))
        self.from_host = stream.Endpoint(phy_layout(pcie_data_width))
        self.submodules.link = self.link = LinkCrossing(data_width, pcie_data_width, self.up)
        self.submodules.gate = self.gate = LinkGate(data_width, ends=True)
        transmit  = self.link.transmit(self.to_host)
        self.sink = transmit.sink
        self.cut  = transmit.cut
        self.comb += [self.link.receive(self.from_host).source.connect(self.gate.sink),
            self.gate.link_up.eq(self.link.link_up)]


def some_tlps(rng, count, dwords):
    """Shuffled TLPs of all lengths up to `dwords`, so that they end in every lane."""
    tlps = []
    for n in range(count):
        address, data = rng.choice((0x1000, 1 << 32)) + 4*n, rng.randbytes(4*(n % dwords + 1))
        tlps.append(memory_read(address, 4) if n % 5 == 0 else memory_write(address, data) if n % 2 else
            TLP(fmt=2, type=0b01010, length=len(data)//4, byte_count=4, tag=n % 256, data=data))
    rng.shuffle(tlps)
    return tlps


def beats(tlps, data_width):
    return [beat for tlp in tlps for beat in tlp.beats(data_width, "little")]


def decoded(watch, data_width):
    assert all(beat["be"] for beat in watch.beats), "an empty beat"
    return [TLP.from_beats(packet, data_width, "little") for packet in watch.packets()]


def both_ways(dut, widths, clocks, down, up, stalls=(0, 0, 0, 0)):
    """Sends TLPs `down` (to the host) and `up`; returns a Watch of each output."""
    data_width, pcie_data_width = widths
    to_host, to_card = Watch(dut.to_host, name="to host"), Watch(dut.gate.source, name="to card")
    stalls = [Stalls(share, seed) for seed, share in enumerate(stalls)]
    def card():
        yield dut.up.eq(1)
        yield from wait_for(dut.link.link_up)
        yield from drive(dut.sink, beats(down, data_width), stalls[0])
        while len(to_host.packets()) < len(down) or len(to_card.packets()) < len(up):
            yield
    def host():
        yield from wait_for(dut.link.link_up)
        yield from drive(dut.from_host, beats(up, pcie_data_width), stalls[1])
    run(dut, [card(), forever(accept(dut.gate.source, stalls[2])), forever(to_card.watch())],
        [forever(host()), forever(accept(dut.to_host, stalls[3])), forever(to_host.watch())], *clocks)
    return to_host, to_card


WIDTHS = [(64, 64), (128, 64), (128, 128), (256, 128), (512, 256)]

# Period of sys, period and phase of pcie: pcie is twice as fast, as fast, half as fast, and no multiple (two cases).
CLOCKS = [(80, 40, 6), (80, 80, 34), (40, 80, 20), (66, 40, 0), (160, 46, 30)]


@pytest.mark.parametrize("widths", WIDTHS)
def test_tlps_arrive_unchanged(widths):
    """TLPs of all lengths, with pauses at all four ends: `first`, `last` and `be` are correct, and no beat is empty."""
    rng      = random.Random(1)
    clocks   = CLOCKS[WIDTHS.index(widths)]
    down, up = [some_tlps(rng, 120, dwords=widths[0]//32*3) for _ in "ab"]
    to_host, to_card = both_ways(Ends(*widths), widths, clocks, down, up, stalls=(0.2, 0.2, 0.3, 0.3))
    assert decoded(to_host, widths[1]) == down
    assert decoded(to_card, widths[0]) == up


SIZES = {"write of 256": memory_write(1 << 32, bytes(256)), "write of 4": memory_write(0x1000, bytes(4))}


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("widths, clocks", [((128, 128), (80, 80, 10)), ((256, 128), (66, 40, 6))])
def test_no_cycle_is_lost(size, widths, clocks):
    """Back-to-back TLPs take the time of their beats on the slower side, and no cycle more."""
    tlps = 60*[SIZES[size]]
    each = max(len(beats(tlps[:1], width))*period for width, period in zip(widths, clocks))
    for watch, period in zip(both_ways(Ends(*widths), widths, clocks, tlps, tlps), (clocks[1], clocks[0])):
        ends  = [packet[-1]["cycle"]*period for packet in watch.packets()]
        taken = ends[-1] - ends[19]
        assert taken <= 40*each + 2*max(clocks[:2]), f"{watch.name}: {taken/40} per TLP instead of {each}"


class Receiver:
    """Receives TLPs with pauses. `ended` counts truncated TLPs, which end with an added beat (`cut`)."""
    def __init__(self, endpoint, cut, data_width, seed, reset):
        self.endpoint, self.cut, self.data_width, self.reset = endpoint, cut, data_width, reset
        self.stalls = Stalls(0.2, seed)
        self.tlps   = []
        self.ended  = 0

    def receive(self):
        packet = []
        while True:
            yield self.endpoint.ready.eq(not self.stalls.next())
            yield
            if (yield self.reset):
                packet = []
            elif (yield self.endpoint.valid) and (yield self.endpoint.ready):
                beat = {}
                for name in ("dat", "be", "first", "last"):
                    beat[name] = yield getattr(self.endpoint, name)
                if (yield self.cut):
                    assert packet and beat["last"]
                    self.ended += 1
                else:
                    assert bool(beat["first"]) == (not packet), "`first` is wrong"
                    packet.append(beat)
                    if beat["last"]:
                        self.tlps.append(TLP.from_beats(packet, self.data_width, "little"))
                if beat["last"]:
                    packet = []


class Sender:
    """Sends TLPs continuously while `number` is not None; `number` counts the periods in which the link is up.

    When the link goes down, a TLP in progress is sent to its end if `finishes`, as the 7-series hard block does.
    Otherwise the sender abandons it.
    """
    def __init__(self, endpoint, data_width, seed, finishes):
        self.endpoint, self.data_width, self.finishes = endpoint, data_width, finishes
        self.random  = random.Random(seed)
        self.number  = None
        self.sent    = {}

    def send(self):
        while True:
            number = self.number
            if number is None:
                yield
                continue
            sent = self.sent.setdefault(number, [])
            sent.append(memory_write(number << 16 | len(sent) << 4, bytes(4*self.random.randrange(1, 40))))
            for beat in sent[-1].beats(self.data_width, "little"):
                yield self.endpoint.valid.eq(1)
                yield [getattr(self.endpoint, name).eq(value) for name, value in beat.items()]
                yield
                while not (yield self.endpoint.ready) and not self.forgets(number):
                    yield
                if self.forgets(number):
                    break
            yield self.endpoint.valid.eq(0)

    def forgets(self, number):
        return self.number != number and not self.finishes


LOSSES = 8


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("widths", [(256, 128)])
@pytest.mark.parametrize("cause", ["link", "link and its clock's reset", "its clock's reset", "sys' reset"])
def test_recovery_from_a_loss_of_the_link(widths, cause):
    """Truncated TLPs get an end. After the link is up again, the TLPs sent since then come, whole and in order."""
    rng    = random.Random(cause)
    dut    = Ends(*widths)
    clocks = "its clock" in cause
    host   = Receiver(dut.to_host, dut.cut, widths[1], 1, dut.cd_pcie.rst)
    card   = Receiver(dut.gate.source, dut.gate.cut, widths[0], 2, dut.cd_sys.rst)
    senders = [Sender(dut.sink, widths[0], 3, finishes=False), Sender(dut.from_host, widths[1], 4, finishes=not clocks)]
    def lose():
        yield dut.up.eq(1)
        for number in range(LOSSES + 1):
            yield from wait_for(dut.link.link_up)
            for sender in senders:
                sender.number = number
            yield from wait(100 + rng.randrange(40))
            if number == LOSSES:
                return
            for sender in senders:
                sender.number = None
            yield [dut.up.eq(not cause.startswith("link")), dut.cd_pcie.rst.eq(clocks),
                dut.cd_sys.rst.eq(cause.startswith("sys"))]
            yield
            yield dut.cd_sys.rst.eq(0)
            yield from wait_for(dut.link.link_up, 0)
            yield from wait(rng.choice((1, 10, 60)))
            yield [dut.cd_pcie.rst.eq(0), dut.up.eq(1)]
    run(dut, [lose(), forever(senders[0].send()), forever(card.receive())],
        [forever(senders[1].send()), forever(host.receive())], 80, 40, 6)
    for receiver, sender in zip((host, card), senders):
        got = {}
        for tlp in receiver.tlps:
            got.setdefault(tlp.address >> 16, []).append(tlp)
        assert list(got) == list(range(LOSSES + 1))
        for number, tlps in got.items():
            assert tlps == sender.sent[number][:len(tlps)]
            assert len(tlps) > 5
    assert (card.ended > 0) != cause.startswith("sys") and (host.ended > 0) != clocks


def test_committed_count_crosses_clocks():
    """The count in `sys` is late, never too large, and never goes down."""
    strobes = [Signal(), Signal()]
    dut     = ClockDomainsRenamer({"pcie": "sys"})(CommittedCounter(strobes))
    rng     = random.Random(3)
    total   = [0]
    seen    = []
    def strobe():
        for _ in range(400):
            values = [rng.random() < 0.5 for _ in strobes]
            yield [signal.eq(value) for signal, value in zip(strobes, values)]
            yield
            total[0] += sum(values)
            seen.append(((yield dut.count), total[0]))
        yield [signal.eq(0) for signal in strobes]
        yield from wait(40)
        assert (yield dut.count) == total[0]
    simulate(dut, [strobe()])
    assert all(0 <= exact - told < 60 for told, exact in seen)
    assert all(after >= before for (before, _), (after, _) in zip(seen, seen[1:]))


def completion(payload):
    return TLP(fmt=2, type=0b01010, length=-(-len(payload)//4), byte_count=len(payload), data=payload)


def beats_to_send(tlps, data_width):
    return [beat for tlp in tlps for beat in tlp.beats(data_width, "little")]


@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
@pytest.mark.parametrize("rcb", [64, 128])
def test_no_split_needs_more_beats_than_its_blocks(data_width, rcb):
    """Every request of 4 to 512 bytes at every dword of a block, in random legal splits."""
    rng = random.Random(data_width + rcb)
    for _ in range(500):
        first  = rng.randrange(0, rcb, 4)
        last   = first + rng.choice([4, 8, 64, 512, rng.randrange(4, 516, 4)])
        edges  = [edge for edge in range(rcb, last, rcb) if rng.random() < rng.choice([0, 0.5, 1])]
        pieces = [end - begin for begin, end in zip([first, *edges], [*edges, last])]
        blocks = -(-last//rcb)
        assert sum(beats_of(piece, data_width) for piece in pieces) <= blocks*beats_of(rcb, data_width)


@pytest.mark.parametrize("data_width, blocks", [(128, (102, 56)), (256, (170, 102)), (512, (256, 170))])
def test_blocks(data_width, blocks):
    """A completion of 64 bytes takes 5, 3 or 2 beats, one of 128 bytes 9, 5 or 3."""
    assert blocks_of(512, data_width) == blocks


@pytest.mark.parametrize("lanes, data_width, clk_freq, plain, straddled", [
    (4, 128, 250e6, True, True), (4, 256, 125e6, False, True), (8, 256, 250e6, False, True),
    (16, 512, 250e6, False, True)])
def test_interfaces_that_keep_up_with_the_link(lanes, data_width, clk_freq, plain, straddled):
    """Without straddle, completions of 64 bytes waste 20 of 96 bytes at 256 bits, and 52 of 128 at 512 bits."""
    found = [keeps_up(link_rate(3, lanes), data_width, clk_freq, straddle) for straddle in (False, True)]
    assert found == [plain, straddled]


@pytest.mark.parametrize("data_width, rcb", [(128, 1), (512, 0)])
def test_ready_never_falls(data_width, rcb):
    """All blocks come in the smallest completions while nothing leaves."""
    dut   = CompletionBuffer(phy_layout(data_width))
    count = blocks_of(DEPTH, data_width)[rcb]
    sent  = [completion(bytes([n % 256])*(64 << rcb)) for n in range(count)]
    full  = beats_to_send(sent, data_width)
    output = Watch(dut.source, name="source")
    def fill():
        for beat in full:
            yield dut.sink.valid.eq(1)
            yield [getattr(dut.sink, name).eq(value) for name, value in beat.items()]
            yield
            assert (yield dut.sink.ready)
        yield [dut.sink.valid.eq(0), dut.source.ready.eq(1)]
        while len(output.beats) < len(full):
            yield
    simulate(dut, [fill(), forever(output.watch())], cycles=3000)
    assert [TLP.from_beats(packet, data_width, "little") for packet in output.packets()] == sent


@pytest.mark.parametrize("depth", [100, 1])
def test_bad_depth(depth):
    with pytest.raises(ValueError, match=f"depth {depth} is not supported; choose a power of two"):
        CompletionBuffer(phy_layout(128), depth=depth)


def test_sim_phy():
    assert SimPHY(256).fabric_blocks is None
    phy = SimPHY(512, split=True, fabric_width=256)
    assert (phy.fabric_blocks, phy.fabric_width, phy.fabric_beats) == ((170, 102), 256, 512)
    with pytest.raises(ValueError, match="fabric_width is not supported with one stream .*; choose split"):
        SimPHY(256, fabric_width=256)
