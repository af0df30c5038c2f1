#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The C library: its structures, its functions with their types, its errors as exceptions; and buffers for its calls.

The structures are those of <linux/litepcie.h>, <linux/litepcie_stream.h> and liblitepcie.h. ctypes releases Python's
lock during a call, so that other threads run while one waits for the card.
"""

from __future__ import annotations

import functools
import os

from ctypes import (CDLL, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_size_t, c_ssize_t, c_uint,
    c_uint32, c_uint64, c_void_p)
from typing import Any

import numpy

from liblitepcie.errors import LibraryMissing, LitePCIeError

TO_CARD, FROM_CARD = 0, 1
DIRECTIONS         = {"reader": TO_CARD, "writer": FROM_CARD}


def _u32(*names: str) -> list[tuple[str, Any]]:
    return [(name, c_uint32) for name in names]


def _u64(*names: str) -> list[tuple[str, Any]]:
    return [(name, c_uint64) for name in names]


class CInfo(Structure):
    _fields_ = [*_u32("size", "flags", "uapi_version", "gateware_version", "capabilities", "channels"),
        *_u64("memory_bytes", "window_bytes"), *_u32("clock_hz", "data_width_bits", "built_gen", "built_lanes",
        "link_gen", "link_lanes", "max_payload_bytes", "max_read_request_bytes", "tags", "streams"),
        ("target", c_char * 64), ("bus_address", c_char * 32), *_u32("link_status", "stream_lacks"),
        ("reserved", c_uint64 * 7)]


class CCounters(Structure):
    _fields_ = [*_u32("size", "flags", "channel", "direction"), *_u64("active_cycles", "bytes"),
        *_u32("descriptors", "tlps", "wait_descriptor", "wait_tag", "wait_link", "wait_data"),
        ("reserved", c_uint64 * 8)]


class CErrors(Structure):
    _fields_ = [*_u32("size", "flags", "unsupported_request", "completer_abort", "poisoned", "unexpected", "timeout",
        "bad_length", "refused", "reserved0"), ("reserved", c_uint64 * 4)]


class CSetup(Structure):
    _fields_ = [*_u32("size", "flags", "direction", "mode", "depth", "buffer_bytes", "flush_us", "moderation_count",
        "moderation_us", "reserved0"), ("reserved", c_uint64 * 4)]


class CStreamInfo(Structure):
    _fields_ = [*_u32("size", "flags", "direction", "stream", "ready", "stride"), *_u64("map_offset", "map_bytes",
        "buffers_offset", "bytes", "packets", "overruns", "underruns", "waits", "lost_bytes", "cuts"),
        ("reserved", c_uint64 * 4)]


class CLink(Structure):
    _fields_ = [(name, c_uint) for name in ("gen", "lanes", "max_payload_bytes", "max_read_request_bytes",
        "request_header_bytes", "completion_bytes", "ecrc_bytes")]


class CRates(Structure):
    _fields_ = [(name, c_double) for name in ("read", "write", "both")]


class CDone(Structure):
    _fields_ = [("tag", c_uint64), ("result", c_ssize_t)]


class CVector(Structure):
    _fields_ = [("base", c_void_p), ("bytes", c_size_t)]


class CHostBuffer(Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_size_t), *_u32("card_address", "handle")]

# Result and arguments of each function of liblitepcie.h that the package calls. H is a handle, P a handle to fill in.
_H, _P = c_void_p, POINTER(c_void_p)
_FUNCTIONS = {
    "open": (c_int, _P, c_char_p), "close": (None, _H), "cancel": (c_int, _H), "fd": (c_int, _H),
    "strerror": (c_char_p, c_int), "version": (c_char_p,), "capability_name": (c_char_p, c_uint),
    "get_info": (c_int, _H, POINTER(CInfo)), "get_counters": (c_int, _H, c_uint, c_uint, POINTER(CCounters)),
    "get_errors": (c_int, _H, POINTER(CErrors)), "reset_engine": (c_int, _H, c_uint, c_uint),
    "scratch": (c_int, _H, c_uint32, POINTER(c_uint32)),
    "pread": (c_ssize_t, _H, c_void_p, c_size_t, c_uint64), "pwrite": (c_ssize_t, _H, c_void_p, c_size_t, c_uint64),
    "queue_open": (c_int, _P, _H, c_uint), "queue_close": (None, _H), "queue_in_flight": (c_uint, _H),
    "queue_register": (c_int, _H, POINTER(CVector), c_uint),
    "queue_read": (c_int, _H, c_void_p, c_size_t, c_uint64, c_uint64),
    "queue_write": (c_int, _H, c_void_p, c_size_t, c_uint64, c_uint64),
    "queue_wait": (c_int, _H, POINTER(CDone), c_uint, c_int),
    "user_open": (c_int, _P, c_char_p), "user_close": (None, _H), "user_origin": (c_uint32, _H),
    "user_read": (c_int, _H, c_uint32, POINTER(c_uint32), c_uint),
    "user_write": (c_int, _H, c_uint32, POINTER(c_uint32), c_uint),
    "hostbuf_create": (c_int, _H, c_size_t, c_uint32, POINTER(CHostBuffer)),
    "hostbuf_destroy": (c_int, _H, POINTER(CHostBuffer)),
    "interrupt_open": (c_int, _P, c_uint, c_char_p), "interrupt_close": (None, _H), "interrupt_fd": (c_int, _H),
    "interrupt_arm": (c_int, _H, c_int), "interrupt_wait": (c_int, _H, c_int, POINTER(c_uint32)),
    "stream_open": (c_int, _P, c_char_p, c_int), "stream_close": (c_int, _H), "stream_fd": (c_int, _H),
    "stream_setup": (c_int, _H, POINTER(CSetup)), "stream_get_info": (c_int, _H, c_uint, POINTER(CStreamInfo)),
    "stream_read": (c_ssize_t, _H, c_void_p, c_size_t, POINTER(c_int)),
    "stream_write": (c_ssize_t, _H, c_void_p, c_size_t, c_int),
    "theory_raw": (c_int, c_uint, c_uint, POINTER(c_double)),
    "theory_application_note": (c_int, POINTER(CLink), POINTER(CRates)),
    "theory_msc815x": (c_int, POINTER(CLink), c_uint64, c_int, POINTER(CRates)),
    "theory_pcie_bench": (c_int, POINTER(CLink), c_uint64, POINTER(CRates)),
    "theory_bound": (c_int, POINTER(CLink), c_uint64, c_uint64, c_uint, POINTER(CRates)),
}


@functools.cache
def library() -> CDLL:
    """The C library: the file that LITEPCIE_LIBRARY names, or that of the system."""
    name = os.environ.get("LITEPCIE_LIBRARY", "liblitepcie.so.0")
    try:
        found = CDLL(name)
        for function, (result, *arguments) in _FUNCTIONS.items():
            entry = getattr(found, f"litepcie_{function}")
            entry.restype, entry.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise LibraryMissing(f"{name} cannot be used ({error}); install the library of this version "
            "(make -C software/user install; ldconfig) or set LITEPCIE_LIBRARY to its path") from None
    return found


def check(result: int, device: str) -> int:
    """The result of a call, or the exception for its negative errno."""
    if result < 0:
        raise LitePCIeError(-result, library().litepcie_strerror(result).decode(), device)
    return result


class Handle:
    """What has a handle of the library: a context manager, closed once, and an error after that."""

    _close: str

    def __init__(self, device: str, opener: str, *arguments: Any) -> None:
        self.device  = device
        self._handle: c_void_p | None = None
        handle = c_void_p()
        check(getattr(library(), f"litepcie_{opener}")(byref(handle), *arguments), device)
        self._handle = handle

    def _call(self, function: str, *arguments: Any) -> int:
        if self._handle is None:
            raise ValueError(f"{self.device} is closed")
        return check(getattr(library(), f"litepcie_{function}")(self._handle, *arguments), self.device)

    def close(self) -> None:
        """Closes it. A second call does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            check(getattr(library(), f"litepcie_{self._close}")(handle) or 0, self.device)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            try:
                self.close()
            except OSError:
                pass


