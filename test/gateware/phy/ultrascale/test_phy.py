# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Ordering, MSI, configuration space and Vivado settings of UltraScale's PHYs."""

import re

import pytest

from litepcie_soc.phy.hard_block import completion_buffer_bytes
from litepcie_soc.phy.ultrascale import control
from litepcie_soc.phy.ultrascale.descriptors import RequesterRequest, axi_layout
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from test.gateware.phy.bench import PhySoC, Platform, check_errors, pads, receive, run, send, until, wait_for
from test.gateware.phy.ultrascale.test_streams import SHAPES, bench, interface, narrow, shapes, up, wide
from test.gateware.simulation import TLP, Stalls, Watch, drive, forever, memory_read, memory_write
from test.gateware.steps import pulse, wait


def committing(dut, plus, queue):
    """The block returns the sequence numbers in `queue` as soon as they are put there: nothing can overtake them."""
    ports = [(dut.ports[f"o_pcie_rq_seq_num{n}"], dut.ports[f"o_pcie_rq_seq_num_vld{n}"])
        for n in (("0", "1") if plus else ("",))]
    while True:
        for number, valid in ports:
            returned = queue.pop(0) if queue else None
            yield [valid.eq(returned is not None), number.eq(returned or 0)]
        yield


@wide
def test_completions_and_msi_wait_for_the_writes_before_them(shape):
    """Completion and MSI wait until both writes are committed; the sequence number of a read does not count."""
    plus    = shape[0].plus
    posted  = 0x20 if plus else 0x8
    dut     = bench(shape)
    queue   = []
    taken   = {"rq": [], "cc": []}
    writes  = [memory_write(0x1000, bytes(80)), memory_read(0x2000, 64), memory_write(0x3000, bytes(4))]
    answer  = TLP(fmt=2, type=0b01010, length=2, byte_count=8, data=bytes(8))
    pulses  = []
    def layer():
        yield from up(dut)
        yield from drive(dut.shape.req_sink, [beat for tlp in writes for beat in tlp.beats(shape[2], "little")])
        yield from until(lambda: len(taken["rq"]) == 3)
        yield [dut.shape.msi.valid.eq(1), dut.shape.msi.dat.eq(3)]
        for n, beat in enumerate(answer.beats(shape[2], "little")):
            yield [getattr(dut.shape.cmp_sink, name).eq(value) for name, value in beat.items()]
            yield dut.shape.cmp_sink.valid.eq(1)
            if n == 0:
                for sequence in (0, posted):    # Those of the read and of one write.
                    yield from wait(60)
                    assert not pulses and not taken["cc"]
                    queue.append(sequence)
                yield from wait(60)
                assert not pulses and not taken["cc"]
                queue.append(posted)
            yield
            while not (yield dut.shape.cmp_sink.ready):
                yield
        yield dut.shape.cmp_sink.valid.eq(0)
        yield from until(lambda: taken["cc"] and pulses)
    def watch():
        while True:
            if (yield dut.ports["i_cfg_interrupt_msi_int"]):
                pulses.append((yield dut.ports["i_cfg_interrupt_msi_int"]))
            yield
    run(dut, [layer()], [forever(watch()), forever(committing(dut, plus, queue)),
        *[forever(receive(dut.axi(f"s_axis_{name}"), packets.append, Stalls(0.2, 1)))
            for name, packets in taken.items()]])
    assert pulses == [1 << 3]


def test_two_requests_may_be_committed_in_a_cycle():
    dut    = bench((UltraScalePlusPHY, 16, 512))
    taken  = []
    queue  = []
    writes = [memory_write(64*n, bytes(4)) for n in range(6)]
    def layer():
        yield from up(dut)
        yield from drive(dut.shape.req_sink, [beat for tlp in writes for beat in tlp.beats(512, "little")])
        yield from until(lambda: len(taken) == 6)
        queue.extend([0x20]*6)
        yield dut.shape.msi.valid.eq(1)
        yield from wait(60)
        assert (yield dut.phy.committed.count) == 6
    run(dut, [layer()], [forever(committing(dut, True, queue)),
        forever(receive(dut.axi("s_axis_rq"), taken.append, Stalls()))])


