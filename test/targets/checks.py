# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Checks of the files of any build of any board."""

import json
import re

from litex.build.generic_platform import Pins, Subsignal

from litepcie_soc.board.identity import phy_config, pci_id
from litepcie_soc.common import abi
from litepcie_soc.soc.regs import COMMITTED
from test.targets.boards import BOARDS, HEADERS, emitted
from test.targets.vivado import check_script

# Of the user logic: programs know these addresses on the bus.
BASES      = {"core": 0x0000, "user_copier": 0x0800, "user_mover": 0x1000}
INTERRUPTS = ("LEVEL", "PULSE", "STORM", "TIMER", "COPIED")


def constants(soc_h):
    return {name: int(value) for name, value in re.findall(r"^#define CONFIG_(\w+) (\d+)$", soc_h, flags=re.MULTILINE)}


def ip_config(tcl):
    """Returns the settings that the Tcl script gives to the hard block."""
    return dict(re.findall(r"CONFIG\.(\w+) \{([^}]*)\}", tcl))


def check_files(folder, build, c):
    gateware = {f"{build}.v", f"{build}.xdc", f"{build}.tcl", f"build_{build}.sh"}
    assert {path.name for path in (folder / "gateware").iterdir() if path.suffix != ".init"} == gateware
    headers  = {"csr.h", "soc.h", "csr.json", "litepcie_regs.h"}
    assert {path.name for path in (folder / HEADERS).iterdir()} == headers
    assert (folder / "litescope").is_dir() == c.with_litescope


def check_headers(folder, board, c):
    """The link in ``soc.h`` matches the options; the register map is the committed one, byte for byte."""
    soc_h = constants((folder / HEADERS / "soc.h").read_text())
    assert soc_h.items() >= {"PCIE_GEN": c.gen, "PCIE_LANES": c.lanes, "PCIE_DATA_WIDTH": c.data_width,
        "PCIE_TAGS": c.tags, "PCIE_BAR0_SIZE": abi.BAR0_SIZE, "CLOCK_FREQUENCY": int(c.sys_clk_freq),
        "MEMORY_SIZE": board.memory_size(c), "PCIE_STREAMS": c.user.streams}.items()
    interrupts = {name for name in soc_h if name.startswith("PCIE_INTERRUPT_")}
    assert interrupts == {f"PCIE_INTERRUPT_{name}" for name in INTERRUPTS if c.user.interrupts}
    csr = json.loads((folder / HEADERS / "csr.json").read_text())
    assert {name: csr["csr_bases"].get(name) for name in BASES} == (BASES if c.user.core else dict.fromkeys(BASES))
    assert ("ram" in csr["memories"]) == c.user.user_bus
    for n in range(board.channels):
        assert (f"stream{n}_loop" in csr["csr_registers"]) == (n < c.user.streams)
    assert (folder / HEADERS / "litepcie_regs.h").read_text() == COMMITTED.read_text()
    return soc_h


def check_identity(soc_h, config, board):
    """The identity in ``soc.h``, which the simulator and the driver's table use, is that of the hard block."""
    said = {key: soc_h[f"PCIE_{key.upper()}"] for key in pci_id(board.family)}
    assert said == pci_id(board.family)
    for key, value in phy_config(said, board.family).items():
        assert config[key] == str(value), key


def check_constraints(tcl, xdc, board, c):
    """The reference clock and the slot's reset are constrained, and synthesis is followed by the clock groups."""
    assert re.search(r"^create_clock -name pcie_\w+_clk_p -period 10.0 \[get_ports pcie_\w+\]$", xdc, re.MULTILINE)
    assert re.search(r"^set_false_path -from \[get_ports pcie_\w+_rst_n\]$", xdc, re.MULTILINE)
    place  = tcl.index("set_clock_groups -asynchronous ")
    assert tcl.index("synth_design ") < place < tcl.index("place_design ")
    if c.with_ddr and "ultrascale" in board.family:
        alike = re.findall(r"^set_property CLOCK_DELAY_GROUP ddr \[get_nets (\w+)\]$", tcl + xdc, re.MULTILINE)
        assert alike == ["ddr_clk", "ddr4x_clk"]


