#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The ports of a core, read from its Verilog, and their meaning."""

import re

from dataclasses import dataclass

from litepcie_soc.standalone.axi import host_layout

# Port ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Port:
    """A port of the module: name, direction (``input`` or ``output``) and width in bits."""
    name: str
    way:  str
    bits: int


def ports_of(verilog):
    """Returns the ports of the first module in a Verilog text."""
    header = verilog[:verilog.index(");")]
    found  = re.findall(r"^ +(input|output) +(?:wire|reg) +(?:\[(\d+):0\])? +(\w+),?$", header, flags=re.MULTILINE)
    return sorted((Port(name, way, int(high or 0) + 1) for way, high, name in found), key=place)

# Meaning ------------------------------------------------------------------------------------------

# Groups in the order of the tables: (pattern of the names, title).
GROUPS = (
    (r"sys_",              "Clock and reset"),
    (r"tx_",               "TLPs to the host"),
    (r"rx_",               "TLPs from the host"),
    (r"phy_",              "State of the PHY's configuration space"),
    (r"msi_",              "Interrupts"),
    (r"memory_write_",     "Writes to memory"),
    (r"memory_read_",      "Reads of memory"),
    (r"memory_",           "Memory (AXI4 master)"),
    (r"stream\d+_a",       "Stream, clock of AXI4-Stream"),
    (r"stream\w+_source_", "Stream, host to you"),
    (r"stream\w+_sink_",   "Stream, you to the host"),
    (r"user_",             "Your registers (AXI4-Lite master)"),
    (r"host_",             "Buffers in host memory (AXI4 slave)"),
    (r"descriptor_",       "Descriptors of your logic"),
    (r"end_",              "Ends of these descriptors"),
)

# Within a group.
AXI   = [name for name, *_ in host_layout(64)]
AXI   = [part for name in AXI for part in ([name, f"{name[:2]}prot"] if name.endswith("addr") else [name])]
ORDER = ("clk", "rst", "command_valid", "command_ready", "valid", "ready", "first", "last", "write",
    "address", "endpoint", "length", "tag", "reason", "dat", "be",
    "aclk", "aresetn", "tvalid", "tready", "tlast", "tdata", "tkeep", *AXI)

