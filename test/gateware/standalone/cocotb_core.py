# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A core in Icarus Verilog under cocotb, with the host of the other tests at its ports. The host runs in a thread, and
only while the simulation stands still; each of its ticks is a cycle of `sys_clk`. Models of cocotbext-axi have their
own clocks."""

import os
import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.task import resume
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge

from test.gateware.standalone.bench import Bench
from test.gateware.standalone.host import Host
from test.gateware.verilate import header_ports

# What `test_axi.py` asks for.
FOLDER = Path(os.environ.get("CORE_FOLDER", "."))
NAME   = "axi_core"
SEED   = int(os.environ.get("SEED", "1"))


class CocotbCore:
    """The ports of a core by name, as `verilate.Core` has them. An unknown bit is 0."""
    def __init__(self, dut, folder, name):
        self.ports   = header_ports((folder / f"{name}.v").read_text())
        self.clock   = dut.sys_clk
        self.handles = {name: getattr(dut, name) for name in self.ports}

    def __getitem__(self, port):
        return int(self.handles[port].value.resolve("zeros"))

    def __setitem__(self, port, value):
        self.handles[port].value = int(value)

    @resume
    async def settle(self):
        await FallingEdge(self.clock)

    @resume
    async def edge(self):
        await RisingEdge(self.clock)


class CocotbHost(Host):
    """The host; a whole tick is one call into the simulation, because each call costs much."""
    @resume
    async def tick(self):
        for part in self.parts:
            part.drive()
        await FallingEdge(self.core.clock)
        await ReadOnly()
        for part in self.parts:
            part.sample()
        await RisingEdge(self.core.clock)
        self.cycle += 1
        self.complete()


class CocotbBench(Bench):
    """A core whose streams and registers belong to models of AXI. To be made in a thread (`cocotb.task.bridge`)."""
    HOST = CocotbHost

    def __init__(self, dut, **options):
        self.dut = dut
        Bench.__init__(self, FOLDER, NAME, seed=SEED, **options)

    def make_core(self, folder, name):
        return CocotbCore(self.dut, folder, name)

    def client(self, stall):
        return None


def pauses(seed, share):
    """For ever: whether a model pauses in a cycle."""
    generator = random.Random(seed)
    while True:
        yield generator.random() < share


def pause(model, share):
    """Lets each channel of an AXI model pause in a share of the cycles; never if that is 0."""
    write, read = model.write_if, model.read_if
    channels = (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel)
    for n, channel in enumerate(channels if share else ()):
        channel.set_pause_generator(pauses(SEED + n, share))


async def begin(dut):
    """Starts the clocks, whose periods are not in a ratio, and resets the core: no input is unknown."""
    for name, (way, _) in header_ports((FOLDER / f"{NAME}.v").read_text()).items():
        if way == "input":
            getattr(dut, name).value = int(name == "sys_rst")
    cocotb.start_soon(Clock(dut.sys_clk, 8000, unit="ps").start())
    for channel in ("stream0_source_t", "user_aw", "user_w", "user_ar", "host_b", "host_r", "end_",
            "memory_aw", "memory_w", "memory_ar"):
        if hasattr(dut, f"{channel}valid"):
            cocotb.start_soon(stays(dut, channel))
    for name, period in (("stream0", int(os.environ.get("STREAM_PS", "6434"))), ("user", 13106),
            ("memory", int(os.environ.get("MEMORY_PS", "5124")))):
        if hasattr(dut, f"{name}_aclk"):
            cocotb.start_soon(Clock(getattr(dut, f"{name}_aclk"), period, unit="ps").start())
            cocotb.start_soon(leave_reset(getattr(dut, f"{name}_aclk"), getattr(dut, f"{name}_aresetn")))
    await ClockCycles(dut.sys_clk, 4)


async def leave_reset(clock, reset, cycles=8):
    await ClockCycles(clock, cycles)
    reset.value = 1


async def stays(dut, channel):
    """Fails if a beat that was not accepted goes or changes, but for a reset."""
    prefix = channel.partition("_")[0]
    own    = hasattr(dut, f"{prefix}_aclk")
    clock  = getattr(dut, f"{prefix}_aclk") if own else dut.sys_clk
    reset  = (lambda: not dut_value(dut, f"{prefix}_aresetn")) if own else (lambda: dut_value(dut, "sys_rst"))
    names  = [name for name in header_ports((FOLDER / f"{NAME}.v").read_text())
        if name.startswith(channel) and not name.endswith(("valid", "ready"))]
    held   = None
    while True:
        await RisingEdge(clock)
        valid = dut_value(dut, f"{channel}valid")
        beat  = [str(getattr(dut, name).value) for name in names] if valid else None
        assert reset() or held is None or held == beat, f"{channel}: changed while valid: {held} {beat}"
        held  = beat if valid and not dut_value(dut, f"{channel}ready") and not reset() else None


def dut_value(dut, name):
    return int(getattr(dut, name).value)
