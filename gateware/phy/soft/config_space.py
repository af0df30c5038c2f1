#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Configuration space of an endpoint in gateware: type 0 header, power management, MSI, PCI Express, AER."""

from dataclasses import dataclass

from migen import *

from litex.gen import *

# Offsets in bytes (PCIe 2.1 chapter 7).
COMMAND, CLASS, CACHE_LINE, BAR0, SUBSYSTEM, POINTER, INTERRUPT = 0x04, 0x08, 0x0c, 0x10, 0x2c, 0x34, 0x3c
POWER, MSI, EXPRESS, ERRORS = 0x40, 0x48, 0x60, 0x100
DEVICE_CONTROL = EXPRESS + 0x08
LINK_CONTROL   = EXPRESS + 0x10

# Bits of Device Control and of its upper half, Device Status.
EXTENDED_TAG, FUNCTION_RESET = 8, 15
MPS_BITS, MRRS_BITS          = slice(5, 8), slice(12, 15)
CORRECTABLE_DETECTED, UNSUPPORTED_DETECTED = 16, 19

# Errors that the endpoint reports: bits of Uncorrectable Error Status (7.10.2). All are advisory (6.2.3.2.4).
POISONED, TIMEOUT, UNEXPECTED, UNSUPPORTED = 12, 14, 16, 20
REPORTED = POISONED, TIMEOUT, UNEXPECTED, UNSUPPORTED
ADVISORY = 13  # Bit of Correctable Error Status.

# Registers ----------------------------------------------------------------------------------------


@dataclass
class Dword:
    """A register of 32 bits: its value after reset, and the bits that a write sets, and clears by ones."""
    value    : int = 0
    writable : int = 0
    clears   : int = 0


