#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The pinned register banks of BAR0, on a bus of their own."""

from migen import *

from litex.gen import *

from litex.soc.integration.soc import SoCCSRRegion
from litex.soc.interconnect import csr_bus, wishbone

from litepcie_soc.common import abi

# Pinned Banks -------------------------------------------------------------------------------------


class PinnedBanks(LiteXModule):
    """Connects the register banks of a module to BAR0, each at its pinned address.

    The bus has no other master and no other slave: nothing of the user's SoC can reach these registers, and their
    addresses do not depend on it. Addresses without a bank read as 0.

    Parameters
    ----------
    source : module whose attributes have the registers. Those of ``source.engines`` are told the bus address, and
        ``source.msix``, if there is one, sees the writes to its table.
    pages  : dict, page of every bank by name.
    bus    : wishbone.Interface, 32-bit data; word address = offset in BAR0 / 4.

    Attributes
    ----------
    regions : dict, LiteX's CSR region of every bank by name; the origin is the offset in BAR0.

    Raises ``ValueError`` if a module with registers has no pinned page.
    """
    def __init__(self, source, pages, bus):
        layout = dict(data_width=32, address_width=log2_int(abi.WINDOW_OFFSET // 4))
        # Always with registers: decoding and reading the banks takes a whole cycle.
        self.bridge = bridge = wishbone.Wishbone2CSR(bus, csr_bus.Interface(**layout), register=True)
        # A write is complete in the cycle in which the banks see it: there is nothing to wait for. So the host's writes
        # to consecutive registers are two cycles apart, which leaves every second cycle to the visits of ``Counters``.
        bridge.fsm.act("WRITE-READ", If(bus.we, bus.ack.eq(1), NextState("IDLE")))

        # # #

        def page_of(name, memory):
            name = name if memory is None else f"{name}_{memory.name_override}"
            if name not in pages:
                raise ValueError(f"bank {name} has registers, but no pinned address")
            return pages[name]

        self.array = array = csr_bus.CSRBankArray(source, page_of, **layout, alignment=32, paging=abi.CSR_PAGING)
        self.comb += bridge.csr.connect(*array.get_buses())
        self.comb += [engine.registers.selected.eq(bridge.csr.adr) for engine in source.engines]
        if hasattr(source, "msix"):
            source.msix.watch(bridge.csr)
        self.regions = {name: SoCCSRRegion(origin=page * abi.CSR_PAGING, busword=32, obj=csrs)
            for name, csrs, page, _ in sorted(array.banks, key=lambda bank: bank[2])}
