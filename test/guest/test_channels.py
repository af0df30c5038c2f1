#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A card with several memory channels: the driver runs all of their engines."""

import pytest

pytestmark = pytest.mark.guest

CHANNELS = 4
ENGINES  = [f"{kind}{channel}" for kind in ("reader", "writer") for channel in range(CHANNELS)]
DEBUGFS  = "/sys/kernel/debug/litepcie/litepcie0"


@pytest.fixture(scope="module")
def guest(boot, build_board):
    with boot("channels", board=build_board(channels=CHANNELS), cpus=2) as guest:
        yield guest


def test_every_engine_runs(guest):
    said = guest.run(f"cd {DEBUGFS} && grep state reader* writer*")
    assert said.split("\n")[:-1] == [f"{engine}:state running" for engine in ENGINES]


def test_every_engine_is_reset_while_transfers_run(guest):
    """Also the errors of all system calls on this card."""
    assert "checks passed" in guest.run("errors")
    guest.works()
