#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Compares the installed LiteX with the one that ``setup.py`` names. Standard library only."""

import functools
import logging
import re

from importlib import metadata


def required():
    """Returns {package: version} of the exact requirements of this package; nothing if it is not installed."""
    try:
        lines = metadata.requires("litepcie_soc") or []
    except metadata.PackageNotFoundError:
        return {}
    return dict(match.groups() for line in lines if (match := re.fullmatch(r"([\w.-]+)==([^;\s]+)", line)))


@functools.cache
def warn_of_other_versions():
    """Logs one line, once, if packages have other versions than the tests."""
    others = []
    for name, version in required().items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # The import says so.
        if found != version:
            others.append(f"{name} {found} instead of {version}")
    if others:
        logging.getLogger("litepcie_soc").warning("not tested with %s: the Verilog and the settings of the PHY may be "
            "wrong; `pip install litepcie_soc` without --no-deps installs the tested versions", ", ".join(others))
