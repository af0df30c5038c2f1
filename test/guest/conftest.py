# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The test programs compiled once, and a guest whose simulator is held to its rules."""

import contextlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from litepcie_sim.guest              import DEBUG_KERNEL, DEFAULT_KERNEL, Guest, GuestError, cache
from litepcie_sim.guest.arm64        import ARM64_KERNELS
from litepcie_sim.guest.debug_kernel import FOREIGN_KERNELS, kernel as named_kernel
from litepcie_sim.guest.module       import module
from test.conftest import FULL_BOARD, SOFT

ROOT     = Path(__file__).resolve().parents[2]
SOURCES  = Path(__file__).resolve().parent / "src"
EXPORTER = Path(__file__).resolve().parent / "exporter"
BUILD    = ROOT / "build" / "test" / "guest"
PROGRAMS = ("alignments", "channels", "cleaned", "closing", "compat", "continued", "dmabuf", "errors",
    "fail_nth", "held", "holder", "hostbuf", "interrupt", "pieces", "poke", "polled", "queue", "scratch", "stalled",
    "states", "storm", "stream", "user", "ways", "window")
FLAGS    = "-O2 -D_GNU_SOURCE -Wall -Wextra -Werror -static -pthread -I software/kernel/include/uapi"

# The card, its folder, the driver's, and the time after which the driver gives a transfer up.
BDF        = "0000:01:00.0"
CARD       = f"/sys/bus/pci/devices/{BDF}"
DRIVER     = "/sys/bus/pci/drivers/litepcie"
TIMEOUT_MS = "/sys/module/litepcie/parameters/timeout_ms"

# Tests that only the debug kernel can pass.
collect_ignore = [] if os.environ.get("LITEPCIE_GUEST_KERNEL") == DEBUG_KERNEL else ["test_debug_kernel.py"]

# The kernel of guests whose test does not name one: `make test-debug-kernel` sets it.
KERNEL = os.environ.get("LITEPCIE_GUEST_KERNEL", DEFAULT_KERNEL)

# How a guest suspends: to RAM, until the clock of the machine wakes it. The machine has to sleep by then: an alarm
# before wakes nobody. A guest that cannot set the alarm does not go to sleep.
ALARM   = "/sys/class/rtc/rtc0/wakealarm"
SUSPEND = (f"echo deep > /sys/power/mem_sleep && echo 0 > {ALARM} && echo +{20 if KERNEL == DEBUG_KERNEL else 10} "
    f"> {ALARM} && echo mem > /sys/power/state")

# Link, target and PCI identity of the default board.
SPEED  = {"gen": 1, "lanes": 1} if SOFT else {"gen": 2, "lanes": 4}
LINK   = "Gen{gen} x{lanes}".format(**SPEED)
TARGET = "sim gen1 x1 64 bit" if SOFT else "sim gen2 x4 128 bit"
IDS    = (0x1204, 0x1ce5, 0x1234, 0x1ce0, "ECP5") if SOFT else (0x1234, 0x1ce0, 0x1234, 0x1ce0, "simulation")

# Further arguments of every simulator, as LITEPCIE_SIMULATOR="--lcrc-every 1000".
FAULTS = shlex.split(os.environ.get("LITEPCIE_SIMULATOR", ""))

# What the kernel prints when it finds a fault; the debug kernel (sim/guest/debug.config) finds more.
COMPLAINTS = "BUG|WARNING|Oops|Call Trace|use-after-free|DMAR:.*fault|blocked for more than|detected stall"
COMPLAINTS += ("|general protection|refcount_t|Bad page|KASAN|UBSAN|ODEBUG"
    "|sleeping function|possible .*locking|lock state|RCU usage|corruption|DMA-API:.*device driver"
    if KERNEL == DEBUG_KERNEL else "|DMA-API")


