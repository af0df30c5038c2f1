# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The Verilog of the stack against the root port of the simulator (sim/src/lane), which shares no code with it."""

import pytest
from migen import *
from litex.gen import *
from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.stack  import Stack
from litepcie_soc.endpoint.data_link.words  import WORD
from litepcie_soc.endpoint.physical.states  import STATE_BITS
from litepcie_soc.endpoint.serdes.elastic   import ElasticBuffer
from litepcie_soc.endpoint.serdes.interface import SerDesInterface
from test.gateware.endpoint.verilated       import compiled, needs_verilator, numbers, passes

PROGRAM     = "endpoint.h", "serdes_pins.h", "root_port_bench.cpp"
KINDS       = "posted", "nonposted", "completion"
FREED       = "free_ph", "free_pd", "free_nph", "free_npd"
TO_SERDES   = "tx_data", "tx_k", "tx_idle", "tx_negative", "rx_align", "rx_strict", "polarity", "detect"
FROM_SERDES = "rx_idle", "ready", "detect_done", "detect_present"
EVENTS      = "lcrc_error", "dllp_error", "nak_sent", "nak_received", "replay", "timeout", "protocol_error"

pytestmark = [needs_verilator, pytest.mark.full]


class Top(LiteXModule):
    """The stack with ports whose names the bench knows."""
    def __init__(self):
        self.serdes = SerDesInterface("serdes")
        self.stack  = stack = Stack(self.add_line())
        layer       = stack.data_link
        sinks       = [stream.Endpoint(WORD, name=kind) for kind in KINDS]
        received    = stream.Endpoint(WORD, name="received")
        freed       = [Signal(len(getattr(layer, name)), name=name) for name in FREED]
        dl_up       = Signal(name="dl_up")
        state       = Signal(STATE_BITS, name="state")
        events      = Signal(8, name="events")
        self.ports |= {dl_up, state, events, *freed, *self.serdes.flatten(),
            *[signal for endpoint in (*sinks, received) for signal in endpoint.flatten()]}

        # # #

        self.comb += [[one.connect(other) for one, other in zip(sinks, layer.sinks)],
            layer.source.connect(received),
            [getattr(layer, name).eq(signal) for name, signal in zip(FREED, freed)],
            dl_up.eq(stack.dl_up),
            state.eq(stack.link.ltssm.state),
            events.eq(Cat(*[getattr(layer, name) for name in EVENTS], stack.link.overflow))]

    def add_line(self):
        """Received symbols from the ports, or from an elastic buffer with a clock of its own; returns the interface."""
        self.cd_pcie_rx = ClockDomain("pcie_rx", reset_less=True)
        self.elastic    = buffer = ClockDomainsRenamer({"pcie": "sys"})(ElasticBuffer())
        use             = Signal(name="use_elastic")
        line            = Record([("data", 16), ("k", 2), ("error", 2), ("ready", 1), ("added", 1), ("removed", 1)],
            name="line")
        inner, outer    = SerDesInterface("inner"), self.serdes
        self.ports      = {use, self.cd_pcie_rx.clk, *line.flatten()}
        self.comb += [*[getattr(inner, name).eq(getattr(outer, name)) for name in FROM_SERDES],
            *[getattr(outer, name).eq(getattr(inner, name)) for name in TO_SERDES],
            *[getattr(inner, f"rx_{name}").eq(Mux(use, getattr(buffer, name), getattr(outer, f"rx_{name}")))
                for name in ("data", "k", "error", "valid", "overflow")],
            *[getattr(buffer, f"sink_{name}").eq(getattr(line, name)) for name in ("data", "k", "error")],
            buffer.enable.eq(line.ready),
            line.added.eq(buffer.added),
            line.removed.eq(buffer.removed)]
        return inner


@pytest.fixture(scope="session")
def bench():
    """Function (program, arguments) that returns the counts that it prints."""
    program = passes(compiled(Top, PROGRAM, ("lane",), optimise="-O2"))
    return lambda *words: numbers(program(*words)[-1])


def links(bench, seed=1, runs=1, tlps=6, errors_every=0, recoveries=0, elastic=False):
    return bench("links", seed, runs, tlps, errors_every, recoveries, int(elastic))


