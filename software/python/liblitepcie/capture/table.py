#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A capture as a table of Arrow, and as a Parquet file. This module and `flight` need pyarrow."""

from __future__ import annotations

import contextlib
import json
import os

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet

from liblitepcie.capture.block import PIECE, Block, CaptureError, Sink, Source, Stopped, Summary

# A row for each piece: the number of its packet, when it was received, whether the packet goes on in the next row.
SCHEMA = pyarrow.schema([
    pyarrow.field("packet", pyarrow.uint64(),                    nullable=False),
    pyarrow.field("time",   pyarrow.timestamp("ns", tz="UTC"),   nullable=False),
    pyarrow.field("more",   pyarrow.bool_(),                     nullable=False),
    pyarrow.field("data",   pyarrow.binary(),                    nullable=False)])
KEY    = b"litepcie_capture"
GROUP  = 64 << 20  # bytes of a row group
ROWS   = 4096      # rows that are read at once


def to_batch(block: Block, packet: int) -> pyarrow.RecordBatch:
    """The rows of a block whose first piece belongs to packet number ``packet``. Its bytes are not copied."""
    rows    = len(block.pieces)
    ends    = numpy.cumsum(block.pieces["bytes"], dtype=numpy.int32)
    numbers = packet + numpy.cumsum(block.pieces["more"] == 0) - (block.pieces["more"] == 0)
    offsets = numpy.concatenate([numpy.zeros(1, numpy.int32), ends])
    data    = pyarrow.Array.from_buffers(pyarrow.binary(), rows,
        [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(block.data)])
    times   = pyarrow.array(block.pieces["time_ns"].astype(numpy.int64)).cast(SCHEMA.field("time").type)
    return pyarrow.record_batch([pyarrow.array(numbers.astype(numpy.uint64)), times,
        pyarrow.array(block.pieces["more"] != 0), data], schema=SCHEMA)


def to_block(batch: pyarrow.RecordBatch) -> Block:
    """The block of a batch of rows."""
    column  = batch.column("data")
    offsets = numpy.frombuffer(column.buffers()[1], numpy.int32)[column.offset:column.offset + len(column) + 1]
    bytes_  = column.buffers()[2]
    data    = numpy.frombuffer(bytes_, numpy.uint8) if bytes_ else numpy.empty(0, numpy.uint8)
    pieces  = numpy.zeros(len(column), PIECE)
    pieces["bytes"]   = numpy.diff(offsets)
    pieces["more"]    = batch.column("more").to_numpy(zero_copy_only=False)
    pieces["time_ns"] = batch.column("time").cast(pyarrow.int64()).to_numpy()
    return Block(data[offsets[0]:offsets[-1]], pieces)


class ParquetSource(Source):
    """Reads a Parquet file that this package has written."""

    def __init__(self, path: Path) -> None:
        opened = open(path, "rb")
        try:
            self._file = pyarrow.parquet.ParquetFile(opened)
        except pyarrow.ArrowInvalid as error:
            opened.close()
            raise CaptureError(f"{path}: is no Parquet file: {str(error).splitlines()[0]}") from None
        try:
            if not self._file.schema_arrow.equals(SCHEMA):
                raise ValueError("it has other columns")
            self.summary = Summary.of(json.loads((self._file.schema_arrow.metadata or {})
                .get(KEY) or self._file.metadata.metadata[KEY]))
        except (KeyError, ValueError, TypeError) as error:
            self._file.close(force=True)
            raise CaptureError(f"{path}: is no capture of this program: {explain_key(error)}") from None

    def blocks(self, stopped: Stopped) -> Iterator[Block]:
        for batch in self._file.iter_batches(ROWS):
            if stopped():
                return
            if batch.num_rows:
                yield to_block(batch)

    def close(self) -> None:
        self._file.close(force=True)


def explain_key(error: Exception) -> str:
    return "it has no summary" if isinstance(error, KeyError) else str(error)


class ParquetSink(Sink):
    """Writes FILE.part, which becomes FILE when it is complete: without its end, a Parquet file cannot be read."""

    def __init__(self, path: Path) -> None:
        self.name   = str(path)
        self._path  = path
        self._part  = Path(f"{path}.part")
        self._file  = open(self._part, "wb")
        self._table = pyarrow.parquet.ParquetWriter(self._file, SCHEMA, compression="zstd")
        self._packet, self._bytes = 0, 0
        self._batches: list[pyarrow.RecordBatch] = []
        self._open  = True

    def write(self, block: Block, stopped: Stopped) -> None:
        self._batches.append(to_batch(block, self._packet))
        self._packet += block.packets
        self._bytes  += block.data.nbytes
        if self._bytes >= GROUP:
            with self._named():
                self._write_group()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Errors get the name of the file, which Arrow leaves out."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(self._part)) from None

    def _write_group(self) -> None:
        if self._batches:
            self._table.write_table(pyarrow.Table.from_batches(self._batches, SCHEMA))
        self._batches, self._bytes = [], 0

    def finish(self, summary: Summary, stopped: Stopped) -> None:
        with self._named():
            self._write_group()
            self._table.add_key_value_metadata({KEY: json.dumps(asdict(summary)).encode()})
            self._close_table()
            self._file.close()
        os.replace(self._part, self._path)

    def _close_table(self) -> None:
        if self._open:
            self._open = False
            self._table.close()

    def close(self) -> None:
        # The error that ended the capture has been raised already.
        with contextlib.suppress(OSError):
            self._close_table()
        with contextlib.suppress(OSError):
            self._file.close()
        self._part.unlink(missing_ok=True)
