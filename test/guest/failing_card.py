#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A board whose card fails in a chosen way: after a write of 0xc1a10000 + FAULT to its register SCRATCH."""

import re
import subprocess
import sys

from test.conftest       import arguments_of
from test.guest.conftest import ROOT

# Faults: none; all registers read as ones; no engine of a memory channel, or of a stream, ends its reset.
NONE, GONE, STUCK_MEMORY, STUCK_STREAM = range(4)

SCRATCH = 0x28
OPTIONS = {"channels": 2, "streams": 1, "user_core": True}


def _changed(text, pattern, new, count):
    text, changed = re.subn(pattern, new, text, flags=re.M)
    assert changed == count, f"{pattern}: {changed} places, not {count}"
    return text


def build(folder):
    """Builds the board in `folder`. No reset of the card ends the fault."""
    subprocess.run([sys.executable, ROOT / "targets" / "sim.py", "--build", "--no-compile", "--log-level", "warning",
        *arguments_of(OPTIONS), "--output-dir", folder], check=True)
    verilog = folder / "gateware" / "litepcie_soc_sim.v"
    text    = verilog.read_text()
    scratch = re.search(r"reg +\[31:0\] (\w+_scratch_storage)", text)[1]
    text    = _changed(text, r"(?<= : )(\w+_completer_access_csr_bus_dat_r)\b", rf"({{32{{fault == {GONE}}}}} | \1)", 1)
    for kind, fault, engines in (("dma", STUCK_MEMORY, 4), ("stream", STUCK_STREAM, 2)):
        text = _changed(text, rf"(assign \w+_csrbank\d+_control0_w = )(?=\w+_{kind}engine\d_registers_)",
            rf"\1fault == {fault} ? 2'd2 : ", engines)
    # Declared before the first use, and without a reset.
    text = re.sub(r"^(wire .*\n)", r"reg [15:0] fault = 0;\n\1", text, count=1, flags=re.M)
    verilog.write_text(text.replace("\nendmodule", f"""
always @(posedge sys_clk)
    if ({scratch}[31:16] == 16'hc1a1)
        fault <= {scratch}[15:0];

endmodule"""))
    subprocess.run(["make", "-s", "-C", ROOT / "sim", f"BOARD={folder}"], check=True)
    return folder
