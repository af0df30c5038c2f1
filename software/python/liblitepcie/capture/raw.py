#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A capture as raw files: FILE has the bytes, FILE.packets an array of `PIECE`, FILE.json the summary.

The bytes are written before their pieces, and the summary at the end: a capture that was killed can still be read.
`open_file` and `load` take the file of any capture.
"""

from __future__ import annotations

import json
import os

from collections.abc import Iterator
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import Any

import numpy

from liblitepcie._library import as_samples
from liblitepcie.capture.block import (BLOCK_BYTES, PIECE, PIECE_BYTES, Block, CaptureError, Sink, Source, Stopped,
    Summary)

NOT_ENDED = "the capture was not ended: FILE.json is missing"


def names(path: Path) -> tuple[Path, Path, Path]:
    """The three files."""
    return path, Path(f"{path}.packets"), Path(f"{path}.json")


class RawSource(Source):
    """Reads a capture, or any file, which is then cut into packets of ``packet_bytes``."""

    def __init__(self, path: Path, packet_bytes: int = 65536) -> None:
        data, packets, summary = names(path)
        self._file = open(data, "rb")
        size = os.fstat(self._file.fileno()).st_size
        try:
            if packets.exists():
                self._pieces = numpy.fromfile(packets, PIECE)
                self.summary = self._summary(summary)
            else:
                self._pieces = _cut(size, packet_bytes)
                self.summary = Summary(source=str(path))
        except BaseException:
            self._file.close()
            raise
        if int(self._pieces["bytes"].sum(dtype=numpy.uint64)) > size:
            self._file.close()
            raise CaptureError(f"{path}: has {size} bytes, fewer than {packets} says; the capture is damaged")

    @staticmethod
    def _summary(path: Path) -> Summary:
        try:
            return Summary.of(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return Summary(error=NOT_ENDED.replace("FILE.json", str(path)))
        except (ValueError, TypeError, AttributeError) as error:
            raise CaptureError(f"{path}: is no summary of a capture: {error}") from None

    def blocks(self, stopped: Stopped) -> Iterator[Block]:
        first = 0
        ends  = numpy.cumsum(self._pieces["bytes"], dtype=numpy.uint64)
        while first < len(self._pieces) and not stopped():
            before = int(ends[first - 1]) if first else 0
            last   = max(int(numpy.searchsorted(ends, before + BLOCK_BYTES, side="right")), first + 1)
            count  = int(ends[last - 1]) - before
            data   = numpy.fromfile(self._file, numpy.uint8, count)
            if len(data) < count:
                raise CaptureError(f"{self._file.name}: became shorter while it was read")
            yield Block(data, self._pieces[first:last])
            first = last

    def close(self) -> None:
        self._file.close()


def _cut(size: int, packet_bytes: int) -> numpy.ndarray:
    """Pieces of packets with ``packet_bytes`` each, the last one shorter."""
    ends   = numpy.unique(numpy.concatenate([numpy.arange(0, size, step, dtype=numpy.uint64)
        for step in {packet_bytes, min(packet_bytes, PIECE_BYTES)}] + [numpy.array([size], numpy.uint64)]))[1:]
    pieces = numpy.zeros(len(ends), PIECE)
    pieces["bytes"] = numpy.diff(ends, prepend=numpy.uint64(0))
    pieces["more"]  = (ends % packet_bytes != 0) & (ends != size)
    return pieces


class RawSink(Sink):
    """Writes a capture. After an error, such as a full disk, what was written before is a capture."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._summary = names(path)[2]
        for old in names(path):
            old.unlink(missing_ok=True)
        self._data, self._packets = open(path, "wb", 0), open(names(path)[1], "wb", 0)

    def write(self, block: Block, stopped: Stopped) -> None:
        write_all(self._data, block.data)
        write_all(self._packets, block.pieces.view(numpy.uint8))

    def finish(self, summary: Summary, stopped: Stopped) -> None:
        self._summary.write_text(json.dumps(asdict(summary), indent=1) + "\n", encoding="utf-8")

    def close(self) -> None:
        self._data.close()
        self._packets.close()


def write_all(file: FileIO, data: numpy.ndarray) -> None:
    """All bytes of an array, or none."""
    at, begin = 0, file.tell()
    try:
        while at < data.nbytes:
            at += file.write(memoryview(data)[at:])
    except OSError as error:
        file.truncate(begin)
        raise OSError(error.errno, error.strerror, file.name) from None

# The file of any capture --------------------------------------------------------------------------


def open_file(path: Path, packet_bytes: int = 65536) -> Source:
    if path.suffix != ".parquet":
        return RawSource(path, packet_bytes)
    from liblitepcie.capture.table import ParquetSource
    return ParquetSource(path)


def load(path: str | Path, dtype: Any = None) -> numpy.ndarray:
    """All data of a capture, or of any file, as one array of samples.

    Without ``dtype``, they are of the type that the capture names (``record --meta dtype="<i2"``), or bytes. Packets
    follow each other without a gap: lost data is not in the array. The array has all bytes in memory; Parquet files
    need pyarrow. Raises ValueError if a part of a sample is left, OSError, and CaptureError for a damaged capture.
    """
    source = open_file(Path(path))
    try:
        dtype  = source.summary.meta.get("dtype", "u1") if dtype is None else dtype
        blocks = [block.data for block in source.blocks(lambda: False)]
    finally:
        source.close()
    return as_samples(numpy.concatenate([numpy.empty(0, numpy.uint8), *blocks]), dtype, str(path))
