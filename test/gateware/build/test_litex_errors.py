#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A user's design that LiteX's SoC builder refuses: one line."""

import logging
import subprocess
import sys

import pytest

from litepcie_soc.build.litex_errors import errors_of_litex

DESIGN = """
import sys
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from litepcie_sim.user import SimSoC, main

class SoC(SimSoC):
    def __init__(self):
        SimSoC.__init__(self, user_bus={"origin": 0, "size": 0x20000})
        for name, origin in (("one", 0x10000), ("two", 0x10800)):
            ram = wishbone.SRAM(4096)
            self.submodules += ram
            self.bus.add_slave(name, ram.bus, SoCRegion(origin=origin, size=4096))

sys.exit(main(SoC, "overlap", [], "true"))
"""


def test_slaves_that_overlap(tmp_path):
    (tmp_path / "design.py").write_text(DESIGN)
    done = subprocess.run([sys.executable, tmp_path / "design.py", "--no-compile", "--output-dir", tmp_path / "out"],
        capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("design.py: Region overlap between one and two: Origin: 0x00010000, Size: 0x00001000")
    assert done.stderr.count("\n") == 1 and "0x00010800" in done.stderr


def test_other_errors_are_logged_as_before(caplog):
    with pytest.raises(KeyError), errors_of_litex():
        logging.getLogger("SoC").error("later")
        assert not caplog.records
        raise KeyError
    assert [record.getMessage() for record in caplog.records] == ["later"]
