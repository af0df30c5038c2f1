# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A copy of the tree in which tests run on mutants, with its own build/venv, packages of Python, and cache."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from pathlib import Path

from litepcie_sim.guest import cache
from test.mutants.tables import ROOT
from tools import tracked

# Models of mutants must not fill the cache that the clones share. Entries are linked, so nothing is fetched again.
CACHE  = ROOT / "build" / "mutants-cache"
HANG   = 150   # Seconds without output in which the tests used nearly no processor time.
SPIN   = 200   # Seconds of processor time without output.
STILL  = 80    # Seconds without output of the tests of a driver: none of the default tests takes half of that.
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.M)
# Not a warning that a test takes for an error.
BROKEN = re.compile(r"\.(?:c|cpp|h):\d+:\d+: (?:fatal )?error: (?!.*\[-Werror)|SyntaxError|IndentationError")
# Pytest's own line; a test may print the word.
INTERRUPTED = re.compile(r"^!+ KeyboardInterrupt !+$", re.M)
TICK   = os.sysconf("SC_CLK_TCK")


def link_cache():
    """Makes the own cache and links what the shared one has meanwhile."""
    own = CACHE / cache.VERSION
    own.mkdir(parents=True, exist_ok=True)
    for entry in cache.folder().glob("*-*"):
        with contextlib.suppress(FileExistsError):
            (own / entry.name).symlink_to(entry)


def processes(root):
    """The process `root` and its descendants: {pid: processor seconds, with those of ended children}."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            pid    = int(stat.parent.name)
            parents.setdefault(int(fields[1]), []).append(pid)
            used[pid] = sum(map(int, fields[11:15])) / TICK
    found, left = {}, [root]
    while left:
        pid = left.pop()
        if pid in used:
            found[pid] = used[pid]
        left += parents.get(pid, [])
    return found


class Copy:
    """The copy, as a context manager. `test` runs tests in it; `mutated` changes a file for a while."""
    def __enter__(self):
        self.root = Path(tempfile.mkdtemp(prefix="litepcie-copy-"))
        try:
            self.fill()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def fill(self):
        for name in tracked.files():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name, follow_symlinks=False)
        build = self.root / "build"
        build.mkdir()
        subprocess.run(["cp", "-a", ROOT / "build" / "packages", build], check=True)
        # Hard links, except of what has the tree's path in it.
        subprocess.run(["cp", "-al", ROOT / "build" / "venv", build], check=True)
        site  = next((build / "venv" / "lib").glob("python*")) / "site-packages"
        for path in [*(build / "venv" / "bin").iterdir(), *site.glob("__editable__*")]:
            data = b"" if path.is_symlink() or path.is_dir() else path.read_bytes()
            if str(ROOT).encode() in data:
                mode = path.stat().st_mode
                path.unlink()
                path.write_bytes(data.replace(str(ROOT).encode(), str(self.root).encode()))
                path.chmod(mode)
        code  = "import litepcie_soc as s, litepcie_sim as m, litepcie_bench as b, test as t; " \
            "print(s.__file__, m.__file__, b.__file__, t.__file__)"
        where = subprocess.check_output(self.command("-c", code), cwd=self.root, text=True)
        assert all(path.startswith(f"{self.root}/") for path in where.split()), where

    def command(self, *arguments):
        return [str(self.root / "build" / "venv" / "bin" / "python"), *map(str, arguments)]

    @contextlib.contextmanager
    def mutated(self, mutant):
        path   = self.root / mutant.path
        source = path.read_text(encoding="utf-8")
        path.write_text(mutant.text(self.root), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(source, encoding="utf-8")

    def test(self, options, cap, still=None):
        """(what happened, the test that failed or None, processor seconds) of tests that may use `cap` seconds.

        What happened is "passed", "failed", "hangs", "broken" (it does not build) or "undecided". After `still` seconds
        without output they hang, although simulator and guest use the processor.
        """
        log = self.root / "build" / "mutants.log"
        env = {**os.environ, "LITEPCIE_CACHE": str(CACHE)}
        with open(log, "w") as out:
            tests = subprocess.Popen(self.command("-m", "pytest", "-x", "-v", "--tb=short", "--durations=0", "-p",
                "no:cacheprovider", "-k", "not mutant", *options), cwd=self.root, stdout=out, stderr=out, env=env)
        try:
            seconds, end = self.watch(tests, log, cap, still)
        finally:
            self.end(tests)
        text = log.read_text(errors="replace")
        if end:
            running = re.findall(r"^(test/\S+?\.py::.*?)(?: (?:PASSED|SKIPPED|XFAIL).*)?$", text, re.M)
            return end, (running or [None])[-1].strip() if running else None, seconds
        # A mutant may make a file fail as it is collected (2), but not pytest itself; a signal tells nothing of it.
        if tests.returncode in (3, 4) or tests.returncode < 0 or INTERRUPTED.search(text):
            raise RuntimeError(f"pytest failed:\n{text[-2000:]}")
        # 5: the set has no test in these files.
        if tests.returncode in (0, 5):
            return "passed", None, seconds
        if BROKEN.search(text):
            return "broken", None, seconds
        failed = FAILED.findall(text)
        return "failed", failed[-1] if failed else f"pytest, status {tests.returncode}", seconds

    def watch(self, tests, log, cap, still):
        """(processor seconds, how the tests did not come to their end or None)."""
        size, since, before, seconds = 0, time.monotonic(), 0, 0
        while tests.poll() is None:
            time.sleep(0.5)
            seconds = max(seconds, sum(processes(tests.pid).values()))
            if log.stat().st_size != size:
                size, since, before = log.stat().st_size, time.monotonic(), seconds
            quiet, used = time.monotonic() - since, seconds - before
            if seconds > cap:
                return seconds, "undecided"
            if used > SPIN or quiet > HANG and used < HANG / 10 or still and quiet > still:
                return seconds, "hangs"
        return seconds, None

    def end(self, tests):
        """Ends pytest as Ctrl-C does, so that guests end with it; then what is left of its processes."""
        left = processes(tests.pid)
        if tests.poll() is None:
            tests.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                tests.wait(30)
        left = {**left, **processes(tests.pid)} if tests.poll() is None else left
        for pid in left:
            with contextlib.suppress(OSError):
                if str(self.root) in Path(f"/proc/{pid}/cmdline").read_text() or pid == tests.pid:
                    os.kill(pid, signal.SIGKILL)
        tests.wait()
