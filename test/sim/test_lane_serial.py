#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The tool at the serial port of the card with the endpoint in gateware, whose link is up, silent or absent."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from test.conftest import SOFT_BOARD
from test.software.user.conftest import build  # noqa: F401 (a fixture)


@pytest.fixture(scope="module")
def program(build_board):
    return build_board(**SOFT_BOARD) / "simulator" / "litepcie_host"


@pytest.fixture
def tool(build):  # noqa: F811
    return build / "litepcie_util"


class Card:
    """A running card, and its serial port."""

    def __init__(self, program, tool, folder, *options):
        self.tool, self.port = tool, folder / "tty"
        self.process = subprocess.Popen([program, "--serial", self.port, *map(str, options)], stdout=subprocess.PIPE,
            text=True)
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("serial port:"):
                break

    def link(self, *options):
        result = subprocess.run([self.tool, "link", "--serial", self.port, *options], capture_output=True, text=True,
            timeout=120)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    def json(self, *options):
        return json.loads(self.link("--json", *options))

    def end(self, number=signal.SIGINT):
        """Ends the program as Ctrl-C does; returns the counts of the root port."""
        self.process.send_signal(number)
        out = self.process.communicate(timeout=60)[0]
        assert self.process.returncode == 128 + number and not os.path.lexists(self.port)
        return {name: int(count) for count, name in re.findall(r"(\d+) ([a-zA-Z ]+)", out.splitlines()[0])}


@pytest.fixture
def start(program, tool, tmp_path):
    cards = []

    def start(*options):
        cards.append(Card(program, tool, tmp_path, *options))
        return cards[-1]
    yield start
    for card in cards:
        if card.process.poll() is None:
            card.process.kill()
            card.process.communicate()


def way(said):
    return [transition["state"] for transition in said["transitions"]]


def test_a_damaged_tlp_is_in_one_counter(start):
    """And what it causes at both ends agrees with the counts of the root port."""
    card  = start("--lcrc-every", 20, "--registers", 150)
    count = card.json()["counters"]
    port  = card.end()
    wanted = dict.fromkeys(count, 0) | {
        "detections":    1,
        # Each is replayed. A second NAK follows only after a good TLP: until then the sender's timer has to expire.
        "lcrc_errors":   port["replays"],
        "naks_sent":     port["received"],
        "naks_received": port["NAKs sent"],
        "replays":       port["bad TLPs"],
        "replay_timeouts": port["bad TLPs"] - port["NAKs sent"],
    } | {name: count[name] for name in ("tlps_received", "tlps_sent", "duplicates")}
    assert count == wanted and count["lcrc_errors"] > 5 and count["naks_received"] > 5
    assert count["tlps_received"] == port["TLPs sent"]


@pytest.mark.full
def test_damaged_symbols(start):
    card  = start("--errors-every", 1000, "--registers", 500)
    said  = card.json()
    port  = card.end()
    count = said["counters"]
    assert said["state"] == "L0" and said["flow_control_initialized"] and count["tlps_received"] == port["TLPs sent"]
    assert count["symbol_errors"] > 20 and count["lcrc_errors"] + count["dllp_errors"] + count["framing_errors"] > 3
    assert count["overflows"] == count["protocol_errors"] == count["malformed_tlps"] == count["rollovers"] == 0
    times = [transition["time_ns"] for transition in said["transitions"]]
    assert times == sorted(times) and times[-1] <= said["time_ns"]
    assert way(said)[:9] == ["Detect.Active", "Polling.Active", "Polling.Configuration",
        "Configuration.Linkwidth.Start", "Configuration.Linkwidth.Accept", "Configuration.Lanenum.Wait",
        "Configuration.Complete", "Configuration.Idle", "L0"]


@pytest.mark.full
def test_link_clock_and_clear(start):
    card = start("--registers", 100)
    assert card.json()["counters"]["tlps_received"] > 100
    card.link("--clear")
    while "link_clock_hz" not in (said := card.json()):  # The measurement takes 1.3 ms of the card.
        time.sleep(0.2)
    assert abs(said["link_clock_hz"] - 125e6) < 5000
    assert said["counters"]["tlps_received"] == 0
    card.end(signal.SIGTERM)


@pytest.mark.parametrize("kind, present, advice", [
    pytest.param("--absent", False, "No receiver is at the other end", marks=pytest.mark.full),
    ("--silent", True, "it sends nothing")])
def test_a_link_that_does_not_come_up(start, kind, present, advice):
    """There is no host to ask, and the port answers nevertheless."""
    card = start(kind)
    said = card.json()
    assert said["receiver_detected"] is present and advice in said["advice"]
    assert said["lane_idle"] and not said["link_up"] and said["counters"]["detections"] >= 1
    assert way(said)[:2] == ["Detect.Active", "Polling.Active" if present else "Detect.Quiet"]
    assert advice in card.link()
    card.end()


@pytest.mark.parametrize("make, message", [
    (lambda path: path.write_text(""), "exists; give a path that does not"),
    (lambda path: path.parent.rmdir(), "No such file or directory"),
])
def test_ports_that_cannot_be_made(program, tmp_path, make, message):
    path = tmp_path / "folder" / "tty"
    path.parent.mkdir()
    make(path)
    result = subprocess.run([program, "--serial", path], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (2, "") and message in result.stderr


@pytest.mark.parametrize("kind", ["--absent", "--silent"])
def test_a_link_that_does_not_train_needs_a_port(program, kind):
    result = subprocess.run([program, kind], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2 and "give --serial PATH to look at it" in result.stderr
