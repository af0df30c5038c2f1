#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The stack asks a port to let the link sleep, symbol by symbol, and TLPs before and after it."""

import random

from cocotbext.pcie.core.dllp import Dllp, DllpType
from migen import passive

from litepcie_soc.phy.soft.dllp  import POSTED
from litepcie_soc.phy.soft.stack import Stack

from test.gateware.phy.soft.bench      import random_tlps
from test.gateware.phy.soft.line       import UP, Line
from test.gateware.phy.soft.packets    import words
from test.gateware.phy.soft.partner    import P, Partner, kind_of
from test.gateware.phy.soft.port       import COM, IDL
from test.gateware.phy.soft.test_stack import Host
from test.gateware.simulation          import drive

END, SDP = 0x1fd, 0x15c


def request_ack():
    dllp = Dllp()
    dllp.type = DllpType.PM_REQ_ACK
    return dllp


def asked(partner):
    return [cycle for cycle, dllp in partner.log if dllp.type == DllpType.PM_ENTER_L1]


def test_l1_and_back():
    """PM_Enter_L1 follow each other with four symbols between at most, and every packet is whole."""
    rng     = random.Random(1)
    ours    = [tlp for tlp in random_tlps(rng, 60) if kind_of(tlp) == P][:4]
    partner = Partner()
    port    = Host(partner, 1)

    @passive
    def tick(line):
        yield line.dut.data_link.mps.eq(0)
        while True:
            if port.state == "L0":
                partner.tick()
            yield

    def sends(line, tlps):
        yield from drive(line.dut.data_link.sinks[POSTED], [beat for tlp in tlps for beat in words(tlp)])
        yield line.dut.data_link.sinks[POSTED].valid.eq(0)

    def script(line):
        yield from line.until("L0")
        while not (yield line.dut.dl_up):
            yield
        yield line.dut.power.low_power.eq(1)
        yield from sends(line, ours[:2])
        for _ in range(600):
            yield
        # After the TLPs and their acknowledgements.
        assert partner.received == ours[:2] and len(asked(partner)) > 50
        begin = len(line.sent)
        for _ in range(400):
            yield
        # Descrambled, K symbols are as they are.
        marks = [(place, symbol) for place, symbol in enumerate(line.sent[begin:]) if symbol in (END, SDP, COM)]
        gaps  = [after - before for (before, one), (after, other) in zip(marks, marks[1:])
            if (one, other) == (END, SDP)]
        assert len(gaps) > 60 and max(gaps) <= 5
        partner.due["sleep"] = partner.cycle, request_ack()
        yield from line.until("L1", 200)
        for _ in range(20):
            yield
        sent = [symbol for symbol in line.sent if symbol is not None]
        assert sent[-4:] == [COM, IDL, IDL, IDL] and sent[-8] != SDP and line.sent[-1] is None
        port.enter("off")
        port.queue = []
        for _ in range(400):
            yield
        assert line.states == UP + ["L1"]
        yield line.dut.busy.eq(1)
        yield from line.until("RECOVERY_LOCK", 20)
        port.enter("recovery")
        yield from line.until("L0")
        yield line.dut.power.low_power.eq(0)
        yield line.dut.busy.eq(0)
        yield from sends(line, ours[2:])
        for _ in range(400):
            yield
        assert partner.received == ours and partner.counts["bad"] == 0 and partner.counts["error"] == 0
        assert line.states[-1] == "L0" and max(asked(partner)) < partner.cycle - 400
    Line(port, script, unit=Stack, others=[tick])