# Rules: 4.2.6.2; 4.2.6.3
def test_random_links_train(bench):
    """1024 TS1 and all times. Wires, clocks, pauses, numbers, rates and credits are random."""
    counts = links(bench, runs=60)
    assert counts["added"] and counts["removed"] and counts["longest"] < 60_000
    assert counts["early"] == 0
    assert counts["lcrc"] == counts["dllp"] == counts["recoveries"] == 0


def test_links_through_the_elastic_buffer_of_the_card(bench):
    """Its two clocks differ by up to 600 ppm, and it adds and removes SKP, but never loses a symbol."""
    counts = links(bench, seed=3000, runs=20, tlps=100, elastic=True)
    assert counts["card_added"] > 20 and counts["card_removed"] > 20
    assert counts["overflows"] == counts["lcrc"] == counts["dllp"] == counts["recoveries"] == 0


@pytest.mark.search
@pytest.mark.timeout(1800)
def test_ten_thousand_random_links_train(bench):
    assert links(bench, seed=10_000, runs=10_000)["longest"] < 60_000


def test_tlps_over_damaged_symbols_and_recoveries(bench):
    counts = links(bench, seed=1000, runs=6, tlps=150, errors_every=2000, recoveries=2)
    assert min(counts[name] for name in ("injected", "recoveries", "lcrc", "replays_down", "replays_up")) > 0

# With 32 headers and 128 units of 16 bytes as credits, and 1 us there and back.


def bound(payload, both=False):
    """Bytes of payload per second: 20 bytes around it, the SKP sets and the updates of flow control of the sender.

    Both ways, an ACK for each TLP at most, and 8 symbols for each.
    """
    raw = 250e6*(1 - 4/1180 - 16/7500)
    return raw*payload/(payload + 20 + 8*both)


@pytest.mark.parametrize("payload", [64, 256])
def test_rates_one_way(bench, payload):
    for up in (1, 0):
        counts = bench("rates", 1500, payload, up, 1 - up, 0)
        assert counts["up" if up else "down"] >= 0.995*bound(payload)
        assert counts["replays"] == counts["timeouts"] == 0


# Rules: 2.6.1.2
def test_no_update_of_credits_is_late_while_posted_writes_stream(bench):
    assert bench("rates", 3000, 64, 0, 2, 0)["late"] == 0


# The first one goes three times through all sequence numbers.
@pytest.mark.parametrize("payload, tlps", [(64, 13_000), (256, 1500)])
def test_rates_both_ways(bench, payload, tlps):
    counts = bench("rates", tlps, payload, 1, 1, 0)
    assert min(counts["up"], counts["down"]) >= 0.98*bound(payload, both=True)
    assert counts["replays"] == counts["timeouts"] == 0


def test_rates_with_one_damaged_symbol_in_100000(bench):
    """3 MB each way: every byte is right, and the errors cost less than 5 %."""
    found, clean = (bench("rates", tlps, 128, 1, 1, every) for tlps, every in ((24_000, 100_000), (6_000, 0)))
    assert found["injected"] > 30
    assert min(found[way]/clean[way] for way in ("up", "down")) >= 0.95


# Rules: 4.2.6.9; 4.2.6.11
@pytest.mark.parametrize("event, least, most", [("hot", 2, 5), ("both", 0, 1),
    # The port waits for 12 ms in Detect.Quiet.
    ("disable", 12, 13),
    # The port waits in Recovery.RcvrLock and in Configuration for 24 ms each: the numbers of its sets are unknown now.
    ("perst", 48, 50),
    # Another port with another link number, at once or after 60 ms of silence.
    ("host", 0, 1), ("pull", 0, 1)])
def test_the_link_after_a_reset(bench, event, least, most):
    """The next link trains in milliseconds, and carries all that is sent then."""
    assert least <= bench("resets", 1, event)["cycles"]/125e3 <= most


@pytest.mark.parametrize("event", ["recovery", "configuration"])
def test_loopback(bench, event):
    """What comes back is what was sent, but SKP; then the next link trains, and carries all that is sent."""
    counts = bench("resets", 1, event)
    assert counts["wrong"] == 0 and counts["compared"] > 400_000 and counts["idle_sets"] >= 1


def test_loopback_shows_damaged_symbols(bench):
    """Each of them comes back as another symbol, and so may the one that follows."""
    counts = bench("resets", 1, "errors")
    assert counts["injected"] > 100 and 0.95 <= counts["wrong"]/counts["injected"] <= 2
