#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Steps that generators of a simulation have in common."""


def wait(cycles):
    """Lets cycles pass."""
    for _ in range(cycles):
        yield


def pulse(signal, value=1):
    """Sets a signal for one cycle. Its value ends with the next cycle that the caller lets pass."""
    yield signal.eq(value)
    yield
    yield signal.eq(0)