@shapes([SHAPES[5]], [SHAPES[5]])
def test_the_block_receives_no_part_of_a_truncated_tlp(shape):
    """A truncated request or completion is dropped completely; the TLPs after it arrive."""
    dut   = bench(shape)
    taken = {"rq": [], "cc": []}
    # Completions first: after a write, they would wait until the block commits it.
    sinks = (dut.shape.cmp_sink, dut.shape.req_sink)
    cut   = [TLP(fmt=2, type=0b01010, length=32, byte_count=128, data=bytes(128)), memory_write(0x1000, bytes(256))]
    after = [TLP(fmt=2, type=0b01010, length=2, byte_count=8, data=bytes(8)), memory_write(0x2000, bytes(range(100)))]
    def layer():
        yield from up(dut)
        for tlp, sink in zip(cut, sinks):
            yield from drive(sink, list(tlp.beats(shape[2], "little"))[:-1])
        yield dut.ports["o_user_lnk_up"].eq(0)
        yield from wait_for(dut.shape.link_up, 0)
        yield from wait(60)
        yield dut.ports["o_user_lnk_up"].eq(1)
        yield from wait_for(dut.shape.link_up)
        for tlp, sink in zip(after, sinks):
            yield from drive(sink, tlp.beats(shape[2], "little"))
        yield from until(lambda: all(taken.values()))
        yield from wait(20)
    run(dut, [layer()], [forever(receive(dut.axi(f"s_axis_{name}"), packets.append, Stalls(0.2, 1)))
        for name, packets in taken.items()])
    model = interface(shape)
    assert [model.request(packet)[0] for packet in taken["rq"]] == [after[1]]
    assert [model.completion(packet) for packet in taken["cc"]] == [after[0]]


@shapes([SHAPES[1]], [SHAPES[1], SHAPES[2]])
def test_no_completion_of_before_a_loss_of_the_link_arrives(shape):
    """The link is down for two cycles, while the completion buffer holds what the card has not taken."""
    dut    = bench(shape)
    model  = interface(shape)
    source = dut.shape.cmp_source
    watch  = Watch(source, name="completions")
    before = [TLP(fmt=2, type=0b01010, length=16, byte_count=64, data=bytes([n])*64) for n in range(60)]
    after  = TLP(fmt=2, type=0b01010, length=2, byte_count=8, data=b"new data")
    state  = {"given": False, "up": False}
    def layer():
        yield from up(dut)
        yield source.ready.eq(0)
        yield from until(lambda: state["given"])
        yield dut.ports["o_user_lnk_up"].eq(0)
        yield from wait(2)
        yield dut.ports["o_user_lnk_up"].eq(1)
        yield from wait(8)
        yield source.ready.eq(1)
        yield from until(lambda: watch.packets())
    def watch_the_new_link():
        yield from wait_for(dut.shape.link_up)
        yield from wait_for(dut.shape.link_up, 0)
        yield from wait_for(dut.shape.link_up)
        state["up"] = True
        yield from watch.watch()
    def block():
        yield from wait_for(dut.shape.link_up)
        yield from send(dut.axi("m_axis_rc"), [model.requester_completion(tlp) for tlp in before], Stalls())
        state["given"] = True
        yield from until(lambda: state["up"])
        yield from send(dut.axi("m_axis_rc"), [model.requester_completion(after)], Stalls())
    run(dut, [layer(), forever(watch_the_new_link())], [forever(block())])
    assert [TLP.from_beats(packet, shape[2], "little") for packet in watch.packets()] == [after]


def msi_block(dut, answers, pulses):
    """Answers each MSI with the next of `answers`: "sent", "fail" or None. Appends (cycle, pulse) to `pulses`."""
    answers, cycle = iter(answers), 0
    while True:
        pulse  = yield dut.ports["i_cfg_interrupt_msi_int"]
        answer = None
        if pulse:
            pulses.append((cycle, pulse))
            answer = next(answers)
        for name in ("sent", "fail"):
            yield dut.ports[f"o_cfg_interrupt_msi_{name}"].eq(answer == name)
        cycle += 1
        yield


