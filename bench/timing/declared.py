#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Crossings that no structure of the netlist shows to be safe, each with the reason why it is."""

import re

from dataclasses import dataclass


@dataclass(frozen=True)
class Declared:
    """A crossing from signals, all of whose names match ``begins``, to one whose name matches ``end``."""
    begins: str
    end:    str
    reason: str

    def covers(self, begins, end):
        return all(re.fullmatch(self.begins, begin) for begin in begins) and bool(re.fullmatch(self.end, end))


_FIRST = r"\w*multiregimpl\d+_regs0"

DECLARED = (
    # Ports of the hard blocks.
    Declared(r"pcie_\w+\.(pl_ltssm_state|pl_sel_lnk_width|cfg_ltssm_state|cfg_negotiated_width|cfg_current_speed|"
        "cfg_phy_link_status)", _FIRST,
        "state of the link, only shown: a register or the log has a mixed value for one cycle"),
    Declared(r"pcie_\w+\.(cfg_dcommand|cfg_max_payload|cfg_max_read_req)", _FIRST,
        "the host changes the sizes of payloads and of read requests only while the function is idle"),
    Declared(r"pcie_\w+\.(cfg_command|cfg_function_status|cfg_rcb_status)", _FIRST,
        "each bit is used alone"),
    Declared(r"pcie_\w+\.cfg_(bus|device|function)_number", _FIRST,
        "the host numbers its buses while bus mastering is off"),
    # DDR.
    Declared(r"\w*trainer_failed", _FIRST,
        "each bit is of one byte, and stays as the training left it"),
    Declared(r"\w*idelayctrl_ic_ready", r"\w*ic_ready_counter|training_rst",
        "LiteX's wait after the calibration of the delays: it may be miscounted once, before anything runs"),
    # The endpoint in gateware.
    Declared("memory", r"pcie_phy_\w+",
        "memory of the elastic buffer: the reader stays some pairs after the writer, whose pointer crosses as Gray "
        "code; if it comes too near, it begins again"),
    Declared(r"pcie_phy_(sent|header|unknown0)", r"pcie_phy_softendpoint_space_\w+",
        "reported errors: held until the pulse that takes them over came back (ErrorCrossing)"),
    Declared("snapshot", r"mmap_dat_r",
        "copy of the counters: the writer is idle after it has answered the request for the copy (LaneSampler)"),
    Declared(r"lanesampler_log_state", _FIRST,
        "LEDs"),
)
