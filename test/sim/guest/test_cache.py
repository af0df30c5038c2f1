# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests that an entry of the cache is complete or absent, also with several processes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from litepcie_sim.guest        import cache
from litepcie_sim.guest.errors import GuestError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / cache.VERSION


def maker(calls, content="x"):
    def make(path):
        calls.append(path)
        (path / "file").write_text(content)
    return make


def test_made_once(folder):
    calls = []
    first = cache.entry("thing", "k1", maker(calls))
    assert cache.entry("thing", "k1", maker(calls)) == first == folder / "thing-k1"
    assert (first / "file").read_text() == "x"
    assert cache.entry("thing", "k2", maker(calls)) != first
    assert len(calls) == 2


def test_a_failure_leaves_nothing(folder):
    def make(path):
        (path / "half").write_text("x")
        raise GuestError("no luck")
    with pytest.raises(GuestError, match="no luck"):
        cache.entry("thing", "k", make)
    assert not (folder / "thing-k").exists()
    assert not list((folder / "tmp").iterdir())
    cache.entry("thing", "k", maker([]))


def test_a_place_that_cannot_be_written(monkeypatch):
    monkeypatch.setenv("LITEPCIE_CACHE", "/proc/nowhere")
    with pytest.raises(GuestError, match="cannot make a thing in the cache /proc/nowhere/v1: .*"
            "set LITEPCIE_CACHE to another folder"):
        cache.entry("thing", "k", maker([]), "a thing")


# Makes an entry for the given time, or until the file CALLS.done exists.
CHILD = """
import sys, time
from pathlib import Path
from litepcie_sim.guest import cache
def make(path):
    Path(sys.argv[1]).open("a").write("made\\n")
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end and not Path(sys.argv[1] + ".done").exists():
        time.sleep(0.01)
print(cache.entry("thing", "k", make))
"""


def child(calls, seconds):
    return subprocess.Popen([sys.executable, "-c", CHILD, str(calls), str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path):
    deadline = time.monotonic() + 30
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_many_processes_at_once(tmp_path):
    calls = tmp_path / "calls"
    first = child(calls, 60)
    wait_for(calls)
    others = [child(calls, 60) for _ in range(3)]
    for process in others:
        assert "waiting for another process that makes thing" in process.stderr.readline()
    (tmp_path / "calls.done").touch()
    results = [process.communicate(timeout=60)[0] for process in (first, *others)]
    assert calls.read_text() == "made\n"
    assert len(set(results)) == 1


def test_after_a_kill_the_next_makes_it(tmp_path, folder):
    calls = tmp_path / "calls"
    first = child(calls, 60)
    wait_for(calls)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert not (folder / "thing-k").exists()
    assert child(calls, 0).communicate(timeout=60)[0].strip() == str(folder / "thing-k")
    assert calls.read_text() == "made\nmade\n"


def used(path, days, size=1):
    """Makes an entry that was last used `days` ago."""
    path.mkdir(parents=True)
    (path / "file").write_bytes(bytes(size))
    os.utime(path, (time.time() - days*24*60*60,)*2)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "tmp")


def test_what_was_not_used_for_a_month_is_removed(folder):
    used(folder / "thing-old", 31)
    used(folder / "thing-new", 29)
    used(folder / "other-old", 31)
    cache.prune("thing")
    assert names(folder) == ["other-old", "thing-new"]
    assert list((folder / "tmp").iterdir()) == []


def test_the_longest_unused_is_removed_when_there_is_no_room(folder):
    for days in (0.5, 2, 3, 4):
        used(folder / f"thing-{days}", days, 100)
    cache.prune("thing", most_bytes=250)
    assert names(folder) == ["thing-0.5", "thing-2"]
    cache.prune("thing", most_bytes=0)
    assert names(folder) == ["thing-0.5"]


def test_use_is_noted(folder):
    path = used(folder / "thing-k", 31)
    assert cache.entry("thing", "k", maker([])) == path
    cache.prune("thing")
    assert names(folder) == ["thing-k"]


def test_a_discarded_entry_is_made_again(folder):
    calls = []
    cache.discard(cache.entry("thing", "k", maker(calls)))
    cache.discard(folder / "thing-k")
    cache.entry("thing", "k", maker(calls))
    assert len(calls) == 2
