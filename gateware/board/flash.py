#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The configuration flash of Xilinx boards: settings of the bitstream, the image, the time that the FPGA needs."""

from dataclasses import dataclass

LANES = 4  # Bits per clock of a quad SPI flash.


@dataclass(frozen=True)
class Flash:
    """A quad SPI flash and how the FPGA reads it.

    rate      : CONFIGRATE in MHz, a value that Vivado has for the family. The FPGA samples at the falling edge, so a
        whole period is for the flash's output delay and the FPGA's setup time. The clock is the FPGA's own oscillator:
        it may be 50 % faster or slower on 7-series (DS181, DS182), 15 % on UltraScale and UltraScale+ (DS892, DS923).
    volts     : supply of the configuration bank in V.
    bitstream : bytes of a bitstream that is not compressed (UG470, UG570).
    mbytes    : size for the image in MB. Above 16, addresses have 32 bits.
    kind      : "bin" or "mcs", the suffix of the image.
    start     : byte address at which the FPGA reads the bitstream.
    """
    rate:      float
    volts:     float
    bitstream: int
    mbytes:    int = 16
    kind:      str = "bin"
    start:     int = 0

    @property
    def bitstream_commands(self):
        """Properties of the bitstream. CFGBVS says whether the bank has 2.5 V or more, or 1.8 V or less (UG470)."""
        properties = {
            "CFGBVS":                       "VCCO" if self.volts > 1.8 else "GND",
            "CONFIG_VOLTAGE":               self.volts,
            "BITSTREAM.GENERAL.COMPRESS":   "TRUE",
            "BITSTREAM.CONFIG.CONFIGRATE":  self.rate,
            "BITSTREAM.CONFIG.SPI_BUSWIDTH": LANES,
            "BITSTREAM.CONFIG.SPI_FALL_EDGE": "YES",
            **({"BITSTREAM.CONFIG.SPI_32BIT_ADDR": "YES"} if self.mbytes > 16 else {}),
        }
        return [f"set_property {name} {value} [current_design]" for name, value in properties.items()]

    @property
    def image_command(self):
        return (f"write_cfgmem -force -format {self.kind} -interface spix4 -size {self.mbytes} "
            f"-loadbit \"up 0x{self.start:08x} {{build_name}}.bit\" -file {{build_name}}.{self.kind}")

    def add_to(self, platform):
        """Makes Vivado write a bitstream for this flash, and its image. Replaces what the platform has for that."""
        platform.toolchain.bitstream_commands  = self.bitstream_commands
        platform.toolchain.additional_commands = [self.image_command]

    def milliseconds(self, size):
        """Returns the calculated time to read a bitstream of ``size`` bytes, at the nominal clock."""
        return size*8 / LANES / self.rate / 1e3

    def report(self, size):
        """Returns the line for the user of a bitstream of ``size`` bytes."""
        return (f"from flash the FPGA takes {self.milliseconds(size):.0f} ms "
            f"(calculated: {size} bytes, {LANES} bits at {self.rate:g} MHz)")
