# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The image for bring-up with the behavioural DCU and its faults, and the real tool at its serial port.

Times of the reset sequence and of link training are 256 times shorter. The lane hears itself.
"""

import json
import subprocess
from pathlib import Path

import pytest
from litex_boards.platforms import lattice_versa_ecp5
from migen import ClockDomain

from litepcie_soc.endpoint.lane_view.bringup import add_bringup
from litepcie_soc.endpoint.serdes.ecp5.serdes import ECP5SerDes
from litepcie_soc.soc.export import reproducible
from litepcie_soc.soc.soc import LitePCIeSoC
from test.gateware.endpoint.serdes.ecp5.simulator import DIVISOR, PRIMITIVES, primitive, write_tables
from test.gateware.simulation import ROOT
from test.gateware.verilate import verilate
from test.software.user.conftest import build  # noqa: F401
from test.software.user.test_json import check

HERE = Path(__file__).parent
SYS_HZ, BIT_CYCLES = 100e6, 8


def verilog(folder):
    """Text of the image of a board, but for its clock, and of the memories that it reads."""
    platform   = lattice_versa_ecp5.Platform()
    soc        = LitePCIeSoC(platform, SYS_HZ)
    soc.cd_sys = ClockDomain(reset_less=True)
    soc.comb  += soc.cd_sys.clk.eq(platform.request("clk100"))
    soc.serdes = ECP5SerDes(platform, SYS_HZ, registers=True, divisor=DIVISOR)
    add_bringup(soc, soc.serdes, baud=SYS_HZ/BIT_CYCLES, clk_freq=125e6/DIVISOR)
    soc.build(build_dir=folder, build_name="top", run=False)
    return {path.name: reproducible(path.read_text()) for path in Path(folder).iterdir()
        if path.suffix in (".v", ".init")}


def model_of_dcu():
    """With a status that may be stuck, and the registers."""
    body = (HERE / "dcua.v").read_text(encoding="utf-8")
    if "STATUS=" not in body:
        head, end = body.split("CH0_FF_RX_D_0} = rx_word;")
        body = head + "CH0_FF_RX_D_0} = status < 0 ? rx_word : {status[2:0], rx_word[20:12], status[2:0], " \
            'rx_word[8:0]};\n    integer status = -1;\n    initial if ($value$plusargs("STATUS=%d", status)) ;\n' + end
    return ("`timescale 1ps/1fs\n" + primitive("DCUA") + body + (HERE / "sci.v").read_text(encoding="utf-8")
        + "endmodule\n" + PRIMITIVES)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """(program of the image, folder of the tables that it reads)."""
    tables = tmp_path_factory.mktemp("tables")
    write_tables(tables)
    source = ROOT / "sim" / "src"
    parts  = ("common/program.h", "card/serial_port.h", "card/serial_port.cpp")
    files  = verilog(tmp_path_factory.mktemp("image")) | {"model.v": model_of_dcu(),
        **{name: (HERE / name).read_text(encoding="utf-8") for name in ("bringup.v", "bringup.cpp")},
        **{name: (source / name).read_text(encoding="utf-8") for name in parts}}
    return verilate(files, top="bench", optimise="-O1", timing=True).path, tables


@pytest.fixture
def link(image, build, tmp_path):  # noqa: F811
    """A function (options of the model, arguments of the tool) that returns what the tool says as JSON."""
    processes, port = [], tmp_path / "tty"

    def run(flags, *arguments):
        if not processes:
            processes.append(subprocess.Popen([image[0], port, *(f"+{flag}" for flag in flags)], cwd=image[1],
                stdout=subprocess.PIPE, text=True))
            assert processes[0].stdout.readline() == "ready\n"
        result = subprocess.run([build/"litepcie_util", "link", "--json", "--serial", port, "--seconds", "0.05",
            *map(str, arguments)], capture_output=True, text=True, timeout=240)
        assert result.returncode == 0, result.stderr
        return check("link", result.stdout)
    yield run
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.full
@pytest.mark.parametrize("flags, advice", [
    (("NO_SIGNAL",),        "Loss of signal is set while the receiver is locked and the symbols are good"),
    (("CHATTER_NS=3000",),  "Loss of signal comes and goes while the symbols are good"),
    (("CDR_LOCK_NS=900000000",), "A signal comes, but the receiver does not lock to it"),
    (("STATUS=5",),         "Almost every symbol has the same status"),
    (("DEAD_RX",),          "its clock stands still"),
    (("IDLE", "PRESENT=0"), "No receiver is at the other end"),
    (("NO_DONE",),          "Receiver detection gets no answer"),
    (("PRESENT=0",),        "Receiver detection finds nobody (CON stays 0), though a signal comes"),
    (("PLL_LOCK_NS=900000000",), "The transmit PLL does not lock, though the reference clock is right"),
])
def test_the_tool_names_the_fault(link, flags, advice):
    """What each fault is called, measured by the image."""
    assert advice in link(flags, "--test", "hold").get("advice", "")


@pytest.mark.full
def test_a_lane_without_a_fault(link, tmp_path):
    """Its clocks, its registers, and what it sends."""
    said  = link(())
    found = said["bringup"]
    # Counts are in eighths of a clock. A loaded machine simulates few cycles in the time of a measurement.
    error = 0.01 + 16/(125e6*found["measured_seconds"])
    assert all(abs(found[f"{name}_clock_hz"]/125e6 - 1) < error for name in ("transmit", "receive")), found
    assert said["reference_clock_hz"] == 100_000_000
    # Without a comma, the bits of D10.2 may also be D21.5.
    for mode, trigger, pairs in (("d10.2", "now", ({(0x4a, 0x4a)}, {(0xb5, 0xb5)})),
            ("compliance", "comma", ({(0x1bc, 0xb5), (0x1bc, 0x4a)},))):
        said    = link((), "--test", mode, "--capture", trigger)
        symbols = [word >> shift & 0x1ff for word in said["bringup"]["recording"]["words"] for shift in (0, 12)]
        symbols = symbols[mode == "compliance" and symbols[0] != 0x1bc:]
        assert said["state"] == "Polling.Active" and set(zip(symbols[::2], symbols[1::2])) in pairs, mode
    link((), "--save", tmp_path / "file", "--test", "train", "--registers", "0x15=0x7e,common:0x16=0")
    saved = json.loads((tmp_path / "file").read_text())["bringup"]
    assert saved["registers_of_channel"] == [0x7e if n == 0x15 else n for n in range(64)]
    assert saved["common_registers"] == [0 if n == 0x16 else 64 + n for n in range(64)]
