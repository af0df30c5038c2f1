#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs each child process in a process group of its own, so that none of its children survives it."""

import os
import signal
import subprocess
import threading
import time

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

PATIENCE_S = 3

# Waits end after this time and start again: a wait without a time limit could miss an interrupt.
LOOK_S = 1


class _Running:
    """Groups that run; after ``stop`` none begins any more."""
    def __init__(self):
        self.lock    = threading.Lock()
        self.groups  = set()
        self.stopped = False

    def begin(self, command, **options):
        with self.lock:
            if self.stopped:
                raise InterruptedError("no process is started after an interrupt")
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, errors="replace",
                start_new_session=True, **options)
            self.groups.add(child.pid)
            return child

    def end(self, child):
        with self.lock:
            self.groups.discard(child.pid)

    def stop(self):
        """Asks all groups to end, so that make deletes half-written files; kills the groups that do not end."""
        with self.lock:
            self.stopped = True
            groups       = list(self.groups)
        for group in groups:
            _signal(group, signal.SIGTERM)
        patience = time.monotonic() + PATIENCE_S
        while any(_signal(group, 0) for group in groups) and time.monotonic() < patience:
            time.sleep(0.02)
        for group in groups:
            _signal(group, signal.SIGKILL)


def _signal(group, number):
    """Sends a signal to a process group. Returns whether the group exists."""
    try:
        os.killpg(group, number)
        return True
    except ProcessLookupError:
        return False


_running = _Running()


def run(command, cwd=None, timeout=None, quiet=False):
    """(exit status, text) of a command: its output and errors, with ``quiet`` its errors alone.

    Raises ``subprocess.TimeoutExpired`` after ``timeout`` seconds. All its processes have ended by then.
    """
    output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} if quiet else \
        {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    child = _running.begin(command, cwd=cwd, **output)
    try:
        texts = child.communicate(timeout=timeout)
        return child.returncode, texts[1 if quiet else 0]
    except BaseException:   # In the main thread, an interrupt too.
        _signal(child.pid, signal.SIGKILL)
        child.communicate()
        raise
    finally:
        _running.end(child)


def side_by_side(work, items, at_once, done):
    """Results of ``work(item)``, by item; calls ``done(result)`` as each comes.

    When one raises, or the program is interrupted, everything that runs is ended.
    """
    results = {}
    with ThreadPoolExecutor(at_once) as pool:
        try:
            jobs = {pool.submit(work, item): item for item in items}
            left = set(jobs)
            while left:
                ended, left = wait(left, LOOK_S, FIRST_COMPLETED)
                for job in ended:
                    results[jobs[job]] = job.result()
                    done(job.result())
        except BaseException:   # An interrupt comes once: see litepcie_soc.build.command_line.
            pool.shutdown(wait=False, cancel_futures=True)
            _running.stop()
            raise
    return results
