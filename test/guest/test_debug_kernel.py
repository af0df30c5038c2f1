# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The debug kernel finds faults, and each allocation of the driver may fail. Only in `make test-debug-kernel`."""

import re

import pytest

from litepcie_sim.guest.debug_kernel import kernel
from litepcie_sim.guest.module       import SOURCES as DRIVER, module
from test.guest.conftest import COMPLAINTS, EXPORTER, KERNEL, SOURCES

pytestmark = pytest.mark.guest

FAULTS = {
    # The first: lockdep gives up after a report of its own or of KASAN.
    "inversion"      : "possible circular locking dependency",
    "use_after_free" : "KASAN: use-after-free",
    "atomic_sleep"   : "sleeping function called from invalid context",
    "leak"           : "detect",
}
# Paths of src/fail_nth, and how many calls failed at least when an allocation did.
PATHS = {"open": 1, "read": 2, "write": 2, "vector": 2, "gather": 2, "fresh": 2, "splice": 2, "ioctl": 1, "map": 1,
    "combined": 1, "aio": 1, "pieces": 1, "io_uring": 0, "fixed": 0, "reset": 1, "probe": 10, "remove": 1,
    "stream": 3, "direct": 3, "ring": 3, "user": 1, "interrupt": 1, "buffer": 3, "hostbuf": 2}


@pytest.fixture(scope="module")
def faulty(boot):
    """A guest with the module of faults."""
    detect = module(kernel(KERNEL), SOURCES / "detect")
    with boot("detect", files=[(detect, "/lib/modules/detect.ko")], check=False,
            parameters=("kasan_multi_shot",)) as guest:
        assert guest.kernel_complaints() == ""
        yield guest


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(faulty, fault):
    """With the means by which all tests look for faults; before the first fault there is no complaint."""
    faulty.run("dmesg -c > /dev/null")
    faulty.guest.run(f"insmod /lib/modules/detect.ko fault={fault}")
    found = faulty.leaks() if fault == "leak" else faulty.reports()
    assert FAULTS[fault] in found, found
    faulty.guest.run("rmmod detect")


def test_kunit_suites_pass(boot):
    """Those of the driver, which run when the module is loaded."""
    suites = module(kernel(KERNEL), options=("CONFIG_LITEPCIE_KUNIT_TEST=y",))
    cases  = [case for path in DRIVER.glob("*_test.c") for case in re.findall(r"KUNIT_CASE\((\w+)\)", path.read_text())]
    with boot("kunit-suites", load=False, files=[(suites, "/lib/modules/suites.ko")],
            parameters=("kunit.enable=1",)) as guest:
        guest.run("dmesg -c > /dev/null; insmod /lib/modules/suites.ko")
        said = guest.run("dmesg")
    passed = re.findall(r"\bok \d+ (?:- )?(\w+)", said)
    assert "not ok" not in said and set(cases) <= set(passed), said
    assert len(cases) > 20


@pytest.fixture(scope="module")
def guest(boot, full_board):
    exporter = module(kernel(KERNEL), EXPORTER)
    with boot("fail-nth", board=full_board, cpus=2, check=False,
            files=[(exporter, "/lib/modules/exporter.ko")]) as guest:
        guest.run("insmod /lib/modules/exporter.ko")
        yield guest
        assert guest.leaks() == ""  # Of all paths.


def reports(guest):
    """Lines of the kernel's log by which it reports a fault, without one that is the kernel's own.

    If it could not make an entry of /proc/irq, it warns when it removes it. The driver has no entries in /proc.
    """
    parts = re.split(r"(?=-+\[ cut here \]-+)|(?<=\[ end trace 0000000000000000 \]---)", guest.run("dmesg"))
    lines = "\n".join(part for part in parts if " remove_proc_entry+" not in part).splitlines()
    return [line for line in lines if re.search(COMPLAINTS, line)]


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("path", PATHS)
def test_each_allocation_may_fail(guest, path):
    """No report, no leak, and the card moves data after each failure."""
    guest.run("dmesg -c > /dev/null")
    said = guest.run(f"fail_nth {path}", timeout=2400)
    print(said)
    assert int(re.search(r"(\d+) calls with them", said)[1]) >= PATHS[path], said
    # The kernel ends the rings of a program after the program itself.
    guest.run("for n in $(seq 100); do grep -qx 0 /sys/kernel/debug/litepcie/pinned_pages && break; sleep 0.1; done")
    assert guest.pinned_pages() == 0
    assert reports(guest) == []


def test_pages_may_become_clean_while_a_read_ends(guest):
    """The driver then does not wait for a page in the interrupt."""
    guest.run("dmesg -c > /dev/null")
    assert "checks passed" in guest.run("cleaned 60", timeout=300)
    assert reports(guest) == []
