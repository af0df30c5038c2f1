#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds a Debian mirror: `DEBIAN_MIRROR`, else that of the machine's own apt, else that of apt's template for Debian.

The template is for Ubuntu, whose apt has sources for Ubuntu's archive only.

For packages as they were at one time, DEBIAN_SNAPSHOT=YYYYMMDDTHHMMSSZ names the time, and DEBIAN_SNAPSHOT_ARCHIVE the
URL of the folder that has Debian's archive as it was at each time: the folder archive/debian of a snapshot server.
"""

import os
import re

from pathlib import Path

from litepcie_sim.guest.errors import GuestError

# A file of the package python-apt-common.
TEMPLATE = "/usr/share/python-apt/templates/Debian.info"

# Suites of the main Debian archive. Security and third-party archives have other names.
_SUITE = re.compile(r"^(bullseye|bookworm|trixie|forky|duke|sid|(old){,2}stable|testing|unstable)"
    r"(-updates|-backports|-proposed-updates)?$")
_NO    = ("no", "false", "without", "off", "disable", "0")
_URI   = re.compile(r"^(mirror\+)?(https?|file|copy|tor\+https?):")


def parse_one_line(text):
    """Yields (uri, suite, components) of each binary entry in the one-line format of sources.list(5)."""
    for line in text.splitlines():
        line  = line.split("#", 1)[0]
        match = re.match(r"^\s*deb\s+(?:\[[^]]*\]\s*)?(\S+)\s+(\S+)\s*(.*)$", line)
        if match:
            yield match[1], match[2], match[3].split()


def parse_deb822(text):
    """Yields (uri, suite, components) of each enabled binary entry in the deb822 format of sources.list(5)."""
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields, name = {}, None
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in (" ", "\t") and name:
                fields[name] += " " + line.strip()
            elif ":" in line:
                name, value  = line.split(":", 1)
                name         = name.strip().lower()
                fields[name] = value.strip()
        if fields.get("enabled", "yes").lower() in _NO:
            continue
        if "deb" not in fields.get("types", "").split():
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield uri, suite, fields.get("components", "").split()


def machine_sources(etc="/etc/apt"):
    """Yields (uri, suite, components) of each source of the machine's apt, in apt's order."""
    etc   = Path(etc)
    parts = etc / "sources.list.d"
    files = [etc / "sources.list"] + sorted(parts.iterdir() if parts.is_dir() else [])
    for path in files:
        parse = {".list": parse_one_line, ".sources": parse_deb822}.get(path.suffix)
        if parse is None or not path.is_file() or not os.access(path, os.R_OK):
            continue
        yield from parse(path.read_text(errors="replace"))


def template_mirror(template):
    """Returns the URI of the newest Debian suite in apt's template, or None."""
    if os.access(template, os.R_OK):
        if match := re.search(r"^BaseURI:\s*(\S+)", Path(template).read_text(), re.MULTILINE):
            return match[1]
    return None


def snapshot(environ=os.environ):
    """Returns the time in DEBIAN_SNAPSHOT, or "" if it is not set. Raises GuestError if it is no time."""
    stamp = environ.get("DEBIAN_SNAPSHOT", "")
    if stamp and not re.fullmatch(r"\d{8}T\d{6}Z", stamp):
        raise GuestError(f"DEBIAN_SNAPSHOT={stamp} is not a time; give YYYYMMDDTHHMMSSZ, such as 20261101T000000Z")
    return stamp


def debian_mirror(etc="/etc/apt", environ=os.environ, template=TEMPLATE):
    """Returns the URI of the mirror, without a slash at its end. Raises GuestError if there is none."""
    if stamp := snapshot(environ):
        if not environ.get("DEBIAN_SNAPSHOT_ARCHIVE"):
            raise GuestError("DEBIAN_SNAPSHOT needs DEBIAN_SNAPSHOT_ARCHIVE, the URL of the folder archive/debian of a "
                "snapshot server")
        return f"{environ['DEBIAN_SNAPSHOT_ARCHIVE'].rstrip('/')}/{stamp}"
    if environ.get("DEBIAN_MIRROR"):
        return environ["DEBIAN_MIRROR"].rstrip("/")
    for uri, suite, components in machine_sources(etc):
        if _URI.match(uri) and _SUITE.match(suite) and "main" in components:
            return uri.rstrip("/")
    if uri := template_mirror(template):
        return uri.rstrip("/")
    raise GuestError("no Debian mirror is configured on this machine; set DEBIAN_MIRROR to the URL of one")
