# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs a channel and the behavioural DCU in Icarus Verilog."""

import functools
import importlib.util
import tempfile
from pathlib import Path

from migen import ClockDomain, Record, Signal
from litex.build.lattice.common import lattice_ecp5_trellis_special_overrides
from litex.gen import LiteXModule
from litex.gen.fhdl.verilog import convert

from litepcie_soc.endpoint.serdes.ecp5.raw import CONTROL, codes, encode
from litepcie_soc.endpoint.serdes.ecp5.serdes import ECP5Channel, elastic_of, join
from litepcie_soc.endpoint.serdes.interface import SERDES_LAYOUT, SerDesInterface
from test.gateware.verilate import run as execute


def primitive(name):
    """Returns the Verilog text of a black box, from ``module`` to ``endmodule``, without attributes of ports."""
    folder = Path(importlib.util.find_spec("pyosys").origin).parent
    text   = (folder / "share" / "ecp5" / "cells_bb.v").read_text(encoding="utf-8")
    start  = text.index(f"module {name}(")
    return text[start:text.index("endmodule", start)].replace("(* iopad_external_pin *)", "")


# Tables of 8b/10b for the DCU. Bit a of a code word is bit 0, disparity 0 is negative.


def encode_table():
    rows = []
    for index in range(1024):
        data, k, disparity = index & 0xff, index >> 8 & 1, index >> 9
        word, after = encode(data, k, disparity) if not k or data in CONTROL else (0, disparity)
        rows.append(after << 10 | word)
    return rows


def decode_tables():
    """Returns the rows {disparity error, undecodable, K, data}, and the disparities afterwards."""
    rows, turns = [], []
    for index in range(2048):
        word, disparity = index & 0x3ff, index >> 10
        right, other    = codes().get((word, disparity)), codes().get((word, disparity ^ 1))
        data, k, after  = right or other or (0, 0, disparity)
        rows.append((right is None and other is not None) << 10 | (not right and not other) << 9 | k << 8 | data)
        turns.append(after)
    return rows, turns


def write_tables(folder):
    decode, turns = decode_tables()
    for name, rows in (("encode", encode_table()), ("decode", decode), ("turns", turns)):
        (folder / f"{name}.hex").write_text("".join(f"{row:x}\n" for row in rows), encoding="ascii")


HERE    = Path(__file__).parent
DIVISOR = 256
PADS    = ("clk_p", "clk_n", "rx_p", "rx_n", "tx_p", "tx_n")
PORTS   = ("tx_data", "tx_k", "tx_idle", "tx_negative", "rx_data", "rx_k", "rx_error", "rx_ready", "rx_valid",
    "rx_overflow", "rx_idle", "ready", "polarity", "strict", "align", "detect", "detect_done", "detect_present",
    "refclk_ok", "refclk_cycles")

PRIMITIVES = """
module EXTREFB #(parameter REFCK_PWDNB = "", REFCK_RTERM = "", REFCK_DCBIAS_EN = "")
    (input REFCLKP, input REFCLKN, output REFCLKO);
    assign REFCLKO = REFCK_PWDNB == "0b1" && REFCLKP && !$test$plusargs("NO_ROUTE");
endmodule
module FD1S3BX(input CK, input D, input PD, output reg Q);
    initial Q = 1;
    always @(posedge CK or posedge PD) if (PD) Q <= 1; else Q <= D;
endmodule
"""


