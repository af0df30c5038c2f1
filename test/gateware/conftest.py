#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Every test of gateware begins without the designs of the tests before it."""

import pytest

from migen.fhdl import tracer


@pytest.fixture(autouse=True)
def new_design():
    """Migen's tracer keeps a reference to every object that ever made a Signal, and searches that list for each
    new Signal. Without this fixture each test is slower than the one before it, and memory grows without end.
    """
    tracer.classname_to_objs.clear()
    tracer.name_to_idx.clear()
