#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of packages: messages when they cannot be fetched, with the real apt on loopback, and unpacking."""

import functools
import http.server
import os
import re
import subprocess
import threading

import pytest

from litepcie_sim.guest          import packages
from litepcie_sim.guest.errors   import GuestError
from litepcie_sim.guest.packages import Recipe

RECIPE = Recipe("thing", "a thing", "trixie-backports", ("thing",), "usr/bin/thing")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "v1"


@pytest.fixture
def server(tmp_path):
    """(folder, address) of a web server for this folder."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass
    folder  = tmp_path / "web"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def message(monkeypatch, mirror):
    monkeypatch.setenv("DEBIAN_MIRROR", mirror)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(packages, "_machine_settings", lambda: "")
    with pytest.raises(GuestError) as error:
        packages.root(RECIPE)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_nobody_listens(monkeypatch, cache):
    text = message(monkeypatch, "http://127.0.0.1:1/debian")
    assert re.match(r"cannot reach the Debian mirror http://127\.0\.0\.1:1/debian \(.+\); "
        "check the network, or set DEBIAN_MIRROR$", text), text
    assert not list(cache.glob("thing*")) and not list((cache / "tmp").iterdir())


def test_a_mirror_without_the_suite(monkeypatch, server):
    text = message(monkeypatch, server[1])
    assert re.match(r"the mirror does not have '.* trixie(-backports)?'; "
        "set DEBIAN_MIRROR to a full Debian mirror$", text), text


def test_a_mirror_that_is_not_signed(monkeypatch, server):
    for suite in ("trixie", "trixie-backports"):
        folder = server[0] / "dists" / suite
        folder.mkdir(parents=True)
        (folder / "Release").write_text(f"Suite: {suite}\nComponents: main\nSHA256:\n")
    text = message(monkeypatch, server[1])
    assert "is not signed with a key this machine knows" in text, text


def test_a_machine_without_the_keyring(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "KEYRINGS", [tmp_path])
    assert message(monkeypatch,
        "http://127.0.0.1:1/debian") == ("the Debian archive keyring is missing; "
        "type: sudo apt-get install debian-archive-keyring")


@pytest.mark.parametrize("output, text", [
    ("Reading...\nE: Unable to locate package nothing\n",
        "the mirror M: Unable to locate package nothing; "
        "set DEBIAN_MIRROR to a full Debian mirror"),
    ("E: You don't have enough free space in /x.\n",
        "apt failed with the mirror M: You don't have enough free space in /x."),
    ("Ign:1 http://m\nE: Failed to fetch http://m/x  Connection timed out [IP: 192.0.2.1 80]\n",
        "cannot reach the Debian mirror M (Connection timed out); "
        "check the network, or set DEBIAN_MIRROR"),
])
def test_messages(output, text):
    assert packages.reason(output, "M") == text


# Unpacking ----------------------------------------------------------------------------------------

def deb(folder, name, **files):
    """Makes a package of `files`: path to content, or to '->' and the target of a link."""
    tree = folder / name
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody <n@example.org>\n"
        "Description: test\n")
    for path, content in files.items():
        path = tree / path.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("->"):
            path.symlink_to(content[2:])
        else:
            path.write_text(content)
            path.chmod(0o4755)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, folder / f"{name}_1_all.deb"],
        check=True, capture_output=True)
    return folder / f"{name}_1_all.deb"


def test_links_of_base_files_are_gone_through(tmp_path):
    """Files of a package with a folder /bin go to /usr/bin if base-files made /bin a link."""
    debs = [deb(tmp_path, "a-tool", bin__tool="tool"),
        deb(tmp_path, "base-files", bin="->usr/bin", usr__bin__first="first")]
    root = tmp_path / "root"
    packages.unpack(debs, root)
    assert (root / "bin").is_symlink()
    assert (root / "usr/bin/tool").read_text() == "tool"
    assert not os.stat(root / "usr/bin/tool").st_mode & 0o6000


def test_a_broken_package(tmp_path):
    path = tmp_path / "broken_1_all.deb"
    path.write_bytes(b"!<arch>\nnot a package")
    with pytest.raises(GuestError, match=r"cannot unpack broken_1_all\.deb: "):
        packages.unpack([path], tmp_path / "root")