class Top(LiteXModule):
    """A channel with all its signals as ports.

    elastic : the received symbols are those after the elastic buffer, on the clock of the endpoint.
    """
    def __init__(self, elastic=False, **options):
        self.cd_sys  = ClockDomain(reset_less=True)
        self.pads    = Record([(name, 1) for name in PADS])
        self.perst_n = Signal(name_override="perst_n")
        self.channel = channel = ECP5Channel(self.pads, self.perst_n, 100e6, divisor=DIVISOR, **options)
        ports = {name: getattr(channel, name) for name in PORTS}
        ports.update({name: getattr(self.pads, name) for name in PADS}, missing=channel.detection.missing)
        # Ports of their own: a signal that nothing drives would be an input.
        for name in ("refclk_ok", "refclk_cycles"):
            ports[name] = Signal(len(ports[name]))
            self.comb  += ports[name].eq(getattr(channel, name))
        for name, signal in ports.items():
            signal.name_override = name
        rx = channel.cd_pcie_rx.clk, channel.cd_pcie_rx.rst
        # A port of its own: a register that is a port, such as a divided clock, has no value to begin with.
        channel.cd_pcie.clk.name_override = "channel_clk"
        pcie_clk   = Signal(name_override="pcie_clk")
        self.comb += pcie_clk.eq(channel.cd_pcie.clk)
        if elastic:
            rx = self.add_elastic(channel, ports)
        self.ios = {*ports.values(), self.perst_n, self.cd_sys.clk, pcie_clk, channel.cd_pcie.rst, *rx}

    def add_elastic(self, channel, ports):
        """Puts elastic buffer and interface between channel and ports; returns clock and reset of received data."""
        self.elastic   = elastic_of(channel)
        self.interface = interface = SerDesInterface()
        self.comb     += join(channel, self.elastic, interface)
        for name, inner in (("clk", channel.cd_pcie_rx.clk), ("rst", channel.cd_pcie_rx.rst)):
            inner.name_override = f"line_{name}"
        clk, rst   = Signal(name_override="pcie_rx_clk"), Signal(name_override="pcie_rx_rst")
        self.comb += [clk.eq(channel.cd_pcie.clk), rst.eq(~interface.rx_valid)]
        for name in (*interface_ports(), "align", "strict"):
            inner = getattr(interface, f"rx_{name}" if name in ("align", "strict") else name)
            ports[name].name_override = None
            inner.name_override = name
            ports[name] = inner
        return clk, rst


def interface_ports():
    """Names that channel and interface have both."""
    return [name for name, _ in SERDES_LAYOUT if name in PORTS]


def verilog_of(top):
    return convert(top, ios=top.ios, name="top", special_overrides=lattice_ecp5_trellis_special_overrides)


def model():
    """The Verilog of the behavioural DCU, and of the primitives around it."""
    dcua = (HERE / "dcua.v").read_text(encoding="utf-8")
    return f"`timescale 1ps/1fs\n{primitive('DCUA')}{dcua}endmodule\n{PRIMITIVES}"


def seen_by(command, folder, flags, values):
    """Returns {name: number, or "x"} of what a bench printed."""
    options = [f"+{flag}" for flag in flags] + [f"+{name}={value}" for name, value in values.items()]
    return {name: int(value) if value.isdigit() else value
        for name, value in (word.split("=") for word in execute([*command, *options], folder).split() if "=" in word)}


class Simulation:
    """A channel, compiled with the behavioural DCU.

    options : those of ``ECP5Channel``.
    """
    def __init__(self, **options):
        self.folder = tempfile.TemporaryDirectory(prefix="dcu")
        path        = Path(self.folder.name)
        verilog     = verilog_of(Top(**options))
        # LiteX draws the SoC that the process built last as a tree, in a comment with characters beyond ASCII.
        # Icarus evaluates always @(*) after the first change of what is read there, and not when the simulation begins.
        source = verilog.main_source.replace("always @(*) begin", "always @(*) begin if (begun) ;") \
            .replace("endmodule", "reg begun = 0;\ninitial #1 begun = 1;\nendmodule")
        for name, text in {"top.v": source, **verilog.data_files}.items():
            (path / name).write_text(text, encoding="utf-8")
        (path / "model.v").write_text(model(), encoding="utf-8")
        write_tables(path)
        execute(["iverilog", "-g2009", "-s", "bench", "-o", "bench", HERE / "bench.v", "top.v", "model.v"], path)

    def run(self, *flags, **values):
        """Returns what the bench saw, with options of ``bench.v`` and ``dcua.v``."""
        return seen_by(["vvp", "-n", "bench"], self.folder.name, flags, values)


@functools.cache
def simulation(**options):
    return Simulation(**options)
