#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What options of ``add_litepcie`` cost: our design with each of them, beside the one without.

Every port for the user's logic is a top-level port, as in ``designs``.
"""

import re

from dataclasses import dataclass

from litex.build.generic_platform import Pins, Subsignal

from litepcie_bench.synth.designs import CLK_FREQ, MEMORY_SIZE, OURS, Design, OurSoC, memory_io, platform_of
from litepcie_bench.synth.measure import areas, record
from litepcie_bench.synth.table import FAMILIES, TOLERANCE
from litepcie_soc.axi.memory import AXIMemory
from litepcie_soc.build import generated
from litepcie_soc.soc.descriptor_port import end_layout, user_descriptor_layout
from litepcie_soc.standalone.memory_ports import AXIMemoryFace, axi_memory_layout

# Ports --------------------------------------------------------------------------------------------

BUFFERS = 4
WIDTH, TAGS = 64, 32

# What the standalone core takes by default: words on their way for each client, and 1 ms.
READ_AHEAD, TIMEOUT = 64, int(CLK_FREQ // 1000)

WISHBONE_IN  = ("cyc", "stb", "we", "sel", "adr", "dat_w")
WISHBONE_OUT = ("ack", "err", "dat_r")


def _io(name, layout):
    return (name, 0, *[Subsignal(field, Pins(bits)) for field, bits in layout])


class OptionSoC(OurSoC):
    """Our design with ports of the user's logic onto buffers in host memory."""
    OPTIONS = dict(host_buffers=BUFFERS)
    CLIENTS = 2

    def __init__(self):
        io = [*memory_io(WIDTH, self.CLIENTS), *self.io()]
        OurSoC.__init__(self, platform_of(WIDTH, io), WIDTH, TAGS, **self.OPTIONS)
        self.add_ports()

    @staticmethod
    def io():
        return [_io("bus", [("cyc", 1), ("stb", 1), ("we", 1), ("sel", 4), ("adr", 30), ("dat_w", 32), ("ack", 1),
            ("err", 1), ("dat_r", 32)])]

    def add_ports(self):
        pads, bus  = self.platform.request("bus"), self.litepcie.host.bus
        self.comb += [getattr(bus, name).eq(getattr(pads, name)) for name in WISHBONE_IN]
        self.comb += [getattr(pads, name).eq(getattr(bus, name)) for name in WISHBONE_OUT]


class DescriptorSoC(OptionSoC):
    """The same as ``OptionSoC``, with descriptors of the user's logic."""
    OPTIONS = dict(host_buffers=BUFFERS, host_descriptors=True)
    CLIENTS = 3

    @staticmethod
    def io():
        handshake = [("valid", 1), ("ready", 1)]
        return [*OptionSoC.io(), _io("descriptor", handshake + user_descriptor_layout()),
            _io("end", handshake + end_layout())]

    def add_ports(self):
        OptionSoC.add_ports(self)
        port = self.litepcie.descriptor_port
        give, end = self.platform.request("descriptor"), self.platform.request("end")
        for source, sink, layout in ((give, port.sink, user_descriptor_layout()), (port.source, end, end_layout())):
            self.comb += [getattr(sink, name).eq(getattr(source, name)) for name in ("valid", *dict(layout))]
            self.comb += source.ready.eq(sink.ready)



class AXIMemorySoC(OurSoC):
    """Our design with the endpoint memory behind an AXI4 master, as ``memory: {kind: axi}`` of the standalone core."""
    def __init__(self):
        layout = axi_memory_layout(WIDTH)
        io     = [_io("memory", [(name, bits) for name, bits, _ in layout])]
        OurSoC.__init__(self, platform_of(WIDTH, io), WIDTH, TAGS)
        self.face = face = AXIMemoryFace(self.memory)
        pads = self.platform.request("memory")
        for name, _, way in layout:
            pad, port = getattr(pads, name), getattr(face.port, name)
            self.comb += pad.eq(port) if way == "output" else port.eq(pad)

    def memory_of(self, data_width):
        return AXIMemory(MEMORY_SIZE, data_width, READ_AHEAD, TIMEOUT)

# Designs ------------------------------------------------------------------------------------------

SOCS = {
    "`host_buffers=4`, Wishbone":                 OptionSoC,
    "`host_buffers=4`, `host_descriptors=True`":  DescriptorSoC,
    "memory behind an AXI4 master":               AXIMemorySoC,
}


@dataclass(frozen=True)
class OptionDesign(Design):
    """Our design with an option of ``SOCS``."""
    option: str = ""

    def __str__(self):
        return f"{self.width} bit, {self.option}"

    def soc(self):
        return SOCS[self.option]()


PLAIN   = Design(OURS, WIDTH, TAGS)
DESIGNS = [PLAIN, *(OptionDesign(OURS, WIDTH, TAGS, option) for option in SOCS)]


def measure(families, step):
    """Returns a record for each design and family; ``option`` is "" for the design without."""
    found = areas([(design, family) for family in families for design in DESIGNS], step)
    return [{**record(design, family, area), "option": getattr(design, "option", "")}
        for (design, family), area in found.items()]

# Table --------------------------------------------------------------------------------------------

HEAD     = ("family", "option", "LUTs", "FFs", "BRAM", "LUTs more", "FFs more", "BRAM more")
COMPARED = {"LUTs": "luts", "FFs": "ffs", "BRAM": "brams"}


def _key(line):
    return FAMILIES[line["family"]], line["option"] or "none"


def rows(records):
    """Returns the rows of the table by (family, option)."""
    plain = {line["family"]: line for line in records if not line["option"]}
    keys  = list(COMPARED.values())
    return {_key(line): (*_key(line), *(f"{line[key]:g}" for key in keys),
        *(f"{line[key] - plain[line['family']][key]:g}" for key in keys)) for line in records}


def tables(records):
    """Returns the text of the table with these records only, by its name in the document."""
    return {"options": generated.table(HEAD, rows(records).values())}


def update(text, records):
    """Returns the document with the rows of these records replaced or added."""
    found = {**cells(text), **rows(records)}
    return generated.renewed(text, {"options": generated.table(HEAD, [found[key] for key in sorted(found,
        key=lambda key: (list(FAMILIES.values()).index(key[0]), ["none", *SOCS].index(key[1])))])})


def cells(text):
    """Returns the rows of a document by (family, option), as text."""
    found = [tuple(cell.strip() for cell in line.strip("| ").split(" | ")) for line in text.splitlines()]
    return {row[:2]: row for row in found
        if len(row) == len(HEAD) and row[0] in FAMILIES.values() and re.fullmatch(r"\d+", row[2])}


def read(text):
    """Returns the figures of a document: {(family, option): {column: number}}."""
    return {key: {column: float(dict(zip(HEAD, row))[column]) for column in COMPARED}
        for key, row in cells(text).items()}


def grown(records, text):
    """Returns a line per figure that exceeds the document by more than TOLERANCE, or that has no row in it."""
    written, lines = read(text), []
    for line in records:
        key = _key(line)
        if key not in written:
            lines.append(f"{', '.join(key)}: docs/resources.md has no such row")
            continue
        lines += [f"{', '.join(key)}: {column} {line[COMPARED[column]]:g}, the document has {value:g}"
            for column, value in written[key].items() if line[COMPARED[column]] > value*(1 + TOLERANCE)]
    return lines
