#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Installs the machine packages that the project needs, and makes its Python environment in `build/venv`.

On Debian 12, Debian 13 and Ubuntu 24.04. On another distribution it says what is missing. With an ARM processor it goes
on without the guest. With --tests it also fetches what `make test` needs of the network. It may run at any time, also
several times at once, and takes about 0.1 s when there is nothing to do. It uses the standard library only, and no
syntax newer than Python 3.7, so that an old interpreter reaches the message that says it is too old.

Exit status: 0 ready; 1 a step failed, and one line says which; 2 the machine lacks something, and the
line says what to type.
"""

import argparse
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

ROOT         = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD        = os.path.join(ROOT, "build")
VENV         = os.path.join(BUILD, "venv")
REQUIREMENTS = os.path.join(ROOT, "requirements.txt")
PYTHON_MIN   = (3, 11)


class BootstrapError(Exception):
    """A failure, with a message of one line for the user and the exit status `status`."""
    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status

# The folder ---------------------------------------------------------------------------------------

def check_folder():
    """make, the kernel's build and pip's scripts cannot use every path, and would say so after minutes."""
    wrong = sorted(set(re.findall(r"""[\s:;#$%&|<>()\[\]*?!"'`\\]""", ROOT)))
    if wrong:
        raise BootstrapError("the path of this folder, {!r}, contains {}, which make cannot use; move the folder to a "
            "path without it".format(ROOT, " and ".join("a space" if c == " " else repr(c) for c in wrong)), 2)

# The machine --------------------------------------------------------------------------------------

def _program(name):
    return lambda: shutil.which(name) is not None


def _file(*patterns):
    return lambda: any(glob.glob(pattern) for pattern in patterns)


def _module(*names):
    def probe():
        import importlib.util
        return all(importlib.util.find_spec(name) for name in names)
    return probe


def _library(name):
    """Returns a function that returns whether the compiler finds the library's file."""
    def probe():
        try:
            found = subprocess.run(["cc", "-print-file-name=" + name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
        except OSError:
            return False
        return os.path.isabs(found) and os.path.exists(found)
    return probe


def _release():
    """Returns the words of ID and ID_LIKE in os-release(5)."""
    try:
        with open("/etc/os-release") as f:
            return {word for line in f if line.startswith(("ID=", "ID_LIKE="))
                for word in line.partition("=")[2].strip().strip('"').split()}
    except OSError:
        return set()


def _names_debian():
    """Returns whether sim/guest/mirror.py finds a Debian mirror: in its variables, apt's templates or sources."""
    return bool(os.environ.get("DEBIAN_MIRROR") or os.environ.get("DEBIAN_SNAPSHOT_ARCHIVE") or
        os.path.exists("/usr/share/python-apt/templates/Debian.info") or
        "debian" in _release() and "ubuntu" not in _release())


# Debian's package; what is missing without it and what that is for; a function that returns whether it is there,
# installed by apt or not.
NEEDS = [
    ("python3-venv",           "Python's modules venv and ensurepip, for build/venv", _module("venv", "ensurepip")),
    ("g++",                    "the program g++, which compiles the simulator and the tool", _program("g++")),
    ("make",                   "the program make", _program("make")),
    ("verilator",              "the program verilator, which simulates boards", _program("verilator")),
    ("iverilog",               "the program iverilog, for the standalone core's simulation", _program("iverilog")),
    ("nlohmann-json3-dev",     "nlohmann/json.hpp in /usr/include, for the simulator",
        _file("/usr/include/nlohmann/json.hpp", "/usr/local/include/nlohmann/json.hpp")),
    ("libc6-dev",              "the compiler's libc.a, as the guest's tool is linked statically", _library("libc.a")),
    ("clang-format",           "the program clang-format, for make check", _program("clang-format")),
    ("libgtest-dev",           "gtest/gtest.h in /usr/include, for the simulator's unit tests",
        _file("/usr/include/gtest/gtest.h", "/usr/local/include/gtest/gtest.h")),
    ("ca-certificates",        "certificates in /etc/ssl or /etc/pki, for downloads",
        _file("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")),
]

# Only for the guest.
GUEST_NEEDS = [
    ("util-linux",             "the program unshare, in which the driver is compiled", _program("unshare")),
    ("apt",                    "the program apt-get, which fetches the guest's packages", _program("apt-get")),
    ("dpkg",                   "the program dpkg-deb, which unpacks them", _program("dpkg-deb")),
    ("python-apt-common",      "the address of a Debian mirror in DEBIAN_MIRROR, for these packages", _names_debian),
    ("debian-archive-keyring", "debian-archive-keyring.* in /usr/share/keyrings, which verifies them",
        _file("/usr/share/keyrings/debian-archive-keyring.*", "/usr/share/pacman/keyrings/debian-archive-keyring.*",
            "/etc/apt/trusted.gpg.d/debian-archive-keyring.*")),
]


# Of NEEDS, what the documentation is made with.
DOCS = ("python3-venv", "make", "ca-certificates")


def has_guest():
    """Returns whether the guest runs on this machine's processor."""
    return os.uname().machine == "x86_64"


def missing_packages(docs=False):
    """Returns (package, what it is for) of those that this machine lacks, for all or for the documentation only."""
    needs = [need for need in NEEDS if need[0] in DOCS] if docs else NEEDS + (GUEST_NEEDS if has_guest() else [])
    return [(package, what) for package, what, probe in needs if not probe()]


def _apt(*arguments):
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive", LC_ALL="C")
    return subprocess.run(["apt-get", "-q", *arguments], env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def _apt_reason(output):
    """The line of apt's output that names the cause."""
    errors = [line[2:].strip() for line in output.splitlines() if line.startswith("E:")]
    return errors[0] if errors else (output.strip().splitlines() or ["no reason given"])[-1]


def check_machine(install=None, docs=False):
    """Installs missing packages if root; else raises BootstrapError with the command to type.

    `install`: True installs and False raises, for any user.
    """
    if sys.version_info < PYTHON_MIN:
        raise BootstrapError("Python {}.{} is too old: {}.{} or newer is needed "
            "(make PYTHON=python3.11 ...)".format(*(tuple(sys.version_info[:2]) + PYTHON_MIN)),
            status=2)
    found = missing_packages(docs)
    if not found:
        return
    missing = [package for package, _ in found]
    if shutil.which("apt-get") is None or not {"debian", "ubuntu"} & _release():
        raise BootstrapError("this is no Debian or Ubuntu, so nothing is installed. These are missing, with Debian's "
            "name of the package:\n" + "\n".join("  {}: {}".format(*need) for need in found), status=2)
    install = (os.geteuid() == 0) if install is None else install
    if not install:
        raise BootstrapError("packages are missing; type: sudo apt-get install "
            + " ".join(missing), status=2)
    print("bootstrap: installing " + " ".join(missing), flush=True)
    command = ("install", "-y", "--no-install-recommends") + tuple(missing)
    # The package lists may be absent (a fresh container) or name files that the mirror no longer has:
    # on failure, update the lists and try again.
    result = _apt(*command)
    if result.returncode:
        update = _apt("update")
        result = _apt(*command)
        if result.returncode:
            reason = _apt_reason(update.stdout if update.returncode else result.stdout)
            raise BootstrapError("apt-get install {} failed: {}; check the network and apt's "
                "sources".format(" ".join(missing), reason))
    still = [package for package, _ in missing_packages(docs)]
    if still:
        raise BootstrapError("apt installed the packages, but this is still not found: "
            + " ".join(still), status=2)

# build/venv ---------------------------------------------------------------------------------------

def _digest(text, name):
    """SHA-256 of `text` followed by the file `name` of the tree."""
    with open(os.path.join(ROOT, name), "rb") as f:
        return hashlib.sha256(text.encode() + f.read()).hexdigest()


def _fingerprint():
    """Returns two digests, one per line: of the environment's inputs, and of the project's own installation."""
    where = "{} {} {}".format(sys.version_info[:2], sys.base_prefix, ROOT)
    return _digest(where, "requirements.txt") + "\n" + _digest("", "setup.py") + "\n"


def _pip(*arguments):
    python = os.path.join(VENV, "bin", "python")
    result = subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-q", *arguments],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False)
    if result.returncode:
        raise BootstrapError(_pip_reason(result.stdout))


def _pip_reason(output):
    """Returns the cause of a failure of pip, in one line."""
    network = ("NewConnectionError", "Temporary failure in name resolution", "Max retries exceeded",
        "ReadTimeout", "ConnectionResetError", "ProxyError", "Could not connect")
    if any(word in output for word in network):
        return ("the Python package index could not be reached (pip); check the network, "
            "or pip's index-url and proxy")
    lines  = output.strip().splitlines() or ["no reason given"]
    errors = [line for line in lines if "ERROR" in line]
    return "pip failed: " + (errors or lines)[-1]


def _create():
    print("bootstrap: making build/venv", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    import venv
    venv.create(VENV, with_pip=True, symlinks=True)
    # Python compiles what is imported; pip would compile all 4,800 files, most of which nobody imports.
    _pip("install", "--no-deps", "--no-compile", "-r", REQUIREMENTS)


def make_venv():
    """Makes a new `build/venv` if requirements.txt changed, and installs the project into it if setup.py changed.

    Returns whether it did one of the two.
    """
    os.makedirs(BUILD, exist_ok=True)
    stamp       = os.path.join(VENV, ".fingerprint")
    fingerprint = _fingerprint()

    def found():
        try:
            with open(stamp) as f:
                return f.read()
        except OSError:
            return ""

    if found() == fingerprint:
        return False
    with open(os.path.join(BUILD, "venv.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = found()
        if before == fingerprint:  # Another process made it while this one waited.
            return False
        if before.split("\n")[0] != fingerprint.split("\n")[0]:
            _create()
        _pip("install", "--no-deps", "--no-build-isolation", "-e", ".")
        # Written last, so that an interrupted run is not taken for a finished one.
        with open(stamp, "w") as f:
            f.write(fingerprint)
    return True

# build/packages -----------------------------------------------------------------------------------

# The same mapping as in setup.py.
PACKAGES = {"litepcie_soc": "gateware", "litepcie_sim": "sim", "litepcie_bench": "bench"}


def make_packages():
    """Makes links with the names of the packages to their folders: static tools (pyright, jedi) look there."""
    folder = os.path.join(BUILD, "packages")
    os.makedirs(folder, exist_ok=True)
    for name, source in PACKAGES.items():
        link = os.path.join(folder, name)
        if not os.path.islink(link):
            try:
                os.symlink(os.path.join("..", "..", source), link)
            except FileExistsError:
                pass  # Another process was faster.

# The tests' packages ------------------------------------------------------------------------------

def start_fetching():
    """Starts a process that fetches what `make test` needs, beside the installation of build/venv."""
    environ = dict(os.environ, PYTHONPATH=os.path.join(BUILD, "packages"))
    return subprocess.Popen([sys.executable, "-m", "test.prepare"], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL)

# Main ---------------------------------------------------------------------------------------------

DEMO_TAKES = "demo: the first run takes about 3 min on two cores, downloads up to 0.45 GB and needs 1.4 GB of disk: " \
    "0.9 GB for build/, 0.5 GB for ~/.cache/litepcie-soc. After Ctrl-C, the next run goes on."


def main(argv=()):
    parser = argparse.ArgumentParser(prog="bootstrap.py",
        description="Checks the packages of the machine and makes build/venv. As root it installs missing packages, "
            "otherwise it prints the command that does.",
        epilog="exit status: 0 ready; 1 a step failed; 2 packages are missing, or wrong usage; 130 interrupted")
    parser.add_argument("--tests", action="store_true",
        help="also fetch all packages that make test uses, so that it runs without a network")
    parser.add_argument("--docs", action="store_true", help="check only the packages that make docs needs")
    parser.add_argument("--demo", action="store_true", help="say what the first make demo takes")
    args  = parser.parse_args(argv)
    child = None
    try:
        check_folder()
        if args.demo and not os.path.exists(os.path.join(VENV, ".fingerprint")):
            print(DEMO_TAKES, flush=True)
        check_machine(docs=args.docs)
        make_packages()
        if args.tests:
            child = start_fetching()
        make_venv()
        if child and child.wait():
            raise BootstrapError("what make test needs is not complete; the line above says why")
    except BootstrapError as e:
        print("bootstrap: " + str(e), file=sys.stderr)
        return e.status
    except (OSError, subprocess.SubprocessError) as e:
        print("bootstrap: {}".format(e), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bootstrap: interrupted", file=sys.stderr)
        return 130
    finally:
        if child and child.poll() is None:
            child.terminate()
            child.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