def msis(shape, answers, layer, cycles):
    """(cycle, pulse) of each MSI at the block, which gives the answers, while `layer(dut, pulses)` runs."""
    dut, pulses = bench(shape), []
    def whole():
        yield from up(dut)
        yield from layer(dut, pulses)
    run(dut, [whole()], [forever(msi_block(dut, answers, pulses))], cycles=cycles)
    return pulses


def test_a_failed_msi_is_sent_again_after_a_pause(monkeypatch):
    monkeypatch.setattr(control, "REPEAT_CYCLES", 40)
    def layer(dut, pulses):
        yield from drive(dut.shape.msi, [{"dat": 0}, {"dat": 31}])
        yield from until(lambda: len(pulses) == 4)
    pulses = msis((UltraScalePHY, 8, 256), ["fail", "fail", "sent", "sent"], layer, 400)
    assert [pulse for _, pulse in pulses] == [1, 1, 1, 1 << 31]
    times = [cycle for cycle, _ in pulses]
    assert all(40 <= after - before < 50 for before, after in zip(times[:2], times[1:3]))


def test_an_msi_without_an_answer_is_sent_again(monkeypatch):
    monkeypatch.setattr(control, "ANSWER_CYCLES", 100)
    def layer(dut, pulses):
        yield from drive(dut.shape.msi, [{"dat": 0}, {"dat": 1}])
        yield from until(lambda: len(pulses) == 3)
    pulses = msis((UltraScalePlusPHY, 8, 256), [None, "sent", "sent"], layer, 600)
    assert [pulse for _, pulse in pulses] == [1, 1, 2]
    assert 100 <= pulses[1][0] - pulses[0][0] < 110


def test_no_msi_while_bus_mastering_is_off(monkeypatch):
    """In a pause of bus mastering no MSI is tried; afterwards none is lost."""
    monkeypatch.setattr(control, "ANSWER_CYCLES", 30)
    monkeypatch.setattr(control, "REPEAT_CYCLES", 30)
    def layer(dut, pulses):
        yield from drive(dut.shape.msi, [{"dat": 0}])
        yield from until(lambda: pulses)
        yield dut.ports["o_cfg_function_status"].eq(0)
        yield from wait(10)
        tried = len(pulses)
        yield from drive(dut.shape.msi, [{"dat": 1}])
        yield from wait(300)
        assert len(pulses) == tried
        yield dut.ports["o_cfg_function_status"].eq(0b100)
        yield from until(lambda: len(pulses) == tried + 2)
    pulses = msis((UltraScalePHY, 8, 256), ["fail", "sent", "sent"], layer, 1000)
    assert [pulse for _, pulse in pulses] == [1, 1, 2]


def test_an_msi_is_dropped_while_msi_is_disabled():
    def layer(dut, pulses):
        yield dut.ports["o_cfg_interrupt_msi_enable"].eq(0)
        yield from wait(10)
        yield from drive(dut.shape.msi, [{"dat": 0}]*40)    # More than all stages hold.
        yield from wait(40)
        assert not pulses
        yield dut.ports["o_cfg_interrupt_msi_enable"].eq(1)
        yield from wait(40)
    assert msis((UltraScalePHY, 8, 256), [], layer, 1000) == []


