#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Registers of the user's logic by the names that LiteX gave them: ``registers.core_operand = 5``."""

from __future__ import annotations

import json
import re

from ctypes import c_uint32
from pathlib import Path
from typing import Any

from liblitepcie._library import Handle
from liblitepcie.errors   import WrongRegister

# Registers of the card itself, with offsets in BAR0: only the driver may write them.
_PINNED = re.compile(r"(identity|tlp|reader\d+|writer\d+|interrupts|msix)_|"
    r"host_(count|limit|base_lo|base_hi|size|set|clear|valid|busy|errors?)$")


class Register:
    """A register: ``value`` reads and writes it. Registers of more than 32 bits are several words, highest first."""

    def __init__(self, registers: Registers, name: str, address: int, words: int, writable: bool) -> None:
        self.name     = name
        self.address  = address
        self.words    = words
        self.writable = writable
        self._all     = registers

    @property
    def value(self) -> int:
        number = 0
        for word in self._all.read(self.address, self.words):
            number = number << 32 | word
        return number

    @value.setter
    def value(self, value: int) -> None:
        if not self.writable:
            raise WrongRegister(f"{self.name} can only be read")
        if not 0 <= value < 1 << 32 * self.words:
            raise ValueError(f"{self.name}: {value} does not fit; the most is {(1 << 32 * self.words) - 1:#x}")
        self._all.write(self.address, [value >> 32 * n & 0xffff_ffff for n in reversed(range(self.words))])

    def __repr__(self) -> str:
        return f"Register({self.name!r}, {self.address:#x}, {'rw' if self.writable else 'ro'})"


class Registers(Handle):
    """The registers of a ``csr.json``, as attributes (numbers) and by ``registers["name"]`` (`Register`)."""

    _close = "user_close"

    def __init__(self, device: str, csr_json: str | Path) -> None:
        found = json.loads(Path(csr_json).read_text(encoding="utf-8"))
        if found.get("constants", {}).get("config_csr_data_width", 32) != 32:
            raise ValueError(f"{csr_json}: CSRs of another width than 32 bits are not supported")
        super().__init__(device, "user_open", device.encode())
        self._registers = {name: Register(self, name, csr["addr"], csr["size"], csr["type"] == "rw")
            for name, csr in found["csr_registers"].items() if not _PINNED.match(name)}

    def read(self, address: int, words: int = 1) -> list[int]:
        """Words at an address of the SoC's bus."""
        data = (c_uint32 * words)()
        self._call("user_read", address, data, words)
        return list(data)

    def write(self, address: int, words: list[int]) -> None:
        """Writes words to consecutive addresses of the SoC's bus."""
        self._call("user_write", address, (c_uint32 * len(words))(*words), len(words))

    def __iter__(self) -> Any:
        return iter(self._registers.values())

    def __getitem__(self, name: str) -> Register:
        if name not in self._registers:
            why = "is a register of the card, which only the driver may write" if _PINNED.match(name) else \
                "is no register of the user's logic in csr.json"
            raise WrongRegister(f"{name} {why}")
        return self._registers[name]

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name].value
        except WrongRegister as error:
            raise AttributeError(str(error)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name == "device":
            super().__setattr__(name, value)
        else:
            self[name].value = value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._registers]
