#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A card: how it is found, what it is, its counters and errors; its memory, streams, interrupts and registers."""

from __future__ import annotations

import re

from ctypes import byref, c_uint32, sizeof
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from liblitepcie._library  import CCounters, CErrors, CInfo, Handle, direction_number, library
from liblitepcie.errors    import LitePCIeError
from liblitepcie.host_buffer import HostBuffer
from liblitepcie.interrupt import Interrupt
from liblitepcie.memory    import Memory
from liblitepcie.queue     import Queue
from liblitepcie.registers import Registers
from liblitepcie.stream    import Stream

_CLASS   = "/sys/class/litepcie"
_ADDRESS = re.compile(r"(?:([0-9a-fA-F]{4}):)?([0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])")


@dataclass(frozen=True)
class CardEntry:
    """A card that the driver has: its device file, and its PCI address."""
    device: str
    bus_address: str


def cards() -> list[CardEntry]:
    """All cards of the driver, by number. Opens none."""
    names = [path for path in Path(_CLASS).glob("litepcie*") if path.name[8:].isdigit()]
    return [CardEntry(f"/dev/{path.name}", (path / "device").resolve().name)
        for path in sorted(names, key=lambda path: int(path.name[8:]))]


def device_of(card: str | int | Path) -> str:
    """The device file of a card that is given by number, name, path or PCI address."""
    text = str(card)
    if text.isdigit():
        return f"/dev/litepcie{text}"
    if re.fullmatch(r"litepcie\d+", text):
        return f"/dev/{text}"
    found = _ADDRESS.fullmatch(text)
    if found:
        address = f"{found[1] or '0000'}:{found[2]}".lower()
        for entry in cards():
            if entry.bus_address == address:
                return entry.device
        raise LitePCIeError(2, "no card of the driver has this PCI address; cards() lists them", address)
    if "/" in text:
        return text
    raise ValueError(f"{text!r} is no card; give a number, a name such as 'litepcie0', a path, or a PCI address")


@dataclass(frozen=True)
class Info:
    """What the card is, and its link now. Sizes in bytes, clock in hertz, ``gateware_version`` as "major.minor"."""
    target: str
    bus_address: str
    gateware_version: str
    capabilities: tuple[str, ...]
    channels: int
    streams: int
    memory_bytes: int
    window_bytes: int
    clock_hz: int
    data_width_bits: int
    built_gen: int
    built_lanes: int
    link_gen: int
    link_lanes: int
    max_payload_bytes: int
    max_read_request_bytes: int
    tags: int


@dataclass(frozen=True)
class Counters:
    """Counters of an engine since its last reset. Those of 32 bits wrap: ``since`` takes care of that."""
    active_cycles: int
    bytes: int
    descriptors: int
    tlps: int
    wait_descriptor: int
    wait_tag: int
    wait_link: int
    wait_data: int

    def since(self, before: Counters) -> Counters:
        """What was counted after ``before``."""
        return Counters(**{name: (value - getattr(before, name)) % (1 << (64 if name in ("active_cycles", "bytes")
            else 32)) for name, value in vars(self).items()})


@dataclass(frozen=True)
class Errors:
    """Errors that the transaction layer has counted since the reset of the card. Each stops at 65535."""
    unsupported_request: int
    completer_abort: int
    poisoned: int
    unexpected: int
    timeout: int
    bad_length: int
    refused: int


_Kind = TypeVar("_Kind")


def _fields(kind: type[_Kind], struct: Any) -> _Kind:
    return kind(**{field.name: getattr(struct, field.name) for field in fields(kind)})  # type: ignore[arg-type]


class Card(Handle):
    """An open card, given by number, name ("litepcie0"), path or PCI address. Threads may share it."""

    _close = "close"

    def __init__(self, card: str | int | Path = 0) -> None:
        device = device_of(card)
        super().__init__(device, "open", device.encode())

    def __repr__(self) -> str:
        return f"Card({self.device!r})"

    @property
    def fd(self) -> int:
        """The file descriptor, which the card owns: for mmap and other system calls."""
        return self._call("fd")

    def cancel(self) -> None:
        """Cancels the transfers that this process has started and the card does not have yet, of all queues and
        threads. They end with the error ECANCELED.
        """
        self._call("cancel")

    @property
    def info(self) -> Info:
        raw = CInfo()
        self._call("get_info", byref(raw))
        values = {name: getattr(raw, name) for name in Info.__dataclass_fields__}
        names  = (library().litepcie_capability_name(bit) for bit in range(32) if raw.capabilities >> bit & 1)
        return Info(**values | {"target": raw.target.decode(), "bus_address": raw.bus_address.decode(),
            "gateware_version": f"{raw.gateware_version >> 16}.{raw.gateware_version & 0xffff}",
            "capabilities": tuple(name.decode() for name in names if name)})

    @cached_property
    def memory(self) -> Memory:
        return Memory(self)

    def counters(self, direction: str, channel: int = 0) -> Counters:
        """Counters of an engine: ``direction`` is "reader" or "writer"."""
        raw = CCounters()
        self._call("get_counters", channel, direction_number(direction), byref(raw))
        return _fields(Counters, raw)

    def errors(self) -> Errors:
        raw = CErrors(size=sizeof(CErrors))
        self._call("get_errors", byref(raw))
        return _fields(Errors, raw)

    def reset_engine(self, direction: str, channel: int = 0) -> None:
        """Resets an engine, which then starts its transfers again. Needs CAP_SYS_ADMIN."""
        self._call("reset_engine", channel, direction_number(direction))

    def scratch(self, value: int) -> int:
        """Writes the scratch register and returns what the card then reads."""
        back = c_uint32()
        self._call("scratch", value, byref(back))
        return back.value

    def stream(self, number: int, mode: str = "rw", **settings: Any) -> Stream:
        """Opens a stream: see `Stream`."""
        return Stream(f"{self.device}_stream{number}", mode, **settings)

    def interrupt(self, name: str) -> Interrupt:
        """Opens the interrupt that the gateware calls ``name``."""
        return Interrupt(self.device, name)

    def registers(self, csr_json: str | Path) -> Registers:
        """The registers of the user's logic, by their names in the ``csr.json`` of the gateware's build."""
        return Registers(f"{self.device}_user", csr_json)

    def host_buffer(self, size: int, read: bool = True, write: bool = True) -> HostBuffer:
        """A buffer of at least ``size`` bytes that the user's logic may read and write: see `HostBuffer`."""
        return HostBuffer(self, size, read, write)

    def queue(self, depth: int = 8) -> Queue:
        """A queue of asynchronous transfers; close it before the card."""
        return Queue(self, depth)
