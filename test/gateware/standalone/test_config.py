# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What a configuration may be, and the one line for everything else."""

import pytest

from litepcie_soc.standalone.config import ConfigError, config_of, leaves, load_yaml, read_config
from litepcie_soc.standalone.core import Core
from test.gateware.standalone.model import EXAMPLES


def config(text):
    return config_of(load_yaml(text))


def test_defaults():
    found = config("name: x")
    assert (found.name, found.data_width, found.clk_freq, found.tags, found.channels, found.streams) == (
        "x", 128, 125_000_000, 64, 1, [])
    assert (found.pcie.gen, found.pcie.lanes, found.pcie.vendor_id) == (2, 4, 0x1234)
    assert (found.phy.block, found.phy.shape, found.phy.endianness) == ("7-series", "shared", "big")
    assert (found.memory.kind, found.memory.size, found.memory.user_ports) == ("bram", 65536, False)
    assert not found.ordering.relaxed_ordering and not found.ordering.no_snoop


def test_every_default_is_allowed():
    for name, kind, _ in leaves():
        assert kind.default is None or kind.parse(kind.default) == kind.default, name


@pytest.mark.parametrize("text, clock", [
    ("pcie: {gen: 1, lanes: 1}\ndata_width: 64", 125_000_000),
    ("pcie: {gen: 3, lanes: 8}\ndata_width: 128\nphy: {block: ultrascale}", 250_000_000),
    ("clk_freq: 100e6", 100_000_000)])
def test_clock(text, clock):
    assert config(text).clk_freq == clock


@pytest.mark.parametrize("text, size", [
    ("65536", 65536), ("0x10000", 65536), ("64 KiB", 65536), ("64k", 65536), ("1 MiB", 1 << 20), ("'4096'", 4096)])
def test_size(text, size):
    assert config(f"memory: {{size: {text}}}").memory.size == size


def test_streams():
    found = config("""
        stream_port: {face: axi, width: 64, clock: own}
        streams: [{name: adc, direction: to_host, depth: 64 KiB, width: 16}, {name: dac, clock: sys}]
        """)
    adc, dac = found.streams
    assert (adc.ports, adc.width, adc.clock, adc.wanted.words(128)) == (["sink"], 16, "own", 4096)
    assert (dac.ports, dac.width, dac.clock, dac.wanted.words(128)) == (["source", "sink"], 64, "sys", 512)
    core = Core(found)
    assert [name for name in core.platform.pads if name.startswith("stream")] == [
        "stream0_aclk", "stream0_aresetn", "stream0_sink", "stream1_source", "stream1_sink"]
    assert len(core.platform.pads["stream0_sink"].tdata) == 16
    assert core.constants["CONFIG_PCIE_STREAM_DAC"] == 1


# Completions of 64 and of 128 bytes that the blocks hold.
@pytest.mark.parametrize("text, blocks", [
    ("name: x", (36, 36)), ("phy: {block: 7-series}\npcie: {lanes: 8}", (36, 25)),
    ("phy: {block: 7-series-bma}", (72, 72)), ("phy: {block: 7-series-bma}\npcie: {lanes: 8}", (72, 46)),
    ("phy: {block: ultrascale}", (64, 64)), ("phy: {block: ultrascale+}", (128, 128)),
    ("phy: {block: other, completion_buffer_bytes: 1440}", (18, 10))])
def test_block(text, blocks):
    found = config(text).phy
    assert found.completion_blocks == blocks
    assert found.completion_space[0] >= blocks[0] and found.completion_space[1] >= 64*max(blocks[0], 2*blocks[1])
    split = found.block.startswith("ultra")
    assert (found.shape, found.endianness) == (("split", "little") if split else ("shared", "big"))


@pytest.mark.parametrize("name, completions", [("small", 36), pytest.param("everything", 128, marks=pytest.mark.full)])
def test_core_asks_for_no_more_than_its_block_holds(name, completions):
    """The comment at the top of each example names its block."""
    core = Core(read_config(EXAMPLES / f"{name}.yml"))
    assert core.tlp.completion_blocks[0] == completions
    assert core.constants["CONFIG_PCIE_COMPLETION_HEADERS"] == completions


def test_core_of_a_phy_that_no_table_has():
    core = Core(config("phy: {block: other, completion_buffer_bytes: 16384}"))
    assert core.tlp.completion_blocks == (204, 113)
    assert core.constants["CONFIG_PCIE_COMPLETION_BUFFER_BYTES"] == 16384


