#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Kinds of values in a configuration. Each kind defines the allowed values.

``parse(value)`` returns the value for the core or raises ``ValueError``; its message follows the name of the key.
``allowed`` describes the allowed values for tables. ``default`` is the value of an absent key.
"""

import re

from dataclasses import dataclass

from litex.gen.fhdl.verilog import _ieee_1800_2017_verilog_reserved_keywords as VERILOG_WORDS

from litepcie_soc.common.sizes import parse_size

# Helpers ------------------------------------------------------------------------------------------

SHOWN = 40  # A message repeats at most so many characters of a wrong value.

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def shown(value):
    """Returns a wrong value as text on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN - 3] + "..."


def whole(value):
    """Returns ``value`` as a whole number, or None if it is not one. YAML 1.1 reads 125e6 as text."""
    if isinstance(value, str):
        try:
            return int(value, 0)
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def size_text(size):
    """Returns bytes as text in the largest unit that gives a whole number."""
    for unit, factor in reversed(UNITS.items()):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return str(size)

# Kinds --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """One of a few numbers or words."""
    default: object
    choices: tuple

    @property
    def allowed(self):
        return ", ".join(map(str, self.choices))

    def parse(self, value):
        number = whole(value)
        found  = value if number is None else number
        if isinstance(value, bool) or found not in self.choices:
            raise ValueError(f"{shown(value)} is not one of {self.allowed}")
        return found


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``. With a default of None, other keys determine the value."""
    default: object
    low:  int
    high: int
    hex_digits: int = 0  # Digits in tables and messages; 0: decimal.

    def text(self, number):
        return f"0x{number:0{self.hex_digits}x}" if self.hex_digits else str(number)

    @property
    def allowed(self):
        return f"{self.text(self.low)} to {self.text(self.high)}"

    def parse(self, value):
        number = whole(value)
        if number is None or not self.low <= number <= self.high:
            raise ValueError(f"{shown(value)} is not a whole number from {self.allowed}")
        return number


@dataclass(frozen=True)
class Size:
    """A size in bytes, a power of two: as 65536, 64K, 64KiB or 64 KiB."""
    default: int
    low:  int
    high: int

    @property
    def allowed(self):
        return f"a power of two, {size_text(self.low)} to {size_text(self.high)}"

    def parse(self, value):
        number = whole(value)
        if number is None and isinstance(value, str):
            number = parse_size(value)
        if number is None or not self.low <= number <= self.high or number & (number - 1):
            raise ValueError(f"{shown(value)} is not a power of two of bytes from {size_text(self.low)} to "
                f"{size_text(self.high)}")
        return number


@dataclass(frozen=True)
class Listed:
    """A whole number from 0 to ``high``, or a list of at least one mapping."""
    default: int
    high: int

    @property
    def allowed(self):
        return f"0 to {self.high}, or a list of streams"

    def parse(self, value):
        if isinstance(value, list) and value:
            return value
        number = whole(value)
        if number is None or not 0 <= number <= self.high:
            raise ValueError(f"{shown(value)} is not a whole number from 0 to {self.high} or a list of streams")
        return number


@dataclass(frozen=True)
class Flag:
    """True or false."""
    default: bool = False
    allowed: str  = "true, false"

    def parse(self, value):
        if not isinstance(value, bool):
            raise ValueError(f"{shown(value)} is not one of {self.allowed}")
        return value


@dataclass(frozen=True)
class Name:
    """A Verilog identifier, which is also a file name."""
    default: str
    longest: int = 40

    @property
    def allowed(self):
        return f"a Verilog identifier of up to {self.longest} letters, digits and _"

    def parse(self, value):
        if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value) or (
            len(value) > self.longest):
            raise ValueError(f"{shown(value)} is not {self.allowed}")
        if value in VERILOG_WORDS:
            raise ValueError(f"{shown(value)} is a reserved word of Verilog")
        return value
