# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Debian's packages: which mirror, messages of the real apt, unpacking, and the record of their versions."""

import functools
import http.server
import os
import re
import subprocess
import threading

import pytest

from litepcie_sim.guest          import packages, versions
from litepcie_sim.guest.errors   import GuestError
from litepcie_sim.guest.mirror   import debian_mirror, parse_deb822, parse_one_line
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
        "check the network, or set DEBIAN_MIRROR")])
def test_messages(output, text):
    assert packages.reason(output, "M") == text


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


def stanza(uri, suites, components="main"):
    return f"Types: deb\nURIs: {uri}\nSuites: {suites}\nComponents: {components}\n"


def write(folder, **files):
    (folder / "sources.list.d").mkdir()
    for name, text in files.items():
        name = "sources.list" if name == "main" else f"sources.list.d/{name.replace('_', '.')}"
        (folder / name).write_text(text)
    return folder


def test_one_line_format():
    text = """
# deb http://commented.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian bookworm main contrib # after
deb	http://b.example/debian/	sid	main
deb http://flat.example/ ./
"""
    assert list(parse_one_line(text)) == [
        ("http://a.example/debian",  "bookworm", ["main", "contrib"]),
        ("http://b.example/debian/", "sid",      ["main"]),
        ("http://flat.example/",     "./",       [])]


def test_deb822_format():
    text = """# A comment
Types: deb deb-src
URIs: http://a.example/debian
  http://b.example/debian
# in the middle
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc: def

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://source.example/debian
Suites: bookworm
Components: main
"""
    assert list(parse_deb822(text)) == [(f"http://{host}.example/debian", suite, ["main"])
        for host in "ab" for suite in ("bookworm", "bookworm-updates")]


@pytest.mark.parametrize("files, mirror", [
    # Debian 12 and 13: installed, in a container, in a cloud image, and with other archives first.
    ({"main": "deb http://x.example/debian/ trixie main\n"}, "http://x.example/debian"),
    ({"debian_sources": stanza("http://x.example/debian", "trixie")}, "http://x.example/debian"),
    ({"debian_sources": stanza("mirror+file:///etc/apt/mirrors/debian.list", "trixie")},
        "mirror+file:///etc/apt/mirrors/debian.list"),
    ({"main": "deb http://sec.example/debian-security bookworm-security main\n"
        "deb http://other.example/apt stable contrib\n"
        "deb cdrom:[Debian]/ bookworm main\n"
        "deb https://x.example/debian bookworm main non-free-firmware\n"},
        "https://x.example/debian"),
    # Files that apt does not read.
    ({"main": "", "debian_sources.save": "deb http://x.example/debian trixie main\n"},
        None),
    # Ubuntu 24.04, and no sources at all.
    ({"ubuntu_sources": stanza("http://u.example/ubuntu", "noble noble-updates", "main universe")},
        None),
    ({}, None)])
def test_mirror_of_the_machine(tmp_path, files, mirror):
    etc      = write(tmp_path, **files)
    template = tmp_path / "Debian.info"
    if mirror is None:
        with pytest.raises(GuestError, match="set DEBIAN_MIRROR"):
            debian_mirror(etc, environ={}, template=template)
        mirror = "https://t.example/debian"
    template.write_text("Suite: {series}\nBaseURI: https://t.example/debian/\n\n"
        "Suite: old\nBaseURI: https://o.example/debian/\n")
    assert debian_mirror(etc, environ={}, template=template) == mirror


def test_the_environment_goes_first(tmp_path):
    etc = write(tmp_path, main="deb http://x.example/debian trixie main\n")
    assert debian_mirror(etc, {"DEBIAN_MIRROR": "http://m.example/d/"}) == "http://m.example/d"
    assert debian_mirror(etc, {"DEBIAN_MIRROR": ""}) == "http://x.example/debian"


def test_a_snapshot(tmp_path):
    environ = {"DEBIAN_MIRROR": "http://m.example", "DEBIAN_SNAPSHOT": "20261101T000000Z"}
    with pytest.raises(GuestError, match="DEBIAN_SNAPSHOT needs DEBIAN_SNAPSHOT_ARCHIVE, the URL of the folder"):
        debian_mirror(tmp_path, environ)
    environ["DEBIAN_SNAPSHOT_ARCHIVE"] = "http://s.example/archive/debian/"
    assert debian_mirror(tmp_path, environ) == "http://s.example/archive/debian/20261101T000000Z"
    with pytest.raises(GuestError, match="DEBIAN_SNAPSHOT=2026 is not a time; give YYYYMMDDTHHMMSSZ"):
        debian_mirror(tmp_path, {**environ, "DEBIAN_SNAPSHOT": "2026"})


KERNEL = """linux-image-6.1.0-50-cloud-amd64 6.1.176-1
linux-headers-6.1.0-50-common 6.1.176-1
linux-headers-cloud-amd64 6.1.176-1
gcc-12 12.2.0-14
gcc-12-base 12.2.0-14
libc6 2.36-9
"""
NEWEST = "linux-binary-7.0.3+deb13-cloud-amd64 7.0.3-1~bpo13+1\nlinux-source-6.1 6.1.176-1\nfio 3.39-1\n"


@pytest.fixture
def roots(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "_roots", {})
    for name, text in (("kernel", KERNEL), ("newest", NEWEST)):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".packages").write_text(text)
        versions.use(name, tmp_path / name)


def test_names_of_packages_outlive_their_versions(roots):
    assert versions.used() == {
        ("kernel", "linux-image-cloud-amd64")   : "6.1.176-1",
        ("kernel", "linux-headers-cloud-amd64") : "6.1.176-1",
        ("kernel", "gcc-12")                    : "12.2.0-14",
        ("newest", "linux-binary-cloud-amd64")  : "7.0.3-1~bpo13+1",
        ("newest", "linux-source")              : "6.1.176-1",
        ("newest", "fio")                       : "3.39-1"}


def test_a_version_that_moved_has_a_line(roots, tmp_path, capsys):
    record = tmp_path / "versions.txt"
    versions.record(record)
    versions.tell(record)
    assert capsys.readouterr().err == ""
    (tmp_path / "newest" / ".packages").write_text(NEWEST.replace("3.39-1", "3.40-1"))
    versions.tell(record)
    assert capsys.readouterr().err == "guest: fio 3.40-1 instead of the recorded 3.39-1 (newest)\n"
    versions.record(record)
    assert versions.recorded(record)["newest", "fio"] == "3.40-1"


def test_the_record_of_the_tree_has_the_guests_main_packages():
    found = {package for _, package in versions.recorded()}
    assert {"qemu-system-x86", "linux-image-cloud-amd64", "fio", "pciutils", "busybox-static", "sparse"} <= found