def direction_number(direction: str) -> int:
    if direction not in DIRECTIONS:
        raise ValueError(f"direction {direction!r} is not supported; choose 'reader' or 'writer'")
    return DIRECTIONS[direction]


def milliseconds(timeout: float | None) -> int:
    """Seconds as C has them: -1 for ever."""
    return -1 if timeout is None else max(0, min(round(timeout * 1000), 2**31 - 1))

# Memory of the program as an address and a length, without a copy ---------------------------------


def bytes_of(buffer: Any, writable: bool = False) -> numpy.ndarray:
    """The memory of any object with the buffer protocol (NumPy arrays, bytes, mmap), as an array of bytes."""
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise ValueError("the buffer is not contiguous; give a contiguous array (numpy.ascontiguousarray copies it)")
    if writable and view.readonly:
        raise ValueError("the buffer is read-only; give one that can be written, such as a numpy array or a bytearray")
    if not view.nbytes:
        return numpy.empty(0, numpy.uint8)
    return numpy.frombuffer(view.cast("B"), numpy.uint8)


def as_samples(data: numpy.ndarray, dtype: Any, what: str) -> numpy.ndarray:
    """The bytes of an array as samples, without a copy. Raises ValueError if a part of a sample is left."""
    kind = numpy.dtype(dtype)
    if data.nbytes % kind.itemsize:
        raise ValueError(f"{what} has {data.nbytes} bytes, which is no whole number of samples of {kind.itemsize} "
            f"bytes ({kind})")
    return data.view(kind)
