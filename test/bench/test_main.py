# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The programs: usage, a quick run on the default board, parallel jobs, stock behind the same link; the stress."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from litepcie_bench import __main__ as program
from litepcie_bench import boards, bounds, figures, records, runner, stress
from litepcie_bench.boards import Progress
from litepcie_bench.hardware import defaults
from litepcie_bench.points import OURS, STOCK, STOCK_TAGS, Point, SimulatedBoard
from test.leftovers import is_running


@pytest.mark.parametrize("arguments, text", [
    (["--only", "nothing"], "--only: invalid choice: 'nothing' (choose from 'addresses'"),
    (["--output-dir", "/dev/null"], "--output-dir: /dev/null: File exists; give a folder that can be made and written"),
    (["--boards", "sqrl_acorn", "--only", "notes"], "--only: not supported with --boards"),
    (["--only", "pio", "--design", "litepcie_stock"], "no point")])
def test_usage(arguments, text, capsys):
    try:
        status = program.main(arguments)
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr().err
    assert status == 2 and said.count("\n") == 1 and text in said


def test_a_short_sweep(tmp_path, board, monkeypatch, capsys):
    """From the command line to results.json and the report."""
    monkeypatch.setattr(runner, "measure_speed", lambda: None)
    assert program.main(["--quick", "--only", "equal_chains", "--design", OURS, "--output-dir", str(tmp_path)]) == 0
    ours = [record for record in json.loads((tmp_path / "results.json").read_text()) if record["design"] == OURS]
    assert {record["sequence"] for record in ours} == {"read", "write"}
    assert "data:image/png;base64," not in (tmp_path / "report.html").read_text()  # No plot has its figures.
    assert "3 points in " in capsys.readouterr().out


@pytest.mark.full
def test_quick_run(tmp_path, board):
    done = subprocess.run([sys.executable, "-m", "litepcie_bench", "--quick", "--only", "notes", "--design", OURS,
        "--output-dir", tmp_path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "results.json").read_text())
    for record in found:
        records.check(record)
    assert not list(records.unexplained(found))
    ours = [record for record in found if record["design"] == OURS]
    assert {record["sequence"] for record in ours} == {"read", "write", "read_write"}
    for record in ours:
        for direction in ("read", "write"):
            if f"{direction}_bytes_per_second" in record:
                share = record[f"{direction}_bytes_per_second"]/record[f"bound_{direction}_bytes_per_second"]
                assert 0.9 < share < 1.005
    page = (tmp_path / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3 and "Cyclone 10 GX" in page and "a misprint" in page


def test_a_build_that_fails_is_one_line_and_a_log(monkeypatch, tmp_path):
    monkeypatch.setattr(boards, "LOGS", tmp_path)
    monkeypatch.setattr(boards, "command", lambda board: ["sh", "-c", "echo first; echo last; exit 2"])
    with pytest.raises(boards.BoardError) as raised:
        boards.build(SimulatedBoard(OURS, 512))
    assert "litepcie_soc 512 bit failed: last" in str(raised.value) and "\n" not in str(raised.value)
    assert (tmp_path / "build_sim_gen3_x8_512.log").read_text() == "first\nlast\n"


def test_other_links_on_one_board(board):
    """The link is an option of the model: the board built for Gen2 x4 runs at Gen1 x1."""
    slow = runner.measure(Point("notes", OURS, 1, 1, 128, iterations=1))
    assert not slow.failure and 0.2e9 < slow.data["write"]["average_bytes_per_second"] < 0.2315e9


@pytest.fixture(scope="module")
def stock():
    boards.build(SimulatedBoard(STOCK, 128, STOCK_TAGS))


@pytest.mark.full
def test_stock_moves_data_behind_the_same_link(stock):
    """Its host program compares every byte, so a result means that the data came through. Its table costs time."""
    wide  = runner.measure(Point("completions", STOCK, 2, 4, 128, iterations=2))
    short = runner.measure(Point("completions", STOCK, 2, 4, 128, iterations=2, completion=64))
    assert not wide.failure and not short.failure
    assert 0.95 < wide.data["write"]["share_of_bound"] <= 1
    assert 0.85 < wide.data["read"]["share_of_bound"] < 0.97
    # A completion costs it two cycles more than its beats.
    assert short.data["read"]["share_of_bound"] < 0.85
    options = dict(bytes=64, batch=64, iterations=1)
    before  = runner.measure(Point("sizes", STOCK, 2, 4, 128, **options))
    counted = runner.measure(Point("sizes", STOCK, 2, 4, 128, fill=True, **options))
    assert bounds.rate(counted, "write") < 0.5*bounds.rate(before, "write")


@pytest.mark.full
def test_more_pending_requests_overflow_the_hard_block(stock):
    """16 reads of 512 bytes bring 128 completions of 64 bytes. The hard block of 7-series holds 72."""
    acorn, = (one for one in defaults(["sqrl_acorn"]) if one.lanes == 4)
    options = dict(width=128, bytes=99968, batch=5, iterations=1, completion=64, hardware=acorn)
    boards.build(SimulatedBoard(STOCK, 128, 16))
    for pending in (8, 16):
        assert figures.safe(acorn, pending) == (pending == 8)
        done = subprocess.run([*runner.command(Point("stock", STOCK, 2, 4, pending=pending, **options), "/dev/null"),
            "--completion-headers", "72", "--completion-data", "13600"], capture_output=True, text=True, timeout=300)
        assert done.returncode == (0 if pending == 8 else 3), done.stderr
        assert ("overflow the hard block's buffer of 72 completions" in done.stderr) == (pending == 16)


# Two processes that sleep, each with a child. They write the numbers of all four to a file.
PROGRAM = """
import sys
from litepcie_bench import boards
from litepcie_soc.build import processes
from litepcie_soc.build.command_line import run
processes.GRACE_S = 0.3
command = ["sh", "-c", "sleep 60 & echo $! >> $0; echo $$ >> $0; wait", sys.argv[1]]
sys.exit(run(lambda: boards.side_by_side(lambda _: processes.run(command), range(2), 2, print), "program"))
"""


def test_progress_goes_on_while_a_step_takes_long(monkeypatch, capsys):
    monkeypatch.setattr(Progress, "QUIET_S", 0.05)
    monkeypatch.setattr(boards, "WAIT_S", 0.1)
    progress = Progress("boards", 1)
    boards.side_by_side(lambda _: time.sleep(1), ["one board"], 1, lambda _: progress.step("done"), progress.waiting)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("boards: 0/1 after ") and lines[0].endswith("; now one board")
    assert lines[-1].startswith("boards: 1/1 after ")
    seen = []  # Results come by item.
    assert boards.side_by_side(lambda n: n*n, [1, 2, 3], 2, seen.append) == {1: 1, 2: 4, 3: 9}
    assert sorted(seen) == [1, 4, 9]


def test_an_interrupt_leaves_nothing(tmp_path):
    pids    = tmp_path / "pids"
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(pids)])
    while not pids.exists() or len(pids.read_text().split()) < 4:  # Up to this test's time limit.
        time.sleep(0.02)
    found = pids.read_text().split()
    assert all(map(is_running, found))
    # While it is stopped, the signals collect, so that it gets all of them at once.
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        program.send_signal(number)
    assert program.wait(30) == 130
    while any(map(is_running, found)):
        time.sleep(0.02)


