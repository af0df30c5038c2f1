#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The cache that all clones of a user share. An entry is made once, and never visible incomplete.

    ${LITEPCIE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/litepcie-soc}/v1/
        NAME-HASH/      an entry that `entry` made; HASH covers everything it depends on
        locks/          one lock for each entry, held while the entry is made
        tmp/            entries that are being made, renamed into place when complete

Anything in it may be deleted while nothing runs. Another layout needs another version folder. The
modification time of an entry's folder is the time of its last use; `prune` removes entries by it.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time

from pathlib import Path

from litepcie_sim.guest.errors import GuestError, say
from litepcie_soc.build import processes

VERSION = "v1"


def folder():
    """Returns the cache folder of this version, as the environment variables name it."""
    base = os.environ.get("LITEPCIE_CACHE")
    if not base:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "litepcie-soc"
    return Path(base).absolute() / VERSION


def digest(*parts):
    """Returns a short hash of strings and bytes that depends on their order and boundaries."""
    sha = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        sha.update(len(data).to_bytes(8, "little") + data)
    return sha.hexdigest()[:16]


@contextlib.contextmanager
def locked(path, what):
    """Holds the lock file `path`; prints a line if it has to wait for another process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that makes {what}")
            _wait_for(lock)
        yield


def _wait_for(lock):
    while True:
        processes.check_ending()
        with contextlib.suppress(BlockingIOError):
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(0.1)


def entry(name, key, make, what=None):
    """Returns the path of the cache entry `name` for `key` (from `digest`); calls `make(folder)` if it is missing.

    `make` gets an empty folder. It becomes the entry when `make` returns, and is removed when `make` raises. Other
    processes that need the same entry wait for it.
    """
    what  = what or name
    root  = folder()
    final = root / f"{name}-{key}"
    if _used(final):
        return final
    try:
        with locked(root / "locks" / f"{name}-{key}", what):
            if _used(final):
                return final
            tmp = root / "tmp"
            tmp.mkdir(exist_ok=True)
            # This process holds the lock, so a process that was killed left these.
            for stale in tmp.glob(f"{name}-{key}.*"):
                shutil.rmtree(stale, ignore_errors=True)
            work = Path(tempfile.mkdtemp(prefix=f"{name}-{key}.", dir=tmp))
            try:
                work.chmod(0o755)
                make(work)
                work.rename(final)
            except BaseException:
                shutil.rmtree(work, ignore_errors=True)
                raise
    except OSError as e:
        raise GuestError(f"cannot make {what} in the cache {root}: {e.strerror or e}; "
            "set LITEPCIE_CACHE to another folder") from e
    return final


def _used(path):
    """Returns whether the entry exists, and records its use."""
    with contextlib.suppress(PermissionError):
        try:
            os.utime(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
    return path.is_dir()


def discard(path):
    """Removes an entry. Processes that have its files open or mapped can still use them."""
    tmp = path.parent / "tmp"
    tmp.mkdir(exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="discarded.", dir=tmp))
    with contextlib.suppress(FileNotFoundError):
        path.rename(work / path.name)
    shutil.rmtree(work, ignore_errors=True)


def prune(name, days=30, most_bytes=4 << 30):
    """Removes entries of `name` that were not used for `days`, then the longest unused until the others fit.

    An entry used within the last day stays, as another process may be reading it.
    """
    day     = 24*60*60
    entries = []
    for path in folder().glob(f"{name}-*"):
        with contextlib.suppress(FileNotFoundError):
            size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            entries.append((time.time() - path.stat().st_mtime, size, path))
    left = sum(size for _, size, _ in entries)
    for unused, size, path in sorted(entries, reverse=True):
        if unused > days*day or left > most_bytes and unused > day:
            discard(path)
            left -= size
