# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
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


def send(endpoint, /, **fields):
    """Offers a beat with these fields until it is accepted. A beat sent at once after it follows without a gap."""
    for name, value in fields.items():
        yield getattr(endpoint, name).eq(value)
    yield endpoint.valid.eq(1)
    yield
    while not (yield endpoint.ready):
        yield
    yield endpoint.valid.eq(0)
