# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A generated core with a host, a memory and streams of the tests' own at its plain ports."""

import random
import re

from test.gateware.simulation import macros
from test.gateware.standalone.clients import ExternalMemory, MemoryUser, StreamUser
from test.gateware.standalone.host import Engine, Host
from test.gateware.verilate import Core

RING, BUFFER = 0x1_2000_0000, 0x1_3000_0000
BACK         = 0x8000_0000  # Below 4 GiB: headers of three dwords. The others need four.
MEMORY       = 32 << 10  # Bytes of endpoint memory that tests use.


class Bench:
    """A generated core with everything that can be at its native ports."""
    HOST = Host

    def __init__(self, folder, name, *, stall=0.2, seed=1, mps=128):
        constants    = (folder / "soc.h").read_text()
        self.soc     = {key: int(value) for key, value in re.findall(r"#define CONFIG_(\w+) (\d+)$", constants, re.M)}
        self.regs    = macros((folder / "litepcie_regs.h").read_text())
        self.sheet   = (folder / f"{name}.md").read_text()
        self.core    = self.make_core(folder, name)
        self.random  = random.Random(seed)
        little       = self.soc["PCIE_ENDIANNESS_LITTLE"]
        self.host    = self.HOST(self.core, endianness="little" if little else "big", stall=stall, seed=seed, mps=mps)
        self.memory  = self.client(stall)
        ports        = "\n".join(self.core.ports)
        streams      = {int(n) for n in re.findall(r"^stream(\d+)_(?:sink|source)_valid", ports, re.M)}
        self.streams = [StreamUser(self.host, n, stall) for n in sorted(streams)]

    def make_core(self, folder, name):
        return Core((folder / f"{name}.v").read_text(), name)

    def client(self, stall):
        external = self.core.ports["memory_write_valid"][0] == "output"
        return (ExternalMemory if external else MemoryUser)(self.host, stall)

    @property
    def channels(self):
        """DMA channels to and from memory."""
        return self.host.read(self.regs["GEOMETRY"]) & 0xff

    def engine(self, direction, channel=0):
        base = {"reader": 0x1000, "writer": 0x1800}[direction] + 0x1000 * channel
        return Engine(self.host, self.regs, base, RING + (base << 8))

    def bytes(self, length):
        return self.random.randbytes(length)
