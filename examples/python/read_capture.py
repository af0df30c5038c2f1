#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Reads a capture of liblitepcie.capture by pyarrow alone, from a Parquet file or from its server.

    read_capture.py FILE.parquet | HOST:PORT NAME

Prints for each second of the capture how many packets and bytes came.
"""

import sys

import pyarrow
import pyarrow.compute
import pyarrow.flight
import pyarrow.parquet


def main():
    try:
        if len(sys.argv) == 2:
            with open(sys.argv[1], "rb") as file:
                table = pyarrow.parquet.read_table(file)
        elif len(sys.argv) == 3:
            client = pyarrow.flight.connect(f"grpc+tcp://{sys.argv[1]}")
            table  = client.do_get(pyarrow.flight.Ticket(sys.argv[2].encode())).read_all()
        else:
            sys.exit("usage: read_capture.py FILE.parquet | HOST:PORT NAME")
    except (OSError, pyarrow.ArrowException) as error:
        sys.exit(str(error).split(". gRPC client")[0])
    seconds = pyarrow.compute.floor_temporal(table["time"], unit="second")
    pieces  = pyarrow.table({"second": seconds, "packets": pyarrow.compute.invert(table["more"]).cast("int64"),
        "bytes": pyarrow.compute.binary_length(table["data"])})
    rows = pieces.group_by("second", use_threads=False).aggregate([("packets", "sum"), ("bytes", "sum")])
    for row in rows.to_pylist():
        print(f"{row['second']:%H:%M:%S} {row['packets_sum']:8} packets {row['bytes_sum']:12} bytes")


if __name__ == "__main__":
    main()
