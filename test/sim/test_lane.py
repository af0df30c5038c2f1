# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""`litepcie_host` of a card with the endpoint in gateware: the symbols of its lane, and its serial port."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from test.conftest import SOFT_BOARD
from test.sim.scripts import SLOW_BOARD, measured, refused
from test.software.user.conftest import build  # noqa: F401 (a fixture)

WAY = ["Detect.Active", "Polling.Active", "Polling.Configuration", "Configuration.Linkwidth.Start",
    "Configuration.Lanenum.Wait", "Configuration.Complete", "Configuration.Idle", "L0", "flow control is initialized"]
FOUND = """\
1204:1ce5, subsystem 1234:1ce0, class 058000, revision 00
BAR0: memory, 32 bit, 2048 KiB at fe000000
[40] capability 01
[48] capability 05
[60] capability 10
[100] extended capability 0001, version 1
link: speed 1, x1; MPS {mps} of 256
registers: sim gen1 x1 64 bit, version 1.8, 67108864 bytes of memory, sys at {hz} Hz
scratch register: {reads} reads, 0 wrong
"""


# In make test-all and make test-endpoint.
full = pytest.mark.full


def first(cases):
    """Values of one argument, of which the first is in `make test`."""
    return [cases[0], *(pytest.param(case, marks=full) for case in cases[1:])]


@pytest.fixture(scope="module")
def program(build_board):
    return build_board(**SOFT_BOARD) / "simulator" / "litepcie_host"


def run(program, *args):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=300)


def good(program, *args):
    """(way of the link training, lines that follow it) of a run without an error."""
    result = run(program, *args)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr
    times = re.findall(r"^ *(\d+\.\d+) us  (.*)$", result.stdout, flags=re.MULTILINE)
    assert [float(at) for at, _ in times] == sorted(float(at) for at, _ in times)
    return [state for _, state in times], result.stdout.splitlines(keepends=True)[len(times):]


def counts(line):
    """{name: number} of the last line but one."""
    return {name: int(number) for number, name in re.findall(r"(\d+) ([a-zA-Z ]+)", line)}


def test_trains_scans_and_uses_registers(program):
    way, lines = good(program)
    assert way == WAY
    assert "".join(lines[:-2]) == FOUND.format(mps=128, hz=100000000, reads=1000)
    found = counts(lines[-2])
    assert found["replays"] == found["bad TLPs"] == found["damaged symbols"] == 0 < found["TLPs sent"]
    assert re.fullmatch(r"\d+ cycles of the lane in \d+\.\d s: \d+\.\d\d million per second\n", lines[-1])


@pytest.mark.parametrize("options", first([("--drift", 600, "--slow"),
    ("--drift", 600, "--swapped"), ("--delay", 125, "--mps", 512)]),
    ids=lambda options: "".join(map(str, options)))
def test_lanes_of_other_kinds(program, options):
    """The card has 256 bytes at most, whatever the host can."""
    way, lines = good(program, *options, "--registers", 100)
    assert way == WAY
    mps = 256 if "--mps" in options else 128
    assert "".join(lines[:-2]) == FOUND.format(mps=mps, hz=100000000, reads=100)


@full
@pytest.mark.parametrize("seed", [0, 3])
def test_damaged_symbols_change_nothing(program, seed):
    """But the link may train again, so only its begin is compared."""
    way, lines = good(program, "--seed", seed, "--errors-every", 2000, "--drift", 300)
    assert way[0] == WAY[0] and WAY[-1] in way
    text = "".join(lines)
    for line in FOUND.format(mps=128, hz=100000000, reads=1000).splitlines():
        assert line in text
    found = counts(lines[-2])
    assert found["damaged symbols"] > 20 and found["bad TLPs"] + found["bad DLLPs"] > 0 and found["replays"] > 0


@pytest.mark.parametrize("seed, resets, errors", [pytest.param(3, 1, 0, marks=full),
    pytest.param(8, 16, 3000, marks=full)])
