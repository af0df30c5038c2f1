# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""What close() waits for: only the last one of a stream's file does, and for a bounded time (src/closing.c)."""

import pytest

from test.conftest import SOFT

pytestmark = pytest.mark.guest

TIMEOUT_MS = "/sys/module/litepcie/parameters/timeout_ms"
LONG_MS    = 60000

# Far less than timeout_ms, for which a close() that waits for the card would wait.
SECONDS = 50


@pytest.fixture
def guest(guest):
    before = guest.run(f"cat {TIMEOUT_MS}").strip()
    yield guest
    guest.run(f"echo {before} > {TIMEOUT_MS}")


def passes(guest, how, timeout_ms, seconds=SECONDS):
    guest.run(f"echo {timeout_ms} > {TIMEOUT_MS}")
    assert "checks passed" in guest.run(f"closing {how}", timeout=seconds)


@pytest.mark.parametrize("how", ["duplicate", "exec", "exit", "nonblock"])
def test_a_close_that_does_not_wait(guest, how):
    passes(guest, how, LONG_MS)


@pytest.mark.parametrize("how, timeout_ms", [("drains", LONG_MS), ("last", 500)])
def test_the_last_close_waits_until_the_card_has_all_or_takes_nothing(guest, how, timeout_ms):
    passes(guest, how, timeout_ms)


@pytest.mark.full
@pytest.mark.skipif(SOFT, reason="a link of Gen1 x1, simulated symbol by symbol, is slower than the reader")
def test_the_last_close_waits_half_a_minute_at_most(guest):
    """The card takes a buffer each half second."""
    passes(guest, "slow", LONG_MS, 200)


def test_a_close_cancels_no_asynchronous_call(guest):
    passes(guest, "async", 10000)
