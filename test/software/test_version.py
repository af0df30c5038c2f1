#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""setup.py is the only source of the project's version; every other place agrees with it."""

import re
import subprocess

from pathlib import Path

import pytest

ROOT    = Path(__file__).resolve().parents[2]
USER    = ROOT / "software" / "user"
VERSION = re.search(r'version += "(\d+\.\d+\.\d+)"', (ROOT / "setup.py").read_text())[1]

# Files that cannot read setup.py: dkms copies its file, the others are texts.
COPIES = {
    "software/kernel/dkms.conf"              : r'^PACKAGE_VERSION="(.*)"$',
    "software/user/lib/liblitepcie.h"        : r'^/\* Version of this library, "(.*)"\. \*/$',
    "test/software/user/golden/version.txt"  : r"^litepcie_util (.*), driver interface \d+$",
}


@pytest.mark.parametrize("path", COPIES)
def test_the_file_has_the_version_of_setup_py(path):
    assert re.findall(COPIES[path], (ROOT / path).read_text(), re.M) == [VERSION]


def test_the_library_and_the_tool_take_it_from_setup_py(tmp_path):
    files = [f"{tmp_path}/liblitepcie.pc", f"{tmp_path}/litepcie_util"]
    subprocess.run(["make", "-s", "-C", USER, "OPTIMIZE=-O0", f"BUILD={tmp_path}", *files], check=True,
        capture_output=True)
    assert f"Version: {VERSION}\n" in (tmp_path / "liblitepcie.pc").read_text()
    said = subprocess.run([tmp_path / "litepcie_util", "version"], check=True, capture_output=True, text=True).stdout
    assert said.startswith(f"litepcie_util {VERSION},")