def arguments_for(board, arguments):
    """The arguments for the simulator of a board. That of the endpoint in gateware has no MSI-X to switch off.

    Skips a test that asks for what this card cannot have: another number of lanes.
    """
    soc = (Path(board) / "software" / "include" / "generated" / "soc.h").read_text(encoding="ascii")
    if "CONFIG_PCIE_PHY_SOFT" not in soc:
        return list(arguments)
    if "--lanes" in arguments:
        pytest.skip("the card with the endpoint in gateware has one lane")
    return " ".join(arguments).replace("--msix off", "").split()


def sources(name):
    """The C sources of the test program `name`: one file, or all in its folder."""
    folder = SOURCES / name
    files  = sorted(folder.glob("*.c")) if folder.is_dir() else [SOURCES / f"{name}.c"]
    return [path.relative_to(ROOT) for path in files]  # As messages name them: clones share the programs.


def compile_programs(folder):
    """Makes the test programs and the C examples, static, in `folder`."""
    for name in PROGRAMS:
        subprocess.run(["gcc", *FLAGS.split(), "-o", folder / name, *sources(name)], cwd=ROOT, check=True)
    subprocess.run(["make", "-s", "-C", ROOT / "examples", f"BUILD={folder}/examples", "STATIC=1"], check=True,
        stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def programs():
    """(path on the machine, path in the guest) of them. The project's cache has them for the same sources.

    Of the driver, they are made from its headers only.
    """
    folders  = "test/guest/src", "examples", "software/user", "software/kernel"
    files    = [path for name in folders for path in sorted((ROOT / name).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and (name != "software/kernel" or path.suffix == ".h")]
    version  = subprocess.run(["gcc", "--version"], capture_output=True, check=True).stdout
    key      = cache.digest(FLAGS, version, (ROOT / "setup.py").read_bytes(),
        *(part for path in files for part in (path.relative_to(ROOT), path.read_bytes())))
    folder   = cache.entry("guest-programs", key, compile_programs, "the programs of the guest's tests")
    examples = sorted(path.stem for path in (ROOT / "examples" / "c").glob("*.c"))
    cache.prune("guest-programs", most_bytes=200 << 20)
    return [*[(folder / name, f"/bin/{name}") for name in PROGRAMS],
        *[(folder / "examples" / name, f"/bin/{name}") for name in examples]]


def foreign_programs(kernel):
    """The same for a guest with another processor; none for one of 32 bits, which has the tool only."""
    if kernel not in ARM64_KERNELS:
        return []
    lines  = []
    for name in PROGRAMS:
        files = " ".join(map(str, sources(name)))
        lines.append(f"$CC {FLAGS} -o $OUT/{name} {files}")
    sources_of_all = ("software/kernel", "test/guest/src", "test/guest/exporter")
    folder = named_kernel(kernel).programs("\n".join(lines), sources_of_all)
    return [(folder / name, f"/bin/{name}") for name in PROGRAMS]

# Whether a test has run to its end without a failure.
PASSED = pytest.StashKey()


class TestGuest:
    """A guest and what the simulator counted; commands are checked for their status.

    Attributes: `guest` (litepcie_sim.guest.Guest).
    """
    __test__ = False

    def __init__(self, guest):
        self.guest = guest

    def run(self, command, status=0, timeout=300):
        """Runs `command` in the guest; its output. Fails the test if its status is another."""
        result = self.guest.run(command, timeout=timeout)
        assert result.status == status, \
            f"{command}: status {result.status}, not {status}\n{result.output}\nconsole: {self.guest.log}"
        return result.output

    def wait(self, condition, show="true", seconds=30):
        """Waits until a command succeeds. Fails with the output of `show` if it does not."""
        self.run(f"for i in $(seq {10*seconds}); do {condition} && exit 0; sleep 0.1; done; {show}; exit 1",
            timeout=10*seconds)

    def pinned_pages(self):
        return int(self.run("cat /sys/kernel/debug/litepcie/pinned_pages"))

    def works(self):
        """The card moves data both ways, and the driver keeps nothing pinned."""
        self.run("litepcie_util dma_test --sequence read-then-write --length 64K --iterations 2")
        assert self.pinned_pages() == 0

    def kernel_complaints(self):
        """Lines of the kernel's log that no test may cause; what the debug kernel found besides."""
        return (self.reports() + (self.leaks() if self.guest.kernel.name == DEBUG_KERNEL else "")).strip()

    def reports(self):
        """Lines of the kernel's log by which it reports a fault."""
        return self.run(f"dmesg | grep -E '{COMPLAINTS}' || true")

    def leaks(self):
        """Memory to which no pointer exists, as kmemleak reports it, and lockdep if it has given up.

        kmemleak spares objects younger than five seconds, and the first scan can miss a pointer that moves.
        """
        self.run("sleep 5; echo scan > /sys/kernel/debug/kmemleak; echo scan > /sys/kernel/debug/kmemleak")
        return self.run("cat /sys/kernel/debug/kmemleak; grep 'debug_locks: *0' /proc/lockdep_stats || true")


@pytest.fixture(scope="session")
def boot(board, programs):
    """Context manager that boots a guest of the default board or another, and of the boards `others` besides; on its
    end, the simulators' statistics are checked.

    A run in which the card broke a rule of PCI Express, or went where nothing is mapped, fails.
    """
    @contextlib.contextmanager
    def booted(name, simulator_arguments=(), check=True, files=(), board=board, others=(), **options):
        folder = BUILD / name
        folder.mkdir(parents=True, exist_ok=True)
        log       = folder / "console.log"
        stats     = [folder / f"stats{number or ''}.json" for number in range(1 + len(others))]
        arguments = ["--stats", str(stats[0]), *arguments_for(board, simulator_arguments), *FAULTS]
        others    = [(other, ["--stats", str(path), *FAULTS]) for other, path in zip(others, stats[1:])]
        options   = {"kernel": KERNEL, "others": others, **options}
        own       = programs if options["kernel"] not in FOREIGN_KERNELS else foreign_programs(options["kernel"])
        with Guest(board, files=[*own, *files], log=log, simulator_arguments=arguments, **options) as guest:
            test = TestGuest(guest)
            yield test
            if check:
                assert test.kernel_complaints() == ""
        if check:
            for path in stats:
                counted = json.loads(path.read_text())
                for name in ("violations", "unmapped_reads", "unmapped_writes"):
                    assert counted[name] == 0, (name, counted)
                # Of the data link layer, as the root port of the lane counts them.
                assert counted.get("lane", {}).get("protocol_errors", 0) == 0, counted["lane"]
    return booted


# What a test must leave: the card bound, nothing pinned, no open file, the parameters' defaults. Builtins of the shell
# alone, as each process takes its time. Programs that were killed release their files later, so it waits.
LEFT = """
at=/sys/class/litepcie/litepcie0
for i in $(seq 200); do
    test -c /dev/litepcie0 && read pinned < /sys/kernel/debug/litepcie/pinned_pages &&
        read files < /sys/module/litepcie/refcnt && [ "$pinned $files" = "0 0" ] && break
    sleep 0.05
done
read timeout < /sys/module/litepcie/parameters/timeout_ms
read count < $at/moderation_count; read us < $at/moderation_us
echo "pinned pages $pinned, open files $files, timeout_ms $timeout, moderation $count $us"
rm -rf /tmp/*
"""
RIGHT = "pinned pages 0, open files 0, timeout_ms 10000, moderation 16 50\n"


class SharedGuest:
    """One guest for the tests of several files: two processors, fio, a module that exports buffers, faults and other
    values of registers on demand.

    Booted for the first test. After a test that failed or left it in another state, the next test gets a fresh one.
    """
    def __init__(self, boot, board):
        # Each worker of pytest-xdist has one of each board.
        self.name      = f"shared-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}-{board.name}"
        self.boot      = boot
        self.board     = board
        self.pipe      = BUILD / self.name / "faults"
        self.registers = BUILD / self.name / "registers"
        self.stack     = None
        self.pipe.parent.mkdir(parents=True, exist_ok=True)

    def get(self):
        """The `TestGuest`."""
        if self.stack is None:
            self.pipe.unlink(missing_ok=True)
            os.mkfifo(self.pipe)
            self.registers.write_text("")
            self.console = bytearray()
            exporter     = module(named_kernel(KERNEL), EXPORTER)
            self.stack   = contextlib.ExitStack()
            self.guest   = self.stack.enter_context(self.boot(self.name, board=self.board, cpus=2, with_fio=True,
                files=[(exporter, "/lib/modules/exporter.ko")], console=self.console.extend,
                # Programs write registers beside the driver.
                parameters=("iomem=relaxed",),
                simulator_arguments=["--inject-pipe", str(self.pipe), "--registers", str(self.registers)]))
            self.said    = self.simulator_said()
        return self.guest

    def simulator_said(self):
        return self.guest.guest.simulator.log.read_text(errors="replace")

    def check(self):
        """Fails if the test has left the guest in another state, or if the kernel or the simulator complained."""
        assert self.guest.run(LEFT) == RIGHT, "the test left the guest in another state"
        console, self.console[:] = self.console.decode(errors="replace"), b""
        complaints = [line for line in console.splitlines() if re.search(COMPLAINTS, line)]
        assert not complaints, console[-8000:]
        assert self.simulator_said() == self.said, "the simulator's log has more lines"

    def drop(self):
        """Ends the guest at once."""
        stack, self.stack = self.stack, None
        if stack:
            error = GuestError("a test failed")
            stack.__exit__(type(error), error, None)

    def inject(self, fault):
        """Makes a completion fail; `fault` is FAULT@N, counted from the next completion."""
        self.pipe.write_text(f"{fault}\n")

    def claim(self, values):
        """Loads of registers return `values`, {offset: value or (value, loads that still return the card's)}."""
        new = self.registers.with_name("registers.new")
        new.write_text("".join(f"{offset:#x} {' '.join(map(str, value if isinstance(value, tuple) else (value,)))}\n"
            for offset, value in values.items()))
        new.rename(self.registers)

    def close(self):
        if self.stack:
            self.stack.close()


@pytest.fixture(scope="session")
def full_board(build_board):
    """Folder of the board with everything."""
    return build_board(**FULL_BOARD, **{"with_ddr": True} if os.environ.get("LITEPCIE_DDR") else {})


@pytest.fixture(scope="session")
def default_guest(boot, board):
    """The `SharedGuest` of this pytest process with the default board."""
    with contextlib.closing(SharedGuest(boot, board)) as shared:
        yield shared


@pytest.fixture(scope="session")
def full_guest(boot, full_board):
    """The one with the board that has everything, whose simulator takes three times as long (measured)."""
    with contextlib.closing(SharedGuest(boot, full_board)) as shared:
        yield shared


@pytest.fixture
def shared_guest(request):
    """The `SharedGuest` of a test: with the board that has everything, unless its file has BOARD = "default"."""
    return request.getfixturevalue(f"{getattr(request.module, 'BOARD', 'full')}_guest")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.when == "call":
        item.stash[PASSED] = not report.failed
    return report


@pytest.fixture
def usual(request, shared_guest):
    """The shared guest for one test."""
    guest = shared_guest.get()
    clean = False
    try:
        yield guest
        if request.node.stash.get(PASSED, False):
            shared_guest.check()
            clean = True
    finally:
        if not clean:
            shared_guest.drop()


@pytest.fixture
def guest(usual):
    """The guest of a test: the shared one, if its file has no fixture of this name."""
    return usual


@pytest.fixture
def overlapping(usual):
    """The debug kernel does not complain of mappings that overlap.

    Calls that read into the same bytes at once make such mappings, as any direct I/O of a program does.
    """
    only = "/sys/kernel/debug/dma-api/driver_filter"  # Complaints are for the driver of this name.
    usual.run(f"test ! -e {only} || echo none > {only}")
    yield
    usual.run(f"test ! -e {only} || echo '' > {only}")
