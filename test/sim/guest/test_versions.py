#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of the record of packages' versions."""

import pytest

from litepcie_sim.guest import versions

KERNEL = """linux-image-6.1.0-50-cloud-amd64 6.1.176-1
linux-headers-6.1.0-50-common 6.1.176-1
linux-headers-cloud-amd64 6.1.176-1
gcc-12 12.2.0-14
gcc-12-base 12.2.0-14
libc6 2.36-9
"""
NEWEST = "linux-binary-7.0.3+deb13-cloud-amd64 7.0.3-1~bpo13+1\nlinux-source-6.1 6.1.176-1\nfio 3.39-1\n"


@pytest.fixture(autouse=True)
def roots(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "_roots", {})
    for name, text in (("kernel", KERNEL), ("newest", NEWEST)):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".packages").write_text(text)
        versions.use(name, tmp_path / name)


def test_names_of_packages_outlive_their_versions():
    assert versions.used() == {
        ("kernel", "linux-image-cloud-amd64")   : "6.1.176-1",
        ("kernel", "linux-headers-cloud-amd64") : "6.1.176-1",
        ("kernel", "gcc-12")                    : "12.2.0-14",
        ("newest", "linux-binary-cloud-amd64")  : "7.0.3-1~bpo13+1",
        ("newest", "linux-source")              : "6.1.176-1",
        ("newest", "fio")                       : "3.39-1"}


def test_a_version_that_moved_has_a_line(tmp_path, capsys):
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
