# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The host ends bus mastering while the card sends: what counts as sent arrives, before the completion, and no more."""

import pytest
from migen import *
from litex.gen import *

from litepcie_soc.endpoint.transaction.stop import LIMIT_BITS, BusMasterStop, StopMarker
from test.gateware.endpoint.verilated       import SCAN, Card, compiled, needs_verilator, numbers, passes
from test.gateware.simulation               import forever, simulate
from test.gateware.steps                    import pulse, wait


class SendingCard(Card):
    """A card that writes, reads and interrupts as its pins say, and counts what the transaction layer says it sent.

    start, writes, dwords  : a pulse: ``writes`` packets of ``dwords`` are sent. Each dword is the packet's number.
    hold, read             : the packet has no more data yet; reads of a dword are sent.
    interrupt, interrupted : an MSI is wanted; it is taken.
    left, sent             : packets that are not sent yet, and that were sent.
    """
    def __init__(self):
        Card.__init__(self, timeout_us=32, quarantine_us=64)
        phy, layer     = self.phy, self.layer
        reader, writer = layer.add_read_port("reader", 16, reserve=2), layer.add_write_port("writer")
        pins = Record([("start", 1), ("writes", 8), ("dwords", 6), ("hold", 1), ("read", 1), ("interrupt", 1),
            ("interrupted", 1), ("left", 8), ("sent", 32)], name="pin")
        self.ports    |= {*pins.flatten()}

        # # #

        packet, beat = Signal(32), Signal(5)
        sink         = writer.sink
        ends         = Signal()
        self.comb += [layer.csr_bus.ack.eq(1),
            # The first dword of the payload shares a beat with the last one of the header.
            sink.valid.eq((pins.left != 0) & ~pins.hold),
            sink.first.eq(beat == 0),
            sink.last.eq(beat == pins.dwords[1:]),
            sink.address.eq(0x1000_0000),
            sink.length.eq(4*pins.dwords),
            sink.dat.eq(Cat(packet, packet)),
            ends.eq(sink.valid & sink.ready & sink.last),
            reader.request.valid.eq(pins.read),
            reader.request.address.eq(0x2000_0000),
            reader.request.length.eq(4),
            reader.data.ready.eq(1),
            # As `MSIMerger` does.
            phy.msi.valid.eq(pins.interrupt & phy.bus_master_enable & phy.msi_enable & phy.link_up),
            pins.interrupted.eq(phy.msi.valid & phy.msi.ready)]
        self.sync += [If(sink.valid & sink.ready, beat.eq(beat + 1)),
            If(ends, beat.eq(0), packet.eq(packet + 1), pins.left.eq(pins.left - 1)),
            If(pins.start, pins.left.eq(pins.writes)),
            If(writer.sent & ~writer.dropped, pins.sent.eq(pins.sent + 1))]


@pytest.fixture(scope="module")
def bench():
    """Function (case, dwords, first, last, step) that returns the counts that the host prints."""
    program = passes(compiled(SendingCard, ("serdes_pins.h", "scan_host.h", "stop_bench.cpp", *SCAN), ("lane",)))
    return lambda *words: numbers(program(*words)[-1])


SWEEP, EVER = (32, 0, 1300, 3), 1 << 32


# Case, its further arguments, what it counts, and between which bounds.
@needs_verilator
@pytest.mark.full
@pytest.mark.parametrize("case, arguments, counts", [
    # While a TLP is in the transaction layer, in the crossing at each word, half or whole in a queue.
    ("free", (32, 0, 400, 1), {"sent": (1600, EVER), "longest": (0, 500)}),
    ("free", (5, 0, 400, 3), {"sent": (533, EVER), "longest": (0, 500)}),
    ("held", SWEEP, {"longest": (2400, EVER)}),         # Without credits, writes wait, and the completion after them.
    ("gaps", SWEEP, {"sent": (200, EVER)}),             # A client whose packets have gaps.
    ("loads", SWEEP, {"sent": (200, EVER)}),            # Completions of the card go between its writes.
    ("loads-held", SWEEP, {"longest": (2400, EVER)}),
    ("interrupts", SWEEP, {"interrupts": (160, EVER)}),
    ("masked", SWEEP, {"interrupts": (100, EVER)}),     # MSI Enable is cleared, and bus mastering goes on.
    ("d3hot", SWEEP, {"longest": (2400, EVER)}),
    ("function-reset", SWEEP, {"longest": (2400, EVER)}),
    ("reads", SWEEP, {"reads": (15, EVER)}),            # Those without credits are dropped.
    # The link ends while the card waits; the next stop is like the first one. PME_TO_Ack comes behind all requests.
    ("hot-reset", (32, 0, 600, 50), {"sent": (24, EVER)}),
    ("turn-off", (32, 0, 600, 50), {"sent": (24, EVER)}),
    # A write that ends nothing does not wait.
    ("quick", (32, 0, 5, 1), {"longest": (0, 120)}),
    # A client stops in the middle of a write: the host gets its completion, and the next stop is right again.
    ("stuck", (32, 30, 30, 1), {"longest": (2**LIMIT_BITS, 2**LIMIT_BITS + 500)})])
def test_at_every_moment(bench, case, arguments, counts):
    found = bench(case, *arguments)
    assert all(least < found[name] < most for name, (least, most) in counts.items()), found


@pytest.mark.parametrize("sys, pcie", [(10, 8), (8, 8), (6, 20), (60, 8)])
def test_marker_of_another_stop(sys, pcie):
    """One that was not waited for does not end the next stop."""
    top      = LiteXModule()
    top.cd_sys  = ClockDomain()
    top.cd_pcie = ClockDomain()
    top.stop = stop = ClockDomainsRenamer("pcie")(BusMasterStop(limit_bits=8))
    top.mark = mark = StopMarker()
    top.comb += [mark.asks.eq(stop.asks), mark.asked.eq(stop.asked), mark.link_up.eq(1)]
    numbers  = []
    def layer():
        """Takes each marker."""
        while True:
            yield [mark.stopped.eq(1), mark.source.ready.eq(1)]
            yield
            if (yield mark.source.valid) and (yield mark.source.ready):
                numbers.append((yield mark.source.number))
    def script():
        assert not (yield stop.asks)
        for late in (False, True, False):
            yield stop.master.eq(1)
            yield from wait(100)
            yield stop.master.eq(0)
            yield
            yield
            assert (yield stop.asks) and (yield stop.holds) and not (yield stop.stopped)
            while not numbers:
                yield
            number = numbers.pop()
            if late:
                # It is not waited for any more when it comes.
                while (yield stop.asks):
                    yield
                yield stop.master.eq(1)
                yield from wait(100)
                yield stop.master.eq(0)
                yield
                yield
            yield stop.number.eq(number)
            yield from pulse(stop.came)
            yield
            assert (yield stop.stopped) == (not late) and (yield stop.asks) == late
            while (yield stop.asks):
                yield
            numbers.clear()
    simulate(top, {"sys": [forever(layer())], "pcie": [script()]}, cycles=20000, clocks={"sys": sys, "pcie": (pcie, 2)})
