# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The 7-series PHY at the ports of the IP, and TLPs that begin in the beat in which the one before them ends."""

import random
import re
from types import SimpleNamespace

import pytest

from litepcie_soc.phy.framing import StraddleAligner
from litepcie_soc.phy.hard_block import completion_buffer_bytes
from litepcie_soc.phy.series7 import Series7PHY
from test.gateware.phy.bench import (Bench, PhySoC, Platform, check_errors, check_non_posted, pads, receive,
    run, send, until, wait_for)
from test.gateware.simulation import Stalls, TLP, Watch, accept, drive, forever, memory_read, memory_write, simulate
from test.gateware.steps import pulse, wait

# Bits in sys, bits of the hard block, lanes.
SHAPES = [(64, 64, 1), (128, 128, 4), (256, 128, 8)]

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]}-{shape[1]}")


def bench(shape):
    data_width, pcie_data_width, lanes = shape
    return Bench(Series7PHY(Platform(), pads(lanes), data_width=data_width, pcie_data_width=pcie_data_width))


def narrow(tlp):
    """Beats of the block at 64 bits."""
    return [{"data": beat["dat"], "last": beat["last"], "keep": beat["be"]} for beat in tlp.beats(64, "big")]


def tlps(rng, count):
    return [TLP(fmt=2, type=0b01010, length=n % 19 + 1, byte_count=4, tag=n, data=rng.randbytes(4*(n % 19 + 1)))
        if n % 3 else memory_write(0x1000 + 4*n, rng.randbytes(4*n + 4)) if n % 2 else memory_read(64*n, 4)
        for n in range(count)]


class RawBlock:
    """Beats of the 128-bit receive interface of the 7-series hard block.

    A TLP begins at dword 0. If the previous TLP ends in the lower half of a beat, it may begin at dword 2 of that beat;
    `straddle` is the probability of this.
    """
    def __init__(self, tlps, straddle, rng):
        self.beats = []                 # [dat, sof, eof]
        for tlp in tlps:
            self.add(tlp.dwords("big"), rng.random() < straddle)

    def add(self, dwords, straddle):
        lane = 0
        if straddle and self.beats and self.beats[-1][2] in (0b10011, 0b10111):
            lane = 2
            self.beats[-1][1] = 0b11000
        else:
            self.beats.append([0xdead << 96, 0b10000, 0b01111])
        for n, dword in enumerate(dwords):
            if n and (lane + n) % 4 == 0:
                self.beats.append([0xdead << 96, 0, 0b01111])
            beat    = self.beats[-1]
            place   = 32*((lane + n) % 4)
            beat[0] = beat[0] & ~(0xffffffff << place) | dword << place
        self.beats[-1][2] = 0b10011 | (lane + len(dwords) - 1) % 4 << 2

    def drive(self, dut, stalls):
        port = SimpleNamespace(valid=dut.sink.valid, ready=dut.sink.ready, dat=dut.sink.dat, sof=dut.sof, eof=dut.eof)
        yield from send(port, [[dict(zip(("dat", "sof", "eof"), beat)) for beat in self.beats]], stalls)


def completions(rng, count):
    return [TLP(fmt=2, type=0b01010, length=length, byte_count=4*length, tag=n, data=rng.randbytes(4*length))
        for n in range(count) for length in [rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 14, 15, 16, 17, 18, 32])]]


@pytest.mark.parametrize("straddle", [0, 0.7, 1])
@pytest.mark.parametrize("share", [0, 0.3])
def test_straddled_tlps(straddle, share):
    rng    = random.Random(int(10*straddle))
    sent   = completions(rng, 150) + [memory_write(0x1000, bytes(range(40))), memory_read(0, 4)]
    raw    = RawBlock(sent, straddle, rng)
    dut    = StraddleAligner()
    output = Watch(dut.source, name="source", framed=False)
    simulate(dut, [
        raw.drive(dut, Stalls(share, 1)), forever(accept(dut.source, Stalls(share, 2))), forever(output.watch())])
    assert [TLP.from_beats(packet, 128, "big") for packet in output.packets()] == sent
    assert straddle == 0 or sum(sof == 0b11000 for _, sof, _ in raw.beats) > 10
    if not share:   # One beat per cycle, and one extra cycle for each straddling TLP that ends at dword 2 or 3.
        ends_high = sum(eof in (0b11011, 0b11111) for _, _, eof in raw.beats)
        assert output.beats[-1]["cycle"] <= len(raw.beats) + ends_high + 2


