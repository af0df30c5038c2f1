# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""reset: which engines, the function, and why not."""

import errno
import json

import pytest

from test.software.user.conftest import write


@pytest.mark.parametrize("arguments, settings, engines", [
    ("engines",             {},                                   ["reader 0", "writer 0"]),
    ("reader",              {},                                   ["reader 0"]),
    ("writer",              {"channels": 2},                      ["writer 0", "writer 1"]),
    ("engines --channel 1", {"channels": 2},                      ["reader 1", "writer 1"]),
    ("engines",             {"capabilities": 0x1d},               ["reader 0"])])
def test_engines(card, arguments, settings, engines):
    result = card("reset", *arguments.split(), **settings)
    assert result == (0, "".join(f"{one} was reset; its transfers start again\n" for one in engines), "")
    result = json.loads(card("reset", "--json", *arguments.split(), **settings).out)
    assert [f"{one['engine']} {one['channel']}" for one in result["engines"]] == engines
    assert result["ok"] and not result["function"]


def test_function(card, tmp_path):
    folder = tmp_path / "bus" / "pci" / "devices" / "0000:01:00.0"
    write(folder, {"reset": ""})
    assert card("reset", "function", sysfs=tmp_path) == (0, "the function at 0000:01:00.0 was reset\n", "")
    assert (folder / "reset").read_text() == "1"
    assert json.loads(card("reset", "function", "--json", sysfs=tmp_path).out)["function"]


NO_CHANNELS = "/dev/litepcie0: the card has no memory channels; its streams are for the command stream"
CHOOSE = "choose one of reader, writer, engines, function"


@pytest.mark.parametrize("arguments, settings, status, message", [
    ("",                     {}, 2, f"reset: nothing to reset is given; {CHOOSE}"),
    ("card",                 {}, 2, f"reset: 'card' is not known; {CHOOSE}"),
    ("reader --channel 1",   {}, 2, "--channel: 1 is too large; the most is 0"),
    ("engines",              {"channels": 0, "streams": 1}, 1, NO_CHANNELS),
    ("writer --channel 0",   {"channels": 0, "streams": 1}, 1, NO_CHANNELS),
    ("function --channel 0", {}, 2, "--channel: a reset of the function has no channel"),
    ("function",             {}, 1, "/dev/litepcie0: function at 0000:01:00.0: the kernel knows no way to reset this "
                                    "card: remove it and scan again (litepcie_rescan)"),
    ("engines", {"reset_errno": errno.EPERM}, 1, "/dev/litepcie0: reader 0: resetting needs CAP_SYS_ADMIN: run as "
                                                 "root"),
    ("writer",  {"reset_errno": errno.EIO},   1, "/dev/litepcie0: writer 0: the reset did not end: reset the card "
                                                 "(litepcie_util reset function)"),
    ("writer",  {"reset_errno": errno.ENODEV}, 4, "/dev/litepcie0: writer 0: the card is gone, or the driver was "
                                                  "unbound"),
])
def test_errors(card, arguments, settings, status, message):
    assert card("reset", *arguments.split(), **settings) == (status, "", f"litepcie_util: {message}\n")
    error = json.loads(card("reset", "--json", *arguments.split(), **settings).out)["error"]
    assert error["message"] == message and error["exit_status"] == status
