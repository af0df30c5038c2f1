# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs the Vivado script of a build in `vivado.tcl`, and checks what it constrains and what it refuses. The stand-in
knows clocks, transceivers and settings as the guides describe them; only Vivado shows what itself makes of the script.
"""

import csv
import re
import shutil
import subprocess

from pathlib import Path

from litepcie_soc.phy.hard_block import INSIDE

HERE = Path(__file__).parent

# The clocks at nets. Around the block of 7-series: outputs of its MMCM, and both inputs of the multiplexer.
CLOCKS  = {"sys_clk": "sys", "ddr_clk": "ddr", "ddr4x_clk": "ddr4x", "pcie_clk": "user", "jtag_clk": "jtag"}
SERIES7 = {"pcie_clk": "userclk2", "userclk1_clk": "userclk1", "clk125_clk": "clk125", "clk250_clk": "clk250",
    "pclk_clk": "clk125 clk250"}
MUX     = {"BUFGCTRL/I0": "clk125", "BUFGCTRL/I1": "clk250"}

# Package pins of the transceivers, from Project X-Ray (CC0): Debian's prjxray-database 20211214, and openXC7's
# prjxray-db for xc7k325t. Two pads of OPAD_X0 belong to each transceiver, in the order of the transceivers; the
# receiver's pins are in the same tile.


def transceivers(part):
    """Returns {(site, kind): pin} of a part without its speed grade; kind is rx_p, rx_n, tx_p or tx_n."""
    with open(HERE / "package_pins.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] == part]
    site = {row["tile"]: f"X0Y{int(row['site'].removeprefix('OPAD_X0Y'))//2}" for row in rows if "OPAD" in row["site"]}
    return {(site[row["tile"]], f"{function[1].lower()}x_{function[2].lower()}"): row["pin"]
        for row in rows for function in [re.match(r"MGT[PX]([RT])X([PN])", row["pin_function"])]}


def channel(board):
    return "GTPE2_CHANNEL_" if board.family == "artix7" else "GTXE2_CHANNEL_"


def usual_places(board):
    """Sites of lane 0 and up that the constraints of the IP choose: down from the top of the column."""
    sites = {site for site, _ in transceivers(part_of(board))}
    return sorted(sites, key=lambda site: -int(site.removeprefix("X0Y")))


def part_of(board):
    return board.platform().device.rpartition("-")[0]


def array(name, values):
    return f"array set {name} {{{' '.join(f'{{{key}}} {{{value}}}' for key, value in values.items())}}}\n"


def run(folder, build, board, *, ignored=(), unknown=(), fixed=False, slacks=("0.113", "0.041", "0.000"), failing=()):
    """Runs the script; returns its status and the lines that it printed.

    slacks  : worst slack of setup, hold and pulse width in Vivado's report.
    failing : (clock, clock) of each path with a negative slack.
    """
    seven  = bool(board.gt_sites)
    clocks = CLOCKS | (SERIES7 if seven else {})
    wires  = set(re.findall(r"^wire +(\w+);$", (folder / f"{build}.v").read_text(), flags=re.MULTILINE))
    pins   = {f"{channel(board)}{site} {kind}": pin for (site, kind), pin in transceivers(part_of(board)).items()}
    places = {n: f"{channel(board)}{site}" for n, site in enumerate(usual_places(board))} if seven else {}
    values = [array("net_clocks", {net: names for net, names in clocks.items() if net in wires}),
        array("mux_inputs", MUX), array("site_pins", pins), array("ip_places", places),
        array("slow_paths", {"max": " ".join(f"{{{one} {other}}}" for one, other in failing), "min": ""}),
        f"set summary {{{'  0.000  0  41231  '.join(slacks)}}}\n",
        f"set ignored {{{' '.join(ignored)}}}\nset unknown {{{' '.join(unknown)}}}\nset fixed {int(fixed)}\n"]
    script = (HERE / "vivado.tcl").read_text() + "".join(values) + f"source {build}.tcl\n"
    result = subprocess.run(["tclsh"], input=script, cwd=folder, capture_output=True, text=True, timeout=60)
    assert result.stderr == "", result.stderr
    return result.returncode, result.stdout.splitlines()


def check_script(folder, build, board, c):
    """The script of a build ends well, constrains the link, and stops if Vivado leaves out something."""
    if shutil.which("tclsh") is None:
        return
    status, lines = run(folder, build, board)
    assert (status, lines[-1]) == (0, "QUIT"), lines[-3:]
    assert not [line for line in lines if line.startswith(("ERROR", "WARNING"))]
    check_clocks(lines, board, ["sys", *["ddr"] * bool(board.memory_rate(c))])
    check_places(lines, board, c)
    check_flash(lines, build, board)
    check_verdict(folder, build, board, lines)
    check_lost_settings(folder, build, board)
    check_moved_lanes(folder, build, board, c)


def check_clocks(lines, board, groups):
    """Each clock of the board is asynchronous to each of the link, and the two of the multiplexer to each other."""
    seven = ["userclk1", "userclk2", "clk125", "clk250", "pcie_pclk_125", "pcie_pclk_250"]
    link  = seven if board.gt_sites else ["user"]
    for one in groups:
        for other in [*link, *(set(groups) - {one})]:
            assert {f"GROUPS -asynchronous {one} {other}", f"GROUPS -asynchronous {other} {one}"} <= set(lines)
    assert "FALSE_PATH -to cells mr_ff == TRUE" in lines
    if board.gt_sites:
        assert {"GROUPS -physically_exclusive pcie_pclk_125 pcie_pclk_250", "FALSE_PATH -to pin BUFGCTRL/S0",
            "FALSE_PATH -to pin BUFGCTRL/S1"} <= set(lines)


def check_places(lines, board, c):
    """Each lane is placed at the transceiver of its pins, after the places of the IP are gone."""
    if not board.gt_sites:
        return
    kind  = "gtp_channel.gtpe2" if board.family == "artix7" else "gtx_channel.gtxe2"
    port  = re.compile(r"SET LOC (\w+) \{port pcie_x\d+_([rt]x_[pn])(?:\[(\d+)\])?\}")
    pins  = {(int(lane or 0), kind): pin for line in lines if (found := port.fullmatch(line))
        for pin, kind, lane in [found.groups()]}
    sites = {(pin, kind): site for (site, kind), pin in transceivers(part_of(board)).items()}
    assert len(pins) == 4*c.lanes
    first = lines.index(f"RESET LOC {{cells NAME=~pcie_s7/*{kind}_channel_i}}")
    for (lane, pad), pin in pins.items():
        assert f"SET LOC {channel(board)}{sites[pin, pad]} {{cells NAME=~pcie_s7/*pipe_lane[{lane}].gt_wrapper_i/" \
            f"{kind}_channel_i}}" in lines[first:]


def check_flash(lines, build, board):
    """The bitstream has the clock, the edge and the voltage of the board's flash before it is written."""
    flash = board.flash
    wants = {"CONFIG_VOLTAGE": flash.volts, "CFGBVS": "GND" if flash.volts == 1.8 else "VCCO",
        "BITSTREAM.CONFIG.CONFIGRATE": flash.rate, "BITSTREAM.CONFIG.SPI_FALL_EDGE": "YES",
        "BITSTREAM.CONFIG.SPI_BUSWIDTH": 4, "BITSTREAM.GENERAL.COMPRESS": "TRUE"}
    written, = [n for n, line in enumerate(lines) if line.startswith("write_bitstream ")]
    assert {f"SET {name} {value} current_design" for name, value in wants.items()} <= set(lines[:written])
    image, = [line for line in lines if line.startswith("write_cfgmem ")]
    assert image.endswith(f"up 0x{flash.start:08x} {build}.bit -file {build}.{flash.kind}")


