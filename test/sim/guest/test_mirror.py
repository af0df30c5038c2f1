#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests that the mirror is found in all usual kinds of apt configurations."""

import pytest

from litepcie_sim.guest.errors import GuestError
from litepcie_sim.guest.mirror import debian_mirror, parse_deb822, parse_one_line


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
    ({}, None),
])
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
