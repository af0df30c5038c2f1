#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completions that go wrong: the application gets an errno, and the next transfer works."""

import pytest

pytestmark = pytest.mark.guest

# Completions before the fault: past the descriptor fetches of the first, in the data of the second.
FAULTS = {
    "ur"       : ("Input/output error",),
    "ca"       : ("Input/output error",),
    "poison"   : ("Input/output error",),
    # The completion after a short one does not fit. If the last one of a request is short, none follows.
    "short"    : ("Input/output error", "Connection timed out"),
    "drop"     : ("Connection timed out",),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_completion_is_an_errno(boot, fault):
    with boot(f"fault-{fault}", simulator_arguments=["--inject", f"{fault}@100"]) as guest:
        # The card waits 10 ms of its own clock for the rest of a completion: seconds of the simulator's time.
        guest.run("echo 60000 > /sys/module/litepcie/parameters/timeout_ms")
        said = guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=100000 count=4 2>&1", status=1)
        assert any(error in said for error in FAULTS[fault]), said
        guest.works()
        assert "checks passed" in guest.run("alignments 65")


@pytest.mark.parametrize("fault", ["duplicate"])
def test_a_completion_too_many_is_dropped(boot, fault):
    # A request is one completion here: again in mid-request, it would be one that does not fit.
    with boot(f"fault-{fault}", mrrs=256, simulator_arguments=["--inject", f"{fault}@100"]) as guest:
        guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=100000 count=4")
        guest.works()
