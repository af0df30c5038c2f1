#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Makes folders of unpacked Debian packages, without root rights and without changing the machine.

The machine's apt, with a configuration, sources, lists and status of its own, resolves and downloads the
packages and verifies the archive's signature and every checksum. dpkg-deb and tar unpack them. Maintainer
scripts do not run.
"""

import contextlib
import dataclasses
import os
import re
import shutil
import tempfile
import threading
import time
import urllib.parse

from pathlib import Path

from litepcie_sim.guest        import cache, versions
from litepcie_sim.guest.errors import GuestError, GuestUnsupported, say
from litepcie_sim.guest.mirror import debian_mirror, snapshot
from litepcie_soc.build import processes

# Folders of keyrings: Debian, Ubuntu and Fedora; Arch.
KEYRINGS = [Path("/usr/share/keyrings"), Path("/usr/share/pacman/keyrings"), Path("/etc/apt/trusted.gpg.d")]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The contents of a root file system.

    name     : name in the cache.
    what     : name in messages.
    suite    : preferred suite; with a backports suite, its base suite is used too.
    packages : packages, which are taken with all their dependencies.
    expect   : pattern of the path that the root is made for; exactly one path must match it.
    keep     : regular expression for the names of the resolved packages to unpack.
    exclude  : tar patterns of files to leave out.
    """
    name     : str
    what     : str
    suite    : str
    packages : tuple
    expect   : str
    keep     : str   = ""
    exclude  : tuple = ("./usr/share/doc", "./usr/share/man", "./usr/share/locale",
        "./usr/share/info", "./usr/share/lintian", "./usr/share/bug")

    @property
    def suites(self):
        base = self.suite.removesuffix("-backports")
        return [base] + ([self.suite] if self.suite != base else [])


@dataclasses.dataclass(frozen=True)
class ForeignRecipe(Recipe):
    """A recipe of packages for other processors.

    architectures : Debian architectures; names of packages of the first one need no suffix (":arm64").
    besides       : packages that are resolved for themselves, so that they may exclude `packages`.
    keep_besides  : regular expression for the names of those packages to unpack.
    """
    architectures : tuple = ("arm64",)
    besides       : tuple = ()
    keep_besides  : str   = ""


def require_x86():
    """Raises GuestUnsupported on a machine whose processor cannot run the packages' programs."""
    machine = os.uname().machine
    if machine != "x86_64":
        raise GuestUnsupported(f"the guest and its packages need an x86_64 machine, and this one is {machine}")


def root(recipe):
    """Returns the path of the root for `recipe`, which is fetched if it is not in the cache."""
    require_x86()
    stamp = [snapshot()] if snapshot() else []
    path  = cache.entry(recipe.name, cache.digest(recipe, *stamp), lambda path: _make(recipe, path), recipe.what)
    versions.use(recipe.name, path)
    return path


def find(recipe):
    """Returns the root for `recipe`, and the path in it that matches `recipe.expect`."""
    path = root(recipe)
    return path, next(path.glob(recipe.expect))

# Apt ----------------------------------------------------------------------------------------------