MEANINGS = (
    (r"sys_clk",                   "clock of every port"),
    (r"sys_rst",                   "reset, synchronous, active high"),
    (r"phy_id",                    "bus [15:8], device [7:3], function [2:0]: requester and completer ID"),
    (r"phy_max_payload_size",      "bytes in force, 128 to 4096"),
    (r"phy_max_request_size",      "bytes in force, 128 to 4096"),
    (r"phy_extended_tag",          "Extended Tag Field Enable"),
    (r"phy_bus_master_enable",     "Bus Master Enable"),
    (r"phy_link_up",               "data link layer up"),
    (r"phy_msi_enable",            "MSI Enable"),
    (r"phy_relaxed_ordering_enable", "Enable Relaxed Ordering (Device Control)"),
    (r"phy_no_snoop_enable",       "Enable No Snoop (Device Control)"),
    (r"phy_rcb_128",               "Read Completion Boundary (Link Control): 1 is 128 bytes, 0 is 64"),
    (r"phy_error_completion_timeout", "report a completion timeout (Device Status, AER), for one cycle"),
    (r"phy_error_unexpected_completion", "report an unexpected completion, for one cycle"),
    (r"phy_error_poisoned",        "report a poisoned completion, for one cycle"),
    (r"phy_error_unsupported_request", "report an unsupported request of the host, for one cycle"),
    (r"phy_error_completer_abort", "report a request of the host that the card aborted, for one cycle"),
    (r"phy_function_reset",        "a function level reset waits; held until `phy_function_reset_done`"),
    (r"phy_function_reset_done",   "the function is reset, for one cycle: acknowledge the function level reset"),
    (r"msi_valid",                 "request an MSI; held until `msi_ready`"),
    (r"msi_ready",                 "accepts the MSI at this clock edge"),
    (r"msi_dat",                   "vector, always 0"),
    (r"memory_\w+_address",        "address in words of W bits"),
    (r"memory_write_be",           "bytes to write"),
    (r"memory_\w+_dat",            "byte 0 of memory in bits 7:0"),
    (r"memory_read_command_valid", "request for a word"),
    (r"memory_read_data_valid",    "the next word, in the order of the commands"),
    (r"memory_a[rw]addr",          "byte address from 0, a multiple of W/8; no burst crosses 4 KiB"),
    (r"memory_a[rw]len",           "beats of the burst, less one; at most 15"),
    (r"memory_a[rw]size",          "always log2(W/8)"),
    (r"memory_a[rw]burst",         "always 1, INCR"),
    (r"memory_a[rw]id",            "always 0"),
    (r"memory_[br]id",             "not used"),
    (r"memory_[rw]data",           "byte 0 of memory in bits 7:0"),
    (r"memory_wstrb",              "bytes to write"),
    (r"memory_wlast",              "last beat of the burst"),
    (r"memory_rlast",              "not used: the core knows the length"),
    (r"memory_[br]resp",           "SLVERR (2) and DECERR (3) end the DMA with REASON_MEMORY_ERROR"),
    (r"memory_error",              "a response was an error, for one cycle; or, until a reset, a time-out"),
    (r"stream\w+_dat",             "byte 0 in bits 7:0"),
    (r"stream\w+_be",              "bytes of the beat, from lane 0 without a gap; only the last beat is partial"),
    (r"\w+_aclk",                  "clock of these ports"),
    (r"\w+_aresetn",               "reset of these ports, synchronous to their clock, active low"),
    (r"stream\w+_tdata",           "byte 0 in bits 7:0"),
    (r"stream\w+_tkeep",           "bytes of the beat, from lane 0 without a gap; only the last beat is partial"),
    (r"stream\w+_tlast",           "last beat of a packet"),
    (r"user_a[rw]addr",            "byte address, a multiple of 4, from `user_bus.origin` on"),
    (r"user_a[rw]prot",            "always 0"),
    (r"user_[rw]data",             "data"),
    (r"user_wstrb",                "bytes to write"),
    (r"user_[br]resp",             "SLVERR (2) and DECERR (3) fail the access of the host"),
    (r"host_a[rw]addr",            "byte address: number of the buffer times `host_buffers.size`, plus an offset"),
    (r"host_a[rw]len",             "beats of the burst, less one"),
    (r"host_a[rw]size",            "2 to this power: bytes of a beat, at most those of the data"),
    (r"host_a[rw]burst",           "0: FIXED, 1: INCR, 2: WRAP"),
    (r"host_(a[rw]|[br])id",       "comes back with the answer"),
    (r"host_[rw]data",             "data"),
    (r"host_wstrb",                "bytes to write"),
    (r"host_[rw]last",             "last beat of the burst"),
    (r"host_[br]resp",             "0, or SLVERR (2)"),
    (r"(descriptor|end)_write",    "1: endpoint memory to host; 0: host to endpoint memory"),
    (r"descriptor_address",        "byte address as of `host_awaddr`"),
    (r"descriptor_endpoint",       "byte address in the endpoint memory"),
    (r"descriptor_length",         "bytes, from 1, all in one buffer"),
    (r"(descriptor|end)_tag",      "comes back with the end"),
    (r"end_reason",                "0 if all bytes landed, else REASON of `litepcie_regs.h`"),
    (r"\w+_(t|aw|w|b|ar|r)valid",  "a beat is valid; it stays unchanged until accepted"),
    (r"\w+_(t|aw|w|b|ar|r)ready",  "accepts a valid beat at this clock edge"),
    (r"\w+_valid",                 "a beat is valid; it stays unchanged until accepted"),
    (r"\w+_ready",                 "accepts a valid beat at this clock edge"),
    (r"\w+_first",                 "first beat of a {packet}"),
    (r"\w+_last",                  "last beat of a {packet}"),
    (r"[rt]x_\w*dat",              "dword n of the beat in 32n+31:32n"),
    (r"[rt]x_\w*be",               "0xf for each dword of the TLP, 0x0 after its end"),
)


def match(name, table):
    """Returns the index of the first pattern in ``table`` that matches the name. Raises ``LookupError``."""
    for n, (pattern, _) in enumerate(table):
        if re.fullmatch(pattern, name):
            return n
    raise LookupError(f"port {name} has no description")


def group_of(name):
    """Returns the index of a port's group in GROUPS."""
    return match(name, [(pattern + r"\w+", title) for pattern, title in GROUPS])


def meaning(name):
    """Returns the meaning of a port. Raises ``LookupError`` for a port without a description."""
    return MEANINGS[match(name, MEANINGS)][1].format(packet="packet" if name.startswith("stream") else "TLP")


def place(port):
    """Returns the sort key of a port: group, stream or channel, then handshake before payload."""
    name = port.name
    rest = name.rpartition("_")
    end  = next((n for n, part in enumerate(ORDER) if name.endswith("_" + part)), len(ORDER))
    return (group_of(name), rest[0] if end < len(ORDER) else "", end, name)