@pytest.mark.full
def test_soc_around_the_phy(lanes=8, data_width=256):
    """The SoC elaborates to Verilog, and the transaction layer finds every attribute of the PHY that it needs."""
    soc     = PhySoC(Series7PHY, lanes, data_width)
    shape   = soc.tlp.shape
    assert (shape.endianness, shape.split, shape.data_width) == ("big", False, data_width)
    assert shape.id is soc.pcie_phy.id and len(shape.id) == 16
    assert shape.msi is soc.pcie_phy.msi
    assert re.search(r"^pcie_s7 ", soc.verilog, flags=re.MULTILINE)
    assert "CONFIG.Interface_Width {{128_bit}} \\" in soc.platform.toolchain.pre_synthesis_commands
    assert soc.constants["CONFIG_PCIE_COMPLETION_BUFFER_BYTES"] == completion_buffer_bytes(soc.pcie_phy)
    assert soc.constants["CONFIG_PCIE_DATA_WIDTH"] == data_width


@every_shape
def test_receives(shape):
    """Requests and completions arrive whole, at 128 bits with straddling. The block itself does not drive `first`."""
    rng     = random.Random(1)
    sent    = tlps(rng, 60)
    dut     = bench(shape)
    watches = [Watch(source, name=name) for name, source in
        (("requests", dut.shape.req_source), ("completions", dut.shape.cmp_source))]
    if shape[1] == 128:
        beats = [{"data": dat, "user": sof << 10 | eof << 17} for dat, sof, eof in RawBlock(sent, 1, rng).beats]
    else:
        beats = [beat for tlp in sent for beat in narrow(tlp)]
    def block():
        yield from wait_for(dut.shape.link_up)
        yield from send(dut.axi("m_axis_rx"), [beats], Stalls())
    run(dut, [until(lambda: sum(len(watch.packets()) for watch in watches) == len(sent)),
        *[forever(watch.watch()) for watch in watches],
        *[forever(accept(watch.endpoint, Stalls(0.2, n))) for n, watch in enumerate(watches)]],
        [forever(block())], sys=50, pcie=40, phase=14)
    requests, completions = [[TLP.from_beats(packet, shape[0], "big") for packet in watch.packets()]
        for watch in watches]
    assert requests == [tlp for tlp in sent if not tlp.is_completion]
    assert completions == [tlp for tlp in sent if tlp.is_completion]


def test_writes_pass_reads_that_are_not_complete():
    """With rx_np_ok deasserted, the block hands over posted requests and completions before non-posted ones."""
    dut    = bench(SHAPES[0])
    reads  = [memory_read(0x100*n, 4, tag=n) for n in range(40)]
    others = [tlp for n in range(20) for tlp in (memory_write(0x100*n, bytes(64)),
        TLP(fmt=2, type=0b01010, length=1, byte_count=4, tag=n, data=bytes(4)))]
    def may_read():
        return (yield dut.ports["i_rx_np_ok"])
    check_non_posted(dut, reads, others, lambda packet: TLP.from_beats(packet, 64, "big"),
        lambda tlp: send(dut.axi("m_axis_rx"), [narrow(tlp)], Stalls()), may_read)


