# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The driver's trace events: their order and values, for a transfer and for one that fails."""

import re

import pytest

from test.guest.test_lifecycle import BDF, DRIVER

pytestmark = pytest.mark.guest

BOARD = "default"

TRACING = "/sys/kernel/tracing"
TIMEOUT = "/sys/module/litepcie/parameters/timeout_ms"
CONTROL = 0x1000  # Of reader 0.
EVENT   = re.compile(r"litepcie_(\w+): litepcie0 (.*)$", re.M)


@pytest.fixture
def run(guest):
    """Runs a command and returns its events: (name, text)."""
    guest.run(f"test -e {TRACING}/trace || mount -t tracefs none {TRACING}")
    def run(command):
        guest.run(f"echo > {TRACING}/trace; echo 1 > {TRACING}/events/litepcie/enable; {command} 2>/dev/null; "
            f"echo 0 > {TRACING}/events/litepcie/enable")
        return EVENT.findall(guest.run(f"cat {TRACING}/trace"))
    return run


def test_a_transfer(run):
    events = run("dd if=/dev/zero of=/dev/litepcie0 bs=5000 count=1 seek=2")
    assert [name for name, _ in events if name != "interrupt"] == ["submit", "doorbell", "complete"]
    texts = dict(events)
    assert texts["submit"] == "reader endpoint=0x2710 bytes=5000"
    # The ring counts descriptors; each piece of memory is one.
    produced, completed = map(int, re.fullmatch(r"reader0 produced=(\d+) completed=(\d+)", texts["doorbell"]).groups())
    assert 1 <= produced - completed <= 3
    assert texts["complete"] == "reader0 endpoint=0x2710 bytes=5000 moved=5000 error=0"
    names = [name for name, _ in events]
    assert names.index("doorbell") < names.index("interrupt") < names.index("complete")
    assert re.fullmatch(r"vector=\d+", texts["interrupt"])


def test_a_transfer_that_fails(guest, run, shared_guest):
    shared_guest.inject("ur@100")
    events = run("dd if=/dev/zero of=/dev/litepcie0 bs=100000 count=1")
    names  = [name for name, _ in events]
    stop   = names.index("stop")
    # UR is reason 1 (litepcie_regs.h), EIO errno 5.
    assert re.fullmatch(r"reader0 reason=1 bytes=\d+", events[stop][1])
    failed = [text for name, text in events[stop:] if name == "complete"]
    assert len(failed) == 1 and failed[0].endswith("error=-5")
    moved  = int(re.search(r"moved=(\d+)", failed[0])[1])
    assert 0 < moved < 100000
    guest.works()


def test_a_transfer_without_progress(guest, run):
    """Something else has switched the engine off: the driver starts it again."""
    # Unbinding ends the watchdog's wait, which began with the old time.
    guest.run(f"echo 100 > {TIMEOUT}; echo {BDF} > {DRIVER}/unbind; echo {BDF} > {DRIVER}/bind; poke {CONTROL} 0")
    events = dict(run("dd if=/dev/zero of=/dev/litepcie0 bs=5000 count=1"))
    guest.run(f"echo 10000 > {TIMEOUT}")
    assert events["stop"] == "reader0 reason=0 bytes=0"
    assert events["complete"].endswith("bytes=5000 moved=0 error=-110")
    guest.works()


def test_nothing_is_written_when_it_is_off(guest, run):
    run("true")
    guest.works()
    assert EVENT.findall(guest.run(f"cat {TRACING}/trace")) == []
