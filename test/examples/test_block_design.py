# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""examples/vivado/block_design.tcl, run by tclsh with a stand-in for Vivado: its names are those of the core's Verilog.
What Vivado itself makes of the design is not tested."""

import re
import shutil
import subprocess

import pytest

from litepcie_soc.standalone.config import read_config
from test.gateware.standalone.model import ROOT, generate
from test.gateware.verilate import header_ports

VIVADO = ROOT / "examples" / "vivado"

# Vivado's commands that the script may use. Each is printed; those that look for objects return their names.
STAND_IN = """\
foreach name {create_project add_files update_compile_order create_bd_design create_bd_cell create_bd_port set_property
        connect_bd_intf_net connect_bd_net make_bd_intf_pins_external make_bd_pins_external assign_bd_address
        validate_bd_design save_bd_design} {
    proc $name {args} [string map [list NAME $name] {puts "NAME $args"}]
}
foreach name {get_bd_cells get_bd_ports get_bd_intf_pins get_bd_addr_segs get_files} {
    proc $name {args} {return [lindex $args end]}
}
proc make_wrapper {args} {return system_wrapper.v}
set connected {}
proc connect_bd_net {port pin} {
    puts "connect_bd_net $port $pin"
    lappend ::connected $pin
}
proc get_bd_nets {args} {expr {[lindex $args end] in $::connected ? "net" : ""}}
proc get_bd_pins {args} {
    if {[lindex $args end] eq "core/*"} {return $::core_pins}
    return [lindex $args end]
}
"""

if shutil.which("tclsh") is None:
    pytest.skip("no tclsh", allow_module_level=True)


@pytest.fixture(scope="module")
def verilog(tmp_path_factory):
    folder = tmp_path_factory.mktemp("core")
    result = generate(VIVADO / "core.yml", folder, "--no-sheet")
    assert (result.returncode, result.stderr) == (0, "")
    return (folder / "litepcie_core.v").read_text()


def interfaces(verilog):
    """Name of each interface of the core to its signals, from the attributes."""
    found   = {}
    pattern = (r'X_INTERFACE_INFO = "xilinx\.com:interface:\w+:1\.0 (\w+) (\w+)".*\*\)\n'
        r" +\w+ +\w+ +(?:\[\d+:0\])? *(\w+)")
    for name, signal, port in re.findall(pattern, verilog):
        assert port == f"{name}_{signal.lower()}"
        found.setdefault(name, set()).add(port)
    return found


def run(script, pins, *arguments):
    """Runs the script, and returns what it did to Vivado, a list of words for each command."""
    values = "".join(f"set {name} [list {' '.join(words)}]\n"
        for name, words in (("core_pins", pins), ("argv", arguments)))
    values += f"set argc {len(arguments)}\n"
    return subprocess.run(["tclsh"], input=STAND_IN + values + script, capture_output=True, text=True, timeout=60)


@pytest.mark.full
def test_names(verilog):
    """Each interface is connected once, each clock and reset too, and each other port leaves the design. Clocks belong
    to their interfaces."""
    made   = interfaces(verilog)
    inside = {port for ports in made.values() for port in ports}
    pins   = {f"core/{port}" for port in header_ports(verilog) if port not in inside}
    result = run((VIVADO / "block_design.tcl").read_text(), sorted(pins), "core", "part", "project")
    assert (result.returncode, result.stderr) == (0, "")
    calls  = [line.split() for line in result.stdout.splitlines()]
    assert {"stream0_source", "stream0_sink", "user"} == set(made)
    joined = sorted(word for call in calls if call[0] == "connect_bd_intf_net" for word in call if "core/" in word)
    assert joined == sorted(f"core/{name}" for name in made)
    used   = [word for call in calls if call[0] in ("connect_bd_net", "make_bd_pins_external") for word in call[1:]
        if word.startswith("core/")]
    assert sorted(used) == sorted(pins)
    associated = re.findall(r"(\w+) CLK\".*ASSOCIATED_BUSIF ([\w:]+), ASSOCIATED_RESET (\w+)", verilog)
    assert sorted(associated) == [("stream0_aclk", "stream0_source:stream0_sink", "stream0_aresetn"),
        ("user_aclk", "user", "user_aresetn")]


def test_numbers():
    """The script has the addresses and the clock of the configuration."""
    config = read_config(VIVADO / "core.yml")
    script = (VIVADO / "block_design.tcl").read_text()
    assert f"-offset 0x{config.user_bus.origin:x} -range {config.user_bus.size >> 10}K" in script
    assert f"-freq_hz {config.clk_freq} sys_clk" in script


def test_wrong_arguments():
    result = run((VIVADO / "block_design.tcl").read_text(), [], "core")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