@every_shape
def test_sends(shape):
    """Requests and completions arrive in order; each MSI comes after the TLPs before it, at most 8 TLPs later."""
    rng     = random.Random(2)
    wanted  = tlps(rng, 40)
    dut     = bench(shape)
    packets = []
    told    = []    # Per MSI: its vector (the TLPs sent before it, less one), and the TLPs that the block has by then.
    sinks   = {False: dut.shape.req_sink, True: dut.shape.cmp_sink}
    asked   = (dut.ports["i_cfg_interrupt"], dut.ports["i_cfg_interrupt_di"], dut.ports["o_cfg_interrupt_rdy"])
    def layer():
        yield from wait_for(dut.shape.link_up)
        for n, tlp in enumerate(wanted):
            yield from drive(sinks[tlp.is_completion], tlp.beats(shape[0], "big"))
            if n % 8 == 7:
                yield from drive(dut.shape.msi, [{"dat": n}])
        yield from until(lambda: len(packets) == len(wanted) and len(told) == len(wanted)//8)
    def interrupt():
        yield [dut.ports["o_cfg_interrupt_msienable"].eq(1), dut.ports["o_cfg_command"].eq(4)]
        while True:
            valid, vector = (yield asked[0]), (yield asked[1])
            if valid:
                told.append((vector, len(packets)))
                yield from pulse(asked[2])
            yield
    run(dut, [layer()], [forever(receive(dut.axi("s_axis_tx"), packets.append, Stalls(0.5, 1), gapless=False)),
        forever(interrupt())], sys=80, pcie=40, phase=14)
    assert [TLP.from_beats([{"dat": beat["data"], "be": beat["keep"]} for beat in packet], shape[1], "big")
        for packet in packets] == wanted
    assert [vector for vector, _ in told] == [n for n in range(len(wanted)) if n % 8 == 7]
    assert all(vector < count <= vector + 8 for vector, count in told), told


def test_a_tlp_truncated_by_a_reset_is_discontinued():
    """The beat that ends a truncated TLP asserts Transmit Source Discontinue."""
    dut  = bench(SHAPES[1])
    port = dut.axi("s_axis_tx")
    seen = []
    def layer():
        yield from wait_for(dut.shape.link_up)
        yield from drive(dut.shape.req_sink, list(memory_write(0x1000, bytes(256)).beats(128, "big"))[:-1])
        yield from pulse(dut.cd_sys.rst)
        yield from wait_for(dut.shape.link_up)
        yield from drive(dut.shape.req_sink, memory_write(0x2000, bytes(4)).beats(128, "big"))
        yield from wait(40)
    def block():
        yield port.ready.eq(1)
        while True:
            if (yield port.valid):
                seen.append(((yield port.last), (yield port.user)))
            yield
    run(dut, [layer()], [forever(block())])
    assert seen[-2:] == [(1, 8), (1, 0)] and set(seen[:-2]) == {(0, 0)}


def test_bits_of_configuration_space():
    """Bits 8, 4 and 11 of Device Control, bit 3 of Link Control (PCIe 4.0 7.5.3.4, 7.5.3.7)."""
    dut   = bench(SHAPES[0])
    shape = dut.shape
    bits  = [("o_cfg_dcommand", 8, shape.extended_tag), ("o_cfg_dcommand", 4, shape.relaxed_ordering_enable),
        ("o_cfg_dcommand", 11, shape.no_snoop_enable), ("o_cfg_lcommand", 3, shape.rcb_128)]
    def check():
        for port, bit, signal in bits:
            for value in (1 << bit, 0xffff & ~(1 << bit)):
                yield dut.ports[port].eq(value)
                yield from wait(4)
                assert (yield signal) == value >> bit & 1
        assert not (yield shape.function_reset)
    run(dut, [check()], [])


def test_msi_waits_for_bus_mastering():
    """The block gets no MSI while bus mastering is off, and none is lost; while MSI is disabled it is dropped."""
    dut   = bench(SHAPES[0])
    ports = dut.ports
    asked = []
    def layer():
        yield from wait_for(dut.shape.link_up)
        for enable, command, vector in ((1, 3, 5), (0, 7, 6), (1, 7, 7)):
            yield [ports["o_cfg_interrupt_msienable"].eq(enable), ports["o_cfg_command"].eq(command)]
            yield from wait(20)
            yield from drive(dut.shape.msi, [{"dat": vector}])
            yield from wait(40)
            if vector == 5:
                assert not asked
                yield ports["o_cfg_command"].eq(7)
                yield from until(lambda: asked)
                yield ports["o_cfg_command"].eq(3)
        yield from until(lambda: len(asked) == 2)
    def interrupts():
        """Accepts each MSI one cycle after it is asked for."""
        while True:
            if (yield ports["i_cfg_interrupt"]):
                asked.append((yield ports["i_cfg_interrupt_di"]))
                yield from pulse(ports["o_cfg_interrupt_rdy"])
            yield
    run(dut, [layer()], [forever(interrupts())])
    assert asked == [5, 7]


def test_an_error_is_reported_for_one_cycle():
    """The block itself reports a poisoned TLP."""
    check_errors(bench(SHAPES[1]), {"completion_timeout": "i_cfg_err_cpl_timeout", "poisoned": None,
        "unexpected_completion": "i_cfg_err_cpl_unexpect", "unsupported_request": "i_cfg_err_cor"}, sys=100, pcie=80)


@pytest.mark.parametrize("data_width, pcie_data_width, message", [
    (64,  128,  "data_width 64 is not supported with pcie_data_width 128; choose 128 or 256"),
    (512, None, "data_width 512 is not supported with pcie_data_width 128; choose 128 or 256"),
    (256, 256,  "pcie_data_width 256 is not supported; choose 64 or 128")])
def test_unsupported_widths(data_width, pcie_data_width, message):
    with pytest.raises(ValueError, match=message):
        bench((data_width, pcie_data_width, 4))
