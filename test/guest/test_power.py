# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A card that is reset or loses its power under its driver."""

import pytest

from test.guest.conftest import CARD, LINK, SUSPEND

pytestmark = pytest.mark.guest

BOARD = "default"

RESET   = f"echo 1 > {CARD}/reset"
AGAIN   = f"link is {LINK}, built for {LINK}"


def times_found(guest):
    """How often the driver has found the card's link as it must be."""
    return guest.run("dmesg").count(AGAIN)


def memory_losses(guest):
    return int(guest.run("cat /sys/class/litepcie/litepcie0/memory_losses"))


@pytest.mark.parametrize("method", ["flr", pytest.param("bus", marks=pytest.mark.full)])
def test_a_reset_in_a_transfer_is_not_seen_by_the_caller(guest, method):
    """A function level reset, and a hot reset by the port above. Both directions go on, and no byte is wrong."""
    before = times_found(guest)
    guest.run(f"echo {method} > {CARD}/reset_method && grep -qx {method} {CARD}/reset_method")
    said   = guest.run(f"""
        (dd if=/bin/busybox of=/dev/litepcie0 bs=8M 2>&1; echo wrote $?) > /tmp/writer &
        for i in 1 2 3; do sleep 0.05; {RESET} || exit; done
        wait; cat /tmp/writer
        (head -c $(stat -c %s /bin/busybox) < /dev/litepcie0 > /tmp/copy; echo read $?) > /tmp/reader &
        for i in 1 2 3; do sleep 0.05; {RESET} || exit; done
        wait; cat /tmp/reader
        cmp /tmp/copy /bin/busybox && echo equal; rm /tmp/copy
        echo default > {CARD}/reset_method""")
    assert "wrote 0" in said and "read 0" in said and "equal" in said
    assert times_found(guest) == before + 6
    guest.works()


@pytest.mark.full
def test_suspend_to_ram_and_resume(guest):
    before, lost = times_found(guest), memory_losses(guest)
    guest.run(SUSPEND)
    assert times_found(guest) == before + 1
    # QEMU resets its devices, as a platform that cuts the power of the slot.
    assert memory_losses(guest) == lost + 1
    assert guest.run("dmesg").count("its memory may be lost") == lost + 1
    guest.run(RESET)
    assert memory_losses(guest) == lost + 1
    guest.works()


@pytest.mark.full
def test_open_files_and_transfers_outlive_a_suspend(guest):
    """What docs/driver.md says: a transfer goes on after the resume, on the file that was open before."""
    said = guest.run(f"""
        (dd if=/bin/busybox of=/dev/litepcie0 bs=8M 2>&1; echo wrote $?) > /tmp/writer &
        sleep 0.05; {SUSPEND}; wait; cat /tmp/writer
        head -c $(stat -c %s /bin/busybox) < /dev/litepcie0 | cmp - /bin/busybox && echo equal""")
    assert "wrote 0" in said and "equal" in said
    guest.works()


@pytest.mark.parametrize("loss", ["flr", *[pytest.param(loss, marks=pytest.mark.full) for loss in ("bus", "suspend")]])
def test_no_mapping_of_the_window_outlives_the_card(guest, loss):
    """The program's next access maps the page again, after the driver has found the same card."""
    if loss == "suspend":
        command = SUSPEND
    else:
        guest.run(f"echo {loss} > {CARD}/reset_method")
        command = RESET
    assert guest.run(f"window '{command}'").split() == ["again"]
    guest.run(f"echo default > {CARD}/reset_method")
    guest.works()


def test_an_access_to_the_window_waits_for_the_end_of_a_reset(guest):
    """A program that uses the window all the time sees no error from resets."""
    said = guest.run(f"window use & sleep 0.1; for i in 1 2 3 4 5; do {RESET} || exit; done; sleep 0.1;"
        " kill $! && wait")
    assert "SIGBUS" not in said
    guest.works()