@narrow
def test_state_of_the_link(shape):
    """Bus master enable is bit 2 of the function status; Extended Tags are read from Device Control."""
    dut     = bench(shape)
    control = {"value": 0}
    address = (0x78 if shape[0].plus else 0xc8)//4
    def block():
        while True:
            yield dut.ports["o_cfg_mgmt_read_write_done"].eq(0)
            if (yield dut.ports["i_cfg_mgmt_read"]):
                assert (yield dut.ports["i_cfg_mgmt_addr"]) == address
                yield
                yield [dut.ports["o_cfg_mgmt_read_data"].eq(control["value"]),
                    dut.ports["o_cfg_mgmt_read_write_done"].eq(1)]
                yield
                yield [dut.ports["o_cfg_mgmt_read_data"].eq(0xffffffff - control["value"]),
                    dut.ports["o_cfg_mgmt_read_write_done"].eq(0)]
            yield
    def check():
        for status, value in ((1, 0x100), (4, 0xfffffeff), (0xfffb, 0xffffffff)):
            control["value"] = value
            yield [dut.ports["o_cfg_function_status"].eq(status), dut.ports["o_cfg_max_payload"].eq(status % 3),
                dut.ports["o_cfg_rcb_status"].eq(status & 0xf)]
            yield from wait(600)
            assert (yield dut.shape.bus_master_enable) == status >> 2 & 1
            assert (yield dut.shape.extended_tag) == value >> 8 & 1
            assert (yield dut.shape.relaxed_ordering_enable) == value >> 4 & 1
            assert (yield dut.shape.no_snoop_enable) == value >> 11 & 1
            assert (yield dut.shape.rcb_128) == status & 1
            assert (yield dut.phy.max_payload_size) == 128 << status % 3
    run(dut, [check()], [forever(block())])


@pytest.mark.parametrize("sys, pcie", [(40, 100), pytest.param(100, 40, marks=pytest.mark.full)])
def test_a_function_level_reset_waits_for_the_function(sys, pcie):
    """The block gets one pulse for each reset, not before the function is reset."""
    dut  = bench((UltraScalePlusPHY, 8, 256))
    ends = {"reset": 0, "told": 0}
    def block():
        in_process, done = dut.ports["o_cfg_flr_in_process"], dut.ports["i_cfg_flr_done"]
        for _reset in range(3):
            yield in_process.eq(1)
            while not (yield done):
                yield
            ends["told"] += 1
            assert (yield done) == 1 and ends["reset"] == ends["told"]
            for _ in range(3):                              # The block needs some cycles.
                yield
                assert not (yield done)
            yield in_process.eq(0)
            yield
    def function():
        yield from up(dut)
        for _ in range(3):
            yield from wait_for(dut.shape.function_reset)
            for _ in range(50):
                yield
                assert ends["told"] == ends["reset"]
            ends["reset"] += 1
            yield from pulse(dut.shape.function_reset_done)
            yield from wait_for(dut.shape.function_reset, 0)
    run(dut, [function()], [block()], sys=sys, pcie=pcie)
    assert ends == {"reset": 3, "told": 3}


def test_a_reset_of_another_function_is_acknowledged_at_once():
    dut  = bench((UltraScalePlusPHY, 8, 256))
    seen = []
    def check():
        for process in (0, 2, 2, 2, 0, 0, 2, 0):
            yield dut.ports["o_cfg_flr_in_process"].eq(process)
            yield
            seen.append((yield dut.ports["i_cfg_flr_done"]))
        assert not (yield dut.phy.flr.waiting)
    run(dut, [], [check()])
    assert seen.count(2) == 2 and set(seen) == {0, 2}


def test_an_error_is_reported_for_one_cycle():
    """A poisoned TLP is reported by the block itself."""
    check_errors(bench((UltraScalePHY, 8, 256)), dict.fromkeys(("completion_timeout", "unexpected_completion",
        "unsupported_request"), "i_cfg_err_cor_in") | {"poisoned": None})


@pytest.mark.full
@pytest.mark.parametrize("shape", [SHAPES[2], SHAPES[4]], ids=["UltraScale", "UltraScale+"])
def test_soc_around_the_phy(shape):
    """The SoC elaborates to Verilog, with the IP and without LitePCIe's module around it."""
    soc     = PhySoC(*shape, tags=shape[0].max_tags)
    found   = soc.tlp.shape
    assert (found.endianness, found.split, found.data_width) == ("little", True, shape[2])
    assert found.msi is soc.pcie_phy.msi
    assert re.search(rf"^{shape[0].module} ", soc.verilog, flags=re.MULTILINE) and "pcie_support" not in soc.verilog
    assert soc.constants["CONFIG_PCIE_COMPLETION_BUFFER_BYTES"] == completion_buffer_bytes(soc.pcie_phy)
    tcl = "\n".join(soc.platform.toolchain.pre_synthesis_commands)
    assert f"-module_name {shape[0].module}" in tcl and "CONFIG.extended_tag_field {{True}}" in tcl
    assert ("AXISTEN_IF_EXT_512_RC_4TLP_STRADDLE {{True}}" in tcl) == (shape[2] == 512)
    assert ("AXISTEN_IF_RC_STRADDLE {{True}}" in tcl) == (shape[2] == 256)


