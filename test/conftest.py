# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Boards and guests for tests of every folder. A test that takes `guest` or `boot` boots a virtual machine, and is
marked `guest`. Consoles are kept in build/test/, one a guest, to look at when a test failed.

LITEPCIE_DDR=1 takes the default board with DDR, for all tests that take `board`. LITEPCIE_PHY=soft takes the board
with the endpoint in gateware, for these and for the tests whose boards differ by channels, streams or a user's core.
"""

import functools
import os
import re
import signal
import subprocess
import sys

from pathlib import Path

import pytest

from litepcie_sim.guest import Guest, GuestError, cache
from litepcie_soc.board.user_options import build_name
from test import leftovers, runs, tracing
from test.runs import pytest_xdist_auto_num_workers  # noqa: F401 (called before other plugins are registered)

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "test"

# Programs leave an ignored signal ignored, and a shell starts programs in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Seconds for a test, with its fixtures, that may build a board or boot a guest; the others' limit is in pyproject.toml.
LONG_LIMIT = 900


def pytest_configure(config):
    config.pluginmanager.register(leftovers)
    config.pluginmanager.register(runs)
    tracing.install()


def pytest_collection_modifyitems(items):
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if {"guest", "boot"} & fixtures:
            item.add_marker(pytest.mark.guest)
        is_long = item.get_closest_marker("guest") or {"board", "build_board", "test_endpoint"} & fixtures
        if is_long and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_LIMIT))

# Options of the board with the endpoint in gateware, and those that may be added to them.
SOFT_BOARD  = {"phy": "soft", "gen": 1, "lanes": 1, "data_width": 64, "tags": 32}
SOFT_OTHERS = {"channels", "streams", "patterns", "user_core", "memory_size"}

# Options of the board that most tests of guests use.
FULL_BOARD  = {"streams": 2, "patterns": 1, "channels": 2, "user_core": True}

# Whether that board is asked for.
SOFT = os.environ.get("LITEPCIE_PHY") == "soft"


def asked_for(options):
    """The options of the board that LITEPCIE_PHY wants in the place of the one with `options`."""
    if not SOFT or not options.keys() <= SOFT_OTHERS:
        return options
    return {**SOFT_BOARD, **options}


def arguments_of(options):
    """The arguments of targets/sim.py for the board with `options`, or for the one that LITEPCIE_PHY wants instead."""
    return [word for name, value in asked_for(options).items()
        for word in [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]]


@functools.cache
def sources_of_boards():
    """Digest of all files that a board is made of. With it, a worker need not elaborate what another one has built."""
    folders = "gateware", "targets", "sim/src", "software/kernel"
    files   = [ROOT / "setup.py", ROOT / "sim" / "Makefile", *(path for folder in folders
        for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".py", ".cpp", ".h", ".v", ".tcl"))]
    return cache.digest(*(part for path in files for part in (str(path.relative_to(ROOT)), path.read_bytes())))


def is_built(folder):
    stamp = folder / "sources"
    return stamp.exists() and stamp.read_text() == sources_of_boards() and all(
        (folder / "simulator" / program).exists() for program in ("litepcie_host", "litepcie_simulator"))


@pytest.fixture(scope="session")
def build_board():
    """Function that builds a board with targets/sim.py and returns its folder: once for each set of options, which are
    keyword arguments, True for a flag: `build_board(gen=1, lanes=4, data_width=64)`."""
    built = {}

    def build(**options):
        options = asked_for(options)
        key     = tuple(sorted(options.items()))
        if key not in built:
            folder = built[key] = ROOT / "build" / build_name(**options)
            if not is_built(folder):
                command = [sys.executable, ROOT / "targets" / "sim.py", "--build", "--output-dir", folder,
                    *arguments_of(options)]
                result = subprocess.run(command, capture_output=True, text=True)
                assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
                (folder / "sources").write_text(sources_of_boards())
        return built[key]

    return build


@pytest.fixture(scope="session")
def board(build_board):
    """Folder of the default board."""
    return build_board(with_ddr=True) if os.environ.get("LITEPCIE_DDR") else build_board()

# A fault of QEMU 11.1, not of this project: its vfio-user client reports an error twice and aborts
# when the other side closes the socket at certain moments.
QEMU_ABORT = "error_setv: Assertion"


def despite_qemu(attempt):
    """Returns the result of `attempt()`. Tries up to three times if QEMU itself aborted."""
    for last in (False, False, True):
        try:
            return attempt()
        except GuestError as e:
            if last or QEMU_ABORT not in str(e):
                raise


def _log(request):
    """Returns the path of the console log for the test or module of `request`."""
    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid.removeprefix("test/"))
    return LOGS / name / "console.log"


@pytest.fixture(scope="module")
def guest(request):
    """A guest that all tests of a module share, booted at the first. The module's dictionary GUEST, if it has one, has
    arguments of `litepcie_sim.guest.Guest`. `board` is the default board if it does not say."""
    options = dict(getattr(request.module, "GUEST", {}))
    if "board" not in options:
        options["board"] = request.getfixturevalue("board")
    with Guest(log=_log(request), **options) as booted:
        yield booted


@pytest.fixture
def boot(request):
    """Function that boots a guest for one test alone, with the arguments of `litepcie_sim.guest.Guest`. It ends with
    the test, or by its own `close()`."""
    guests = []

    def start(board, **options):
        log    = _log(request)
        booted = Guest(board, log=log.with_name(f"console{len(guests)}.log"), **options)
        booted.__enter__()
        guests.append(booted)
        return booted

    yield start
    for booted in guests:
        booted.close()
