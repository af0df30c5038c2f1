#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import pytest

from migen import Signal
from migen.genlib.record import Record

from litepcie_soc.phy.sim import SimPHY, sim_phy_io

from test.gateware.common import simulate

# Helpers ------------------------------------------------------------------------------------------

def pads_of(data_width):
    """Records with the fields of the platform's resources."""
    pads = {}
    for name, _, *subsignals in sim_phy_io(data_width):
        pads[name] = Record([(s.name, len(s.constraints[0].identifiers)) for s in subsignals])
    return pads

# Tests --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("data_width", [64, 128, 256])
def test_ports_are_those_of_the_contract(data_width):
    ports = {f"{name}_{field[0]}": field[1]
        for name, record in pads_of(data_width).items() for field in record.layout}
    beat  = dict(valid=1, ready=1, first=1, last=1, dat=data_width, be=data_width//8)
    assert ports == {
        **{f"{side}_{name}": width for side in ("tx", "rx") for name, width in beat.items()},
        "phy_id": 16, "phy_max_payload_size": 16, "phy_max_request_size": 16, "phy_extended_tag": 1,
        "phy_bus_master_enable": 1, "phy_link_up": 1, "phy_msi_enable": 1,
        "msi_valid": 1, "msi_ready": 1, "msi_dat": 8,
    }


def test_pads_and_streams_are_the_same():
    """Each input shows at its stream and the other way round, in the same cycle."""
    pads = pads_of(64)
    phy  = SimPHY(64, pads=pads)
    pairs = [(pads["rx"], phy.source, ("valid", "first", "last", "dat", "be")),
        (phy.sink, pads["tx"], ("valid", "first", "last", "dat", "be")),
        (pads["tx"], phy.sink, ("ready",)), (phy.source, pads["rx"], ("ready",)),
        (phy.msi, pads["msi"], ("valid", "dat")), (pads["msi"], phy.msi, ("ready",)),
        (pads["phy"], phy, ("id", "max_payload_size", "max_request_size", "extended_tag", "bus_master_enable",
            "link_up", "msi_enable"))]

    def check():
        for begin, end, names in pairs:
            for name in names:
                source, target = getattr(begin, name), getattr(end, name)
                assert len(source) == len(target)
                for value in (2**len(source) - 1, 2**len(source)//3, 0):
                    yield source.eq(value)
                    yield
                    yield
                    assert (yield target) == value, name

    simulate(phy, [check()])


@pytest.mark.parametrize("options, message", [
    (dict(data_width=100),                     "data_width must be one of"),
    (dict(data_width=64, endianness="middle"), "endianness must be 'big' or 'little', not 'middle'"),
])
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SimPHY(**options)


def test_unit_tests_need_no_pads():
    assert isinstance(SimPHY(64).id, Signal)
