# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""JSON of the tool against the schemas in schema/, on which other programs may rely."""

import json
import re

from pathlib import Path

import pytest

from test.software.user.conftest import user_bus, write
from test.software.user.lspci import made_space

HERE = Path(__file__).resolve().parent

LINES = ["version", "info", "scratch_test", "dma_test", "dma_test -s read", "dma_test -s write -l 1",
    "dma_test -s read-and-write", "dma_test -n 3 --preserve --time 5", "dma_test --pattern counter --value 7",
    "bench --max 4K --depth 2 -t 1", "bus", "mem read", "mem read --pio -l 3", "mem fill -l 9", "pio_test -n 3000",
    "pio_test -n 10 --user-address 0x30000000", "top -n 1 --interval-ms 10", "reset engines", "stream loopback -n 3"]

FAULTS = [("scratch_test", {"scratch_and": 1}),
    *(("bench -t 1 --depth 2", fault) for fault in ({"flip": 70}, {"other_read": 5}, {"fail_call": 7}, {"gen": 0})),
    *(("dma_test", fault) for fault in ({"flip": 10}, {"channels": 2}, {"other_read": 5}, {"spill_host": 1},
        {"spill_card": 1}, {"still": 1}, {"fail_call": 70}, {"gen": 0}))]

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}

# Keywords that constrain a document; the others are for readers.
KEYWORDS = {"type", "const", "enum", "minimum", "maximum", "pattern", "items", "properties", "required",
    "additionalProperties"}
REMARKS  = {"$schema", "$comment", "title"}


def errors(value, schema, where="$"):
    """Yields the places where `value` violates `schema`; supports the part of JSON Schema used here."""
    assert schema.keys() <= KEYWORDS | REMARKS, schema.keys()
    if "type" in schema:
        # In Python, True is an integer; in JSON, true is not.
        wrong_bool = isinstance(value, bool) and schema["type"] != "boolean"
        if wrong_bool or not isinstance(value, TYPES[schema["type"]]):
            yield f"{where}: {value!r} is not of type {schema['type']}"
            return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not in {schema['enum']}"
    if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
        yield f"{where}: {value!r} is out of range"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} is not like {schema['pattern']}"
    for i, item in enumerate(value if "items" in schema else ()):
        yield from errors(item, schema["items"], f"{where}[{i}]")
    if "properties" in schema:
        yield from errors_of_object(value, schema, where)


def errors_of_object(value, schema, where):
    assert schema["additionalProperties"] is False
    for key in sorted(set(schema["required"]) - value.keys()):
        yield f"{where}: {key} is missing"
    for key, item in value.items():
        if key in schema["properties"]:
            yield from errors(item, schema["properties"][key], f"{where}.{key}")
        else:
            yield f"{where}: {key} is unknown"


def load(name):
    return json.loads((HERE / "schema" / f"{name}.json").read_text())


def unique(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key twice in {pairs}"
    return dict(pairs)


def check(name, text):
    document = json.loads(text, object_pairs_hook=unique)
    assert list(errors(document, load(name))) == []
    return document


@pytest.mark.parametrize("line", LINES)
def test_schema(card, tmp_path, line):
    result = card("--json", *line.split(), **(user_bus(tmp_path) if "--user-address" in line else {}))
    assert (result.code, result.err) == (0, "")
    assert check(line.split()[0], result.out).get("ok", True)


@pytest.mark.parametrize("name, fault", FAULTS, ids=str)
def test_schema_of_failures(card, name, fault):
    result = card("--json", *name.split(), **fault)
    assert check(name.split()[0], result.out)["ok"] == (result.code == 0)


def test_schema_of_info_with_sysfs(card, tmp_path):
    write(tmp_path / "bus" / "pci" / "devices" / "0000:01:00.0", {"vendor": "0x10ee", "device": "0x1ce4",
        "subsystem_vendor": "0x1234", "subsystem_device": "0x1ce0", "revision": "0x07", "msi_irqs/41": "msi",
        "msi_irqs/42": "msi"})
    write(tmp_path / "bus" / "pci" / "slots" / "5-1", {"address": "0000:01:00"})
    (tmp_path / "interrupts").write_text(" 41:  5 2  PCI-MSI 524288-edge  litepcie0\n 42: 1 0 PCI-MSI litepcie0-user\n")
    settings = {"sysfs": tmp_path, "interrupts": tmp_path / "interrupts"}
    told = check("info", card("--json", "info", **settings).out)
    assert told["pci"]["family"] == "UltraScale+" and told["pci"]["slot"] == "5-1" and told["pci"]["revision"] == 7
    assert told["interrupts"] == {"kind": "MSI", "vectors": 2, "count": 8}
    text = card("info", **settings).out
    assert "\nPCI ids   10ee:1ce4, subsystem 1234:1ce0, revision 07: family UltraScale+\nslot      5-1\n" in text
    assert "\ninterrupt MSI, 2 vectors, 8 so far\n" in text


def test_schema_of_several_cards_and_of_wrong_data(card, tmp_path):
    other = tmp_path / "second.bin"
    other.write_bytes(bytes(1 << 20))
    result = card("--json", "dma_test", "--cards", "0,1", second=other)
    document = json.loads(result.out, object_pairs_hook=unique)
    assert result.code == 0 and list(errors(document, load("dma_test_cards"))) == []
    assert all(check("dma_test", json.dumps(one))["ok"] for one in document["cards"])
    card.file.write_bytes(bytes(range(256))*4096)
    result = card("--json", "mem", "verify")
    assert result.code == 3 and check("mem", result.out)["mismatch"]["differing_bytes"] == 255*4096
    result = card("--json", "stream", "loopback", "-n", 9, stream_flip=2)
    assert result.code == 3 and check("stream", result.out)["packets"] == 1


def test_schema_of_sysfs(card, tmp_path):
    """config and bus of a device with every capability."""
    device = tmp_path / "bus" / "pci" / "devices" / "0000:01:00.0"
    write(device, {"current_link_speed": "2.5 GT/s PCIe", "current_link_width": "4", "vendor": "0x10ee"})
    (device / "config").write_bytes(made_space(3))
    assert check("config", card("--json", "config", "-x", "01:00.0", sysfs=tmp_path).out)["readable_bytes"] == 4096
    one, = check("bus", card("--json", "bus", sysfs=tmp_path).out)["devices"]
    assert one["link"] == {"gen": 1, "lanes": 4}


@pytest.mark.parametrize("wrong, error", [
    ({"more": 1},                "$: more is unknown"),
    ({"format_version": 1},      "$.format_version: 1 is not 2"),
    ({"ok": 1},                  "$.ok: 1 is not of type boolean"),
    ({"gen": True},              "$.gen: True is not of type integer"),
    ({"iterations": -1},         "$.iterations: -1 is out of range"),
    ({"sequence": "both"},       "$.sequence: 'both' is not in ['write', 'read', "),
    ({"gateware_version": "1"},  "$.gateware_version: '1' is not like ^"),
    ({"read": {}},               "$.read: bytes is missing"),
])
def test_schema_refuses(card, wrong, error):
    document = json.loads(card("--json", "dma_test").out)
    assert next(errors(document | wrong, load("dma_test"))).startswith(error)


def test_text_is_quoted(card):
    """A device name with quotes and bytes that are not ASCII."""
    result = card("version", "--json", "--device", 'a"b\\c\n')
    assert json.loads(result.out)["command"] == "version"
