#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A card in Verilog, as a YAML file describes it. docs/your-card.md has the keys."""

import os
import shutil

from pathlib import Path

import yaml

from litepcie_sim.card.card import TOP, Card, CardError, Software, compile_simulator, write_guest
from litepcie_soc.phy.shapes import REPORTED_ERRORS
from litepcie_soc.phy.sim import MSIX_PORTS, SHARED_STREAMS, SPLIT_STREAMS
from litepcie_soc.soc.export import write_if_changed

KEYS     = {"verilog", "memories", "top", "card", "ports", "driver", "modules", "files"}
REQUIRED = ("verilog", "top", "card", "ports")

# Ports --------------------------------------------------------------------------------------------


def ports(card):
    """Returns {port of the simulator: (bits, whether the card drives it)} for a ``Card``."""
    width  = card.data_width
    stream = {"valid": 1, "first": 1, "last": 1, "dat": width, "be": width//8}
    tx, rx = SPLIT_STREAMS if card.split else SHARED_STREAMS
    return {
        "sys_clk": (1, False), "sys_rst": (1, False),
        **{f"{one}_{name}": (bits, True)  for one in tx for name, bits in stream.items()},
        **{f"{one}_{name}": (bits, False) for one in rx for name, bits in stream.items()},
        **{f"{one}_ready": (1, False) for one in tx}, **{f"{one}_ready": (1, True) for one in rx},
        **({"rx_bar": (3, False)} if len(card.bars) > 1 else {}),
        **({f"phy_{name}": (1, False) for name in MSIX_PORTS} if card.msix_vectors else {}),
        **{f"phy_{name}": (16, False) for name in ("id", "max_payload_size", "max_request_size")},
        **{f"phy_{name}": (1, False) for name in ("extended_tag", "bus_master_enable", "link_up", "msi_enable",
            "relaxed_ordering_enable", "no_snoop_enable", "rcb_128", "function_reset")},
        "phy_function_reset_done": (1, True),
        **{f"phy_error_{name}": (1, True) for name in REPORTED_ERRORS},
        "msi_valid": (1, True), "msi_ready": (1, False), "msi_dat": (8, True),
    }


def wrapper(top, given, card):
    """Returns the Verilog of the module that the simulator knows, around the module ``top``.

    given : {port of the simulator: port of ``top``}; "!" before a port inverts it.
    """
    known = ports(card)
    if unknown := sorted(set(given) - set(known)):
        raise CardError(f"ports: {unknown[0]} is not a port of the simulator; choose of {', '.join(known)}")
    streams = [name.removesuffix("_valid") for name in known if name[1:3] == "x_" and name.endswith("_valid")]
    needed  = ["sys_clk", *[f"{one}_{part}" for one in streams for part in ("valid", "ready", "last", "dat")]]
    if missing := [name for name in needed if name not in given]:
        raise CardError(f"ports: {missing[0]} is missing; this card needs {', '.join(needed)}")
    defaults, lines, pins, rest = {}, [], [], []
    for tx in [one for one in streams if one.startswith("tx")]:
        defaults |= {f"{tx}_first": f"{tx}_starts", f"{tx}_be": f"{{{card.data_width//8}{{1'b1}}}}"}
        rest     += [f"    reg {tx}_starts = 1'b1;", "    always @(posedge sys_clk)",
            f"        if (sys_rst) {tx}_starts <= 1'b1;",
            f"        else if ({tx}_valid & {tx}_ready) {tx}_starts <= {tx}_last;"]
    for name, (bits, output) in known.items():
        lines.append(f"    {'output' if output else 'input '} wire [{bits - 1}:0] {name}")
        if name in given:
            inverted, port = given[name].startswith("!"), given[name].lstrip("!")
            if inverted and output:
                raise CardError(f"ports: {name} cannot be inverted; only inputs of the card can")
            pins.append(f"        .{port}({'~'*inverted}{name})")
        elif output:
            rest.append(f"    assign {name} = {defaults.get(name, 0)};")
    return "\n".join([f"module {TOP} (", ",\n".join(lines), ");",
        *rest, f"    {top} card (", ",\n".join(pins), "    );", "endmodule", ""])

# Description --------------------------------------------------------------------------------------


def read(path):
    """Returns the description in a YAML file as a dict. Raises ``CardError`` with one line."""
    try:
        text = yaml.safe_load(Path(path).read_text())
    except (OSError, yaml.YAMLError) as error:
        raise CardError(f"cannot read {path}: {' '.join(str(error).split())}") from None
    text = text if isinstance(text, dict) else {}
    if unknown := sorted(set(text) - KEYS):
        raise CardError(f"{path}: key {unknown[0]!r} is not known; choose of {', '.join(sorted(KEYS))}")
    if missing := [key for key in REQUIRED if key not in text]:
        raise CardError(f"{path}: key {missing[0]} is missing")
    if text["top"] == TOP:
        raise CardError(f"{path}: top cannot be {TOP}, which is the module around it; rename it")
    return text


def make(path, folder):
    """Builds the card of a YAML file in ``folder``. Files in it are relative to the YAML file. Raises ``CardError``."""
    text  = read(path)
    place = Path(path).resolve().parent
    try:
        card = Card(**text["card"])
    except TypeError as error:
        raise CardError(f"{path}: card: {error}") from None

    def found(name):
        """Path of a file or folder of the description. $NAME in it is a variable of the environment."""
        expanded = os.path.expandvars(name)
        if "$" in expanded:
            raise CardError(f"{path}: {name}: the environment has no such variable; set it to a path")
        if not (place / expanded).exists():
            raise CardError(f"{path}: there is no {place / expanded}")
        return place / expanded

    sources = [found(name).read_text() for name in text["verilog"]]
    write_if_changed(folder / "gateware" / f"{TOP}.v",
        "\n".join([*sources, wrapper(text["top"], text["ports"], card)]))
    for name in text.get("memories", []):
        shutil.copy(found(name), folder / "gateware" / Path(name).name)
    write_guest(folder, Software(found(text["driver"]) if "driver" in text else None, tuple(text.get("modules", ())),
        tuple((found(host), guest) for host, guest in text.get("files", {}).items())))
    compile_simulator(card, folder)
