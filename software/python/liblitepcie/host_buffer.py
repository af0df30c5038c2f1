#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Buffers in host memory that the user's logic on the card reads and writes by itself."""

from __future__ import annotations

import weakref

from ctypes import byref
from typing import TYPE_CHECKING

import numpy

from liblitepcie._library import CHostBuffer

if TYPE_CHECKING:
    from liblitepcie.card import Card

READ, WRITE = 1, 2  # LITEPCIE_HOSTBUF_*: what the card may do.


class _Mapping:
    """The mapped bytes, for NumPy: every array of them keeps a reference to this object."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": "|u1", "data": (address, False)}


class HostBuffer:
    """A buffer of which the user's logic knows the address: ``data`` is its array of bytes, without a copy.

    ``card_address`` is the byte address at the logic's port, to be written into a register of the logic. Close the
    buffer before its card; a context manager does.
    """

    def __init__(self, card: Card, size: int, read: bool = True, write: bool = True) -> None:
        self._card = card
        self._raw  = CHostBuffer()
        self._open = False
        if size < 0:
            raise ValueError(f"size {size} is not supported; give the number of bytes")
        card._call("hostbuf_create", size, READ*read | WRITE*write, byref(self._raw))
        self._open    = True
        mapping       = _Mapping(self._raw.data, self._raw.bytes)
        self._mapping = weakref.ref(mapping)
        self.data: numpy.ndarray | None = numpy.asarray(mapping)

    @property
    def card_address(self) -> int:
        return self._raw.card_address

    def __len__(self) -> int:
        return self._raw.bytes

    def close(self) -> None:
        """Takes the buffer from the card and frees it. A second call does nothing.

        Raises ``BufferError`` while other arrays of its bytes exist: their memory would be gone.
        """
        if not self._open:
            return
        data, self.data = self.data, None
        del data
        mapping = self._mapping()
        if mapping is not None:
            self.data = numpy.asarray(mapping)
            raise BufferError("arrays of the buffer's bytes are in use; delete them before it is closed")
        self._open = False
        self._card._call("hostbuf_destroy", byref(self._raw))

    def __enter__(self) -> HostBuffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
