#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Fixtures of pytest for tests of somebody's card, its driver and programs in a guest.

    pytest_plugins = "litepcie_sim.card.fixtures"    # in conftest.py

A module of tests has the card as CARD: the path of its YAML file from there, or a function that builds it into a
folder, as `litepcie_sim.card.stock.make` does. GUEST, if it is there, is a dictionary with arguments of
`litepcie_sim.guest.Guest`.
"""

import os

from pathlib import Path

import pytest

from litepcie_sim.card import verilog
from litepcie_sim.card.card import CardError
from litepcie_sim.card.faults import inject
from litepcie_sim.card.run import built
from litepcie_sim.guest import Guest


@pytest.fixture(scope="module")
def card(request):
    """Folder of the module's CARD, built if it has changed."""
    given = getattr(request.module, "CARD", None)
    if given is None:
        pytest.fail(f"{request.path.name} has no CARD; give the path of a YAML file, or a function", pytrace=False)
    try:
        if callable(given):
            return built(given, given.__module__.rpartition(".")[2])
        path = request.path.parent / given
        return built(lambda folder: verilog.make(path, folder), Path(path).stem)
    except (CardError, ValueError) as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="module")
def guest(request, card, tmp_path_factory):
    """A guest with the card, its driver and programs, for all tests of a module: `litepcie_sim.guest.Guest`.

    At its end, rules of PCI Express that the card broke are an error of the last test.
    """
    folder  = tmp_path_factory.mktemp("guest")
    options = dict(getattr(request.module, "GUEST", {}))
    os.mkfifo(folder / "faults")
    arguments = ["--count-violations", "--inject-pipe", str(folder / "faults"), *options.pop("simulator_arguments", ())]
    with Guest(card, **{"log": folder / "console.log", "simulator_arguments": arguments, **options}) as booted:
        booted.faults = folder / "faults"
        yield booted
    if broken := booted.simulator.broken_rules():
        pytest.fail("\n".join(broken), pytrace=False)


@pytest.fixture
def faults(guest):
    """Function that gives the next accesses of the card faults: ``faults("drop@1")``, see ``--inject``."""
    return lambda text: inject(guest, guest.faults, text)
