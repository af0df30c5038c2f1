#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Constants of the register map that are fixed for a major version: version, addresses, status block.

``soc/regs.py`` writes them into ``software/kernel/litepcie_regs.h`` together with the registers.
"""

# Identity -----------------------------------------------------------------------------------------

MAGIC         = 0x4c504953  # "LPIS"
VERSION_MAJOR = 1
VERSION_MINOR = 8

TARGET_BYTES  = 64

# Byte offsets in BAR0 -----------------------------------------------------------------------------

CSR_PAGING     = 0x800
IDENTITY_BASE  = 0x0000
TLP_BASE       = 0x0800
READER_BASE    = 0x1000
WRITER_BASE    = 0x1800
CHANNEL_STRIDE = 0x1000
MAX_CHANNELS   = 7

# Interrupts of the user's logic.
INTERRUPTS_BASE      = 0x8000
MAX_INTERRUPTS       = 16
INTERRUPT_NAME_BYTES = 16

# Buffers in host memory that the user's logic reads and writes.
HOST_BASE             = 0x8800
MAX_HOST_BUFFERS      = 16
HOST_REASON_NO_BUFFER = 0x10
HOST_REASON_DENIED    = 0x11

# MSI-X: each in a page of its own, also where pages have 64 KiB (PCI Local Bus 3.0 6.8.2).
MSIX_TABLE_BASE   = 0x40000
MSIX_PENDING_BASE = 0x50000

# The lower half holds registers, the upper half the window onto the endpoint memory. Programs can map the upper half of
# the registers, which leads to the user's bus: nothing that only a driver may write is there.
BAR0_SIZE      = 2 << 20
USER_OFFSET    = BAR0_SIZE // 4
USER_MAX       = BAR0_SIZE // 4
WINDOW_OFFSET  = BAR0_SIZE // 2
WINDOW_MAX     = BAR0_SIZE // 2


def csr_map():
    """Returns the page of every pinned bank, for LiteX's ``csr_map``."""
    pages = {
        "identity":   IDENTITY_BASE // CSR_PAGING,
        "tlp":        TLP_BASE // CSR_PAGING,
        "interrupts": INTERRUPTS_BASE // CSR_PAGING,
        "host":       HOST_BASE // CSR_PAGING,
        "msix_table": MSIX_TABLE_BASE // CSR_PAGING,
        "msix":       MSIX_PENDING_BASE // CSR_PAGING,
    }
    for channel in range(MAX_CHANNELS):
        pages[f"reader{channel}"] = (READER_BASE + channel * CHANNEL_STRIDE) // CSR_PAGING
        pages[f"writer{channel}"] = (WRITER_BASE + channel * CHANNEL_STRIDE) // CSR_PAGING
    return pages

# Status block, four little-endian dwords in host memory -------------------------------------------

STATUS_BYTES  = 16
STATUS_DWORDS = {
    "COMPLETED": (0, "dword 0: completed ring descriptors"),
    "REASON":    (1, "dword 1: [7:0] reason, [31:8] STOPPED_BYTES"),
    "BYTES_LO":  (2, "dwords 2, 3: bytes moved since reset"),
    "BYTES_HI":  (3, ""),
}

# Reports after the status block of a stream writer: a dword per slot of the ring -----------------

REPORT_OFFSET = 64  # Bytes from the start of the status block.
REPORT_BYTES  = 4
REPORT_FIELDS = {
    "BYTES_MASK": (0x00ffffff, "bytes in the buffer"),
    "LAST":       (0x01000000, "the packet ends in this buffer"),
    "CUT":        (0x02000000, "the packet before this buffer was cut: here begins another one"),
}
