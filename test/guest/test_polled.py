# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""io_uring with IORING_SETUP_IOPOLL: the program polls for the end of its calls."""

import pytest

from test.guest.test_lifecycle import BDF, DRIVER
from test.guest.test_transfers import fio_verify

pytestmark = pytest.mark.guest

BOARD = "default"


@pytest.mark.parametrize("how", ["alone", "depth", "left"])
def test_calls(guest, how):
    """A call that is alone in the ring ends without an interrupt, and callers that wait are not delayed by it."""
    timeout = "/sys/module/litepcie/parameters/timeout_ms"
    guest.run(f"echo 60000 > {timeout}")
    assert "checks passed" in guest.run(f"polled {how}")
    guest.run(f"echo 10000 > {timeout}")


def test_unbind(guest):
    assert "checks passed" in guest.run("polled unbind")
    guest.run(f"echo {BDF} > {DRIVER}/bind")
    guest.works()


def test_a_program_that_does_not_poll_is_killed(guest):
    guest.run("polled killed", status=128 + 9)
    guest.works()


@pytest.mark.full
def test_fio(guest):
    guest.run(f"{fio_verify('io_uring')} --hipri --direct=1", timeout=600)