@pytest.mark.parametrize("phy_class, lanes, data_width, clock", [
    (UltraScalePHY, 4, 128, 250), (UltraScalePHY, 4, 256, 125), (UltraScalePHY, 8, 512, 250),
    (UltraScalePHY, 1, 128, 125), (UltraScalePlusPHY, 16, 512, 250)])
def test_user_clock(phy_class, lanes, data_width, clock):
    """Clock and width are those of the block; LitePCIe sets 250 MHz and the width of its streams for all."""
    config = phy_class(Platform(), pads(lanes), data_width=data_width).config
    assert config["axisten_freq"] == clock
    assert config["axisten_if_width"] == f"{ {1: 64, 8: 256}.get(lanes, data_width)}_bit"


@pytest.mark.parametrize("lanes, data_width", [(4, 256), (8, 512)])
def test_gen4_is_for_devices_with_the_block_that_has_it(lanes, data_width):
    """PCIE4C is another IP; a device with PCIE4 only is refused."""
    phy = UltraScalePlusPHY(Platform("xcu280-fsvh2892-2L-e"), pads(lanes), data_width=data_width, speed="gen4")
    assert (phy.gen, phy.ip_name, phy.config["axisten_freq"]) == (4, "pcie4c_uscale_plus", 250)
    assert phy.config["axisten_if_width"] == f"{data_width}_bit"
    assert UltraScalePlusPHY(Platform("xcvu9p-fsgd2104-2L-e"), pads(8), data_width=256).ip_name == "pcie4_uscale_plus"
    with pytest.raises(ValueError, match="speed 'gen5' is not supported; choose gen3 or gen4"):
        UltraScalePlusPHY(Platform("xcu280-fsvh2892-2L-e"), pads(lanes), data_width=data_width, speed="gen5")
    with pytest.raises(ValueError, match="Gen4 is not supported by xcvu9p-fsgd2104-2L-e, .* choose Gen3"):
        UltraScalePlusPHY(Platform("xcvu9p-fsgd2104-2L-e"), pads(lanes), data_width=data_width, speed="gen4")


@pytest.mark.parametrize("phy_class, lanes, data_width, message", [
    (UltraScalePHY,     8, 128,  r"data_width 128 is not supported at Gen3 x8; choose one of \[256, 512\]"),
    (UltraScalePlusPHY, 16, 256, r"data_width 256 is not supported at Gen3 x16; choose one of \[512\]"),
    (UltraScalePlusPHY, 1, 64,   r"data_width 64 is not supported at Gen3 x1; choose one of \[128, 256\]")])
def test_widths_that_the_block_does_not_offer(phy_class, lanes, data_width, message):
    with pytest.raises(ValueError, match=message):
        phy_class(Platform(), pads(lanes), data_width=data_width)


def test_widths_too_small_for_a_descriptor():
    with pytest.raises(ValueError, match="data_width 64 is not supported here; choose 128, 256 or 512"):
        RequesterRequest(64, False)
    with pytest.raises(ValueError, match="data_width 32 is not supported; choose 64, 128, 256 or 512"):
        axi_layout("rq", 32, False)


@pytest.mark.parametrize("phy_class", [UltraScalePHY, UltraScalePlusPHY])
def test_bits_of_the_lower_address(phy_class):
    """Two, as in public designs, or all."""
    def bits(**options):
        return phy_class(Platform(), pads(8), data_width=256, **options).lower_address_bits
    assert (bits(), bits(lower_address_bits=7)) == (2, 7)
    with pytest.raises(ValueError, match="lower_address_bits 3 is not supported; choose 2 or 7"):
        bits(lower_address_bits=3)
