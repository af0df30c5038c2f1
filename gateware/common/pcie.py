#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Constants of the PCIe specification, completion reasons and stream layouts that all gateware shares."""

from math import log2

from litex.soc.interconnect.stream import EndpointDescription

# Widths -------------------------------------------------------------------------------------------

DATA_WIDTHS   = (64, 128, 256, 512)  # Bits per beat.
ADDRESS_BITS  = 64                   # Host byte address.
LENGTH_BITS   = 13                   # Bytes of one TLP or request, 0..4096.
TAG_BITS      = 8                    # Tag field of a header (PCIe 4.0 2.2.6.2).

# Header (PCIe 4.0 2.2.1) --------------------------------------------------------------------------

HEADER_3DW      = 12  # Bytes; completions, and requests below 4 GiB.
HEADER_4DW      = 16  # Bytes; requests at and above 4 GiB.

# dw0[31:24]: format and type.
FMT_TYPE_MRD_32   = 0b000_00000
FMT_TYPE_MRD_64   = 0b001_00000
FMT_TYPE_MWR_32   = 0b010_00000
FMT_TYPE_MWR_64   = 0b011_00000
FMT_TYPE_CPL      = 0b000_01010
FMT_TYPE_CPLD     = 0b010_01010
TYPE_MEMORY       = 0b00000
TYPE_COMPLETION   = 0b01010
TYPE_MESSAGE_4_3  = 0b10       # type[4:3] of every message.

# Completion status (PCIe 4.0 2.2.9, table 2-35).
COMPLETION_SC     = 0b000
COMPLETION_UR     = 0b001
COMPLETION_CRS    = 0b010
COMPLETION_CA     = 0b100

# The smallest Read Completion Boundary, at multiples of which a host may split completions (PCIe 4.0 2.3.1.1).
RCB_BYTES = 64

# The card's completions end at multiples of this, the Read Completion Boundary of an endpoint (PCIe 4.0 2.3.1.1). It is
# also the smallest Max_Payload_Size (PCIe 4.0 7.5.3.4), so that no completion exceeds the one in force.
COMPLETION_DWORDS = 32

# Tags a requester may use without Extended Tag Field Enable (PCIe 4.0 2.2.6.2).
TAGS_WITHOUT_EXTENDED = 32
TAGS_WITH_EXTENDED    = 256


def has_data(dw0):
    """fmt[1] (PCIe 4.0 2.2.1): the TLP has a payload."""
    return dw0[30]


def is_memory_write(dw0):
    """The TLP is a memory write that is not poisoned, so that it is executed; dw0[31]: a prefix, dw0[14]: poisoned."""
    return (dw0[24:29] == TYPE_MEMORY) & has_data(dw0) & ~dw0[31] & ~dw0[14]


def has_4_dwords(dw0):
    """fmt[0] (PCIe 4.0 2.2.1): the header has four dwords."""
    return dw0[29]


def is_completion(dw0):
    """Type 0101x (PCIe 4.0 table 2-3): Cpl, CplD, CplLk, CplDLk."""
    return dw0[25:29] == TYPE_COMPLETION >> 1


def is_non_posted(dw0):
    """The TLP is a request that wants a completion: neither a memory write, nor a message, nor a completion."""
    posted = ((dw0[24:29] == TYPE_MEMORY) & has_data(dw0)) | (dw0[27:29] == TYPE_MESSAGE_4_3)
    return ~(posted | is_completion(dw0) | dw0[31])     # Bit 31: a prefix.

# Reasons, as LITEPCIE_REASON_* of the register map -------------------------------------------------

REASON_BITS                = 8
REASON_NONE                = 0
REASON_UNSUPPORTED_REQUEST = 1
REASON_COMPLETER_ABORT     = 2
REASON_POISONED            = 3
REASON_TIMEOUT             = 4
REASON_BAD_LENGTH          = 5
REASON_ZERO_LENGTH         = 6
REASON_MEMORY_RANGE        = 7
REASON_BAD_LINK            = 8
REASON_DOORBELL            = 9
REASON_BAD_RING            = 10
REASON_BUS_MASTER          = 11
REASON_RESERVED            = 12
REASON_MEMORY_ERROR        = 13

# Layouts ------------------------------------------------------------------------------------------

def check_data_width(data_width):
    """Raises ValueError unless the gateware supports `data_width` (bits)."""
    if data_width not in DATA_WIDTHS:
        raise ValueError(f"data_width {data_width!r} is not supported; choose 64, 128, 256 or 512")


def word_bits(data_width):
    """Address bits inside a word of `data_width` bits (log2 of its bytes)."""
    return int(log2(data_width//8))


def phy_layout(data_width):
    """Raw TLP beats at the PHY boundary, as in LitePCIe's PHYs.

    dat[data_width]  : the dwords of the TLP in order, dword n of a beat in bits 32n+31:32n. The payload follows the
        header without padding.
    be[data_width/8] : 0xf for every dword of the TLP, 0x0 after its end.
    """
    return EndpointDescription([("dat", data_width), ("be", data_width//8)])


def read_request_layout():
    """A read of host memory: `length` bytes (1..4096) at host `address`, to be delivered to `destination`."""
    return EndpointDescription([
        ("address",     ADDRESS_BITS),
        ("length",      LENGTH_BITS),
        ("destination", 32),
    ])


def read_data_layout(data_width):
    """Data of a read: `be` enables the bytes of `dat` to write to word `address` of the client's own space."""
    return EndpointDescription([
        ("address", 32 - word_bits(data_width)),
        ("dat",     data_width),
        ("be",      data_width//8),
    ])


def retire_layout():
    """End of a read request: `reason` (0 if successful), and the `bytes` that arrived without a gap from its start."""
    return EndpointDescription([("reason", REASON_BITS), ("bytes", LENGTH_BITS)])


def write_packet_layout(data_width):
    """A write of host memory. A packet is one TLP, with `dat` in the lanes that the payload has in the TLP."""
    return EndpointDescription(
        payload_layout = [("dat", data_width)],
        param_layout   = [("address", ADDRESS_BITS), ("length", LENGTH_BITS)],
    )


def first_byte_lane(header_bytes, address, data_width):
    """Lane of the first payload byte in the first beat that holds payload. Works on int, for models and tests."""
    return (header_bytes + (address & 3)) % (data_width//8)
