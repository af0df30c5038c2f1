# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""report: one document from all commands, of a card that works and of one that does not."""

import json
import platform

import pytest

from test.software.user.test_json import check


@pytest.fixture
def report(card, tmp_path, monkeypatch):
    """Runs report for a card below a bridge, with a script as lspci."""
    bridge = tmp_path / "devices" / "pci0000:00" / "0000:00:1c.0"
    (bridge / "0000:01:00.0").mkdir(parents=True)
    for link in ("bus/pci/devices/0000:01:00.0", "class/litepcie/litepcie0/device"):
        (tmp_path / link).parent.mkdir(parents=True)
        (tmp_path / link).symlink_to(bridge / "0000:01:00.0")

    def run(lspci, *arguments, **settings):
        (tmp_path / "lspci").write_text(f"#!/bin/sh\n{lspci}\n")
        (tmp_path / "lspci").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        result = card("report", *arguments, sysfs=tmp_path, **settings)
        return result, check("report", result.out)
    return run


def test_each_part_is_the_document_of_its_command(report):
    result, told = report('echo "$3 LnkSta: Speed"; echo "Capabilities: Device Serial Number 01-02"', aio=1)
    assert result.code == 0
    assert [part["command"] for part in told["parts"] if part["exit_status"]] == ["link"]
    for part in (part for part in told["parts"] if not part["exit_status"]):
        document, = part["documents"]
        check(part["command"].split()[0], json.dumps(document))
        assert part["message"] == "" and f"{part['command']} ... " in result.err
    assert [one["address"] for one in told["path"]] == ["0000:00:1c.0", "0000:01:00.0"]
    assert all(one["lspci"] == [f"{one['address']} LnkSta: Speed"] for one in told["path"])
    assert "serial" not in result.out.lower()
    assert told["host"]["kernel"] == platform.release() and platform.node() not in json.dumps(told["host"])


def test_failures_are_in_the_report_and_end_nothing(report):
    result, told = report('case $3 in *00:1c.0) exec sleep 100;; esac', "--limit", 1, flip=10)
    failed = [part for part in told["parts"] if part["exit_status"] and part["command"] != "link"]
    assert result.code == failed[0]["exit_status"] == 3 and "wrong byte" in failed[0]["message"]
    assert result.err.splitlines()[-1] == f"litepcie_util: report: {len(failed)} of {len(told['parts'])} commands " \
        "failed; the report says which"
    assert told["parts"][-1]["documents"] and [one["lspci"] for one in told["path"]] == [[], []]


def test_without_a_card_there_is_no_report(card):
    result = card("report", "--device", "/dev/litepcie7", open_error=2)
    assert result.code == 4 and result.out == "" and len(result.err.splitlines()) == 1
