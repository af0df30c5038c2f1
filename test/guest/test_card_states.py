#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A card that calls cannot use: after bus errors, without an answer, with an engine that does not end its reset.

Each call of each kind ends in time, and works again after the recovery (src/states.c).
"""

import re

from pathlib import Path

import pytest

from litepcie_sim.guest              import qemu
from litepcie_sim.guest.debug_kernel import kernel as named_kernel
from litepcie_sim.guest.module       import module

from test.guest                  import failing_card
from test.guest.conftest         import BUILD
from test.guest.failing_card     import GONE, NONE, SCRATCH, STUCK_MEMORY, STUCK_STREAM
from test.guest.test_bus_errors  import Monitor

pytestmark = [pytest.mark.guest, pytest.mark.full]

# Older ones give the recovery from fatal errors up: test_bus_errors.py.
KERNEL    = "newest"
BDF       = "0000:01:00.0"
CARD      = f"/sys/bus/pci/devices/{BDF}"
VOTE      = "/sys/module/neighbour/parameters/reset"
STATE     = "/sys/kernel/debug/litepcie/litepcie0/card"
NEIGHBOUR = Path(__file__).resolve().parent / "neighbour"

TIMEOUT_MS = 1000
LIMIT_MS   = TIMEOUT_MS + 1000
AER_MS     = 60000

# Error of the monitor, and whether the neighbour votes for a reset.
ERRORS = {"fatal": ("SDN", 0), "voted": ("COMP_TIME", 1)}


@pytest.fixture(scope="module")
def monitor(tmp_path_factory):
    return Monitor(tmp_path_factory.mktemp("m") / "m")


@pytest.fixture(scope="module")
def guest(boot, monitor):
    neighbour = module(named_kernel(KERNEL), NEIGHBOUR)
    board     = failing_card.build(BUILD / "failing")
    arguments = qemu.Machine.arguments
    own       = qemu.Machine._board

    def with_more(self, *rest):
        return [*arguments(self, *rest), "-monitor", f"unix:{monitor.path},server=on,wait=off",
            "-device", "edu,bus=root-port,addr=00.1"]

    def first_of_several(self, port, socket):
        return {**own(self, port, socket), "addr": "00.0", "multifunction": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qemu.Machine, "arguments", with_more)
        patch.setattr(qemu.Machine, "_board", first_of_several)
        with boot("card-states", board=board, kernel=KERNEL, cpus=2, parameters=("iomem=relaxed",),
                files=[(neighbour, "/lib/modules/neighbour.ko")]) as guest:
            guest.run("insmod /lib/modules/neighbour.ko")
            guest.run(f"echo {TIMEOUT_MS} > /sys/module/litepcie/parameters/timeout_ms")
            yield guest


def fault(number):
    return f"poke {SCRATCH} {0xc1a10000 + number}"


def state(guest):
    """Name of the card's state, and bytes that are kept for it."""
    found = re.fullmatch(r"state (.*)\nkept (\d+) bytes\n", guest.run(f"cat {STATE}"))
    return found[1], int(found[2])


def works(guest):
    assert state(guest) == ("present", 0)
    guest.works()


def bus_error(guest, monitor, calls, error, reset):
    """Runs the calls, and injects an error while they run. Returns what the calls said."""
    guest.run(f"echo {reset} > {VOTE}; dmesg -c > /tmp/earlier; rm -f /tmp/ready /tmp/go /tmp/said; "
        f"(states {calls} {AER_MS} 'touch /tmp/ready; until test -e /tmp/go; do sleep 0.05; done'; echo status $?) "
        "> /tmp/said 2>&1 &")
    guest.run("for i in $(seq 300); do test -e /tmp/ready && exit 0; sleep 0.1; done; cat /tmp/said; exit 1")
    monitor.inject(error)
    guest.run("for i in $(seq 600); do dmesg | grep -q 'AER: device recovery' && exit 0; sleep 0.1; done; "
        "dmesg; exit 1")
    assert "device recovery successful" in guest.run("dmesg")
    guest.run("touch /tmp/go; for i in $(seq 900); do grep -q status /tmp/said && exit 0; sleep 0.1; done; "
        "cat /tmp/said; exit 1")
    said = guest.run("cat /tmp/said")
    assert "checks passed" in said and "status 0" in said, said
    return said


CALLS = pytest.mark.parametrize("calls", [pytest.param("idle", marks=pytest.mark.full), "waiting",
    pytest.param("flight", marks=pytest.mark.full)])


@CALLS
@pytest.mark.parametrize("error", ERRORS)
def test_a_bus_error_ends_all_calls_and_the_card_works_after_it(guest, monitor, error, calls):
    print(bus_error(guest, monitor, calls, *ERRORS[error]))
    works(guest)


@pytest.mark.full
def test_an_error_that_is_not_fatal_ends_no_call(guest, monitor):
    bus_error(guest, monitor, "calm", "COMP_TIME", 0)
    works(guest)


def fails(guest, calls, number, cause=""):
    """Runs the calls while the card begins to fail; returns what they said, and the state in which it was."""
    # The driver may be resetting the function, which loses writes: then the fault would outlive the recovery.
    recover = (f"cat {STATE}; until {fault(NONE)}; [ $(poke {SCRATCH}) = {0xc1a10000 + NONE:#x} ]; do :; done; "
        f"echo 1 > {CARD}/reset")
    said    = guest.run(f"states {calls} {LIMIT_MS} '{fault(number)}{cause}' '{recover}'")
    assert "checks passed" in said, said
    works(guest)
    return said


@CALLS
def test_a_card_that_does_not_answer_is_gone_for_all_calls(guest, calls):
    assert "state cut off\nkept 0 bytes" in fails(guest, calls, GONE)


@CALLS
def test_a_memory_engine_that_does_not_end_its_reset_disables_the_card(guest, calls):
    assert "state disabled\nkept 0 bytes" in fails(guest, calls, STUCK_MEMORY, "; states reset")


@pytest.mark.parametrize("calls", [pytest.param("idle", marks=pytest.mark.full), "waiting",
    pytest.param("rest", marks=pytest.mark.full)])
def test_an_engine_of_a_stream_that_does_not_end_its_reset_disables_the_card(guest, calls):
    # The engine may still run for the last file; then a write would not reset it.
    guest.run(f"echo 1 > {CARD}/reset")
    # The calls end before the card is known to be quiet: the ring of the file that the shell has closed may be kept.
    assert "state disabled" in fails(guest, calls, STUCK_STREAM, "; echo x > /dev/litepcie0_stream0; true")
