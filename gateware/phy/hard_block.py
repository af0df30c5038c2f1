#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completion buffers of the hard blocks that LitePCIe 2024.12's PHYs use, and the check which PHYs are supported."""

from dataclasses import dataclass

from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.common.pcie import RCB_BYTES

# Completion Buffers -------------------------------------------------------------------------------

HEADER_CREDIT = 16  # Bytes of the completion buffer for the header of a completion (PCIe 4.0 2.6.1).

# An endpoint advertises infinite completion credits, so a hard block loses completions that exceed its buffer. The
# tables hold (completions, bytes of data) by family, and for 7-series by lanes.
#
# Guides: UltraScale: PG156 4.4, UltraScale+: PG213 1.3, both appendix "Managing Receive-Buffer Space", "Completion
# Space". 7-series (PG054) takes them from the options of the core. LitePCIe asks for buffers that are optimized for bus
# masters (Buf_Opt_BMA), with payloads of up to 512 bytes, 256 at x8; Vivado then reports c_fc_cplh 72 and c_fc_cpld 850
# credits of 16 bytes, 370 at x8.
GUIDE = {
    "7-series":    {8: (72, 370*16), None: (72, 850*16)},
    "UltraScale":  {None: (64, 15872)},
    "UltraScale+": {None: (128, 32768)},
}

# Limits of designs in use. verilog-pcie's DMA keeps a part of the data in reserve: 64 of 1024 credits on UltraScale,
# 256 of 2048 on UltraScale+, where it counts 256 headers. The core of 7-series without Buf_Opt_BMA, which many designs
# use and which LitePCIe does not make, has 36 headers and 461 credits, 205 at x8.
PRACTICE = {
    "7-series":    {8: (36, 205*16), None: (36, 461*16)},
    "UltraScale":  {None: (64, 15360)},
    "UltraScale+": {None: (256, 28672)},
}

FAMILIES = {S7PCIEPHY: "7-series", USPPCIEPHY: "UltraScale+", USPCIEPHY: "UltraScale"}

SOURCES = ("safe", "guide", "practice")


def space_of_family(family, lanes, source="safe"):
    """Completion buffer of a hard block: (completions, bytes of data). `family` is a key of GUIDE.

    `source` is "guide", "practice", or "safe": the smaller of both. On 7-series "safe" is the guide's value, because
    LitePCIe sets the option that it needs. Raises ValueError for another `source`.
    """
    if source not in SOURCES:
        raise ValueError(f"source {source!r} is not supported; choose one of {SOURCES}")

    def of(table):
        return table[family].get(lanes, table[family][None])
    if source == "safe":
        return of(GUIDE) if family == "7-series" else tuple(map(min, of(GUIDE), of(PRACTICE)))
    return of(GUIDE if source == "guide" else PRACTICE)


@dataclass(frozen=True)
class Block:
    """A hard block as a configuration names it.

    family : key of GUIDE.
    source : of its completion buffer, see `space_of_family`.
    gen    : its highest generation.
    lanes  : the most lanes.
    tags   : the most requests outstanding (PG156, "Tag Management for Non-Posted Transactions"; PG213, "Extended Tag").
    split  : bool, it has separate streams for requests and completions; their payload is little endian.
    """
    family: str
    source: str
    gen:    int
    lanes:  int
    tags:   int
    split:  bool

    def space(self, lanes):
        """Completion buffer: (completions, bytes of data)."""
        return space_of_family(self.family, lanes, self.source)


# The core of 7-series is as its wizard makes it, or with the option Buf_Opt_BMA, which LitePCIe sets.
BLOCKS = {
    "7-series":     Block("7-series",    "practice", gen=2, lanes=8,  tags=256, split=False),
    "7-series-bma": Block("7-series",    "guide",    gen=2, lanes=8,  tags=256, split=False),
    "ultrascale":   Block("UltraScale",  "safe",     gen=3, lanes=8,  tags=64,  split=True),
    "ultrascale+":  Block("UltraScale+", "safe",     gen=3, lanes=16, tags=256, split=True),
}


def completion_space(phy, source="safe"):
    """Completion buffer of a PHY's hard block, see `space_of_family`, or None for an unknown PHY.

    This is the PHY's own attribute `completion_space` if it has one.
    """
    if hasattr(phy, "completion_space"):
        return phy.completion_space
    family = next((name for phy_class, name in FAMILIES.items() if isinstance(phy, phy_class)), None)
    return family and space_of_family(family, phy.nlanes, source)


def own_blocks(phy):
    """Blocks that the hard block's own buffer holds: (blocks of 64 bytes, blocks of 128 bytes).

    A host with a Read Completion Boundary of 64 bytes may answer in completions of 64 bytes, so the space for headers
    limits the bytes too. Raises ValueError for an unknown PHY.
    """
    space = completion_space(phy)
    if space is None:
        raise ValueError(f"the completion buffer of {type(phy).__name__} is not known; pass completion_buffer_bytes")
    return blocks_of_space(space)


