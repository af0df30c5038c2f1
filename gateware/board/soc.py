#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The SoC of every board: everything that targets share."""

from migen import *

from litex.gen import *
from litex.gen.genlib.misc import WaitTimer

from litepcie_soc.board import series7
from litepcie_soc.board.attach import PHYS
from litepcie_soc.board.constraints import add_link_constraints, add_verdict, check_lane_pins, link_pads
from litepcie_soc.board.identity import identify
from litepcie_soc.board.probes import add_probes
from litepcie_soc.board.user_logic import add_user_logic
from litepcie_soc.ddr.ddr3 import Series7DDR3
from litepcie_soc.ddr.ddr4 import DDR_CLK_FREQ, UltraScaleDDR4
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.phy.gate import LinkRetry, with_reset
from litepcie_soc.soc.soc import LitePCIeSoC

LED_SECONDS = 0.05  # Keeps the LED on long enough to make a short transfer visible.

# Board SoC ----------------------------------------------------------------------------------------


class BoardSoC(LitePCIeSoC):
    """``LitePCIeSoC`` on a board. A target makes its clocks, and its DDR if selected, then calls ``add_link``.

    This class is for boards with a hard block, built by Vivado. ``ECP5BoardSoC`` replaces what differs.

    Parameters
    ----------
    board         : ``Board``.
    platform      : LiteX platform of the board.
    configuration : ``Configuration`` that the board supports.

    Attributes
    ----------
    board, configuration : the parameters.
    output_suffixes      : suffixes of the files of LiteX's toolchain that are of use. None: all.
    card                 : dict, of a derived class: parameters of ``add_litepcie`` for its own logic, such as
        ``streams`` and ``user_bus``. The options of the command line for user logic are then not offered.
    """
    output_suffixes = None
    card            = {}

    def __init__(self, board, platform, configuration):
        self.board         = board
        self.configuration = configuration
        if board.flash is not None:
            board.flash.add_to(platform)
            add_verdict(platform)
        LitePCIeSoC.__init__(self, platform, configuration.sys_clk_freq)

    def add_ddr3(self, pads, module):
        """Adds the DDR3 of a 7-series board and returns the endpoint memory for ``add_link``.

        pads   : pads of the chips.
        module : LiteDRAM's class of the chips or module.
        """
        self.ddr = ddr = Series7DDR3(pads, module(self.sys_clk_freq, "1:4"), self.sys_clk_freq, self.crg.ddr,
            output_delays=self.board.family == "kintex7")
        return DRAMMemory(self.board.memory.ddr, self.configuration.data_width, ddr.crossbar,
            ready=ddr.failed == 0, failed=ddr.failed)

    def add_ddr4(self, pads, module, registered=False):
        """Adds the DDR4 of an UltraScale or UltraScale+ board and returns the endpoint memory for ``add_link``.

        pads       : pads of the chips.
        module     : LiteDRAM's class of the chips or module.
        registered : whether the module registers addresses and commands (RDIMM).
        """
        self.ddr = ddr = UltraScaleDDR4(pads, module(DDR_CLK_FREQ, "1:4"), self.crg.ddr,
            plus=self.board.family == "ultrascale_plus", registered=registered)
        # A serializer tolerates little skew between its two clocks, so both get the same routing (UG949).
        for domain in (self.crg.ddr.cd_ddr, self.crg.ddr.cd_ddr4x):
            domain.clk.attr.add("keep")
            self.platform.add_platform_command("set_property CLOCK_DELAY_GROUP ddr [get_nets {clk}]", clk=domain.clk)
        return DRAMMemory(self.board.memory.ddr, self.configuration.data_width, ddr.crossbar,
            clock_domain=ddr.clock_domain, ready=ddr.ready, failed=ddr.failed,
            byte_mask=ddr.byte_mask)

    def add_link(self, memory=None):
        """Adds the PHY, everything between it and the memory, user logic, constraints, and probes if selected.

        memory : a memory with the ports of ``EndpointMemory``. None: block RAM of the board's size.
        """
        board, configuration = self.board, self.configuration
        self.pcie_phy        = self.make_phy()
        self.add_litepcie(self.pcie_phy,
            target      = f"{board.name} gen{configuration.gen} x{configuration.lanes} {configuration.data_width} bit",
            memory      = memory,
            memory_size = board.memory_size(configuration),
            channels    = configuration.dma_channels,
            tags        = configuration.tags,
            **configuration.user.card(self.own_card()),
        )
        add_user_logic(self, configuration.user)
        self.constrain_link(memory)
        if configuration.with_litescope:
            add_probes(self)

    def own_card(self):
        """Returns the parameters of ``add_litepcie`` that are not for an option."""
        return self.card

    def make_phy(self):
        """Returns the PHY, which has the identity of its family."""
        self.link_pads = link_pads(self.platform, self.configuration.lanes)
        pads           = self.link_pads
        if self.configuration.retry_link:
            self.link_retry = retry = LinkRetry(self.sys_clk_freq)
            pads = with_reset(pads, retry.rst_n)
        phy = PHYS[self.board.family](self.platform, pads, self.configuration)
        if self.configuration.retry_link:
            self.comb += [retry.slot_rst_n.eq(self.link_pads.rst_n), retry.link_up.eq(phy.link_up)]
        identify(phy, self.board.family)
        return phy

    def constrain_link(self, memory):
        """Adds the constraints of clocks, reset and lanes of the link."""
        domains = [self.crg.cd_sys]
        if memory is not None and memory.clock_domain != "sys":
            domains.append(self.crg.ddr.cd_ddr)
        add_link_constraints(self.platform, self.link_pads, domains, self.pcie_phy)
        if self.board.gt_sites:
            series7.place_lanes(self.platform, self.board.gt_sites[:self.configuration.lanes])
        check_lane_pins(self.platform, self.link_pads)

    def add_leds(self, pads):
        """Adds LEDs; from LED 0: link up, bus mastering enabled, an engine is active, heartbeat of the clock.

        The heartbeat stays off if the DDR is not ready.
        """
        self.activity = activity = WaitTimer(self.sys_clk_freq * LED_SECONDS)
        heartbeat     = Signal(log2_int(int(self.sys_clk_freq), need_pow2=False))
        self.sync    += heartbeat.eq(heartbeat + 1)
        self.comb    += activity.wait.eq(~Reduce("OR", [engine.counters.run for engine in self.engines]))
        signs         = [self.tlp.shape.link_up, self.tlp.shape.bus_master_enable, ~activity.done,
            heartbeat[-1] & getattr(self.memory, "ready", 1)]
        self.comb    += [pad.eq(sign) for pad, sign in zip(pads, signs)]
