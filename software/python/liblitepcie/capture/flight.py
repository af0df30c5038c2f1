#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Captures over Arrow Flight: a server of files or of a card's stream, and what a server has as a source.

A batch has the losses up to its end as JSON in its metadata, those of a file from its first batch on.
"""

from __future__ import annotations

import json
import os
import re

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

# gRPC writes what it meets to the standard error, beside the exceptions. It looks when it is loaded.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import numpy
import pyarrow
import pyarrow.flight as flight

from liblitepcie.capture.block    import PIECE, Block, CaptureError, Source, Stopped, Summary
from liblitepcie.capture.table    import SCHEMA, to_batch, to_block
from liblitepcie.capture.transfer import explain

PORT = 47470


def split(text: str) -> tuple[str, int]:
    """Host and port of HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT."""
    found = re.fullmatch(r"(\[[^]]*\]|[^:/]+)(?::(\d+))?", text)
    if not found or int(found[2] or 0) > 65535:
        raise CaptureError(f"{text!r} is no address; give HOST, HOST:PORT or [IPV6]:PORT", 2)
    return found[1], PORT if found[2] is None else int(found[2])


def address(text: str) -> str:
    """Its URI."""
    return "grpc+tcp://{}:{}".format(*split(text))


class Server(flight.FlightServerBase):
    """Serves what ``captures`` has: by name, a function that opens a source. Clients can only read."""

    def __init__(self, listen: str, captures: dict[str, Callable[[], Source]], stopped: Stopped) -> None:
        super().__init__(address(listen))
        self._captures, self._stopped = captures, stopped

    def _info(self, name: str) -> flight.FlightInfo:
        return flight.FlightInfo(SCHEMA, flight.FlightDescriptor.for_path(name),
            [flight.FlightEndpoint(name.encode(), [])], -1, -1)

    def list_flights(self, context: Any, criteria: bytes) -> Iterator[flight.FlightInfo]:
        for name in self._captures:
            yield self._info(name)

    def _known(self, name: str) -> str:
        if name not in self._captures:
            raise flight.FlightServerError(f"no capture {name!r}; this server has {', '.join(self._captures)}")
        return name

    def get_flight_info(self, context: Any, descriptor: flight.FlightDescriptor) -> flight.FlightInfo:
        return self._info(self._known(b"/".join(descriptor.path or []).decode(errors="replace")))

    def do_get(self, context: Any, ticket: flight.Ticket) -> flight.GeneratorStream:
        name = self._known(ticket.ticket.decode(errors="replace"))
        try:
            source = self._captures[name]()
        except (CaptureError, OSError) as error:
            raise flight.FlightServerError(explain(error)) from None
        return flight.GeneratorStream(SCHEMA, self._batches(source,
            lambda: self._stopped() or context.is_cancelled()))

    @staticmethod
    def _batches(source: Source, stopped: Stopped) -> Iterator[tuple[pyarrow.RecordBatch, bytes]]:
        packet = 0
        try:
            for block in source.blocks(stopped):
                yield to_batch(block, packet), json.dumps(asdict(source.summary)).encode()
                packet += block.packets
        except (CaptureError, OSError) as error:
            source.summary.error = explain(error)
        finally:
            source.close()
        # The last losses, and what ended the capture, are known after the last block.
        yield to_batch(Block(numpy.empty(0, numpy.uint8), numpy.empty(0, PIECE)), packet), json.dumps(
            asdict(source.summary)).encode()


class FlightSource(Source):
    """A capture of a server. Without a name, the only one it has."""

    def __init__(self, server: str, name: str | None = None) -> None:
        self._uri = address(server)
        try:
            self._client = flight.FlightClient(self._uri)
            if name is None:
                names = [b"/".join(one.descriptor.path).decode() for one in self._client.list_flights()]
                if len(names) != 1:
                    raise CaptureError(f"{self._uri}: has {len(names)} captures; choose one of {', '.join(names)}")
                name = names[0]
            self._reader = self._client.do_get(flight.Ticket(name.encode()))
        except (pyarrow.ArrowException, flight.FlightError, OSError) as error:
            raise CaptureError(f"{self._uri}: {_first_line(error)}") from None
        self.summary = Summary(source=f"{self._uri} {name}")

    def blocks(self, stopped: Stopped) -> Iterator[Block]:
        try:
            while not stopped():
                try:
                    chunk = self._reader.read_chunk()
                except StopIteration:
                    return
                if chunk.app_metadata is not None:
                    self.summary = Summary.of(json.loads(chunk.app_metadata.to_pybytes()))
                if chunk.data.num_rows:
                    yield to_block(chunk.data)
        except (pyarrow.ArrowException, flight.FlightError, OSError, ValueError) as error:
            if not stopped():
                raise CaptureError(f"{self._uri}: {_first_line(error)}") from None

    def cancel(self) -> None:
        """Ends a call that waits for the server."""
        self._reader.cancel()

    def close(self) -> None:
        self._client.close()


def _first_line(error: BaseException) -> str:
    """Without what gRPC adds to the message."""
    text = str(error).splitlines()[0]
    return text.split(". Detail:")[0].split(". gRPC client debug context:")[0].split(". Client context:")[0]
