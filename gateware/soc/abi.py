#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What gateware and driver agree on and no register says: versions, places, memory formats.

Plain numbers, without a dependency, so that every module of the gateware can import them;
``soc/regs.py`` writes them into ``software/kernel/litepcie_regs.h`` beside the registers.
"""

from types import SimpleNamespace

# Identity -----------------------------------------------------------------------------------------

MAGIC         = 0x4c504953  # "LPIS"
VERSION_MAJOR = 1
VERSION_MINOR = 0

TARGET_BYTES  = 64

# Register Map (BAR0, bytes) -----------------------------------------------------------------------

CSR_PAGING     = 0x800
IDENTITY_BASE  = 0x0000
TLP_BASE       = 0x0800
READER_BASE    = 0x1000
WRITER_BASE    = 0x1800
CHANNEL_STRIDE = 0x1000
MAX_CHANNELS   = 7
LITEX_BASE     = READER_BASE + MAX_CHANNELS * CHANNEL_STRIDE  # Banks that are not pinned.

# BAR0: registers in the lower half, the window onto the endpoint memory in the upper.
BAR0_SIZE      = 2 << 20
WINDOW_OFFSET  = BAR0_SIZE // 2
WINDOW_SIZE    = BAR0_SIZE // 2

# Reasons ------------------------------------------------------------------------------------------

# In ENGINE_STATUS, in the status block, and on ``retire`` of a read port.
REASON = SimpleNamespace(
    NONE                = 0,
    UNSUPPORTED_REQUEST = 1,
    COMPLETER_ABORT     = 2,
    POISONED            = 3,
    TIMEOUT             = 4,
    BAD_LENGTH          = 5,
    ZERO_LENGTH         = 6,
    MEMORY_RANGE        = 7,
    BAD_LINK            = 8,
    DOORBELL            = 9,
    BAD_RING            = 10,
    BUS_MASTER          = 11,
)

# Descriptor (four little-endian dwords in host memory) --------------------------------------------

DESCRIPTOR = SimpleNamespace(
    BYTES       = 16,
    LENGTH_MASK = 0x00ffffff,  # Dword 0.
    INTERRUPT   = 1 << 24,
    LINK        = 1 << 31,
)

# Status Block (four little-endian dwords in host memory) ------------------------------------------

STATUS = SimpleNamespace(
    BYTES     = 16,
    COMPLETED = 0,  # Dword numbers.
    REASON    = 1,
    BYTES_LO  = 2,
    BYTES_HI  = 3,
)
