#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Prints what the card is and its link, by the ioctl LITEPCIE_IOC_INFO of <linux/litepcie.h>.

info.py [DEVICE]
"""

import ctypes
import fcntl
import sys


class Info(ctypes.Structure):
    """struct litepcie_info."""
    _fields_ = [
        *[(name, ctypes.c_uint32) for name in ("size", "flags", "uapi_version", "gateware_version", "capabilities",
            "channels")],
        *[(name, ctypes.c_uint64) for name in ("memory_bytes", "window_bytes")],
        *[(name, ctypes.c_uint32) for name in ("clock_hz", "data_width_bits", "built_gen", "built_lanes", "link_gen",
            "link_lanes", "max_payload_bytes", "max_read_request_bytes", "tags", "streams")],
        ("target", ctypes.c_char*64),
        ("bus_address", ctypes.c_char*32),
        ("link_status", ctypes.c_uint32),
        ("reserved0", ctypes.c_uint32),
        ("reserved", ctypes.c_uint64*7),
    ]


# _IOWR(0xD6, 0x00, struct litepcie_info), as <linux/ioctl.h> of x86 and arm encodes it.
LITEPCIE_IOC_INFO = 3 << 30 | ctypes.sizeof(Info) << 16 | 0xD6 << 8 | 0x00


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else "/dev/litepcie0"
    info   = Info(size=ctypes.sizeof(Info))
    try:
        with open(device, "rb", buffering=0) as card:
            fcntl.ioctl(card, LITEPCIE_IOC_INFO, info)
    except OSError as error:
        sys.exit(f"{device}: {error}")
    print(f"{info.target.decode()} at {info.bus_address.decode()}")
    print(f"link Gen{info.link_gen} x{info.link_lanes}, built for Gen{info.built_gen} x{info.built_lanes}")
    print(f"memory {info.memory_bytes} bytes, window {info.window_bytes} bytes")


if __name__ == "__main__":
    main()