class Apt:
    """Runs apt-get with all its state in the folder `state`."""

    def __init__(self, state, mirror, suites, architectures=("amd64",)):
        self.mirror = mirror
        self.native = architectures[0]
        keyring     = next((path for folder in KEYRINGS for path in sorted(folder.glob("debian-archive-keyring.*"))),
            None)
        if keyring is None:
            raise GuestError("the Debian archive keyring is missing; type: "
                "sudo apt-get install debian-archive-keyring")
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise GuestError("apt-get or dpkg-deb is missing: a Debian or Ubuntu machine is needed")
        for part in ("lists", "archives"):
            (state / part / "partial").mkdir(parents=True)
        (state / "status").touch()
        (state / "sources.list").write_text("".join(
            f"deb [arch={','.join(architectures)} signed-by={keyring}] {mirror} {suite} main\n"
            for suite in suites))
        settings = {
            "Dir::Etc::parts"           : "/dev/null",
            "Dir::Etc::main"            : "/dev/null",
            "Dir::Etc::sourcelist"      : state / "sources.list",
            "Dir::Etc::sourceparts"     : "/dev/null",
            "Dir::Etc::preferences"     : "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::State"                : state,
            "Dir::State::Lists"         : state / "lists",
            "Dir::State::status"        : state / "status",
            "Dir::Cache"                : state,
            "Dir::Cache::archives"      : state / "archives",
            "APT::Architecture"         : architectures[0],
            "APT::Architectures"        : ",".join(architectures),
            "APT::Sandbox::User"        : "",
            "APT::Update::Error-Mode"   : "any",
            "Acquire::Languages"        : "none",
            "Acquire::Retries"          : 2,
            "Acquire::http::Timeout"    : 20,
            "Acquire::https::Timeout"   : 20,
            # The lists of a snapshot have expired.
            **({"Acquire::Check-Valid-Until": "false"} if snapshot() else {}),
        }
        (state / "apt.conf").write_text(_machine_settings() + "".join(
            f'{name} "{value}";\n' for name, value in settings.items()))
        self.env = dict(os.environ, APT_CONFIG=str(state / "apt.conf"), LC_ALL="C")

    def __call__(self, *arguments, cwd=None):
        status, output = processes.run(["apt-get", "-q", *arguments], env=self.env, cwd=cwd)
        if status:
            raise GuestError(reason(output, self.mirror))
        return output

    def resolve(self, suite, packages, keep):
        """Returns [(name, version)] of packages and all their dependencies, if their names match `keep`, and the sum
        of their sizes.
        """
        output = self("install", "-y", "--no-install-recommends", "--print-uris",
            "-t", suite, *packages)
        found  = re.findall(r"^'\S+' (\S+)_(\S+)_(\w+)\.deb (\d+)", output, re.MULTILINE)
        kept   = [(name if kind in (self.native, "all") else f"{name}:{kind}", urllib.parse.unquote(version), int(size))
            for name, version, kind, size in found if re.match(keep, name)]
        return [(name, version) for name, version, _ in kept], sum(size for *_, size in kept)

    def download(self, packages, folder):
        """Downloads packages given as [(name, version)] into `folder`; returns the paths of the .deb files."""
        self("download", *(f"{name}={version}" for name, version in packages), cwd=folder)
        return sorted(folder.glob("*.deb"))


class _Shared:
    """An `Apt` for all threads that need the same lists at the same time; its lists are fetched once."""
    every = {}
    lock  = threading.Lock()

    def __init__(self):
        self.users, self.fetching, self.apt, self.folder = 0, threading.Lock(), None, None

    @classmethod
    @contextlib.contextmanager
    def apt_for(cls, *key):
        """The arguments are those of `Apt` without `state`."""
        with cls.lock:
            shared        = cls.every.setdefault(key, cls())
            shared.users += 1
        try:
            with shared.fetching:
                shared.apt = shared.apt or shared.fetch(*key)
            yield shared.apt
        finally:
            with cls.lock:
                shared.users -= 1
                if not shared.users:
                    del cls.every[key]
                    if shared.folder:
                        shared.folder.cleanup()

    def fetch(self, *key):
        if self.folder:  # Of another thread, which failed.
            self.folder.cleanup()
        self.folder = tempfile.TemporaryDirectory(prefix="apt.", dir=cache.folder() / "tmp")
        apt = Apt(Path(self.folder.name), *key)
        apt("update")
        return apt


def _machine_settings():
    """Returns the settings of the machine's apt for reaching mirrors: proxies, certificates."""
    status, output = processes.run(["apt-config", "dump"])
    lines = [line for line in output.splitlines()
        if re.match(r"Acquire::(https?|ftp|socks|ForceIPv)", line)]
    return "".join(line + "\n" for line in lines) if status == 0 else ""


