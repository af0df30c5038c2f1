#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import pytest

from migen import Signal
from migen.genlib.record import Record

from litepcie_soc.phy.shapes import PHYShape
from litepcie_soc.phy.sim import SimPHY, sim_phy_io

from test.gateware.simulation import simulate

# Helpers ------------------------------------------------------------------------------------------

def pads_of(data_width, split=False):
    """Records with the fields of the platform's resources."""
    pads = {}
    for name, _, *subsignals in sim_phy_io(data_width, split):
        pads[name] = Record([(s.name, len(s.constraints[0].identifiers)) for s in subsignals])
    return pads


SIDES = {False: ("tx", "rx"), True: ("tx_req", "tx_cmp", "rx_req", "rx_cmp")}

# Tests --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
@pytest.mark.parametrize("split", [False, True])
def test_ports(data_width, split):
    """The top-level ports are those of docs/contracts/phy-boundary.md."""
    ports = {f"{name}_{field[0]}": field[1]
        for name, record in pads_of(data_width, split).items() for field in record.layout}
    beat  = dict(valid=1, ready=1, first=1, last=1, dat=data_width, be=data_width//8)
    assert ports == {
        **{f"{side}_{name}": width for side in SIDES[split] for name, width in beat.items()},
        "phy_id": 16, "phy_max_payload_size": 16, "phy_max_request_size": 16, "phy_extended_tag": 1,
        "phy_bus_master_enable": 1, "phy_link_up": 1, "phy_msi_enable": 1,
        "phy_relaxed_ordering_enable": 1, "phy_no_snoop_enable": 1, "phy_rcb_128": 1, "phy_function_reset": 1,
        "phy_function_reset_done": 1, "phy_error_completion_timeout": 1, "phy_error_unexpected_completion": 1,
        "phy_error_poisoned": 1, "phy_error_unsupported_request": 1, "phy_error_completer_abort": 1,
        "msi_valid": 1, "msi_ready": 1, "msi_dat": 8,
    }


@pytest.mark.parametrize("split", [False, True])
def test_pads_are_connected_to_streams(split):
    """Each input drives its stream, and each stream its output, in the same cycle."""
    pads = pads_of(64, split)
    phy  = SimPHY(64, pads=pads, split=split)
    beat = ("valid", "first", "last", "dat", "be")
    into = {"tx_req": phy.req_sink, "tx_cmp": phy.cmp_sink} if split else {"tx": phy.sink}
    out  = {"rx_req": phy.req_source, "rx_cmp": phy.cmp_source} if split else {"rx": phy.source}
    pairs = [
        *[(endpoint, pads[name], beat) for name, endpoint in into.items()],
        *[(pads[name], endpoint, ("ready",)) for name, endpoint in into.items()],
        *[(pads[name], endpoint, beat) for name, endpoint in out.items()],
        *[(endpoint, pads[name], ("ready",)) for name, endpoint in out.items()],
        (phy.msi, pads["msi"], ("valid", "dat")), (pads["msi"], phy.msi, ("ready",)),
        (pads["phy"], phy, ("id", "max_payload_size", "max_request_size", "extended_tag", "bus_master_enable",
            "link_up", "msi_enable", "relaxed_ordering_enable", "no_snoop_enable", "rcb_128", "function_reset")),
        (phy, pads["phy"], ("function_reset_done",)),
    ]

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


@pytest.mark.parametrize("split", [False, True])
def test_a_phy_has_the_streams_of_one_shape(split):
    phy = SimPHY(64, split=split)
    assert hasattr(phy, "sink") != split and hasattr(phy, "cmp_sink") == split
    assert PHYShape(phy).split == split


@pytest.mark.parametrize("options, message", [
    (dict(data_width=100),                     "data_width .* is not supported; choose 64, 128, 256 or 512"),
    (dict(data_width=64, endianness="middle"), "endianness 'middle' is not supported; choose 'big' or 'little'"),
])
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SimPHY(**options)


def test_unit_tests_need_no_pads():
    assert isinstance(SimPHY(64).id, Signal)
