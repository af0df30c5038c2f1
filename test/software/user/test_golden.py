# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The exact output of the tool on a mock card; host times and the host's name are replaced.

LITEPCIE_GOLDEN=write pytest test/software/user/test_golden.py   renews the files.
"""

import difflib
import json
import os
import re

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

GOLDEN = {
    **{name: name for name in ("help", "info", "scratch_test", "version", "calc", "dma_test")},
    "help_dma_test"  : "help dma_test",
    "help_calc"      : "help calc",
    "dma_test_write" : "dma_test -s write -l 4097 --offset 3 --host-offset 5 --seed 7",
    "dma_test_both"  : "dma_test --sequence read-and-write --length 64K --header 16",
}


def without_host(text):
    """Replaces what depends on the host: times and its name."""
    text = re.sub(r"(host wall clock )[ 0-9.]+MB/s; [0-9.]+ us", r"\1 # MB/s; # us", text)
    text = re.sub(r"p50 [0-9.]+, longest [0-9.]+ us", "p50 #, longest # us", text)
    text = re.sub(r"overlapped for \d+ %", "overlapped for # %", text)
    return text.replace(" ".join(os.uname()[i] for i in (0, 2, 4)), "HOST")


@pytest.mark.parametrize("name", GOLDEN)
def test_text(card, name):
    result = card(*GOLDEN[name].split())
    path = HERE / "golden" / f"{name}.txt"
    if os.environ.get("LITEPCIE_GOLDEN") == "write":
        path.write_text(without_host(result.out))
    assert (result.code, result.err) == (0, "")
    changed = difflib.unified_diff(path.read_text().splitlines(), without_host(result.out).splitlines(),
        f"expected: golden/{path.name}", "found", lineterm="", n=0)
    assert not (lines := list(changed)), "\n".join(["the output differs", *lines])


def test_state_that_the_host_has_enabled(card):
    """Also of a link that is not known."""
    assert "theory                 not defined for Gen0 x0, MPS 256, MRRS 512\n" in \
        card("dma_test", "-n", 1, gen=0, lanes=0).out
    assert "state     link up: yes, bus master: no, MSI: no, extended tags: yes\n" in card("info", status=0x5).out
    assert "extended tags" not in card("info", status=0).out  # Unknown with an older driver.
    assert json.loads(card("info", "--json", status=0x5).out)["link"].items() >= {
        "up": True, "bus_master": False, "msi": False, "extended_tags": True}.items()
    assert "up" not in json.loads(card("info", "--json", status=0).out)["link"]


def test_streams_are_counted_with_the_channels(card):
    assert "engines   1 channel, 2 streams, 32 tags\n" in card("info", streams=2).out
    one_way = {"streams": 3, "stream_lacks": 4 << 16 | 2}
    ways    = "3 streams, 32 tags\nstream 1  to the host only\nstream 2  from the host only\n"
    assert ways in card("info", **one_way).out
    assert json.loads(card("info", "--json", **one_way).out)["stream_directions"] == ["both", "to_host", "from_host"]
    result = card("info", channels=0, streams=1)
    assert (result.code, result.err) == (0, "") and "engines   0 channels, 1 stream, 32 tags\n" in result.out
