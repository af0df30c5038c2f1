#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The configuration of a standalone core: its keys and their reading from YAML."""

import difflib
import re

from dataclasses import dataclass
from types import SimpleNamespace

import yaml

from litex.gen.fhdl.verilog import _ieee_1800_2017_verilog_reserved_keywords as VERILOG_WORDS

from litepcie_soc.build.command_line import parse_size
from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import CLOCKS, LANE_RATES, default_clock
from litepcie_soc.common.pcie import DATA_WIDTHS
from litepcie_soc.phy.hard_block import BLOCKS, blocks_of_bytes, blocks_of_space
from litepcie_soc.soc.host_buffers import LIMIT_MAX, PAGE_BITS
from litepcie_soc.soc.link import PCI_ID, TAGS
from litepcie_soc.soc.user_bus import SIZE_MIN, TIMEOUT_US
from litepcie_soc.stream_dma.stream import DEPTH_MAX, WIDTHS, Stream, streams_of

# Kinds of Values ----------------------------------------------------------------------------------
# Kinds of values in a configuration. Each kind defines the allowed values.
#
# ``parse(value)`` returns the value for the core or raises ``ValueError``; its message follows the name of the key.
# ``allowed`` describes the allowed values for tables. ``default`` is the value of an absent key.

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

# Configuration ------------------------------------------------------------------------------------

MEMORY_MAX = 1 << 32  # Bytes: a descriptor has 32 bits of endpoint address.

OTHER = "other"  # A PHY whose completion buffer hard_block.py does not know.

# {key: (kind of value, meaning)}, or {section: keys}.
KEYS = {
    "name":       (Name("litepcie_core"), "name of the module and its files"),
    "data_width": (Choice(128, DATA_WIDTHS), "width of the data path in bits"),
    "clk_freq":   (Whole(None, 1_000_000, 1_000_000_000),
        f"Hz of `sys_clk`; default: the slowest of {CLOCKS[0] / 1e6:g} and {CLOCKS[1] / 1e6:g} MHz that keeps up "
        "with the link"),
    "tags":       (Choice(64, TAGS), "outstanding read requests; more than 32 need Extended Tags"),
    "channels":   (Whole(1, 0, abi.MAX_CHANNELS), "memory channels, each with a reader and a writer; 0: only streams"),
    "streams":    (Listed(0, abi.MAX_CHANNELS), "stream channels, each with a source and a sink; in a list, each with "
        "keys of its own"),
    "pcie": {
        "gen":   (Choice(2, tuple(LANE_RATES)), "generation of the link"),
        "lanes": (Choice(4, (1, 2, 4, 8, 16)), "lanes of the link"),
        **{name: (Whole(value, 0, 0xffffff if name == "class_code" else 0xffff, 6 if name == "class_code" else 4),
            "value that the PHY has in configuration space, for `soc.h`") for name, value in PCI_ID.items()},
    },
    "phy": {
        "block":      (Choice("7-series", (*BLOCKS, OTHER)), "hard block of the PHY, whose completion buffer limits "
            "outstanding reads; `7-series-bma`: with its option Buf_Opt_BMA, as LitePCIe makes it"),
        "shape":      (Choice(None, ("shared", "split")), "one pair of TLP streams, or separate ones for requests "
            "and completions; default: split for UltraScale's blocks"),
        "endianness": (Choice(None, ("big", "little")), "byte order of payload dwords; default: little for "
            "UltraScale's blocks"),
        "completion_buffer_bytes": (Whole(None, 1024, 1 << 20), f"with block {OTHER}, which needs it: bytes of "
            "completions that the PHY can hold, 16 for each header"),
    },
    "memory": {
        "kind":       (Choice("bram", ("bram", "external", "axi")), "in the core, connected to its memory ports, or "
            "behind its AXI4 master"),
        "size":       (Size(64 << 10, 4 << 10, MEMORY_MAX), "endpoint memory"),
        "user_ports": (Flag(), "`bram`: adds a write and a read port for your logic"),
        "read_ahead": (Choice(64, (16, 32, 64, 128, 256)), "`external`, `axi`: words that each client requests "
            "ahead, which hides as many cycles of latency"),
        "timeout_us": (Whole(1000, 1, 10000), "`axi`: microseconds without an answer after which all accesses fail"),
        "clock":      (Choice("sys", ("sys", "own")), "`axi`: clock of the master, `sys_clk` or its own"),
    },
    "stream_port": {
        "face":  (Choice("native", ("native", "axi")), "ports of the streams: the core's own, or AXI4-Stream"),
        "width": (Choice(None, WIDTHS), "`axi`: bits of `tdata`; default: `data_width`"),
        "clock": (Choice("sys", ("sys", "own")), "`axi`: clock of the ports, `sys_clk` or one for each stream"),
    },
    "user_bus": {
        "face":       (Choice("none", ("none", "axi-lite")), "AXI4-Lite master through which the host reaches your "
            "registers"),
        "origin":     (Whole(0, 0, (1 << 32) - SIZE_MIN, 8), "first address on it, a multiple of `user_bus.size`"),
        "size":       (Size(64 << 10, SIZE_MIN, abi.USER_MAX), "bytes that the host reaches"),
        "timeout_us": (Whole(TIMEOUT_US, 1, 10000), "limit of an access in microseconds; afterwards it fails"),
        "clock":      (Choice("sys", ("sys", "own")), "clock of its ports, `sys_clk` or its own"),
    },
    "host_buffers": {
        "count":       (Whole(0, 0, abi.MAX_HOST_BUFFERS), "buffers in host memory that your logic reaches by an AXI4 "
            "slave; 0: none"),
        "size":        (Size(1 << 20, 1 << PAGE_BITS, LIMIT_MAX), "the largest of them"),
        "descriptors": (Flag(), "adds ports for descriptors of your logic between these buffers and the memory"),
    },
    "ordering": {
        "relaxed_ordering": (Flag(), "Attr bit of requests for data"),
        "no_snoop":         (Flag(), "Attr bit of requests for data"),
    },
}

