#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The configuration of a standalone core: its keys, and how it is read from YAML."""

import difflib

from types import SimpleNamespace

import yaml

from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import CLOCKS, LANE_RATES, default_clock
from litepcie_soc.common.pcie import DATA_WIDTHS
from litepcie_soc.standalone.values import Choice, Flag, Name, Size, Whole, shown
from litepcie_soc.soc.soc import PCI_ID, TAGS

# Keys ---------------------------------------------------------------------------------------------

MEMORY_MAX = 1 << 32  # Bytes: a descriptor has 32 bits of address.

# Key, or section of keys: (kind of value, meaning).
KEYS = {
    "name":       (Name("litepcie_core"), "module, and files"),
    "data_width": (Choice(128, DATA_WIDTHS), "bits of the data path"),
    "clk_freq":   (Whole(None, 1_000_000, 1_000_000_000),
        f"Hz of `sys_clk`; default: the slowest of {CLOCKS[0] / 1e6:g} and {CLOCKS[1] / 1e6:g} MHz that keeps up "
        "with the link"),
    "tags":       (Choice(64, TAGS), "read requests outstanding; above 32 while the host enables Extended Tags"),
    "channels":   (Whole(1, 1, abi.MAX_CHANNELS), "DMA channels to and from memory, each a reader and a writer"),
    "streams":    (Whole(0, 0, abi.MAX_CHANNELS - 1), "stream channels, each a source and a sink"),
    "pcie": {
        "gen":   (Choice(2, tuple(LANE_RATES)), "generation of the link"),
        "lanes": (Choice(4, (1, 2, 4, 8, 16)), "lanes of the link"),
        **{name: (Whole(value, 0, 0xffffff if name == "class_code" else 0xffff, 6 if name == "class_code" else 4),
            "of configuration space, which is the PHY's; for `soc.h`") for name, value in PCI_ID.items()},
    },
    "phy": {
        "shape":      (Choice("shared", ("shared", "split")), "one pair of TLP streams, or requests and completions "
            "apart"),
        "endianness": (Choice("big", ("big", "little")), "of payload dwords"),
        "completion_buffer_bytes": (Whole(16384, 1024, 1 << 20), "completions the PHY can hold"),
    },
    "memory": {
        "kind":       (Choice("bram", ("bram", "external")), "in the core, or behind its memory ports"),
        "size":       (Size(64 << 10, 4 << 10, MEMORY_MAX), "endpoint memory"),
        "user_ports": (Flag(), "`bram`: a write and a read port for your logic"),
        "read_ahead": (Choice(64, (16, 32, 64, 128)), "`external`: words each client asks for ahead, to cover "
            "as many cycles of latency"),
    },
    "ordering": {
        "relaxed_ordering": (Flag(), "Attr bit of requests for data"),
        "no_snoop":         (Flag(), "Attr bit of requests for data"),
    },
}

BRAM_MAX = 1 << 30  # Bytes.


def leaves(keys=KEYS, path=""):
    """(dotted name, kind, meaning) of every key."""
    for name, what in keys.items():
        if isinstance(what, dict):
            yield from leaves(what, f"{name}.")
        else:
            yield (path + name, *what)

# YAML ---------------------------------------------------------------------------------------------


class ConfigError(Exception):
    """One line: the key, what is wrong, what is allowed."""


class _Loader(yaml.SafeLoader):
    """Refuses a key that is there twice; YAML's own takes the last."""
    def construct_mapping(self, node, deep=False):
        seen = set()
        for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} is there twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_yaml(text):
    """The mapping that ``text`` (str or bytes) is. Raises ``ConfigError``."""
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
        raise ConfigError("empty: one line `name: my_core` is enough")
    if not isinstance(data, dict):
        raise ConfigError(f"{shown(data)} is not a mapping of keys; allowed: {', '.join(KEYS)}")
    return data

# Check --------------------------------------------------------------------------------------------


def unknown_key(name, keys, path):
    """The message for a key that is none."""
    exact  = [dotted for dotted, *_ in leaves() if dotted.rpartition(".")[2] == name]
    hint   = (exact or difflib.get_close_matches(str(name), keys, n=1) or [None])[0]
    text   = f"{path}: " if path else ""
    text  += f"unknown key {shown(name)}"
    text  += f", did you mean {hint!r}?" if hint else ";"
    return f"{text} allowed: {', '.join(keys)}"


def check(data, keys=KEYS, path=""):
    """A namespace with every key of ``keys``, from ``data`` or its default. Raises ``ConfigError``."""
    if data is None:  # A section whose keys are all commented out.
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
    """Raises ``ConfigError`` for values that cannot be side by side; ``data`` is what the user wrote."""
    memory = config.memory
    if memory.kind == "external" and memory.user_ports:
        raise ConfigError("memory.user_ports: true is not for kind external, whose memory is yours; allowed: false")
    if memory.kind == "bram" and "read_ahead" in (data.get("memory") or {}):
        raise ConfigError("memory.read_ahead: is for kind external; leave it out")
    if memory.kind == "bram" and memory.size > BRAM_MAX:
        raise ConfigError(f"memory.size: {memory.size} is not a size of block RAM, at most {BRAM_MAX}; "
            "kind external takes more")
    if config.channels + config.streams > abi.MAX_CHANNELS:
        raise ConfigError(f"streams: {config.streams} beside {config.channels} channels are too many; allowed: "
            f"{abi.MAX_CHANNELS} in all")


def config_of(data):
    """The checked configuration of a mapping, with the clock worked out. Raises ``ConfigError``."""
    config = check(data)
    check_together(config, data)
    if config.clk_freq is None:
        config.clk_freq = int(default_clock(config.pcie.gen, config.pcie.lanes, config.data_width))
    return config


def read_config(path):
    """The checked configuration of a file. Raises ``ConfigError``, ``OSError``."""
    with open(path, "rb") as file:
        return config_of(load_yaml(file.read()))