@pytest.mark.parametrize("text, message", [
    # Keys.
    ("pcie: {lane: 4}",        "pcie: unknown key 'lane', did you mean 'lanes'? allowed: gen, lanes, vendor_id, "
                               "device_id, subsystem_vendor_id, subsystem_device_id, class_code"),
    ("lanes: 4",               "unknown key 'lanes', did you mean 'pcie.lanes'? allowed: name, data_width, clk_freq, "
                               "tags, channels, streams, pcie, phy, memory, stream_port, user_bus, host_buffers, "
                               "ordering"),
    ("1: 2",                   "unknown key 1; allowed: name, "),
    # Values.
    ("pcie: {lanes: 3}",       "pcie.lanes: 3 is not one of 1, 2, 4, 8, 16"),
    ("pcie: {lanes: }",        "pcie.lanes: nothing is not one of 1, 2, 4, 8, 16"),
    ("clk_freq: 125 MHz",      "clk_freq: '125 MHz' is not a whole number from 1000000 to 1000000000"),
    ("channels: 0",            "channels: 0 is not supported without streams; give streams, or 1 channel"),
    ("phy: {completion_buffer_bytes: 16}", "phy.completion_buffer_bytes: 16 is not a whole number from 1024 to "),
    ("memory: {user_ports: 1}",   "memory.user_ports: 1 is not one of true, false"),
    ("memory: {size: 3000}",   "memory.size: 3000 is not a power of two of bytes from 4 KiB to 4 GiB"),
    ("name: 3x",               "name: '3x' is not a Verilog identifier of up to 40 letters, digits and _"),
    ('name: "a\\nb"',          "name: 'a\\\\nb' is not a Verilog identifier"),
    ("name: module",           "name: 'module' is a reserved word of Verilog"),
    (f"name: {'x' * 41}",      "name: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... is not a Verilog identifier"),
    # Sections.
    ("pcie: 4",                "pcie: 4 is not a mapping of keys; allowed: gen, lanes, "),
    # What the hard block cannot do.
    ("phy: {block: other}",    "phy.completion_buffer_bytes: needed with phy.block other; give the bytes of "
                               "completions that the PHY holds, or a block, 7-series, 7-series-bma, ultrascale, "),
    ("phy: {completion_buffer_bytes: 16384}", "phy.completion_buffer_bytes: not supported with phy.block 7-series, "
                               "whose buffer is known; leave it out, or choose block other"),
    ("pcie: {gen: 3}",         "pcie.gen: 3 is not supported with phy.block 7-series; the most is 2, or name the "
                               "block of your PHY"),
    ("tags: 128\nphy: {block: ultrascale}", "tags: 128 is not supported with phy.block ultrascale; the most is 64"),
    # What cannot be side by side.
    ("memory: {kind: external, user_ports: true}", "memory.user_ports: true is not supported with kind external"),
    ("memory: {read_ahead: 64}",    "memory.read_ahead: supported with kinds external and axi only; leave it out"),
    ("memory: {timeout_us: 20}",    "memory.timeout_us: not supported with kind bram; leave it out"),
    ("memory: {clock: own}",        "memory.clock: own is not supported with kind bram; choose kind axi"),
    ("memory: {size: 2 GiB}",  "memory.size: 2147483648 is too large for kind bram; the most is 1073741824"),
    ("channels: 3\nstreams: 5", "streams: 5 with 3 channels are too many; allowed: 7 together"),
    # AXI ports.
    ("stream_port: {face: axi}", "stream_port.face: axi is of no use without streams; give streams, or leave it out"),
    ("streams: 1\nstream_port: {width: 32}", "stream_port.width: 32 is not supported with face native, which has the "
                               "data_width of 128; choose stream_port.face axi"),
    ("streams: 8",             "streams: 8 is not a whole number from 0 to 7 or a list of streams"),
    ("streams: []",            "streams: [] is not a whole number from 0 to 7 or a list of streams"),
    ("streams: [adc]",         "streams[0]: 'adc' is not a mapping of keys; allowed: name, direction, depth, width, "),
    ("streams: [{depth: 64K}]", "streams[0].name: needed; give "),
    ("streams: [{name: adc, with: 2}]", "streams[0]: unknown key 'with', did you mean 'width'? allowed: "),
    ("streams: [{name: adc, direction: out}]", "streams[0].direction: 'out' is not one of both, from_host, to_host"),
    ("streams: [{name: ADC}]", "streams[0]: stream name 'ADC' is not supported; give a lower-case letter, then "),
    ("streams: [{name: adc, depth: 4K}]", "streams[0]: depth 4096 of stream adc is not supported with 128 bits; "),
    ("streams: [{name: adc}, {name: adc}]", "streams: stream name 'adc' is taken; give another one"),
    ("streams: [{name: adc, clock: own}]", "streams[0].clock: own is not supported with face native; choose "),
    ("streams: 1\nstream_port: {clock: own}", "stream_port.clock: own is not supported with face native; "),
    ("user_bus: {size: 64 KiB}", "user_bus.size: supported with face axi-lite only; leave it out"),
    ("user_bus: {face: axi-lite, origin: 0x1000}", "user_bus.origin: 0x00001000 is not a multiple of user_bus.size, "
                               "0x10000"),
    ("host_buffers: {size: 4 KiB}", "host_buffers.size: supported with a count only; give 1 to 16, or leave it out"),
    # No configuration at all.
    ("",                       "the file is empty; one line `name: my_core` is enough"),
    ("name",                   "'name' is not a mapping of keys; allowed: name, "),
    # Not YAML.
    ("pcie:\n  gen: 1\n  gen: 2", "line 3: key 'gen' is given twice"),
    ("name: [x",               "line 1: "),
    ("name: x\n\tgen: 3",      "line 2: found character '\\\\t' that cannot start any token"),
    ("name: !!python/object:os.system x", "line 1: could not determine a constructor for the tag"),
    ("? {a: b}\n: c",          "line 1: found unhashable key"),
    (b"name: \xff\xfe",        "not YAML: "),
    ("[" * 5000,               "not a configuration: maximum recursion depth exceeded")])
def test_one_line(text, message):
    with pytest.raises(ConfigError) as error:
        config(text)
    assert message.replace("\\\\", "\\") in str(error.value)
    assert "\n" not in str(error.value)
