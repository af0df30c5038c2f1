#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What is fixed for a major version and no register says: version, places, status block.

Plain numbers without a dependency; ``soc/regs.py`` writes them into
``software/kernel/litepcie_regs.h`` beside the registers.
"""

# Identity -----------------------------------------------------------------------------------------

MAGIC         = 0x4c504953  # "LPIS"
VERSION_MAJOR = 1
VERSION_MINOR = 1

TARGET_BYTES  = 64

# Places in BAR0, bytes ----------------------------------------------------------------------------

CSR_PAGING     = 0x800
IDENTITY_BASE  = 0x0000
TLP_BASE       = 0x0800
READER_BASE    = 0x1000
WRITER_BASE    = 0x1800
CHANNEL_STRIDE = 0x1000
MAX_CHANNELS   = 7  # LiteX's own banks, which are not pinned, begin behind them.

# Registers in the lower half, the window onto the endpoint memory in the upper.
BAR0_SIZE      = 2 << 20
WINDOW_OFFSET  = BAR0_SIZE // 2
WINDOW_MAX     = BAR0_SIZE // 2


def csr_map():
    """Page of every pinned bank, for LiteX's ``csr_map``."""
    pages = {"identity": IDENTITY_BASE // CSR_PAGING, "tlp": TLP_BASE // CSR_PAGING}
    for channel in range(MAX_CHANNELS):
        pages[f"reader{channel}"] = (READER_BASE + channel * CHANNEL_STRIDE) // CSR_PAGING
        pages[f"writer{channel}"] = (WRITER_BASE + channel * CHANNEL_STRIDE) // CSR_PAGING
    return pages

# Status block, four little-endian dwords in host memory -------------------------------------------

STATUS_BYTES  = 16
STATUS_DWORDS = {
    "COMPLETED": (0, "dword 0: ring descriptors done"),
    "REASON":    (1, "dword 1: [7:0] reason, [31:8] STOPPED_BYTES"),
    "BYTES_LO":  (2, "dwords 2, 3: bytes done since reset"),
    "BYTES_HI":  (3, ""),
}

# Behind the status block of a stream's writer, a dword for each slot of the ring ------------------

REPORT_OFFSET = 64  # From the status block.
REPORT_BYTES  = 4
REPORT_FIELDS = {
    "BYTES_MASK": (0x00ffffff, "in the buffer"),
    "LAST":       (0x01000000, "the last of them is the last of its packet"),
}
