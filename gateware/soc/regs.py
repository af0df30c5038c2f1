#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The pinned register map as a C header, derived from the registers of the SoC.

`python3 -m litepcie_soc.build.regs` writes ``software/kernel/litepcie_regs.h`` or compares it.
"""

import re

from litepcie_soc.common import pcie
from litepcie_soc.common import abi
from litepcie_soc.common.places import SOFTWARE
from litepcie_soc.dma.descriptor import DESCRIPTOR_BYTES, HOST_DESCRIPTOR_LAYOUT
from litepcie_soc.dma.fetch import RING_LOG2_MAX
from litepcie_soc.soc.host_buffers import HostRegisters
from litepcie_soc.soc.interrupts import InterruptRegisters

COMMITTED = SOFTWARE / "kernel" / "litepcie_regs.h"

COLUMNS = 100
VALUES  = 48  # Column where values begin.

BANNER = """\
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pinned register map of LitePCIe SoC {major}.x, emitted by the gateware. Do not edit:
 * `python3 -m litepcie_soc.build.regs --write` updates it, `make check` compares it.
 *
 * Byte offsets in BAR0; every register is 32 bits wide.
 */
#ifndef _LITEPCIE_REGS_H
#define _LITEPCIE_REGS_H
"""

# Registers whose fields do not begin with the name of the register.
FIELD_PREFIX = {"CAPABILITIES": "CAPABILITY"}

# Comments of the stop reasons.
REASONS = {
    "BAD_LENGTH":   "completion byte count or address",
    "ZERO_LENGTH":  "descriptor of length 0",
    "MEMORY_RANGE": "beyond the endpoint memory",
    "BAD_LINK":     "LINK in a circle, empty or not aligned",
    "DOORBELL":     "beyond the ring, or backwards",
    "BAD_RING":     "ring or status block misaligned",
    "BUS_MASTER":   "bus mastering off",
    "RESERVED":     "reserved bit of a descriptor set",
    "MEMORY_ERROR": "an access to the endpoint memory failed",
}

# Lines --------------------------------------------------------------------------------------------


def define(name, value, comment=""):
    """Returns the lines of one macro. A comment that does not fit on its line goes above it."""
    text  = f"#define LITEPCIE_{name}"
    tabs  = max(1, (VALUES - len(text) + 7) // 8)
    line  = text + "\t" * tabs + value
    width = len((line + "\t").expandtabs())
    if not comment:
        return [line]
    if width + len(comment) + 6 <= COLUMNS:
        return [f"{line}\t/* {comment} */"]
    return [f"/* {comment} */", line]


def phrase(description):
    """Returns a description as a comment, without a capital and a full stop."""
    text = " ".join((description or "").split()).rstrip(".")
    word = text.split(" ")[0].rstrip(",;:")
    return text[:1].lower() + text[1:] if word[1:].islower() or len(word) == 1 else text


def field_lines(register, fields):
    prefix = FIELD_PREFIX.get(register, register)
    for field in fields:
        mask = ((1 << field.size) - 1) << field.offset
        name = f"{prefix}_{field.name.upper()}" + ("_MASK" if field.size > 1 else "")
        yield from define(name, f"0x{mask:08x}", phrase(field.description))


def register_lines(csrs, base=0, prefix="", digits=4, extra=None):
    """Yields the lines of a bank: registers in order, each with its fields and the lines of ``extra``."""
    for n, csr in enumerate(csrs):
        name = csr.name.upper()
        if name.startswith("RESERVED") or (name.startswith("TARGET") and name != "TARGET0"):
            continue
        name = prefix + ("TARGET" if name == "TARGET0" else name)
        yield from define(name, f"0x{base + 4 * n:0{digits}x}", phrase(csr.description))
        yield from (extra or {}).get(name, ())
        fields = getattr(csr, "fields", None)
        yield from field_lines(name, fields.fields if fields is not None else ())

# Sections -----------------------------------------------------------------------------------------


def identity_section(csrs):
    extra = {
        "MAGIC":   define("MAGIC_VALUE", f"0x{abi.MAGIC:08x}"),
        "VERSION": define("VERSION_MAJOR", str(abi.VERSION_MAJOR))
                 + define("VERSION_MINOR", str(abi.VERSION_MINOR)),
        "TARGET":  define("TARGET_BYTES", str(abi.TARGET_BYTES)),
    }
    yield "/* identity of the card */"
    yield from register_lines(csrs, abi.IDENTITY_BASE, extra=extra)


def error_section(csrs):
    yield "/* transaction layer: error counters since reset */"
    yield from register_lines(csrs, abi.TLP_BASE, prefix="ERROR_")


def engine_section(csrs):
    yield "/* DMA engines: reader of channel c at READER(c), writer at WRITER(c) */"
    for name, base in (("READER", abi.READER_BASE), ("WRITER", abi.WRITER_BASE)):
        yield from define(f"{name}_BASE(c)", f"(0x{base:04x} + 0x{abi.CHANNEL_STRIDE:04x} * (c))")
    yield from define("MAX_CHANNELS", str(abi.MAX_CHANNELS), "memory and stream channels together")
    yield from define("MAX_RING_LOG2", str(RING_LOG2_MAX), "log2 of the largest ring")
    yield from register_lines(csrs, prefix="ENGINE_", digits=2)


def msix_section():
    yield "/* MSI-X, where CAPABILITIES has it: table and Pending Bit Array (PCI Local Bus 3.0 6.8.2) */"
    yield from define("MSIX_TABLE", f"0x{abi.MSIX_TABLE_BASE:05x}", "four dwords for each vector")
    yield from define("MSIX_PENDING", f"0x{abi.MSIX_PENDING_BASE:05x}")


def interrupt_section():
    names = abi.INTERRUPTS_BASE + 4 * len(InterruptRegisters().get_csrs())
    yield "/* interrupts of the user's logic, where CAPABILITIES has them; bit n belongs to interrupt n */"
    yield from define("MAX_INTERRUPTS", str(abi.MAX_INTERRUPTS))
    yield from register_lines(InterruptRegisters().get_csrs(), abi.INTERRUPTS_BASE, prefix="INTERRUPT_")
    yield from define("INTERRUPT_NAME(n)", f"(0x{names:04x} + 0x{abi.INTERRUPT_NAME_BYTES:02x} * (n))",
        "ASCII, first character lowest")
    yield from define("INTERRUPT_NAME_BYTES", str(abi.INTERRUPT_NAME_BYTES))


def host_section():
    yield "/* buffers in host memory that the user's logic accesses, where CAPABILITIES has them */"
    yield from define("MAX_HOST_BUFFERS", str(abi.MAX_HOST_BUFFERS))
    yield from register_lines(HostRegisters().get_csrs(), abi.HOST_BASE, prefix="HOST_")
    yield from define("HOST_REGS_END", f"0x{abi.HOST_BASE + 4 * len(HostRegisters().get_csrs()):04x}")
    yield from define("HOST_REASON_NO_BUFFER", str(abi.HOST_REASON_NO_BUFFER), "the card has no buffer of this number")
    yield from define("HOST_REASON_DENIED", str(abi.HOST_REASON_DENIED), "the buffer may not be read, or written")


def reason_section():
    yield "/* stop reasons in ENGINE_STATUS and in the status block */"
    for name, value in vars(pcie).items():
        if name.startswith("REASON_") and name != "REASON_BITS":
            yield from define(name, str(value), REASONS.get(name.removeprefix("REASON_"), ""))


def descriptor_section():
    """Derives the descriptor from the layout that the gateware decodes: dword 0 is its first 32 bits."""
    comments = {
        "length":    "dword 0: bytes; with LINK: descriptors",
        "interrupt": "status block and MSI when complete",
        "last":      "stream reader: a packet ends here",
        "link":      "dwords 2, 3 are the address of a table",
    }
    yield "/* descriptor: four little-endian dwords in host memory */"
    yield from define("DESCRIPTOR_BYTES", str(DESCRIPTOR_BYTES))
    offset = 0
    for name, size in HOST_DESCRIPTOR_LAYOUT:
        if name in comments:
            mask = ((1 << size) - 1) << offset
            name_of_mask = f"DESCRIPTOR_{name.upper()}" + ("_MASK" if size > 1 else "")
            yield from define(name_of_mask, f"0x{mask:08x}", comments[name])
        offset += size
    yield "/* dword 1: endpoint byte address; dwords 2, 3: host byte address, low and high */"
    yield "/* a stream has no endpoint address */"


def status_section():
    yield "/* status block: four little-endian dwords in host memory, which the card writes at once */"
    yield from define("STATUS_BYTES", str(abi.STATUS_BYTES))
    for name, (dword, comment) in abi.STATUS_DWORDS.items():
        yield from define(f"STATUS_{name}", str(dword), comment)


def report_section():
    yield "/* report of a stream writer for a buffer: a dword per slot, written after the data */"
    yield from define("REPORT_OFFSET", str(abi.REPORT_OFFSET), "bytes after the status block")
    yield from define("REPORT_BYTES", str(abi.REPORT_BYTES))
    for name, (mask, comment) in abi.REPORT_FIELDS.items():
        yield from define(f"REPORT_{name}", f"0x{mask:08x}", comment)

# Header -------------------------------------------------------------------------------------------


def pinned_banks(soc):
    """Returns the CSRs of every pinned bank of a finalised SoC, by name.

    Raises ``ValueError`` if a bank is not at its pinned address.
    """
    banks = {}
    for name, page in abi.csr_map().items():
        region = soc.litepcie.banks.regions.get(name)
        if region is None:
            continue
        if region.origin != page * abi.CSR_PAGING:
            raise ValueError(f"bank {name} is at 0x{region.origin:x}, but must be at "
                f"0x{page * abi.CSR_PAGING:x}")
        if name != "msix_table" and any(csr.size > 32 for csr in region.obj):
            raise ValueError(f"bank {name} has a register wider than 32 bits")
        banks[name] = region.obj
    for name in ("identity", "tlp"):
        if name not in banks:
            raise ValueError(f"bank {name} is missing")
    if not engines_of(banks):
        raise ValueError("banks of engines are missing")
    return banks


def engines_of(banks):
    """Returns the names of the banks of engines."""
    return [name for name in banks if name.startswith(("reader", "writer"))]


def header(soc):
    """Returns the text of ``litepcie_regs.h`` for a finalised SoC with ``soc.litepcie``.

    Raises ``ValueError`` if the SoC cannot have a pinned map: a bank is at another address, or the registers of two
    engines differ.
    """
    banks  = pinned_banks(soc)
    first, *others = engines_of(banks)
    engine = [*engine_section(banks[first])]
    for name in others:
        if [*engine_section(banks[name])] != engine:
            raise ValueError(f"registers of {name} differ from those of {first}")
    sections = [
        identity_section(banks["identity"]), error_section(banks["tlp"]), engine,
        interrupt_section(), host_section(), msix_section(), reason_section(), descriptor_section(), status_section(),
        report_section(),
    ]
    text = BANNER.format(major=abi.VERSION_MAJOR)
    text += "".join("\n" + "\n".join(section) + "\n" for section in sections)
    return text + "\n#endif /* _LITEPCIE_REGS_H */\n"


def macros(text):
    """Returns the value of every macro in the text of a header, by name."""
    return dict(re.findall(r"^#define (LITEPCIE_[\w()]+)\t+([^\t\n]+)", text, flags=re.MULTILINE))


def moved(soc, path=COMMITTED):
    """Returns a line per macro that differs between a finalised SoC and the header at ``path``."""
    committed, gateware = macros(path.read_text(encoding="ascii")), macros(header(soc))
    return [f"{name} is {gateware.get(name, 'missing')}, committed {committed.get(name, 'nowhere')}"
        for name in sorted(committed.keys() | gateware.keys())
        if committed.get(name) != gateware.get(name)]
