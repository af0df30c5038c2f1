# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A card from the pads of its SerDes to the registers of its lane, in a slot with a root port that trains it."""

import functools
import tempfile
from pathlib import Path
from unittest.mock import patch

from migen import Cat, ClockDomain, Record, Signal
from litex.gen import LiteXModule

from litepcie_soc.build.emit import numbered_alike
from litepcie_soc.endpoint.data_link.stack import Stack
from litepcie_soc.endpoint.lane_view import state
from litepcie_soc.endpoint.lane_view.layout import LINK_WINDOW, WORDS, state_word
from litepcie_soc.endpoint.physical.states import TIMES, Limit
from litepcie_soc.endpoint.serdes.ecp5.serdes import ECP5Channel, elastic_of, join, view_of
from litepcie_soc.endpoint.serdes.interface import SerDesInterface
from litepcie_soc.phy.crossing import in_pcie
from test.gateware.endpoint.serdes.ecp5.simulator import DIVISOR, HERE, PADS, model, seen_by, verilog_of, write_tables
from test.gateware.verilate import verilate
from test.tracing import named

# Times of training are as many times shorter, but for the silence after which the comma is searched: SKP come in it.
FASTER = 128
# The clocks are counted in as many cycles of ``sys``: 164 us.
WINDOW = 16384


class Card(LiteXModule):
    def __init__(self, **options):
        self.cd_sys  = ClockDomain(reset_less=True)
        self.pads    = Record([(name, 1) for name in PADS])
        self.perst_n = Signal(name_override="perst_n")
        self.channel = channel = ECP5Channel(self.pads, self.perst_n, 100e6, divisor=DIVISOR, **options)
        self.elastic = elastic = elastic_of(channel)
        self.serdes  = serdes = SerDesInterface()
        self.comb   += join(channel, elastic, serdes)
        silence      = Limit(TIMES["silence"].microseconds*FASTER, "")
        with patch.dict(TIMES, silence=silence), \
             patch.object(state, "ClockCount", functools.partial(state.ClockCount, WINDOW)):
            self.stack = in_pcie(Stack(serdes, 125e6/FASTER))
            self.lane  = lane = state.LaneState(self.stack.link, self.stack.data_link, serdes, 100e6,
                view_of(channel, elastic))
        ports = {name: getattr(self.pads, name) for name in PADS}
        # There is no bus: the fields of a register are wires of their own.
        ports["sample"] = lane.control.fields.sample
        locks           = Cat(*[getattr(lane.locks.fields, field.name) for field in lane.locks.fields.fields])
        for name, signal in (("locks", locks), ("refclk_cycles", channel.refclk_cycles),
                ("sampled", lane.sampler.sampled)):
            ports[name] = Signal(len(signal))
            self.comb  += ports[name].eq(signal)
        for name, signal in ports.items():
            signal.name_override = name
        self.ios = {*ports.values(), self.perst_n, self.cd_sys.clk}


class Slot:
    """A card, compiled with the behavioural DCU and the root port of ``slot.v``.

    options : those of ``ECP5Channel``.
    """
    def __init__(self, **options):
        self.folder = tempfile.TemporaryDirectory(prefix="slot")
        path        = Path(self.folder.name)
        with numbered_alike(), named():
            verilog = verilog_of(Card(**options))
        for name, text in verilog.data_files.items():
            (path / name).write_text(text)
        write_tables(path)
        self.model = verilate({"slot.v": (HERE / "slot.v").read_text(), "top.v": verilog.main_source,
            "model.v": model()}, top="bench", optimise="-O1", timing=True)

    def run(self, *flags, **values):
        """Returns (what the bench saw, words of the snapshot), with options of ``slot.v`` and ``dcua.v``."""
        seen  = seen_by([self.model.path, "+verilator+seed+1"], self.folder.name, flags, values)
        words = [seen[str(place)] for place in range(WORDS)]
        # As in the window that the tool knows.
        words[state_word("link_clock")] *= LINK_WINDOW//WINDOW
        clock = words[state_word("receiver")] >> 8
        words[state_word("receiver")] += clock*(LINK_WINDOW//WINDOW - 1) << 8
        return seen, words


@functools.cache
def slot(**options):
    return Slot(**options)
