#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A capture's file as a source, and as an array of samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy

from liblitepcie._buffers      import as_samples
from liblitepcie.capture.block import Source
from liblitepcie.capture.raw   import RawSource


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