@pytest.mark.parametrize("args", [["--seeds", "0"], ["--first", "-1"]])
def test_usage_of_the_stress(args, capsys):
    with pytest.raises(SystemExit) as ended:
        stress.main(args)
    assert ended.value.code == 2 and capsys.readouterr().err.startswith("stress: error: ")

# A read of 3840 bytes without its last 318, one that is answered, one that ends with an error, one of the host.
TRACE = """\
100 1.0 < MRd32 length 960 requester 0100 tag 46 address 0x10007000 be f/3
110 1.1 < MRd32 length 16 requester 0100 tag 47 address 0x20a020 be f/f
120 1.2 > CplD length 880 completer 0000 status 0 byte count 3838 requester 0100 tag 46 lower address 0x00
130 1.3 > CplD length 8 completer 0000 status 0 byte count 64 requester 0100 tag 47 lower address 0x20
140 1.4 > CplD length 8 completer 0000 status 0 byte count 32 requester 0100 tag 47 lower address 0x00
150 1.5 < MRd32 length 4 requester 0100 tag 48 address 0x20a040 be f/f
160 1.6 > CplD length 64 completer 0000 status 0 byte count 318 requester 0101 tag 46 lower address 0x00
170 1.7 > Cpl length 0 completer 0000 status 1 byte count 16 requester 0100 tag 48 lower address 0x40
180 1.8 > MRd32 length 1 requester 0000 tag 46 address 0xe0000000 be f/0
"""
TIMED_OUT = {"event": "nothing", "phase": "clean run", "message": "reader0 stopped: TIMEOUT\n  link up"}


@pytest.mark.parametrize("cycle, kept", [(5000, 5), (4000, 0)])
def test_room_of_reads_that_are_not_answered_or_late(cycle, kept):
    """320 bytes from a multiple of 64 are missing: 5 blocks. The largest read touches 60. A read keeps its room until
    its completions come, but one that is answered in time keeps none."""
    assert stress.kept_and_largest(TRACE.splitlines()) == (5, 60)
    late = f"{cycle} 5.0 > CplD length 80 completer 0000 status 0 byte count 318 requester 0100 tag 46 lower address 0"
    assert stress.kept_and_largest([*TRACE.splitlines(), late]) == (kept, 60)


@pytest.mark.parametrize("change, room, known", [
    ({}, 64, True), ({}, 65, False), ({"phase": "load"}, 64, False), ({"event": "link-down"}, 64, False),
    ({"message": "reader0 stopped: BAD_LENGTH"}, 64, False)])
def test_timeouts_that_kept_room_explains(change, room, known):
    assert bool(stress.explains(TIMED_OUT | change, TRACE.splitlines(), room)) == known


@pytest.mark.parametrize("name, room", [("sim_gen2_x4_128", None), ("sim_gen2_x4_128_space72x13600", 72),
    ("sim_gen2_x8_128_space72x4096", 64), ("sim_gen3_x8_256_split_little_space128x4096_fabric256", None)])
def test_room_of_a_board(name, room):
    assert stress.room_of(Path(name, "simulator", "litepcie_host")) == room