def blocks_of_space(space):
    """Blocks of 64 and of 128 bytes that a buffer of (completions, bytes of data) holds, see `own_blocks`."""
    completions, data = space
    return min(completions, data//RCB_BYTES), min(completions, data//(2*RCB_BYTES))


def completion_blocks(phy):
    """Blocks that outstanding reads of a PHY may need at most: (with RCB 64, with RCB 128).

    These are its `fabric_blocks` if it has a CompletionBuffer in the fabric, else those of the hard block.
    """
    return getattr(phy, "fabric_blocks", None) or own_blocks(phy)


def completion_buffer_bytes(phy):
    """`completion_blocks` with a Read Completion Boundary of 64 bytes, in bytes: each block with HEADER_CREDIT."""
    return completion_blocks(phy)[0]*(RCB_BYTES + HEADER_CREDIT)


def blocks_of_bytes(size):
    """Completions of 64 and of 128 bytes of data that fit in a buffer of `size` bytes, each with HEADER_CREDIT."""
    return tuple(size//(rcb + HEADER_CREDIT) for rcb in (RCB_BYTES, 2*RCB_BYTES))

# Check --------------------------------------------------------------------------------------------

# LitePCIe's own classes, which lack the logic around the hard block, and our classes that add it.
WRAPPED = {S7PCIEPHY: "Series7PHY of litepcie_soc.phy.series7",
    USPCIEPHY:  "UltraScalePHY of litepcie_soc.phy.ultrascale.phy",
    USPPCIEPHY: "UltraScalePlusPHY of litepcie_soc.phy.ultrascale.phy"}


def check_phy(phy):
    """Raises ValueError for a LitePCIe PHY that this transaction layer cannot use."""
    name = type(phy).__name__
    if getattr(phy, "qword_aligned", False):
        raise ValueError(f"{name} is not supported: it aligns the payload of TLPs to 64 bits; use a PHY that does not")
    for phy_class, instead in WRAPPED.items():
        if isinstance(phy, phy_class) and not hasattr(phy, "bus_master_enable"):
            raise ValueError(f"{name} is not supported: it lacks crossing and ordering; use {instead}")

# Settings of the IP -------------------------------------------------------------------------------
# Makes Vivado compare each setting of the IP with the one that was asked for.
#
# Vivado ignores a setting that is disabled or unknown with a warning (IP_Flow 19-3374), and ends with status 0. The
# card would then lack what the gateware relies on.

# Settings of the block's inside: the gateware and the host see the same with another value. A difference is a warning.
INSIDE = ("Component_Name", "coreclk_freq", "plltype")

# Vivado writes numbers with other zeros before them, and words in other capitals.
COMPARE = """\
proc same_setting {one other} {
    foreach value {one other} { set $value [string trimleft [regsub -nocase {^0x} [set $value] {}] 0] }
    return [string equal -nocase $one $other]
}
set lost {}
foreach {name value} $asked {
    if {[catch {get_property $name $obj} found]} { set found "not a setting of this IP" }
    if {[same_setting $found $value]} { continue }
    if {$name in {INSIDE}} {
        puts "WARNING: $obj: $name is $found, not $value"
    } else {
        lappend lost "$name is $found, not $value"
    }
}
if {[llength $lost]} {
    puts "ERROR: Vivado did not take settings of $obj: [join $lost {; }]"
    exit 1
}
""".replace("INSIDE", " ".join(f"CONFIG.{name}" for name in INSIDE))


def commands_of(tcl):
    """Returns the lines of a Tcl script for LiteX's lists of commands, which take braces as fields."""
    return tcl.replace("{", "{{").replace("}", "}}").splitlines()


# What LitePCIe 2024.12 writes before and after the settings of an IP, and what takes its place.
BEFORE, AFTER = "set_property -dict [list \\", "] $obj"


def compare_settings(commands):
    """Returns LitePCIe's commands that make an IP, with a comparison of its settings before the IP is synthesised.

    Commands that make no IP are returned as they are: a file has its settings. Raises ``ValueError`` if these are not
    the commands of LitePCIe 2024.12.
    """
    if not any(command.startswith("create_ip ") for command in commands):
        return commands
    if (commands.count(BEFORE), commands.count(AFTER)) != (1, 1):
        raise ValueError("LitePCIe does not make its IP by one set_property -dict")
    places = {BEFORE: ["set asked [list \\"], AFTER: ["]", "set_property -dict $asked $obj", *commands_of(COMPARE)]}
    return [line for command in commands for line in places.get(command, [command])]