def registers(vendor, device, subsystem_vendor, subsystem_device, class_code, bar0_size, max_payload, extended_tag):
    """Returns the registers that are not 0, by their dword number."""
    link   = 1 << 4 | 1                       # One lane, 2.5 GT/s.
    errors = 0x003f_f030                      # All that PCIe 2.1 has.
    found  = {
        0x00            : Dword(device << 16 | vendor),
        COMMAND         : Dword(0x0010_0000, 0x0546, 0xf900_0000),
        CLASS           : Dword(class_code << 8),
        CACHE_LINE      : Dword(0, 0xff),
        BAR0            : Dword(0, 2**32 - bar0_size),
        SUBSYSTEM       : Dword(subsystem_device << 16 | subsystem_vendor),
        POINTER         : Dword(POWER),
        INTERRUPT       : Dword(0, 0xff),
        POWER           : Dword(0x0003 << 16 | MSI << 8 | 0x01),
        POWER + 4       : Dword(0x0008, 0x0003),            # No soft reset; the power state.
        MSI             : Dword(0x0080 << 16 | EXPRESS << 8 | 0x05, 1 << 16),
        MSI + 4         : Dword(0, 0xffff_fffc),
        MSI + 8         : Dword(0, 0xffff_ffff),
        MSI + 12        : Dword(0, 0xffff),
        EXPRESS         : Dword(0x0002_0010),               # Version 2, endpoint, the last capability.
        EXPRESS + 0x04  : Dword(log2_int(max_payload//128) | extended_tag << 5 | 1 << 15 | 1 << 28),
        DEVICE_CONTROL  : Dword(0x2810, 0x7fff & ~(0 if extended_tag else 1 << EXTENDED_TAG), 0x000f_0000),
        EXPRESS + 0x0c  : Dword(1 << 22 | link),            # Optionality compliance.
        LINK_CONTROL    : Dword((1 << 12 | link) << 16, 0x00c8),
        EXPRESS + 0x24  : Dword(0x10),                      # The completion timeout can be disabled.
        EXPRESS + 0x28  : Dword(0, 0x0010),
        EXPRESS + 0x2c  : Dword(1 << 1),
        EXPRESS + 0x30  : Dword(1, 0x000f),
        ERRORS          : Dword(0x0001_0001),               # Advanced Error Reporting, the last one.
        ERRORS + 0x04   : Dword(0, 0, errors),
        ERRORS + 0x08   : Dword(0, errors),
        ERRORS + 0x0c   : Dword(0x0006_2030, errors),
        ERRORS + 0x10   : Dword(0, 0, 0xf1c1),
        ERRORS + 0x14   : Dword(0x2000, 0xf1c1),
    }
    return {offset//4: dword for offset, dword in found.items()}

# Configuration Space ------------------------------------------------------------------------------


class ConfigSpace(LiteXModule):
    """Registers of the function, as the host reads and writes them, and what they say.

    All signals are in ``sys``, the clock domain of the endpoint (``pcie``).

    Parameters
    ----------
    vendor, device, subsystem_vendor, subsystem_device, class_code : int.
    bar0_size    : int, bytes, a power of two.
    max_payload  : int, bytes: 128, 256 or 512.
    extended_tag : bool, the function has more than 32 tags.

    Attributes
    ----------
    address  : 10, **in**; dword number.
    write    : 1, **in**; ``data_w`` is written.
    data_w   : 32, **in**.
    be       : 4, **in**; bytes of ``data_w`` that are written.
    data_r   : 32, **out**; the dword at the address of two cycles before.
    errors   : [1], **in**; pulses, for each of REPORTED. An error that comes with a write of its bits stays.
    reset    : 1, **in**; all registers, as after a hot reset.
    function_reset : 1, **in**; the same, but MPS and the errors stay (6.6.2, 7.10). To be asserted some time after:
    flr      : 1, **out**; a pulse: the host has asked for a function level reset.
    memory_enable, bus_master_enable, extended_tag : 1, **out**.
    bar0     : 32, **out**; base address.
    mps, mrrs: 3, **out**; as encoded: 128 bytes shifted by the value.
    rcb_128  : 1, **out**; Read Completion Boundary.
    power_state : 2, **out**; D0 to D3hot.
    msi_enable, msi_address, msi_data : 1, 64, 16, **out**.
    """
    def __init__(self, vendor, device, subsystem_vendor, subsystem_device, class_code, bar0_size, max_payload=256,
            extended_tag=True):
        if bar0_size < 16 or bar0_size & bar0_size - 1:
            raise ValueError(f"bar0_size is a power of two from 16 on, not {bar0_size!r}")
        if max_payload not in (128, 256, 512):
            raise ValueError(f"max_payload is 128, 256 or 512, not {max_payload!r}")
        self.address = Signal(10)
        self.write   = Signal()
        self.data_w  = Signal(32)
        self.be      = Signal(4)
        self.data_r  = Signal(32)
        self.errors  = [Signal(name=f"error{bit}") for bit in REPORTED]
        self.reset   = Signal()
        self.function_reset = Signal()
        self.flr     = Signal()

        # # #

        self.table   = registers(vendor, device, subsystem_vendor, subsystem_device, class_code, bar0_size,
            max_payload, bool(extended_tag))
        self.dwords  = {number: Signal(32, reset=dword.value, name=f"dword_{number:02x}")
            for number, dword in self.table.items() if dword.writable | dword.clears}
        address      = Signal(10)
        self.sync += [
            address.eq(self.address),
            Case(address, {
                "default": self.data_r.eq(0),
                **{number: self.data_r.eq(self.dwords.get(number, dword.value))
                    for number, dword in self.table.items()},
            }),
        ]
        for number, dword in self.dwords.items():
            self.add_register(number, dword)
        self.add_meanings()

    def add_register(self, number, dword):
        """Writes, resets and errors of a dword."""
        row     = self.table[number]
        mask    = Cat(*[Replicate(self.be[n], 8) for n in range(4)])
        data    = self.data_w & mask
        kept    = dword & ~(mask & row.writable) & ~(data & row.clears)
        sets    = self.reported().get(number, {})
        keeps   = (0b111 << MPS_BITS.start if number == DEVICE_CONTROL//4 else
            2**32 - 1 if number >= ERRORS//4 else 0)
        following = Signal(32)
        self.comb += [
            following.eq(dword),
            If(self.write & (self.address == number), following.eq(kept | (data & row.writable))),
        ]
        self.sync += [
            dword.eq(following),
            [If(error, dword[bit].eq(1)) for bit, error in sets.items()],
            If(self.function_reset, dword.eq((dword & keeps) | (row.value & ~keeps))),
            If(self.reset, dword.eq(row.value)),
        ]

    def reported(self):
        """Bits that errors set: {dword number: {bit: signal}}."""
        some = Reduce("OR", self.errors)
        return {
            DEVICE_CONTROL//4    : {CORRECTABLE_DETECTED: some, UNSUPPORTED_DETECTED: self.errors[-1]},
            (ERRORS + 0x04)//4   : dict(zip(REPORTED, self.errors)),
            (ERRORS + 0x10)//4   : {ADVISORY: some},
        }

    def add_meanings(self):
        """What the registers say."""
        def of(offset):
            return self.dwords[offset//4]
        self.memory_enable     = of(COMMAND)[1]
        self.bus_master_enable = of(COMMAND)[2]
        self.bar0         = of(BAR0)
        self.mps          = of(DEVICE_CONTROL)[MPS_BITS]
        self.mrrs         = of(DEVICE_CONTROL)[MRRS_BITS]
        self.extended_tag = of(DEVICE_CONTROL)[EXTENDED_TAG]
        self.rcb_128      = of(LINK_CONTROL)[3]
        self.power_state  = of(POWER + 4)[:2]
        self.msi_enable   = of(MSI)[16]
        self.msi_address  = Cat(of(MSI + 4), of(MSI + 8))
        self.msi_data     = of(MSI + 12)[:16]
        self.sync += self.flr.eq(self.write & (self.address == DEVICE_CONTROL//4) & self.be[FUNCTION_RESET//8]
            & self.data_w[FUNCTION_RESET])
