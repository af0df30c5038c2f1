# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The wheels of `make wheel`."""

import os
import zipfile

import pytest

from packaging.metadata import Metadata

from tools import check_version, make_wheel


@pytest.mark.full
@pytest.mark.parametrize("name", make_wheel.PROJECTS)
def test_equal_sources_give_equal_wheels(tmp_path, monkeypatch, name):
    """For a user with another umask, in another zone of time; and no file has the time of the build."""
    first  = make_wheel.make(tmp_path / "first", name)
    before = os.umask(0o77)
    try:
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        second = make_wheel.make(tmp_path / "second", name)
    finally:
        os.umask(before)
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    archive  = zipfile.ZipFile(first)
    metadata = Metadata.from_email(archive.read(f"{first.name.removesuffix('-py3-none-any.whl')}.dist-info/METADATA"))
    assert str(metadata.version) == check_version.version() and metadata.description and metadata.author
    assert {entry.date_time for entry in archive.infolist()} == {(2025, 1, 1, 0, 0, 0)}