def test_links_that_end_with_requests_on_their_way(program, seed, resets, errors):
    """In the middle of TLPs, completions and clock crossings: nothing of before comes after, and the card is found."""
    way, lines = good(program, "--registers", 5, "--seed", seed, "--resets", resets, "--errors-every", errors)
    assert way.count("Hot Reset") + way.count("Disabled") >= resets and way.count("L0") > resets
    assert f"resets: {resets}, 0 values wrong after them\n" in lines


def test_registers_of_the_command_line(program):
    _, lines = good(program, "--registers", 0, "--read", 0, "--write", "0x28=0xdeadbeef", "--read", "0x28")
    assert lines[-5:-2] == ["0x00000 reads as 0x4c504953\n", "0x00028 written 0xdeadbeef\n",
        "0x00028 reads as 0xdeadbeef\n"]


@pytest.mark.parametrize("args, message", [
    (("--read", 3),              "--read 3: the offset is no multiple of 4"),
    (("--write", 40),            "--write 40: give OFFSET=VALUE"),
    (("--errors-every", 99),     "--errors-every: with more than one error in 100 symbols no link lasts"),
    (("--lcrc-every", 9),        "--lcrc-every: with more than one damaged TLP in 10 nothing gets through"),
    (("--link-fault", "lost"),   "--link-fault: 'lost' is not allowed; give NAME:N with one of wrong-lcrc, nullified"),
    (("--json", "/tmp/x"), "--json: give a --sequence, whose results these are"),
    (("--sequence", "read", "--serial", "/tmp/x"),
        "--sequence: not with --serial, --resets, --report-errors, --read or --write"),
    (("--stops", 1, "--read", 0), "--stops: not with --sequence, --serial, --resets, --report-errors, --read or "),
    (("--absent",), "give --serial PATH to look at it"),
    (("--silent",), "give --serial PATH to look at it")])
def test_bad_input_is_one_line_and_status_2(program, args, message):
    said = refused(program, *args)
    assert said.startswith("litepcie_host: ") and message in said


@full
def test_another_clock_of_the_logic(build_board):
    folder = build_board(**SOFT_BOARD, sys_clk_freq=75000000)
    way, lines = good(folder / "simulator" / "litepcie_host", "--errors-every", 20000)
    assert way[:9] == WAY and FOUND.format(mps=128, hz=75000000, reads=1000) in "".join(lines)


CHAIN = "--iterations", 1, "--batch", 10, "--descriptor-bytes", 100000


def rates(program, tmp_path, *options):
    """(read, write) in MB/s, by the card's counters; None: not measured."""
    said = measured(program, tmp_path, *options)
    assert said["ok"] and (said["gen"], said["lanes"], said["clock_hz"]) == (1, 1, 100_000_000)
    return [said[direction]["average_bytes_per_second"]/1e6 if direction in said else None
        for direction in ("read", "write")]


@pytest.fixture(scope="module")
def link_model(build_board):
    """`litepcie_host` of a card with a hard block and as many tags, whose link is calculated."""
    return build_board(**SLOW_BOARD) / "simulator" / "litepcie_host"


@full
@pytest.mark.parametrize("mps, policy, sequence", [(128, "per-type", "read-and-write"),
    (256, "per-type", "write-then-read"), (256, "minimum", "read-and-write")])
def test_counted_symbols_and_the_link_model_agree(program, link_model, tmp_path, mps, policy, sequence):
    """Two implementations of a link, on the same traffic: sim/src/link calculates it TLP by TLP."""
    options = "--sequence", sequence, "--mps", mps, "--update-fc", policy, *CHAIN
    symbols    = rates(program, tmp_path, *options)
    calculated = rates(link_model, tmp_path, *options, "--acks", "before-tlp")
    for one, other in zip(symbols, calculated):
        assert abs(one/other - 1) < 0.005, f"MB/s of symbols {symbols}, expected within 0.5 %: {calculated}"


