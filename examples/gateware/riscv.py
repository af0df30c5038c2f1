#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A SoC with a RISC-V processor (VexRiscv) that shares a memory with the host. See docs/own-logic.md.

    build/venv/bin/python examples/gateware/riscv.py
"""

import sys

from pathlib import Path

from litex.gen import *

from litex.soc.interconnect.csr import CSRStorage

from litepcie_sim.user import SimSoC, main

RAM     = 0x1000_0000  # The processor's RAM: the memory that the host reaches.
CSR     = 0xf000_0000  # Where LiteX puts the registers of a SoC with a processor.
MAILBOX = 8            # Number of its bank.

# Registers of the processor and its instructions (RISC-V Unprivileged ISA, RV32I).
BASE, ASKED, DONE, LEFT, AT, WORD, SUM, MAIL = 5, 6, 7, 28, 29, 30, 31, 10


def lui(rd, value):
    return value & 0xfffff000 | rd << 7 | 0x37


def lw(rd, offset, rs):
    return offset << 20 | rs << 15 | 2 << 12 | rd << 7 | 0x03


def sw(rs, offset, base):
    return offset >> 5 << 25 | rs << 20 | base << 15 | 2 << 12 | (offset & 31) << 7 | 0x23


def addi(rd, rs, value):
    return (value & 0xfff) << 20 | rs << 15 | rd << 7 | 0x13


def add(rd, rs1, rs2):
    return rs2 << 20 | rs1 << 15 | rd << 7 | 0x33


def branch(rs1, rs2, words, unequal=False):
    to = 4*words & 0x1fff
    return (to >> 12) << 31 | (to >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | unequal << 12 | \
        (to >> 1 & 15) << 8 | (to >> 11 & 1) << 7 | 0x63


# Shared memory: 0 number of the request, 4 number of the answer, 8 count of words, 12 their sum, 16 the words.
# Firmware in C is compiled by LiteX's Builder, where a RISC-V compiler is installed; this one needs none.
PROGRAM = [
    lui(BASE, RAM),
    lui(MAIL, CSR + 0x800*MAILBOX),
    lw(ASKED, 0, BASE),               # wait: a new number?
    lw(DONE, 4, BASE),
    branch(ASKED, DONE, -2),
    lw(LEFT, 8, BASE),
    addi(AT, BASE, 16),
    addi(SUM, 0, 0),
    branch(LEFT, 0, 6),               # next: no word left?
    lw(WORD, 0, AT),
    add(SUM, SUM, WORD),
    addi(AT, AT, 4),
    addi(LEFT, LEFT, -1),
    branch(0, 0, -5),                 # To next.
    sw(SUM, 12, BASE),                # The sum, then the number, then the interrupt.
    sw(ASKED, 4, BASE),
    sw(ASKED, 0, MAIL),
    branch(0, 0, -15),                # To wait.
]


class Mailbox(LiteXModule):
    """A register whose writes interrupt the host."""
    def __init__(self):
        self.value = CSRStorage(32, description="A write interrupts the host.")


class SoC(SimSoC):
    csr_map = {"mailbox": MAILBOX}
    card    = {"user_bus": {"origin": RAM, "size": 0x4000}}

    def __init__(self):
        SimSoC.__init__(self, processor={"cpu_type": "vexriscv", "cpu_variant": "minimal",
            "integrated_rom_size": 0x1000, "integrated_rom_init": PROGRAM, "integrated_sram_size": 0x4000,
            "with_ctrl": True, "with_timer": True})
        self.mailbox = Mailbox()
        self.litepcie.add_interrupt("answer", self.mailbox.value.re, pulse=True)


if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1] / "c"
    sys.exit(main(SoC, "riscv", [folder / "riscv.c"], "riscv"))