def check_verdict(folder, build, board, lines):
    """The last line is the verdict, also in the file of the verdict; a slack that fails or is missing ends with 1."""
    rest = "; settings of the IP and pins of the lanes are as asked; critical warnings: 3, see vivado.log"
    good = f"timing is met (setup 0.113 ns, hold 0.041 ns, pulse width 0.000 ns){rest}"
    assert lines[-2] == f"VERDICT: {good}" and (folder / f"{build}_verdict.txt").read_text() == f"{good}\n"
    for fault, what in (
        ({"slacks": ("-5.000", "0.100", "0.000"), "failing": [("clkout0", "sys"), ("sys", "sys"), ("clkout0", "sys")]},
            "setup by 5.000 ns; from clock to clock: clkout0 to sys, sys to sys"),
        ({"slacks": ("0.100", "-0.031", "-0.300")}, "hold by 0.031 ns, pulse width by 0.300 ns"),
        ({"slacks": ("NA", "NA", "NA")}, "no figure for setup, no figure for hold, no figure for pulse width"),
    ):
        status, lines = run(folder, build, board, **fault)
        assert (status, lines[-1]) == (1, f"VERDICT: timing is not met: {what}{rest}")


def check_lost_settings(folder, build, board):
    """If Vivado leaves out settings of the IP, the script names each in one line and does not make the IP."""
    tcl   = (folder / f"{build}.tcl").read_text()
    names = set(re.findall(r"^(CONFIG\.\w+) \{", tcl, flags=re.MULTILINE))
    inner = names & {f"CONFIG.{name}" for name in INSIDE}
    assert {"CONFIG.AER_Enabled", "CONFIG.AER_Completion_Timeout"} <= names if board.gt_sites else \
        "CONFIG.PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE" in names
    for fault, what in (({"ignored": names}, "is another, not"), ({"unknown": names}, "is not a setting of this IP")):
        status, lines = run(folder, build, board, **fault)
        assert status == 1 and "SYNTH_IP" not in lines
        error, = [line for line in lines if line.startswith("ERROR: Vivado did not take settings of ")]
        assert error == lines[-1] and error.count(what) == len(names - inner)
        assert all(f"{name} is " in error for name in names - inner)
    status, lines = run(folder, build, board, ignored=inner)
    assert status == 0 and len([line for line in lines if line.startswith("WARNING: ")]) == len(inner)


def check_moved_lanes(folder, build, board, c):
    """If Vivado leaves the lanes where the IP has them, the script stops, unless they are at their pins there."""
    if board.gt_sites:
        moved = usual_places(board)[:c.lanes] != list(board.gt_sites[:c.lanes])
        status, lines = run(folder, build, board, fixed=True)
        assert status == int(moved)
        assert lines[-1].startswith("ERROR: Vivado moved lanes of the link" if moved else "QUIT")
        assert any(line.startswith("route_design") for line in lines) == (not moved)
