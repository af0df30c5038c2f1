# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Random calls of every kind, kills, unbinds, resets and faults of the link at once (src/storm/).

It ends when every kind of call has succeeded and CALLS calls were made, and not before the time of `make search` is
over. For an hour: make search SECONDS=3600 TESTS=test/guest/test_storm.py. LITEPCIE_STORM_SECONDS and
LITEPCIE_STORM_SEED are other names of LITEPCIE_SEARCH_SECONDS and LITEPCIE_SEARCH_SEED.
"""

import os
import random
import re
import threading
import time

import pytest

from litepcie_sim.guest              import DEBUG_KERNEL
from litepcie_sim.guest.debug_kernel import kernel as named_kernel
from litepcie_sim.guest.module       import module
from test.guest.conftest import BDF, DRIVER, EXPORTER, KERNEL

for name in ("SECONDS", "SEED"):
    if value := os.environ.get(f"LITEPCIE_STORM_{name}"):
        os.environ[f"LITEPCIE_SEARCH_{name}"] = value

# How long a hand lives, about: time for some calls.
PAUSE_MS = 1000 if KERNEL == DEBUG_KERNEL else 100
# On an idle machine, 20 s are enough for that many.
CALLS    = 20000
# Only against a storm without an end: a machine with other work makes calls a hundred times more slowly.
MORE_SECONDS = 500

pytestmark = [pytest.mark.guest, pytest.mark.search]

FAULTS      = {"ur": 8, "ca": 8, "poison": 8, "duplicate": 8}
# A lost completion takes the card's 10 ms: up to 40 s in the guest, in which the card does nothing else.
LONG_FAULTS = {"short": 1, "drop": 1}
# More than these 40 s.
TIMEOUT_MS = 60000
# Caches of the kernel take 1.6 MiB in 25 minutes of storm.
LEAST_LEAK_KIB = 8192


class Faults(threading.Thread):
    """Gives the simulator a fault now and then, until `stop()`."""
    def __init__(self, pipe, seed, kinds):
        super().__init__(daemon=True)
        self.kinds  = kinds
        self.pipe   = pipe
        self.random = random.Random(seed)
        self.over   = threading.Event()
        self.given  = 0

    def run(self):
        while not self.over.wait(self.random.uniform(0.1, 2)):
            fault, = self.random.choices(list(self.kinds), self.kinds.values())
            self.pipe.write_text(f"{fault}@{self.random.randint(1, 200)}\n")
            self.given += 1

    def stop(self):
        self.over.set()
        self.join()


@pytest.fixture(scope="module")
def pipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("storm") / "faults"
    os.mkfifo(path)
    return path


@pytest.fixture(scope="module")
def guest(boot, full_board, pipe):
    # Programs that read into the same bytes at once make mappings that overlap, as any direct I/O of a program does.
    exporter = module(named_kernel(KERNEL), EXPORTER)
    with boot("storm-guest", board=full_board, cpus=2, files=[(exporter, "/lib/modules/exporter.ko")],
            simulator_arguments=["--inject-pipe", str(pipe)],
            parameters=("dma_debug=off", "loglevel=8", "log_buf_len=8M")) as guest:
        guest.run("insmod /lib/modules/exporter.ko")
        yield guest


def counted(said):
    """{kind of call: (calls, succeeded)} of the storm's output; kinds of several parts are added up."""
    result = {}
    for name, *numbers in re.findall(r"^(.+): (\d+) calls, (\d+) succeeded$", said, re.MULTILINE):
        before       = result.get(name, (0, 0))
        result[name] = tuple(map(sum, zip(before, map(int, numbers))))
    return result


def pins(guest):
    """Pages pinned by all drivers of the guest (Documentation/core-api/pin_user_pages.rst)."""
    said = dict(line.split() for line in guest.run("grep nr_foll_pin /proc/vmstat").splitlines())
    return int(said["nr_foll_pin_acquired"]) - int(said["nr_foll_pin_released"])


def memory(guest):
    """KiB of the guest's memory by use, without what the kernel can give back."""
    guest.run("echo 3 > /proc/sys/vm/drop_caches")
    said = guest.run("grep -E '^(MemFree|SUnreclaim|PageTables|KernelStack|Percpu):' /proc/meminfo")
    return {name: int(value) for name, value in re.findall(r"(\w+): +(\d+) kB", said)}


def test_a_storm_leaves_nothing_behind(guest, pipe, search):
    before = pins(guest)
    free   = memory(guest)
    limit  = int(search.seconds) + MORE_SECONDS
    faults = Faults(pipe, search.seed, FAULTS | (LONG_FAULTS if search.seconds >= 60 else {}))
    faults.start()
    try:
        said = guest.run(f"storm {search.seed} {search.seconds} {PAUSE_MS} {CALLS} {limit}", timeout=limit + 240)
    finally:
        faults.stop()
    print(said, f"seed {search.seed}, faults of the link: {faults.given}", sep="")
    never = [name for name, (_, succeeded) in counted(said).items() if not succeeded]
    assert not never, f"seed {search.seed}: in {limit} s, these calls never succeeded: {', '.join(never)}\n{said}"
    # Children of killed processes end by themselves within 5 s.
    guest.wait("[ $(cat /sys/module/litepcie/refcnt) = 0 ]")
    assert guest.pinned_pages() == 0
    # The kernel adds up its counts once in a second, and io_uring drops its buffers after the process has ended.
    for _ in range(40):
        if pins(guest) == before:
            break
        time.sleep(0.25)
    assert pins(guest) == before
    assert guest.run("cat /sys/module/exporter/parameters/*").split() == ["0"]*3
    now = memory(guest)
    print("KiB before and after:", free, now)
    assert free["MemFree"] - now["MemFree"] < LEAST_LEAK_KIB, (free, now)
    # Faults wait for their completion; a lost one disables the card if the storm has left the driver a short timeout.
    guest.run(f"echo {TIMEOUT_MS} > /sys/module/litepcie/parameters/timeout_ms")
    guest.run(f"test -e {DRIVER}/{BDF} || echo {BDF} > {DRIVER}/bind", timeout=60)
    # The card has another number if a file of the card before was open when it came.
    name = guest.run(f"cd {DRIVER}/{BDF}/litepcie && ls -d litepcie?").strip()
    guest.run(f"for i in $(seq 20); do test -c /dev/{name} && dd if=/dev/zero of=/dev/{name} bs=64k count=1; done; "
        "true")
    guest.run(f"echo {BDF} > {DRIVER}/unbind && echo {BDF} > {DRIVER}/bind", timeout=60)
    guest.works()
    assert guest.kernel_complaints() == ""
    guest.run("rmmod litepcie && insmod /lib/modules/litepcie.ko", timeout=60)
    guest.works()