# Keys of an entry of the list ``streams``.
WAYS        = {"both": ("from_host", "to_host"), "from_host": ("from_host",), "to_host": ("to_host",)}
STREAM_KEYS = {
    "name":      (Name(None, 15), "name of the stream's number in `soc.h`, `CONFIG_PCIE_STREAM_NAME`; a lower-case "
        "letter first, then also digits and _"),
    "direction": (Choice("both", tuple(WAYS)), "with one direction, a stream has one engine and one RAM"),
    "depth":     (Size(None, 4 << 10, DEPTH_MAX), "bytes of the RAM of each direction, at least 512 words of "
        "`data_width`, the default"),
    "width":     (Choice(None, WIDTHS), "bits of `tdata`; default: `stream_port.width`"),
    "clock":     (Choice(None, ("sys", "own")), "clock of the ports; default: `stream_port.clock`"),
}

BRAM_MAX = 1 << 30  # Bytes.


def leaves(keys=KEYS, path=""):
    """Yields (dotted name, kind, meaning) of every key."""
    for name, what in keys.items():
        if isinstance(what, dict):
            yield from leaves(what, f"{name}.")
        else:
            yield (path + name, *what)

# YAML ---------------------------------------------------------------------------------------------


class ConfigError(Exception):
    """The configuration is wrong. The text is one line: the key, the error, the allowed values."""


class _Loader(yaml.SafeLoader):
    """YAML loader that refuses a key given twice. YAML's own loader uses the last one."""
    def construct_mapping(self, node, deep=False):
        seen = set()
        for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} is given twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_yaml(text):
    """Returns the mapping in ``text`` (str or bytes). Raises ``ConfigError``."""
    try:
        data = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise ConfigError(f"{line}{' '.join((error.problem or error.context or 'not YAML').split())}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"not YAML: {' '.join(str(error).split())}") from error
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"not a configuration: {' '.join(str(error).split())}") from error
    if data is None:
        raise ConfigError("the file is empty; one line `name: my_core` is enough")
    if not isinstance(data, dict):
        raise ConfigError(f"{shown(data)} is not a mapping of keys; allowed: {', '.join(KEYS)}")
    return data