@full
def test_other_policies_of_dllps_are_seen(program, link_model, tmp_path):
    """With the model's own policy of UpdateFCs or of ACKs it is more than 1 % apart in a direction."""
    options = "--sequence", "read-and-write", "--mps", 128, *CHAIN
    symbols = rates(program, tmp_path, *options)
    for policies in ((), ("--update-fc", "per-type"), ("--acks", "before-tlp")):
        calculated = rates(link_model, tmp_path, *options, *policies)
        assert max(abs(one/other - 1) for one, other in zip(symbols, calculated)) > 0.01, (policies, calculated)


@full
def test_tlps_in_a_row_share_acks_and_updates(program, tmp_path):
    """At the rates that the root port and the card have for Max_Payload_Size, not those of the smallest one."""
    counts = []
    for batch in (5, 10):
        path = tmp_path / "stats.json"
        rates(program, tmp_path, "--sequence", "read-and-write", "--mps", 256, "--iterations", 1, "--batch", batch,
            "--descriptor-bytes", 100000, "--stats", path)
        stats = json.loads(path.read_text())
        counts.append([2*stats["cycles"], *[stats["lane"][name] for name in ("acks", "acks_received", "updates")]])
    symbols, acks, acks_received, updates = [after - before for before, after in zip(*counts)]
    # The time of an ACK is 416 symbols, and a TLP has 276; updates are for writes and for reads.
    assert min(symbols/acks, symbols/acks_received, 2*symbols/updates) > 276 and 2*symbols/(acks + acks_received) > 330


@pytest.mark.parametrize("options", first([("--lcrc-every", 20), ("--errors-every", 2000), ("--swapped", "--delay", 60),
    ("--length", 1, "--host-offset", 4095, "--endpoint-offset", 3), ("--address-bits", 64),
    ("--reorder", "--latency-jitter-ns", 3000, "--split-at-random")]), ids=lambda options: "".join(map(str, options)))
def test_every_byte_arrives(program, tmp_path, options):
    """The program compares all, and the bytes around them."""
    length = [] if "--length" in options else ["--length", 30000]
    assert min(rates(program, tmp_path, "--sequence", "read-and-write", "--iterations", 2, *length, *options)) > 0


@full
@pytest.mark.parametrize("seed, options", [(1, ("--mps", 256, "--lcrc-every", 30)), (2, ()),
    (3, ("--delay", 60, "--latency-ns", 2000))], ids=["lcrc", "plain", "late"])
def test_bus_mastering_ends_at_random_moments(program, options, seed):
    """Every byte that a status block reports has arrived, and no request comes after the completion of the write."""
    stops  = 400
    result = run(program, "--stops", stops, "--seed", seed, *options)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr
    ended, complete, lost, compared = map(int, re.fullmatch(r"bus mastering ended \d+ times: (\d+) transfers ended by "
        r"it, (\d+) not, (\d+) by a timeout; (\d+) bytes were reported and are right\n", result.stdout).groups())
    # A read that waits while bus mastering ends is dropped.
    assert ended > stops//4 and ended + complete > 20*lost and compared > 1000*stops


def test_a_completion_that_fails_is_an_error(program, tmp_path):
    path   = tmp_path / "rates.json"
    result = run(program, "--sequence", "read", "--inject", "ur@3", "--json", path)
    assert result.returncode == 1 and "reader stopped: UNSUPPORTED_REQUEST" in result.stderr
    assert json.loads(path.read_text())["ok"] is False


@pytest.fixture
def tool(build):  # noqa: F811
    return build / "litepcie_util"


class Card:
    """A running card, and the tool at its serial port."""
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


@full
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


@full
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
    pytest.param("--absent", False, "No receiver is at the other end", marks=full),
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
    (lambda path: path.parent.rmdir(), "No such file or directory")])
def test_ports_that_cannot_be_made(program, tmp_path, make, message):
    path = tmp_path / "folder" / "tty"
    path.parent.mkdir()
    make(path)
    assert message in refused(program, "--serial", path)
