#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The ports of a core, as its Verilog has them, and what each is for."""

import re

from dataclasses import dataclass

# Port ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Port:
    """Name, ``input`` or ``output``, and bits of a port of the module."""
    name: str
    way:  str
    bits: int


def ports_of(verilog):
    """The ports of the module that a text of Verilog begins with."""
    header = verilog[:verilog.index(");")]
    found  = re.findall(r"^ +(input|output) +(?:wire|reg) +(?:\[(\d+):0\])? +(\w+),?$", header, flags=re.MULTILINE)
    return sorted((Port(name, way, int(high or 0) + 1) for way, high, name in found), key=place)

# Meaning ------------------------------------------------------------------------------------------

# Groups in the order of tables: pattern of the names, title.
GROUPS = (
    (r"sys_",              "Clock and reset"),
    (r"tx_",               "TLPs to the host"),
    (r"rx_",               "TLPs of the host"),
    (r"phy_",              "State of the PHY's configuration space"),
    (r"msi_",              "Interrupts"),
    (r"memory_write_",     "Writes to memory"),
    (r"memory_read_",      "Reads of memory"),
    (r"stream\w+_source_", "Stream, host to you"),
    (r"stream\w+_sink_",   "Stream, you to the host"),
)

# Within a group.
ORDER = ("clk", "rst", "command_valid", "command_ready", "valid", "ready", "first", "last", "address", "dat", "be")

MEANINGS = (
    (r"sys_clk",                   "clock of every port"),
    (r"sys_rst",                   "reset, synchronous, active high"),
    (r"phy_id",                    "bus [15:8], device [7:3], function [2:0]: requester and completer ID"),
    (r"phy_max_payload_size",      "bytes, in force: 128 to 4096"),
    (r"phy_max_request_size",      "bytes, in force: 128 to 4096"),
    (r"phy_extended_tag",          "Extended Tag Field Enable"),
    (r"phy_bus_master_enable",     "Bus Master Enable"),
    (r"phy_link_up",               "data link layer up"),
    (r"phy_msi_enable",            "MSI Enable"),
    (r"msi_valid",                 "send an MSI; held until taken"),
    (r"msi_ready",                 "taken at this clock edge"),
    (r"msi_dat",                   "vector: 0"),
    (r"memory_\w+_address",        "word of W bits"),
    (r"memory_write_be",           "bytes to write"),
    (r"memory_\w+_dat",            "byte 0 of memory in bits 7:0"),
    (r"memory_read_command_valid", "a word is asked for"),
    (r"memory_read_data_valid",    "the next answer, in the order of the commands"),
    (r"stream\w+_dat",             "byte 0 in bits 7:0"),
    (r"stream\w+_be",              "bytes of the beat, from lane 0 without a gap; only the last beat is partial"),
    (r"\w+_valid",                 "a beat is there; held, with all beside it, until taken"),
    (r"\w+_ready",                 "taken at this clock edge if valid"),
    (r"\w+_first",                 "first beat of a {packet}"),
    (r"\w+_last",                  "last beat of a {packet}"),
    (r"[rt]x_\w*dat",              "dword n of the beat in 32n+31:32n"),
    (r"[rt]x_\w*be",               "0xf for each dword of the TLP, 0x0 behind its end"),
)


def match(name, table):
    """Index of the first pattern of ``table`` that the name is; ``LookupError`` if none."""
    for n, (pattern, _) in enumerate(table):
        if re.fullmatch(pattern, name):
            return n
    raise LookupError(f"nothing is said of port {name}")


def group_of(name):
    """Index in GROUPS."""
    return match(name, [(pattern + r"\w+", title) for pattern, title in GROUPS])


def meaning(name):
    """What a port is for, in a few words. Raises ``LookupError`` for a port that nothing is said of."""
    return MEANINGS[match(name, MEANINGS)][1].format(packet="packet" if name.startswith("stream") else "TLP")


def place(port):
    """Key by which ports are sorted: group, stream or channel, then handshake before payload."""
    name = port.name
    rest = name.rpartition("_")
    end  = next((n for n, part in enumerate(ORDER) if name.endswith("_" + part)), len(ORDER))
    return (group_of(name), rest[0] if end < len(ORDER) else "", end, name)
