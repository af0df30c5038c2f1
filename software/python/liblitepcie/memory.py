#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The card's memory: slices, and transfers to and from memory of the program without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from liblitepcie._library import bytes_of

if TYPE_CHECKING:
    from liblitepcie.card import Card


class Memory:
    """The memory of a card, by DMA: ``memory[a:b]`` reads, ``memory[a:b] = data`` writes, offsets are in bytes."""

    def __init__(self, card: Card) -> None:
        self._card  = card
        self._bytes = card.info.memory_bytes

    def __len__(self) -> int:
        return self._bytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        """All bytes, by one transfer: numpy.asarray(card.memory)."""
        if copy is False:
            raise ValueError("the card's memory cannot be an array without a copy")
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)

    def _range(self, key: slice | int) -> tuple[int, int]:
        """First byte and number of bytes. A slice ends at the end of the memory, as those of lists do."""
        if isinstance(key, slice):
            first, last, step = key.indices(self._bytes)
            if step != 1:
                raise ValueError(f"step {step} is not supported; leave it out")
            return first, max(0, last - first)
        first = key + self._bytes if key < 0 else key
        if not 0 <= first < self._bytes:
            raise IndexError(f"offset {key} is outside the card's memory, which has {self._bytes} bytes")
        return first, 1

    def __getitem__(self, key: slice | int) -> Any:
        """A new array of bytes; of a single offset, its byte."""
        first, count = self._range(key)
        data = numpy.empty(count, numpy.uint8)
        self.read_into(data, first)
        return data if isinstance(key, slice) else int(data[0])

    def __setitem__(self, key: slice | int, data: Any) -> None:
        """Writes as many bytes as the slice has, from an object with the buffer protocol."""
        first, count = self._range(key)
        source = bytes_of(data if isinstance(key, slice) else bytes([data]))
        if source.nbytes != count:
            raise ValueError(f"{source.nbytes} bytes do not fit a slice of {count}; give as many as the slice has")
        self.write(source, first)

    def read(self, count: int, offset: int = 0, dtype: Any = numpy.uint8) -> numpy.ndarray:
        """``count`` elements of ``dtype`` from ``offset`` (bytes), as a new array."""
        data = numpy.empty(count, dtype)
        self.read_into(data, offset)
        return data

    def read_into(self, buffer: Any, offset: int = 0) -> None:
        """Fills a writable buffer from ``offset``. The card writes into the buffer; nothing is copied."""
        target = bytes_of(buffer, writable=True)
        self._check(offset, target.nbytes)
        self._card._call("pread", target.ctypes.data, target.nbytes, offset)

    def write(self, buffer: Any, offset: int = 0) -> None:
        """Writes a buffer at ``offset``. The card reads from the buffer; nothing is copied."""
        source = bytes_of(buffer)
        self._check(offset, source.nbytes)
        self._card._call("pwrite", source.ctypes.data, source.nbytes, offset)

    def _check(self, offset: int, count: int) -> None:
        if offset < 0 or offset + count > self._bytes:
            raise IndexError(f"bytes {offset} to {offset + count - 1} are not inside the card's memory, which has "
                f"{self._bytes} bytes")
