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
import time

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet

from liblitepcie.capture.block import PIECE, Block, CaptureError, Sink, Source, Stopped, Summary, explain
from liblitepcie.capture.raw   import write_all

# A row for each piece: the number of its packet, when it was received, whether the packet goes on in the next row.
SCHEMA = pyarrow.schema([
    pyarrow.field("packet", pyarrow.uint64(),                    nullable=False),
    pyarrow.field("time",   pyarrow.timestamp("ns", tz="UTC"),   nullable=False),
    pyarrow.field("more",   pyarrow.bool_(),                     nullable=False),
    pyarrow.field("data",   pyarrow.binary(),                    nullable=False)])
KEY    = b"litepcie_capture"
MAGIC  = b"PAR1"
GROUP  = 64 << 20  # bytes of a row group
SECONDS = 60       # seconds after which a row group is written that has fewer bytes
ROWS   = 4096      # rows that are read at once

NOT_ENDED = "the capture was not ended: FILE has the groups that were complete"


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


def names(path: Path) -> tuple[Path, Path]:
    """Where a capture is while it is recorded: its row groups, and the footer of those that are complete."""
    return Path(f"{path}.part"), Path(f"{path}.part.footer")


class ParquetSource(Source):
    """Reads a Parquet file that this package has written, also one whose recorder was killed."""

    def __init__(self, path: Path) -> None:
        part, footer = names(path)
        ended  = not (part.exists() and footer.exists())
        opened = open(path if ended else part, "rb")
        try:
            self._file = pyarrow.parquet.ParquetFile(opened,
                metadata=None if ended else pyarrow.parquet.read_metadata(footer))
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
    """Writes FILE.part, which becomes FILE when it has its footer: without one, a Parquet file cannot be read.

    After each row group, FILE.part.footer is the footer of all complete groups, so that a recorder that is killed or a
    power cut loses the open group only. The offsets in a footer count from the beginning of the file. Therefore the two
    files one after another are a Parquet file, whatever FILE.part has after its last complete group.
    """

    def __init__(self, path: Path, compression: str = "zstd", meta: dict[str, str] | None = None) -> None:
        self.name = str(path)
        self._compression = compression
        self._path = path
        self._part, self._footer = names(path)
        self._groups: pyarrow.parquet.FileMetaData | None = None
        self._kept  = Summary(error=NOT_ENDED.replace("FILE", str(self._part)), meta=meta or {})
        self._open: list[tuple[pyarrow.RecordBatch, int, int]] = []  # Rows, packets and bytes of the open group.
        self._began = 0.0
        self._good  = 0  # Bytes of FILE.part up to the end of the last complete group.
        self._footer.unlink(missing_ok=True)
        self._file  = open(self._part, "wb", 0)
        try:
            self._file.write(MAGIC)
            self._good = len(MAGIC)
        except OSError as error:
            self.close()
            raise OSError(error.errno, error.strerror, str(self._part)) from None

    def write(self, block: Block, stopped: Stopped) -> None:
        if not self._open:
            self._began = time.monotonic()
        first = self._kept.packets + sum(packets for _, packets, _ in self._open)
        self._open.append((to_batch(block, first), block.packets, block.data.nbytes))
        if sum(count for *_, count in self._open) >= GROUP:
            self._end_group()
        self.idle()

    def idle(self) -> None:
        if self._open and time.monotonic() - self._began >= SECONDS:
            self._end_group()

    def _end_group(self) -> None:
        """Appends the open group, and then makes its footer the one of the file."""
        with self._whole():
            groups = [*([self._groups] if self._groups else []), self._append_rows()]
            kept   = replace(self._kept, packets=self._kept.packets + sum(packets for _, packets, _ in self._open),
                bytes=self._kept.bytes + sum(count for *_, count in self._open))
            os.fsync(self._file.fileno())
            new = Path(f"{self._footer}.new")
            with open(new, "wb") as file:
                file.write(footer(groups, kept))
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self._footer)
            sync_folder(self._path.parent)
        if self._groups:
            self._groups.append_row_groups(groups[1])
        self._groups, self._kept = groups[0], kept
        self._open, self._good   = [], self._file.tell()

    def _append_rows(self) -> pyarrow.parquet.FileMetaData:
        """Arrow writes a Parquet file from offset 0 only: each group begins in another file and goes on in this one."""
        metadata: list[pyarrow.parquet.FileMetaData] = []
        with pyarrow.OSFile(os.devnull, "wb") as sink:
            table = pyarrow.parquet.ParquetWriter(sink, SCHEMA, compression=self._compression,
                metadata_collector=metadata, write_statistics=["packet", "time"])
            try:
                os.dup2(self._file.fileno(), sink.fileno())
                table.write_table(pyarrow.Table.from_batches([rows for rows, *_ in self._open], SCHEMA))
                table.close()
            finally:
                table.is_open = False  # Otherwise Arrow closes it again after an error.
        return metadata[0]

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """After an error, the file ends after its last complete group. Arrow's errors do not have the file's name."""
        try:
            yield
        except OSError as error:
            self._file.truncate(self._good)
            self._file.seek(self._good)
            text = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(error.errno, text, str(self._part)) from None

    def finish(self, summary: Summary, stopped: Stopped) -> None:
        failed: OSError | None = None
        while self._open:
            try:
                self._end_group()
            except OSError as error:
                # A full disk may have room for half of it.
                failed = failed or error
                del self._open[len(self._open)//2:]
        if failed:
            summary = replace(summary, error=summary.error or explain(failed))
        with self._whole():
            write_all(self._file, numpy.frombuffer(footer([self._groups] if self._groups else [],
                replace(summary, packets=self._kept.packets, bytes=self._kept.bytes)), numpy.uint8))
            os.fsync(self._file.fileno())
        os.replace(self._part, self._path)
        self._footer.unlink(missing_ok=True)
        sync_folder(self._path.parent)
        if failed:
            raise failed

    def close(self) -> None:
        """What was recorded stays, also if the sink was not finished."""
        self._file.close()
        if not self._groups:
            self._part.unlink(missing_ok=True)


def footer(groups: list[pyarrow.parquet.FileMetaData], summary: Summary) -> bytes:
    """The end of a Parquet file with these row groups and this summary."""
    metadata: list[pyarrow.parquet.FileMetaData] = []
    with pyarrow.parquet.ParquetWriter(pyarrow.BufferOutputStream(), SCHEMA, metadata_collector=metadata) as table:
        table.add_key_value_metadata({KEY: json.dumps(asdict(summary)).encode()})
    for one in groups:
        metadata[0].append_row_groups(one)
    sink = pyarrow.BufferOutputStream()
    metadata[0].write_metadata_file(sink)
    return sink.getvalue().to_pybytes()


def sync_folder(path: Path) -> None:
    """Brings new names to the disk; some file systems cannot."""
    folder = os.open(path, os.O_RDONLY)
    with contextlib.suppress(OSError):
        os.fsync(folder)
    os.close(folder)
