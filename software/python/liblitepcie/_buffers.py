#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Memory of the program as an address and a length, without a copy."""

from __future__ import annotations

from typing import Any

import numpy


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
