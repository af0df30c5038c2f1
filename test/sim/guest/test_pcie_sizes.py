#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of the guest's script pcie_sizes on a file in place of the board's configuration space."""

import struct
import subprocess

from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "sim" / "guest" / "pcie_sizes.sh"
CAP    = 0x70


def space(supported=2, control=0x2810, chain=((0x40, 0x01), (0x50, 0x05), (CAP, 0x10))):
    """Makes configuration space with a list of capabilities (offset, identifier)."""
    data = bytearray(256)
    data[0x34] = chain[0][0] if chain else 0
    for (offset, identifier), following in zip(chain, [*chain[1:], (0, 0)]):
        data[offset], data[offset + 1] = identifier, following[0]
        if identifier == 0x10:
            struct.pack_into("<HIH", data, offset + 2, 0x0002, 0x8000 | supported, control)
    return data


def run(tmp_path, data, *sizes):
    (tmp_path / "config").write_bytes(data)
    return subprocess.run(["sh", SCRIPT, *map(str, sizes), tmp_path], capture_output=True, text=True)


@pytest.mark.parametrize("mps, mrrs, before, after", [
    (256,  512, 0x2810, 0x2830),
    (128,  128, 0xffff, 0x8f1f),   # All other bits keep their value.
    (512, 4096, 0x0000, 0x5040),
])
def test_writes_device_control(tmp_path, mps, mrrs, before, after):
    data   = space(control=before)
    result = run(tmp_path, data, mps, mrrs)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    struct.pack_into("<H", data, CAP + 8, after)
    assert (tmp_path / "config").read_bytes() == data


@pytest.mark.parametrize("data, sizes, message", [
    (space(),                        (300, 512),
        "'300' is not a size; choose 128, 256, 512, 1024, 2048 or 4096"),
    (space(supported=1),             (512, 512),  "MPS 512 is not supported by the board; the most is 256 bytes"),
    (space(chain=()),                (256, 512),  "the board has no PCI Express capability"),
    (space()[:64],                   (256, 512),  "cannot read"),
])
def test_refuses(tmp_path, data, sizes, message):
    result = run(tmp_path, data, *sizes)
    assert result.returncode == 1
    assert result.stderr.startswith(f"pcie_sizes: {message}")
    assert result.stderr.count("\n") == 1
    assert (tmp_path / "config").read_bytes() == data
