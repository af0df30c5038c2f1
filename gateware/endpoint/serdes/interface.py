#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The SerDes as the endpoint sees it: control symbols, the boundary, and the SerDes of the simulation."""

from dataclasses import dataclass

from migen import *

from litex.gen import *

from litex.build.generic_platform import Pins, Subsignal

# Symbols ------------------------------------------------------------------------------------------

# Data of the control symbols, which have K = 1 (PCIe 2.1 4.2.1.2).
COM = 0xbc  # K28.5, comma: begin of an ordered set.
STP = 0xfb  # K27.7, begin of a TLP.
SDP = 0x5c  # K28.2, begin of a DLLP.
END = 0xfd  # K29.7, end of a good packet.
EDB = 0xfe  # K30.7, end of a nullified TLP.
PAD = 0xf7  # K23.7, no link or lane number.
SKP = 0x1c  # K28.0, added and removed to compensate the difference of the clocks.
FTS = 0x3c  # K28.1, fast training sequence.
IDL = 0x7c  # K28.3, begin of electrical idle.
EIE = 0xfc  # K28.7, end of electrical idle.

# Together with K = 1 and an error: what every SerDes makes of a code that does not exist, whatever its decoder gives.
UNDECODABLE = 0xee

# Data symbols that identify training sets.
TS1 = 0x4a  # D10.2
TS2 = 0x45  # D5.2

# Boundary -----------------------------------------------------------------------------------------

SERDES_LAYOUT = [
    ("tx_data",        16), ("tx_k",     2), ("tx_idle",  2), ("tx_negative", 1),
    ("rx_data",        16), ("rx_k",     2), ("rx_error", 2),
    ("rx_valid",        1), ("rx_idle",  1), ("rx_overflow", 1), ("rx_align", 1), ("rx_strict", 1),
    ("ready",           1), ("polarity", 1),
    ("detect",          1), ("detect_done", 1), ("detect_present", 1),
]


class SerDesInterface(Record):
    """Two symbols per cycle of ``pcie`` (125 MHz), the lower half first in time. Directions are those of the SerDes.

    Each SerDes keeps this, and ``test/gateware/endpoint/serdes/test_face.py`` holds it to that:

    - The lane is in electrical idle until ``ready``, whatever the endpoint sends. ``detect`` works after it only.
    - Symbols leave in order, without gaps. Electrical idle begins when the symbols before it have left.
    - Symbols come in order, in either alignment. Those that ``rx_valid`` does not show do not count.
    - A code that does not exist is the control symbol UNDECODABLE with ``rx_error``, also while ``rx_strict`` is 0.
    - ``detect_done`` is 0 from the cycle after the start until the result. A SerDes that cannot tell says "present",
      and may do so at once.
    - ``rx_idle`` rises when the other side falls silent, and is 0 while it sends.

    Attributes
    ----------
    tx_data        : 16, **in**, pcie; symbols to send.
    tx_k           : 2, **in**, pcie; control symbols.
    tx_idle        : 2, **in**, pcie; electrical idle instead of the symbol.
    tx_negative    : 1, **in**, pcie; the lower symbol is coded with negative running disparity, whatever came before.
    rx_data        : 16, **out**, pcie; received symbols. COM, STP and SDP may be in either half.
    rx_k           : 2, **out**, pcie; control symbols.
    rx_error       : 2, **out**, pcie; symbols with a wrong code or a wrong running disparity.
    rx_valid       : 1, **out**, pcie; there are two symbols in this cycle.
    rx_idle        : 1, **out**, pcie; the lane is in electrical idle, or there is no signal.
    rx_overflow    : 1, **out**, pcie; a pulse: the elastic buffer lost or repeated symbols.
    rx_align       : 1, **in**, pcie; no ordered set was recognized yet. The SerDes searches the comma.
    rx_strict      : 1, **in**, pcie; the link is up. Before, only a code that does not exist is an error.
    ready          : 1, **out**, pcie; the transmitter works, resets are over.
    polarity       : 1, **in**, pcie; invert the received lane.
    detect         : 1, **in**, pcie; a pulse starts receiver detection.
    detect_done    : 1, **out**, pcie; ``detect_present`` is the result of the last start.
    detect_present : 1, **out**, pcie; there is a receiver.
    """
    def __init__(self, name=None):
        Record.__init__(self, SERDES_LAYOUT, name=name)

# View ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SerDesView:
    """What a SerDes shows of itself at the bench. The link depends on none of it.

    Attributes
    ----------
    los, lol      : 1, **out**, asynchronous; loss of signal, and of the lock of the receiver.
    idle, cdr     : 1, **out**; there is no signal; the receiver is locked, and out of its reset.
    per_symbol    : bool; the clock of ``pcie_rx`` has a cycle for each symbol: 250 MHz instead of 125.
    status        : 6, **out**, pcie; three bits for each of the two symbols: RxStatus as in PIPE.
    skp_added     : 1, **out**, pcie; a pulse: a pair of SKP was added. None: the SerDes does not tell.
    skp_removed   : 1, **out**, pcie_rx; a pulse: a pair was removed. None: the SerDes does not tell.
    missing       : 8, **out**, pcie; receiver detections without an answer.
    ignore        : 1, **in**, asynchronous; receiver detection always says "present".
    pll, pll_lol  : 1, **out**; the transmit PLL is locked; by the block itself it is not.
    refclk_ok     : 1, **out**; the reference clock has a rate that the SerDes supports.
    refclk_hz     : 28, **out**; Hz of the reference clock for which the PLL is set.
    refclk_cycles : 24, **out**; cycles of ``sys`` in which the reference clock had ``refclk_window`` cycles.
    refclk_window : see there. None: the reference clock is not measured.
    """
    los:           Signal
    lol:           Signal
    idle:          Signal
    cdr:           Signal
    status:        Signal
    missing:       Signal
    ignore:        Signal
    pll:           Signal
    pll_lol:       Signal
    refclk_ok:     Signal
    refclk_hz:     Signal
    refclk_cycles: Signal
    refclk_window: object = None
    skp_added:     Signal = None
    skp_removed:   Signal = None
    per_symbol:    bool   = False

# Simulation ---------------------------------------------------------------------------------------
# The open endpoint in the simulation: its SerDes and its clock are top-level ports.


def soft_sim_io():
    """Platform resources: ``pcie_clk``, ``pcie_rst`` (125 MHz), ``serial_*``, ``serdes_*``, see `SerDesInterface`."""
    return [
        ("pcie_clk", 0, Pins(1)),
        ("pcie_rst", 0, Pins(1)),
        ("serdes", 0, *[Subsignal(name, Pins(bits)) for name, bits in SERDES_LAYOUT]),
        ("serial", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1))),
    ]


class SimSerDes(LiteXModule):
    """A SerDes behind top-level ports, with the clock domain ``pcie``.

    Attributes
    ----------
    interface : `SerDesInterface`.
    """
    # Of the card.
    OUTPUTS = ("tx_data", "tx_k", "tx_idle", "tx_negative", "rx_align", "rx_strict", "polarity", "detect")

    def __init__(self, platform):
        self.interface = interface = SerDesInterface()
        self.cd_pcie   = ClockDomain()

        # # #

        pads = platform.request("serdes")
        self.comb += [
            self.cd_pcie.clk.eq(platform.request("pcie_clk")),
            self.cd_pcie.rst.eq(platform.request("pcie_rst")),
        ]
        for name, _ in SERDES_LAYOUT:
            pad, signal = getattr(pads, name), getattr(interface, name)
            self.comb  += pad.eq(signal) if name in self.OUTPUTS else signal.eq(pad)
