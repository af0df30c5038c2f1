#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The Verilog of the layer behaves like Migen's simulation of it, in every cycle."""

import random
import shutil

from dataclasses import replace

import pytest

from test.gateware.tlp.bench import Bench, Reader, Writer
from test.gateware.tlp.host import Host
from test.gateware.tlp.test_completer import CardModel, register_requests, window_requests
from test.gateware.tlp.test_reads import random_requests
from test.gateware.tlp.test_writes import random_writes
from test.gateware.verilog import Recorder, replay

# Design -------------------------------------------------------------------------------------------

def make(data_width, shape, endianness, host=None):
    bench   = Bench(data_width, shape=shape, endianness=endianness, stall=0.2, timeout_us=3000, host=host,
        tags=64 if data_width == 256 else 32)
    bench.readers = [bench.layer.add_read_port(f"reader{n}", tags, reserve=2) for n, tags in enumerate((24, 2, 3))]
    bench.writers = [bench.layer.add_write_port(f"writer{n}") for n in range(2)]
    return bench


def stream_ports(endpoint, to_design):
    """(inputs, outputs) of an endpoint; `to_design`: its data goes into the design."""
    ready = [endpoint.ready]
    rest  = [signal for signal in endpoint.flatten() if signal is not endpoint.ready]
    return (rest, ready) if to_design else (ready, rest)


def ports(bench):
    """(inputs, outputs) of the design, in an order that depends only on the parameters of the design."""
    phy, layer = bench.phy, bench.layer
    shared     = hasattr(phy, "sink")
    sinks      = [phy.sink] if shared else [phy.req_sink, phy.cmp_sink]
    sources    = [phy.source] if shared else [phy.req_source, phy.cmp_source]
    streams    = [(sink, False) for sink in sinks] + [(source, True) for source in sources]
    inputs     = [phy.id, phy.bus_master_enable, phy.link_up, phy.extended_tag, layer.timeout_us, layer.abandon,
        layer.rcb_128]
    outputs    = [layer.tx_stall, layer.rx_stall, layer.drained]
    for port in bench.readers:
        streams += [(port.request, True), (port.data, False), (port.retire, False)]
        outputs += [port.outstanding, port.no_tag]
    for port in bench.writers:
        streams += [(port.sink, True)]
        outputs += [port.sent, port.dropped]
    streams += [(layer.window_write, False), (layer.window_read.command, False), (layer.window_read.data, True)]
    bus      = layer.csr_bus
    inputs  += [bus.ack, bus.err, bus.dat_r]
    outputs += [bus.cyc, bus.stb, bus.we, bus.sel, bus.adr, bus.dat_w]
    for endpoint, to_design in streams:
        into, out = stream_ports(endpoint, to_design)
        inputs  += into
        outputs += out
    return inputs, outputs


def tamper(rng):
    """Sometimes makes the host send bad, duplicate or too few completions."""
    def answer(tlp, completions):
        first = completions[0]
        return {
            0: [replace(first, fmt=0, length=0, status=rng.choice([1, 4]), data=b"")],
            1: [replace(first, ep=1)] + completions[1:],
            2: [replace(first, byte_count=first.byte_count + 4)],
            3: completions + completions[-1:],
            4: completions[:-1],
        }.get(rng.randrange(25), completions)
    return answer

# Test ---------------------------------------------------------------------------------------------

@pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")
@pytest.mark.parametrize("data_width, shape, endianness", [(64, "shared", "big"),
    pytest.param(256, "split", "little", marks=pytest.mark.full)])
def test_verilog_is_what_was_simulated(tmp_path, data_width, shape, endianness):
    rng  = random.Random(data_width)
    host = Host(split=64, latency=30, reorder=True)
    host.answer = tamper(rng)
    bench = make(data_width, shape, endianness, host)
    clients = [Reader(port, random_requests(rng, count, longest), bench.stalls())
        for port, count, longest in zip(bench.readers, (20, 10, 10), (512, 64, 300))]
    clients += [Writer(port, random_writes(rng, 15, longest, base), bench.stalls())
        for port, longest, base in zip(bench.writers, (256, 16), (0x10_0000, 0x7_0000_0000))]
    host.requests.extend(register_requests(rng) + window_requests(rng))
    recorder = Recorder(*ports(bench))
    bench.run(clients + [CardModel(bench)], watchers=[recorder.watch()])
    assert sum(reason != 0 for reader in clients[:3] for reason, _ in reader.retired) > 2
    replay(tmp_path, lambda: make(data_width, shape, endianness), ports, recorder)
