#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Which clock times each port of the cells that a board instantiates: vendors' primitives and yosys' registers.

UG953 and UG974 (7-series, UltraScale), FPGA-TN-02032 and FPGA-TN-02206 (ECP5). A cell that is not here is an error: its
paths would be overlooked.
"""

import csv

from dataclasses import dataclass
from pathlib import Path

PORTS = Path(__file__).with_name("ports.csv")

# Cells -------------------------------------------------------------------------------------------

# Outputs that follow inputs: buffers of clocks and pins. A multiplexer of clocks passes both.
PASSES = {
    "BUFG":         {"O": ["I"]},
    "BUFGCE":       {"O": ["I"]},
    "BUFGCTRL":     {"O": ["I0", "I1"]},
    "IBUFDS":       {"O": ["I"]},
    "IBUFDS_GTE2":  {"O": ["I"]},
    "IBUFDS_GTE3":  {"O": ["I"], "ODIV2": ["I"]},
    "IBUFDS_GTE4":  {"O": ["I"], "ODIV2": ["I"]},
    "IOBUF":        {"O": ["IO"]},
    "IOBUFDS":      {"O": ["IO"]},
    "IOBUFDSE3":    {"O": ["IO"]},
    "EXTREFB":      {"REFCLKO": ["REFCLKP"]},
}
SELECTS = {"BUFGCTRL": ("S0", "S1")}  # Timed by the clocks between which they choose.
CONSTANT = {"GND", "VCC"}
OUTPUTS = {"IOBUF", "IOBUFDS", "IOBUFDSE3", "OBUF", "OBUFDS"}  # Their other ports lead to pins.

# Outputs that are clocks made from an input.
MAKES = {
    "MMCME2_ADV": "CLKIN1", "MMCME4_ADV": "CLKIN1", "PLLE2_ADV": "CLKIN1", "EHXPLLL": "CLKI", "BUFGCE_DIV": "I",
}
MADE = ("CLKOUT", "CLKOP", "CLKOS", "CLKFB")


@dataclass(frozen=True)
class Timed:
    """Ports of a cell with registers: those in ``own`` have another clock than ``clock``, None if they have none."""
    clock:  str | None
    own:    dict
    clocks: tuple = ()  # Further clock inputs.


def _without(*ports):
    return dict.fromkeys(ports)


def _dcua():
    """Returns the ports of ECP5's SerDes that a clock times; all others are asynchronous to the fabric."""
    return {f"CH{channel}_FF_{way}_D_{bit}": f"CH{channel}_FF_{way}I_CLK"
        for channel in range(2) for way in ("RX", "TX") for bit in range(24)}


TIMED = {
    "DCUA":       Timed(None, _dcua(), ("CH0_FF_RXI_CLK", "CH0_FF_TXI_CLK", "CH1_FF_RXI_CLK", "CH1_FF_TXI_CLK")),
    "FDCE":       Timed("C", {}),
    "FDPE":       Timed("C", {}),
    "FDRE":       Timed("C", {}),
    "FDSE":       Timed("C", {}),
    "FD1S3BX":    Timed("CK", {}),
    "ISERDESE2":  Timed("CLKDIV", _without("D", "DDLY"), ("CLK", "CLKB")),
    "OSERDESE2":  Timed("CLKDIV", _without("OQ", "TQ", "OFB"), ("CLK",)),
    "ISERDESE3":  Timed("CLKDIV", _without("D", "RST"), ("CLK", "CLK_B")),
    "OSERDESE3":  Timed("CLKDIV", _without("OQ", "T_OUT", "RST"), ("CLK",)),
    "IDELAYE2":   Timed("C", _without("IDATAIN", "DATAOUT")),
    "ODELAYE2":   Timed("C", _without("ODATAIN", "DATAOUT")),
    "IDELAYE3":   Timed("CLK", _without("IDATAIN", "DATAIN", "DATAOUT", "RST", "EN_VTC")),
    "ODELAYE3":   Timed("CLK", _without("ODATAIN", "DATAOUT", "RST", "EN_VTC")),
    "IDELAYCTRL": Timed("REFCLK", _without("RST", "RDY")),
}

# Registers of yosys, with the port of an asynchronous set or reset.
REGISTERS = {"$dff": None, "$dffe": None, "$sdff": None, "$sdffe": None, "$sdffce": None, "$adff": "ARST",
    "$adffe": "ARST", "$aldff": "ALOAD"}


def recorded(column):
    """Returns {hard block: {port: text}} of a column of ``ports.csv``.

    A clock is the clock port that times the port, or a clock inside the block ("core_clk"). Ports that are clocks have
    "clock", or "as" and the clock port whose clock they pass on. The sources are the timing arcs of PCIE_2_1, PCIE_3_1
    and PCIE40E4 in Xilinx's simulation library, and PG213 for the streams of UltraScale+.
    """
    found = {}
    with PORTS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["ip"], {})[row["port"]] = row[column]
    return found


# Set and reset of the vendors' registers.
ASYNCHRONOUS = {"FDCE": "CLR", "FDPE": "PRE", "FD1S3BX": "PD"}