_UNREACHABLE = re.compile("|".join((
    r"Temporary failure resolving '[^']*'", r"Could not resolve [^\n]*",
    r"(?:Could not|Unable to) connect to [^\n]*", r"Cannot initiate the connection to [^\n]*",
    r"Connection timed out", r"Connection failed")))

_NO_SUITE = re.compile(
    r"repository '([^']*?)(?: Release)?' (?:does not have|no longer has) a Release file")


def reason(output, mirror):
    """Returns one line for apt's output: what failed, and what to do."""
    advice = "check the network, or set DEBIAN_MIRROR"
    errors = [line[2:].strip() for line in output.splitlines() if line.startswith("E:")]
    detail = (errors or output.strip().splitlines()[-1:] or ["no reason given"])[0]
    if match := _UNREACHABLE.search(output):
        return f"cannot reach the Debian mirror {mirror} ({match[0].strip()[:100]}); {advice}"
    if match := _NO_SUITE.search(output):
        return f"the mirror does not have {match[1]!r}; set DEBIAN_MIRROR to a full Debian mirror"
    if "NO_PUBKEY" in output or "is not signed" in output:
        return (f"the mirror {mirror} is not signed with a key this machine knows; "
            "type: sudo apt-get install debian-archive-keyring")
    if "Unable to locate package" in output or "has no installation candidate" in output:
        return f"the mirror {mirror}: {detail}; set DEBIAN_MIRROR to a full Debian mirror"
    return f"apt failed with the mirror {mirror}: {detail[:200]}"

# Roots --------------------------------------------------------------------------------------------

def unpack(debs, path, exclude=()):
    """Unpacks .deb files into `path`, without files that match `exclude`.

    base-files comes first, as it has the links (/bin, /lib) that paths of other packages go through.
    """
    path.mkdir(exist_ok=True)
    patterns = " ".join(f"--exclude='{pattern}'" for pattern in exclude)
    for deb in sorted(debs, key=lambda deb: not deb.name.startswith("base-files_")):
        # Without owners and set-user-id bits, so that no program in the root has more rights than its user.
        status, output = processes.run(["bash", "-o", "pipefail", "-c",
            'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --keep-directory-symlink '
            f"--no-same-owner --no-same-permissions {patterns}", "bash", deb, path])
        if status:
            lines = output.strip().splitlines() or ["no reason given"]
            raise GuestError(f"cannot unpack {deb.name}: {lines[-1]}")


def _link(path):
    """Makes the links that maintainer scripts would have made."""
    for link, program in (("bin/sh", "bin/dash"), ("usr/bin/awk", "usr/bin/mawk")):
        if (path / program).exists() and not os.path.lexists(path / link):
            (path / link).symlink_to(os.path.basename(program))


def _make(recipe, path):
    began = time.monotonic()
    debs  = path / ".debs"
    debs.mkdir()
    mirror        = debian_mirror()
    architectures = getattr(recipe, "architectures", ("amd64",))
    with _Shared.apt_for(mirror, tuple(recipe.suites), architectures) as apt:
        packages, size = apt.resolve(recipe.suite, recipe.packages, recipe.keep)
        if getattr(recipe, "besides", ()):
            besides   = apt.resolve(recipe.suite, recipe.besides, recipe.keep_besides)
            packages += besides[0]
            size     += besides[1]
        say(f"fetching {recipe.what} (Debian {recipe.suite}): {len(packages)} packages, {size / 1e6:.0f} MB")
        unpack(apt.download(packages, debs), path, recipe.exclude)
    _link(path)
    found = len(list(path.glob(recipe.expect)))
    if found != 1:
        raise GuestError(f"the packages of {recipe.what} have {found} files {recipe.expect} instead of one "
            f"(mirror {mirror})")
    (path / ".packages").write_text("".join(f"{name} {version}\n" for name, version in packages))
    shutil.rmtree(debs)
    say(f"fetched {recipe.what}: {time.monotonic() - began:.1f} s")