# Check --------------------------------------------------------------------------------------------


def unknown_key(name, keys, path):
    """Returns the message for an unknown key."""
    exact  = [dotted for dotted, *_ in leaves() if dotted.rpartition(".")[2] == name]
    hint   = (exact or difflib.get_close_matches(str(name), keys, n=1) or [None])[0]
    text   = f"{path}: " if path else ""
    text  += f"unknown key {shown(name)}"
    text  += f", did you mean {hint!r}?" if hint else ";"
    return f"{text} allowed: {', '.join(keys)}"


def check(data, keys=KEYS, path=""):
    """Returns a namespace with every key of ``keys``, from ``data`` or its default. Raises ``ConfigError``."""
    if data is None:  # All keys of the section are commented out.
        data = {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: {shown(data)} is not a mapping of keys; allowed: {', '.join(keys)}")
    for name in data:
        if name not in keys:
            raise ConfigError(unknown_key(name, keys, path))
    config = SimpleNamespace()
    for name, what in keys.items():
        dotted = f"{path}.{name}" if path else name
        if isinstance(what, dict):
            setattr(config, name, check(data.get(name), what, dotted))
            continue
        kind, _ = what
        try:
            setattr(config, name, kind.parse(data[name]) if name in data else kind.default)
        except ValueError as error:
            raise ConfigError(f"{dotted}: {error}") from None
    return config


def check_together(config, data):
    """Raises ``ConfigError`` for values that exclude each other; ``data`` is the mapping from the user."""
    memory = config.memory
    if memory.kind != "bram" and memory.user_ports:
        raise ConfigError(f"memory.user_ports: true is not supported with kind {memory.kind}, whose memory is outside "
            "the core; allowed: false")
    if memory.kind == "bram" and "read_ahead" in (data.get("memory") or {}):
        raise ConfigError("memory.read_ahead: supported with kinds external and axi only; leave it out")
    if memory.kind != "axi" and "timeout_us" in (data.get("memory") or {}):
        raise ConfigError(f"memory.timeout_us: not supported with kind {memory.kind}; leave it out")
    if memory.kind != "axi" and memory.clock == "own":
        raise ConfigError(f"memory.clock: own is not supported with kind {memory.kind}; choose kind axi")
    if memory.kind == "bram" and memory.size > BRAM_MAX:
        raise ConfigError(f"memory.size: {memory.size} is too large for kind bram; the most is {BRAM_MAX}, "
            "kinds external and axi support more")
    if config.channels + len(config.streams) > abi.MAX_CHANNELS:
        raise ConfigError(f"streams: {len(config.streams)} with {config.channels} channels are too many; allowed: "
            f"{abi.MAX_CHANNELS} together")
    if not config.channels + len(config.streams):
        raise ConfigError("channels: 0 is not supported without streams; give streams, or 1 channel")
    check_faces(config, data)


def check_faces(config, data):
    """Raises ``ConfigError`` for AXI ports that exclude other values."""
    streams, user = config.stream_port, config.user_bus
    if streams.face == "native":
        for path, port in [("stream_port", streams), *[(one.path, one) for one in config.streams]]:
            if port.width not in (None, config.data_width):
                raise ConfigError(f"{path}.width: {port.width} is not supported with face native, which has the "
                    f"data_width of {config.data_width}; choose stream_port.face axi")
            if port.clock == "own":
                raise ConfigError(f"{path}.clock: own is not supported with face native; choose stream_port.face axi")
    elif not config.streams:
        raise ConfigError("stream_port.face: axi is of no use without streams; give streams, or leave it out")
    given = [name for name in data.get("user_bus") or {} if name != "face"]
    if user.face == "none" and given:
        raise ConfigError(f"user_bus.{given[0]}: supported with face axi-lite only; leave it out")
    given = [name for name in data.get("host_buffers") or {} if name != "count"]
    if not config.host_buffers.count and given:
        raise ConfigError(f"host_buffers.{given[0]}: supported with a count only; give 1 to {abi.MAX_HOST_BUFFERS}, or "
            "leave it out")
    if user.origin % user.size:
        raise ConfigError(f"user_bus.origin: 0x{user.origin:08x} is not a multiple of user_bus.size, 0x{user.size:x}")


def list_streams(config):
    """Makes a list of ``config.streams``: the keys of each, with its `path` and its ``Stream`` as `wanted`.

    Raises ``ConfigError``. The core gets ``config.wanted_streams``.
    """
    listed  = isinstance(config.streams, list)
    entries = config.streams if listed else [{"name": f"stream{n}"} for n in range(config.streams)]
    config.wanted_streams, config.streams = config.streams, []
    for n, entry in enumerate(entries):
        path = f"streams[{n}]"
        one  = check(entry, STREAM_KEYS, path)
        if one.name is None:
            raise ConfigError(f"{path}.name: needed; give {STREAM_KEYS['name'][0].allowed}")
        try:
            one.wanted = Stream(one.name, depth=one.depth, **dict.fromkeys(WAYS[one.direction], True))
            one.wanted.words(config.data_width)
        except ValueError as error:
            raise ConfigError(f"{path}: {error}") from None
        one.path = path
        config.streams.append(one)
    if listed:
        try:
            config.wanted_streams = streams_of(one.wanted for one in config.streams)
        except ValueError as error:
            raise ConfigError(f"streams: {error}") from None


def check_block(config):
    """Raises ``ConfigError`` for what the hard block cannot do, and sets what depends on it.

    Sets `phy.shape` and `phy.endianness` if they are not given. `phy.completion_blocks` becomes what outstanding reads
    need at most, (completions of 64 bytes, completions of 128 bytes), and `phy.completion_space` the buffer of the
    block, (completions, bytes).
    """
    phy, pcie = config.phy, config.pcie
    block     = BLOCKS.get(phy.block)
    size      = phy.completion_buffer_bytes
    if block is None and size is None:
        raise ConfigError(f"phy.completion_buffer_bytes: needed with phy.block {OTHER}; give the bytes of completions "
            f"that the PHY holds, or a block, {', '.join(BLOCKS)}")
    if block and size is not None:
        raise ConfigError(f"phy.completion_buffer_bytes: not supported with phy.block {phy.block}, whose buffer is "
            f"known; leave it out, or choose block {OTHER}")
    for name, value, limit in (("pcie.gen", pcie.gen, "gen"), ("pcie.lanes", pcie.lanes, "lanes"),
        ("tags", config.tags, "tags")):
        most = getattr(block, limit, value)
        if value > most:
            raise ConfigError(f"{name}: {value} is not supported with phy.block {phy.block}; the most is {most}, or "
                "name the block of your PHY")
    split = block is not None and block.split
    phy.shape      = phy.shape      or ("split"  if split else "shared")
    phy.endianness = phy.endianness or ("little" if split else "big")
    phy.completion_blocks = blocks_of_space(block.space(pcie.lanes)) if block else blocks_of_bytes(size)
    phy.completion_space  = block.space(pcie.lanes) if block else (phy.completion_blocks[0], size)


def config_of(data):
    """Returns the checked configuration of a mapping, with its defaults. Raises ``ConfigError``."""
    config = check(data)
    list_streams(config)
    check_together(config, data)
    check_block(config)
    if config.clk_freq is None:
        config.clk_freq = int(default_clock(config.pcie.gen, config.pcie.lanes, config.data_width))
    if config.stream_port.width is None:
        config.stream_port.width = config.data_width
    for one in config.streams:
        one.width = one.width or config.stream_port.width
        one.clock = one.clock or config.stream_port.clock
        one.ports = [way for way, name in (("source", "from_host"), ("sink", "to_host")) if name in WAYS[one.direction]]
    return config


def read_config(path):
    """Returns the checked configuration of a file. Raises ``ConfigError`` and ``OSError``."""
    with open(path, "rb") as file:
        return config_of(load_yaml(file.read()))
