#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Boards for random loads at the seams to a user's SoC: streams of other widths and clocks, and masters on its bus.

`litepcie_host --stress` finds by ``soc.h`` and ``csr.h`` what such a board has. Run as a program with a name of SEAMS
and a folder, it builds that board.
"""

import sys

from migen import *

from litex.gen import *

from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone

from litepcie_sim.user import SimSoC, build
from litepcie_soc.board.user_logic import HostCopier, HostMover
from litepcie_soc.stream_dma.stream import Stream

# On the bus of the SoC: what the host reaches, from its registers on, and the buffers in host memory. Offsets of the
# RAM, and of an address without a slave.
USER_BYTES, HOST      = 0x40000, 0x9000_0000
RAM, RAM_BYTES, HOLE  = 0x10000, 0x1000, 0x20000

# Registers of a SoC with a processor, and where it copies the first words of the RAM to, again and again; after each
# time it counts one up.
CSR, COPY, COPIES = 0xf000_0000, 0x400, 0x500
PROGRAM = [
    0xf00102b7,  # begin: lui  t0, CSR + RAM
    0xf0010337,  #        lui  t1, CSR + RAM
    0x10028393,  #        addi t2, t0, 256
    0x0002ae03,  # next:  lw   t3, 0(t0)
    0x41c32023,  #        sw   t3, COPY(t1)
    0x00428293,  #        addi t0, t0, 4
    0x00430313,  #        addi t1, t1, 4
    0xfe7298e3,  #        bne  t0, t2, next
    0xf0010337,  #        lui  t1, CSR + RAM
    0x50032e03,  #        lw   t3, COPIES(t1)
    0x001e0e13,  #        addi t3, t3, 1
    0x51c32023,  #        sw   t3, COPIES(t1)
    0xfc0008e3,  #        beq  zero, zero, begin
]

# Seams SoC ----------------------------------------------------------------------------------------


class SeamsSoC(SimSoC):
    """A simulated board whose logic copies between buffers of the host as a master of the SoC's bus.

    Its three streams are narrower than the data path, wider, and in a clock of half the frequency. Each is looped back.
    A processor copies in the RAM that the host accesses. It has no buffer of the host: VexRiscv ignores errors of its
    bus and repeats the access, so that no other master gets a turn while the card has no buffer.

    Parameters
    ----------
    widths       : bits of the three streams.
    bus          : parameters of the SoC's bus.
    link         : parameters of ``SimSoC``.
    """
    def __init__(self, widths, bus, **link):
        names     = ("narrow", "wide", "slow")
        processor = "cpu_type" in bus
        origin    = CSR if processor else 0
        self.card = {
            "user_bus":         {"origin": origin, "size": USER_BYTES},
            "host_buffers":     4,
            "host_descriptors": True,
            "streams":          [Stream(name, to_host=True, from_host=True, width=width,
                clock_domain="slow" if name == "slow" else "sys", ends="last_be" if name == "slow" else "be")
                for name, width in zip(names, widths)],
        }
        SimSoC.__init__(self, memory_size=1 << 20, channels=1, processor=bus, **link)

        # Clock and loops --------------------------------------------------------------------------
        self.cd_slow = ClockDomain()
        self.sync   += self.cd_slow.clk.eq(~self.cd_slow.clk)
        self.comb   += self.cd_slow.rst.eq(ResetSignal("sys"))
        for name in names:
            port       = self.litepcie.streams[name]
            self.comb += port.source.connect(port.sink)

        # The SoC's bus ----------------------------------------------------------------------------
        host = self.litepcie.host
        self.stress_ram  = wishbone.SRAM(RAM_BYTES)
        self.user_copier = HostCopier(32, patient=self.bus.standard != "wishbone")
        self.user_mover  = mover = HostMover(self.litepcie.descriptor_port)
        self.bus.add_slave("stress_ram", self.stress_ram.bus,
            SoCRegion(origin=origin + RAM, size=RAM_BYTES, cached=False))
        self.bus.add_slave("host", host.bus, SoCRegion(origin=HOST, size=host.bytes, cached=False))
        self.bus.add_master("copier", self.user_copier.bus)
        self.comb += [
            mover.source.connect(self.litepcie.descriptor_port.sink),
            self.litepcie.descriptor_port.source.connect(mover.sink),
        ]
        places = {"RAM": RAM, "HOLE": HOLE, **({"COPY": RAM + COPY, "COPIES": RAM + COPIES} if processor else {})}
        for name, offset in places.items():
            self.add_config(f"STRESS_{name}", origin + offset)
        self.add_config("STRESS_HOST", HOST)

# Boards -------------------------------------------------------------------------------------------

CROSSBAR  = {"bus_interconnect": "crossbar"}
PROCESSOR = {"cpu_type": "vexriscv", "cpu_variant": "minimal", "integrated_rom_size": 0x1000,
    "integrated_rom_init": PROGRAM, "integrated_sram_size": 0x1000, "with_ctrl": True, "with_timer": True}

# Arguments of SeamsSoC by name.
SEAMS = {
    "crossbar": dict(widths=(32, 512, 64), bus=CROSSBAR),
    "cpu": dict(widths=(8, 128, 64), bus={**CROSSBAR, **PROCESSOR}, gen=1, lanes=4, data_width=64),
    "axi-lite": dict(widths=(64, 512, 256), bus={**CROSSBAR, "bus_standard": "axi-lite"}, gen=3, lanes=8,
        data_width=256, phy="split", endianness="little", tags=256),
}


def build_seams(name, folder):
    """Builds the board ``name`` of SEAMS into a folder."""
    build(SeamsSoC(**SEAMS[name]), folder)


if __name__ == "__main__":
    build_seams(*sys.argv[1:])
