# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The 7-series PHY, tested at the ports of the IP."""

import random
import re

import pytest

from litepcie_soc.phy.hard_block import completion_buffer_bytes
from litepcie_soc.phy.series7 import Series7PHY
from litepcie_soc.tlp.completer_reads import NON_POSTED

from test.gateware.phy.bench import Bench, PhySoC, Platform, check_errors, pads, receive, run, send, until, wait_for
from test.gateware.phy.test_framing import RawBlock
from test.gateware.simulation import Stalls, TLP, Watch, accept, drive, forever, memory_read, memory_write
from test.gateware.steps import pulse, wait

# Bits in sys, bits of the hard block, lanes.
SHAPES = [(64, 64, 1), (128, 128, 4), (256, 128, 8)]

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]}-{shape[1]}")


def bench(shape):
    data_width, pcie_data_width, lanes = shape
    return Bench(Series7PHY(Platform(), pads(lanes), data_width=data_width, pcie_data_width=pcie_data_width))


def tlps(rng, count):
    return [TLP(fmt=2, type=0b01010, length=n % 19 + 1, byte_count=4, tag=n, data=rng.randbytes(4*(n % 19 + 1)))
        if n % 3 else memory_write(0x1000 + 4*n, rng.randbytes(4*n + 4)) if n % 2 else memory_read(64*n, 4)
        for n in range(count)]

# Whole SoC ----------------------------------------------------------------------------------------

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

# TLPs ---------------------------------------------------------------------------------------------

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
        beats = [{"data": beat["dat"], "last": beat["last"], "keep": beat["be"]}
            for tlp in sent for beat in tlp.beats(64, "big")]
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
    """With rx_np_ok deasserted, the block hands over posted requests and completions before non-posted ones.

    It hands over as many as the completer can queue, and the others when that has completed some.
    """
    dut     = bench(SHAPES[0])
    reads   = [memory_read(0x100*n, 4, tag=n) for n in range(40)]
    others  = [tlp for n in range(20) for tlp in (memory_write(0x100*n, bytes(64)),
        TLP(fmt=2, type=0b01010, length=1, byte_count=4, tag=n, data=bytes(4)))]
    watches = [Watch(source, name=name) for name, source in
        (("requests", dut.shape.req_source), ("completions", dut.shape.cmp_source))]
    def got():
        return [TLP.from_beats(packet, 64, "big") for watch in watches for packet in watch.packets()]
    def block():
        port, left = dut.axi("m_axis_rx"), (list(reads), list(others))
        yield from wait_for(dut.shape.link_up)
        for _ in range(10):
            yield
        while left[0] or left[1]:
            first = 0 if left[0] and (yield dut.ports["i_rx_np_ok"]) else 1
            if not left[first]:
                yield
                continue
            tlp = left[first].pop(0)
            yield from send(port, [[{"data": beat["dat"], "last": beat["last"], "keep": beat["be"]}
                for beat in tlp.beats(64, "big")]], Stalls())
    def layer():
        yield from until(lambda: len(got()) >= 48)
        yield from wait(300)
        count = sum(tlp in reads for tlp in got())
        assert 8 <= count <= NON_POSTED and len(got()) == count + len(others)
        for n in range(40):
            yield from pulse(dut.shape.non_posted_taken)
            yield from wait(60)
            assert sum(tlp in reads for tlp in got()) - n - 1 <= NON_POSTED
        assert [tlp for tlp in got() if tlp in reads] == reads
    run(dut, [layer(), *[forever(watch.watch()) for watch in watches],
        *[forever(accept(watch.endpoint, Stalls(0.2, n))) for n, watch in enumerate(watches)]], [forever(block())])


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

# State --------------------------------------------------------------------------------------------

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