def pins_of(board, resource):
    """Returns the pins that the platform has for number 0 of a resource."""
    entry = next(entry for entry in board.platform().constraint_manager.available if entry[:2] == (resource, 0))
    return {pin for signal in entry[2:] if isinstance(signal, Subsignal)
        for constraint in signal.constraints if isinstance(constraint, Pins) for pin in constraint.identifiers}


def check_ddr(verilog, xdc, board, c):
    """Only builds with DDR use its pins. DDR4 has an MMCM of its own, with an oscillator that no other part uses."""
    placed = dict(re.findall(r"^set_property LOC (\w+) \[get_ports {?([^\s}]+)}?\]", xdc, flags=re.MULTILINE))
    used   = {pin for pin, port in placed.items() if re.match(r"ddram\d*_", port) and port != "ddram_reset_gate"}
    assert used == (pins_of(board, "ddram") if c.with_ddr else set())
    if "ultrascale" not in board.family:
        if c.with_ddr:
            check_ddr3(verilog, board.family == "kintex7")
        return
    mmcms = re.findall(r"^MMCME\d_ADV ", verilog, flags=re.MULTILINE)
    assert len(mmcms) == 1 + c.with_ddr
    pairs = re.findall(r"^IBUFDS IBUFDS\w*\(.*?\.I *\((\w+)\)", verilog, flags=re.DOTALL | re.MULTILINE)
    assert len(set(pairs)) == len(pairs) == 1 + c.with_ddr
    assert ("assign ddram_reset_gate = 1'd0;" in verilog) == (c.with_ddr and board.name == "xilinx_alveo_u200")
    if c.with_ddr:
        check_ddr4(verilog, board.family == "ultrascale_plus")


# Registers of LiteDRAM's PHYs that are in no CSR bank: each has another driver. Then, pulses of the training.
HELD  = ("rst_storage", "wlevel_en_storage", "wlevel_strobe_re", "rdphase_storage", "wrphase_storage")
FIXED = ("cdly_rst_re", "cdly_inc_re")
MOVES = {"rdly_dq_rst_re": "read_delay_rst", "rdly_dq_inc_re": "read_delay_inc",
    "rdly_dq_bitslip_rst_re": "read_slip_rst", "rdly_dq_bitslip_re": "read_slip",
    "wdly_dq_bitslip_rst_re": "write_slip_rst", "wdly_dq_bitslip_re": "write_slip", "dly_sel_storage": "select"}
# Delays of DQS and of the data move together.
OUTPUT_MOVES = {f"wdly_{what}_{move}_re": f"write_delay_{move}" for what in ("dq", "dqs") for move in ("rst", "inc")}


def assigned(verilog, target, value):
    return re.search(rf"^assign \w*{target} = {value};$", verilog, flags=re.MULTILINE)


def blocks(verilog, kind):
    """Vendor blocks of a kind, as (parameters, ports)."""
    found = re.findall(rf"^{kind} (?:#\((.*?)^\) )?\w+ ?\((.*?)^\);", verilog, flags=re.MULTILINE | re.DOTALL)
    return [tuple(dict(re.findall(r"\.(\w+)\s*\(([^)]*)\)", part)) for part in block) for block in found]


def number(text):
    return float(re.sub(r".*'d", "", text))


def check_ddr3(verilog, kintex7):
    """The training moves the PHY's settings, no other one floats, and the PHY runs while sys is in reset."""
    for move, of_training in {**MOVES, **(OUTPUT_MOVES if kintex7 else {})}.items():
        assert assigned(verilog, f"ddrphy_{move}", rf"\w+_{of_training}"), move
    for name in (*HELD, *FIXED*kintex7):
        assert assigned(verilog, f"ddrphy_{name}", r"\d'd\d"), name
    assert assigned(verilog, "_identity_memory_failed", r"\w+_failed")
    assert assigned(verilog, "_identity_ltssm0", r"\w+_csrfield_ltssm")
    assert "assign training_clk = sys_clk;" in verilog
    serdes = [ports for _, ports in blocks(verilog, "OSERDESE2")]
    assert len(serdes) > 40 and {ports["CLKDIV"] for ports in serdes} == {"training_clk"}
    assert not any("sys_rst" in port for ports in serdes for port in ports.values())


def check_ddr4(verilog, plus):
    """The serializers have a clock and a quarter of it from one output, and calibrated delays before anything runs."""
    (parameters, _), = [mmcm for mmcm in blocks(verilog, r"MMCME\d_ADV") if "CLKOUT1" in mmcm[1]]
    ratio = number(parameters["CLKFBOUT_MULT_F"])/number(parameters["DIVCLK_DIVIDE"])
    vco   = 1e9/float(parameters["CLKIN1_PERIOD"])*ratio
    assert (800e6 if plus else 600e6) <= vco <= 1440e6
    assert abs(vco/number(parameters["CLKOUT0_DIVIDE_F"]) - 312.5e6) < 1e3
    assert abs(vco/number(parameters["CLKOUT1_DIVIDE"]) - 625e6) < 1e3
    (_, fast), = blocks(verilog, "BUFGCE")
    (divided, slow), = blocks(verilog, "BUFGCE_DIV")
    assert fast["I"] == slow["I"] == "ddr_pll_clk" and number(divided["BUFGCE_DIVIDE"]) == 4
    assert (fast["O"], slow["O"]) == ("ddr4x_clk", "ddr_clk")
    serdes = blocks(verilog, "OSERDESE3") + blocks(verilog, "ISERDESE3")
    assert len(serdes) > 160
    assert {(ports["CLK"], ports["CLKDIV"]) for _, ports in serdes} == {("ddr4x_clk", "training_clk")}
    for line in ("assign training_clk = ddr_clk;", "reg           training_rst = 1'd1;"):
        assert line in verilog
    for name in ("ddr", "ddr4x"):  # Routed alike: a Vivado property names both.
        assert re.search(rf'dont_touch = "true" \*\)\s+wire +{name}_clk;', verilog)
    (_, ports), = blocks(verilog, "IDELAYCTRL")
    assert ports["REFCLK"] == "idelay_clk" and assigned(verilog, "_trained", r"\w+_trainer_done")
    delays = blocks(verilog, "IDELAYE3") + blocks(verilog, "ODELAYE3")
    assert {number(parameters["REFCLK_FREQUENCY"]) for parameters, _ in delays} == {312.5}
    assert {ports["CLK"] for _, ports in delays} == {"training_clk"}
    for name in (*HELD, *FIXED, "rdly_dq_rst_re", "wdly_dq_rst_re", "wdly_dqs_rst_re"):
        assert assigned(verilog, f"phy_{name}", r"\d'd\d"), name
    assert assigned(verilog, "_core_storage", "4'd1")  # The controller's.
    assert len(re.findall(r"^assign \w+phaseinjector\d_command_issue_re = 1'd0;$", verilog, re.MULTILINE)) == 4


def slow_parts(board, c):
    """Returns the names of the parts that standard error must report as slower than the link."""
    rates = {"data path": c.data_path_rate, "DDR": board.memory_rate(c) or c.link_rate}
    return [name for name, rate in rates.items() if rate < c.link_rate]


def check_build(name, options, folder, capsys):
    """Emits a board into ``folder`` and checks all of its files."""
    board = BOARDS[name]
    c     = emitted(name, options, folder)
    build = c.name(board)
    check_files(folder, build, c)
    soc_h = check_headers(folder, board, c)
    tcl   = (folder / "gateware" / f"{build}.tcl").read_text()
    check_identity(soc_h, ip_config(tcl), board)
    xdc   = (folder / "gateware" / f"{build}.xdc").read_text()
    check_constraints(tcl, xdc, board, c)
    check_script(folder / "gateware", build, board, c)
    assert str(folder) not in tcl
    device = board.platform().device
    assert f"-part {device[:-1]}{(c.device or device)[-1]}" in tcl
    verilog = (folder / "gateware" / f"{build}.v").read_text()
    assert f"module {build} (" in verilog
    assert "Hierarchy" not in verilog
    assert bool(re.search(r"assign \w*rst_n = \(\w*slot_rst_n & \(~\w*retry\)\);", verilog)) == c.retry_link
    check_ddr(verilog, xdc, board, c)
    # Parts that are slower than the link are reported, other parts are not.
    said = capsys.readouterr()
    assert re.findall(r"the ([\w ]+) \(\d+ MB/s\) is slower than the link", said.err) == slow_parts(board, c)
    assert said.out == ""


def check_nothing_written(folder, capsys, message):
    """A command is refused in one line."""
    said = capsys.readouterr()
    assert message in said.err and (len(said.err.splitlines()), said.out) == (1, "") and not folder.exists()
