# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Rows of real boards: their parameters, their points, their judgement, stock with more pending requests; and a
board's report beside the model."""

import io
import json

from dataclasses import replace

import pytest
from rich.console import Console

from litepcie_bench import boards, bounds, compare, figures, goals, report, runner, summary
from litepcie_bench import stock as names
from litepcie_bench import tables as all_tables
from litepcie_bench.__main__ import main
from litepcie_bench.hardware import defaults, everything
from litepcie_bench.points import HOSTS, OURS, STOCK, Point
from litepcie_bench.runner import Result
from litepcie_bench.sweeps import board_sizes, equal_chains
from litepcie_bench.sweeps import boards as board_sweep
from litepcie_bench.sweeps import hosts as host_sweep
from litepcie_bench.sweeps import stock as stock_sweep
from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.phy.completion_buffer import keeps_up

RUN = {"bytes": 100000, "model_bytes_per_second": 1.2e10, "active_cycles": 1000, "wait_descriptor": 10,
    "wait_tag": 200, "wait_link": 5, "wait_data": 0}


def of(name, lanes):
    found, = (one for one in defaults([name]) if one.lanes == lanes)
    return found


def measured(point, read, write=1.0):
    """A result with these shares of the bound."""
    data = {"clock_hz": point.clock_hz, "completion_bytes": 256, "theory_bytes_per_second": 1e9, "tags": 60,
        "runs": [{"read": RUN, "write": RUN}]}
    for direction, share in (("read", read), ("write", write)):
        data[direction] = {"average_bytes_per_second": share*1e9, "model_bytes_per_second": share*1e9,
            "bound_bytes_per_second": 1e9, "bound_with_descriptors_bytes_per_second": 0.5e9,
            "bound_without_dllps_bytes_per_second": 1e9}
    return Result(point, data)


def test_parameters_of_boards():
    kcu105, u200, kc705 = of("xilinx_kcu105", 8), of("xilinx_alveo_u200", 16), of("xilinx_kc705", 8)
    assert (kcu105.width, kcu105.clock_hz, kcu105.tags, kcu105.space) == (512, 166666667, 64, (64, 15360))
    assert (kcu105.block_width, kcu105.block_clock_hz, kcu105.fabric) == (256, 250000000, 256)
    assert (u200.width, u200.clock_hz, u200.tags, u200.space, u200.fabric) == (512, 250000000, 256, (128, 28672), 512)
    assert (kc705.width, kc705.clock_hz, kc705.block_width, kc705.fabric) == (256, 150000000, 128, 0)
    assert kc705.space == (72, 5920) and of("xilinx_kc705", 4).space == (72, 13600)
    assert 60 < kcu105.crossing_ns < 100


def test_interfaces_of_all_boards_keep_up():
    """On every board with a completion buffer in the fabric, the hard block never holds completions back."""
    with_fabric = [one for one in everything() + defaults() if one.fabric]
    assert len(with_fabric) > 4
    for one in with_fabric:
        assert keeps_up(link_rate(*one.link), one.block_width, one.block_clock_hz, one.fabric >= 256), one


def test_points_run_with_the_parameters_of_the_board():
    point = board_sweep(True, ["xilinx_kcu105"])[0]
    line  = " ".join(map(str, boards.command(point.board)))
    assert "--completion-space 64,15360 --fabric-width 256" in line and "--phy split --endianness little" in line
    words = runner.command(point, "x.json")
    option = dict(zip(words[1::2], words[2::2]))
    assert (option["--clock-hz"], option["--block-width"], option["--block-clock-hz"]) \
        == ("166666667", "256", "250000000")
    assert option["--latency-ns"] == "1000" and 60 < int(option["--latency-extra-ns"]) < 100
    assert option["--batch"] == "20" and "--host" not in words


def test_hosts_that_fit_the_board():
    points = host_sweep(False)
    words  = runner.command(next(point for point in points if point.host == "chipset"), "x.json")
    assert words[words.index("--host") + 1] == "chipset" and words[words.index("--mps") + 1] == "256"
    words  = runner.command(next(point for point in points if point.host == "embedded"), "x.json")
    assert words[words.index("--mps") + 1] == "128"
    for hardware in defaults():
        mine = [point.host for point in points if point.hardware == hardware]
        assert mine == figures.fitting(hardware) and len(mine) == (13 if hardware.lanes <= 4 else 10)


def test_the_report_and_the_terminal_begin_with_the_measured_hosts(tmp_path):
    """The slowest board has 0.9 on the real hosts, the others 0.99; the chosen hosts do not count."""
    points  = host_sweep(False)
    slowest = points[0].hardware
    results = [measured(point, (0.9 if point.hardware == slowest else 0.99) if HOSTS[point.host].measured else 0.1)
        for point in points]
    rows    = figures.host_rows(results)
    assert figures.overall(rows, "read") == pytest.approx((99, 90, 99))
    page = report.html(results, [], [], tmp_path)
    first = page.index('<div class="card">')
    assert page.index("reads: median over all boards") < page.index('<div class="card">', first + 1) \
        < page.index("writes: median over all boards")
    assert "<b>99.0 %</b>" in page and "90.0 to 99.0 %" in page
    printed = Console(file=io.StringIO(), width=200)
    summary.show(printed, results + [measured(point, 0.5) for point in board_sweep(True)], [])
    words = printed.file.getvalue()
    assert words.index("Boards on hosts") < words.index("Boards: 100 KB")
    assert "lowest on" in words and "embedded" in words and "…" not in words.split("Boards: 100 KB")[0]


@pytest.fixture
def results():
    shares = {1000: 0.99, 1250: 0.96, 1500: 0.951, 1750: 0.94, 2000: 0.96}
    return [measured(point, 0.9 if point.completion else shares.get(point.latency_ns, 0.999))
        for point in board_sweep(False, ["xilinx_kcu105"])]


def test_goals(results):
    cells = {cell.goal: cell for cell in goals.cells(results)}
    assert cells["boards: reads at 1 us"].reached and cells["boards: reads at 1 us"].must == 98
    assert not cells["boards: reads, 64-byte completions"].reached
    assert "wait_tag" in cells["boards: reads, 64-byte completions"].why
    assert cells["boards: one read of 100 KB alone"].must == 91


def test_what_the_completion_buffer_allows():
    """72 blocks of 64 bytes in flight; a block is taken for 1 us, the crossing, and 20 + 276 bytes on the link."""
    point, = [point for point in board_sweep(True, ["xilinx_kc705"]) if point.hardware.lanes == 8 and point.completion]
    found  = measured(point, 0.9)
    trip   = 1e-6 + 60e-9 + (20 + 276)/4e9
    assert bounds.buffer_bound(found) == pytest.approx(72*64/trip)
    assert figures.buffered(found) == pytest.approx(100*72*64/trip/1e9)
    assert figures.allowed(found) == pytest.approx(90)
    slow = measured(replace(point, latency_ns=9000), 0.4)
    assert figures.allowed(slow) == pytest.approx(100*0.4e9/bounds.buffer_bound(slow))
    assert of("xilinx_kcu105", 8).blocks == 170


@pytest.mark.parametrize("size, latency_ns, seconds", [
    (8192, 1000, 1e-6 + 256*8192/0.5e9),                # The descriptors and the data take longer than a round trip.
    (8, 100000, 2*100e-6 + 256*8/1e9),                  # The descriptors come while the first read is under way.
])
def test_bound_of_a_chain(size, latency_ns, seconds):
    """Doorbell, a round trip, then all descriptors and data, but the data after one more round trip."""
    point = next(point for point in board_sizes(False) if point.bytes == size)
    found = measured(replace(point, latency_ns=latency_ns - point.hardware.crossing_ns), 0.5)
    assert bounds.doorbell_bound(found, "read") == pytest.approx(256*size/seconds)
    assert bounds.doorbell_bound(found, "write") == pytest.approx(256*size/(latency_ns*1e-9 + 256*size/0.5e9))


@pytest.mark.parametrize("options", [dict(direct=True), dict(design=STOCK)])
def test_bound_without_a_fetch(options):
    """With the descriptor in the card a write starts at once, and a read waits for its data only."""
    point = replace(board_sizes(False)[0], bytes=100000, batch=1, **options)
    found = measured(replace(point, latency_ns=1000 - point.hardware.crossing_ns), 0.5)
    assert bounds.doorbell_bound(found, "write") == pytest.approx(1e9)
    assert bounds.doorbell_bound(found, "read") == pytest.approx(100000/(1e-6 + 100000/1e9))
    found.data["read"]["bound_without_dllps_bytes_per_second"] = 1.01e9
    assert bounds.alone_most(found, "read") == pytest.approx(100000/(1e-6 + 100000/1.01e9))


def test_pending_requests_that_a_hard_block_can_answer():
    assert figures.most_safe(of("sqrl_acorn", 4)) == figures.most_safe(of("xilinx_kc705", 8)) == 8
    assert figures.most_safe(of("xilinx_kcu105", 8)) == 8
    assert figures.most_safe(of("xilinx_alveo_u200", 16)) == 16
    assert figures.most_safe(replace(of("sqrl_acorn", 4), space=(36, 7376))) == 0


def test_the_best_is_safe():
    """On UltraScale+ 32 pending requests would be faster, but more than the hard block can store."""
    points  = [p for p in stock_sweep(False) if "xilinx_alveo_u200" in p.hardware.names]
    results = [measured(p, *[0.99 if p.design == OURS else p.pending/40]*2) for p in points]
    read, write = figures.stock_rows(results)
    assert (read.direction, write.direction) == ("read", "write")
    assert read.shipped == 20 and read.best == (16, 40) and read.ours == 99
    assert figures.stock_cells(read) == ["20.0", "40.0", "80.0*", "40.0 (16)", "99.0"]
    assert "80.0*" in all_tables.stock_by_board(results) and all_tables.stock_by_board([]) == ""
    assert summary.stock_at_its_best([read, write]).row_count == 2
    assert figures.stock_rows(results[:-1]) == []


def test_chains_of_equal_length():
    points = equal_chains(False)
    for point in points:
        assert len({p.batch for p in points if p.bytes == point.bytes}) == 1 and point.batch <= 256
    assert {p.bytes for p in points if p.design == OURS} == {p.bytes for p in points if p.design == STOCK}
    found = goals.equal_costs([measured(p, 1.0) for p in points] + [measured(Point("sizes", OURS, 2, 4, 128), 1.0)])
    assert len(found) == 8 and found[0][:2] == ("ours", "read")


def test_another_version_has_boards_of_its_own(tmp_path, monkeypatch):
    """The checkout's packages come first, in the programs that build and measure these boards."""
    for package in ("a/litepcie", "b/litex"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", "before")
    monkeypatch.setenv(names.VERSION, "")
    assert compare.use_stock(f"{tmp_path}/b:{tmp_path}/a") == "a"
    assert names.folder_name(128, 16) == "stock_128_pending16_a"
    assert compare.os.environ["PYTHONPATH"] == f"{tmp_path}/b:{tmp_path}/a:before"
    head, _, read, *_ = compare.show_stock("a", [measured(p, p.pending/40) for p in compare.stock_points(False)])
    assert head.startswith("stock LitePCIe a, in brackets 2024.12: % of bound")
    assert read.split()[-6:] == ["20.0", "(93.1)", "40.0*", "(93.1)", "80.0*", "(93.1)"]


@pytest.mark.parametrize("paths, message", [
    ("/nowhere", "--stock /nowhere: there is no folder litepcie/ or litex/ in it; give a checkout"),
    ("",         "there is no folder litepcie/ or litex/ in it; give a checkout"),
    ("{}/b",     "there is no folder litepcie/ in it; give a checkout of LitePCIe")])
def test_no_checkout(tmp_path, capsys, paths, message):
    (tmp_path / "b" / "litex").mkdir(parents=True)
    (tmp_path / "b" / "litex" / "__init__.py").touch()
    assert main(["--stock", paths.format(tmp_path), "--output-dir", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


RATES = {"read-then-write": (1.5e9, 1.7e9), "read-and-write": (1.4e9, 1.6e9)}  # Of the board: reads, writes.


def document(sequence, target="sqrl_acorn_gen2_x4_128"):
    sides = {direction: {"counter_bytes_per_second": {"average": rate}, "wait_percent_of_active_cycles":
        dict.fromkeys(compare.KINDS, 2.0)} for direction, rate in zip(("read", "write"), RATES[sequence])}
    return {"ok": True, "in_flight": 1, "sequence": sequence, "transfer_bytes": 100000, "target": target, "gen": 2,
        "lanes": 4, "datapath_bits": 128, "clock_hz": 125000000, "mps_bytes": 256, "mrrs_bytes": 512, **sides}


def write(path, documents):
    parts = [{"command": "dma_test", "documents": [one]} for one in documents]
    path.write_text(json.dumps({"parts": [{"command": "info", "documents": []}, *parts]}))
    return path


def modelled(point, sequence, factor):
    """The model of a point, as fast as the board times ``factor``, with twice as many waits for tags."""
    run = {"active_cycles": 100, **{f"wait_{kind}": 2 + 40*(kind == "tag") for kind in compare.KINDS}}
    return Result(point, {"runs": [{"read": run, "write": run}], **{direction: {"average_bytes_per_second": rate*factor}
        for direction, rate in zip(("read", "write"), RATES[sequence])}})


def test_the_nearest_host_and_what_differs(tmp_path):
    small     = {**document("read-then-write"), "transfer_bytes": 64}
    documents = compare.load(write(tmp_path / "report.json", [small, *map(document, RATES)]))
    points    = compare.points(documents)
    assert {point.bytes for point in points.values()} == {100000} and len({host for host, _ in points}) == 13
    factors   = {"haswell": 1.05, "chipset": 0.6}
    results   = {key: modelled(point, key[1], factors.get(key[0], 1.5)) for key, point in points.items()}
    lines     = compare.show(documents, results)
    assert "haswell is the nearest, 5.0 % away" in lines[0] and not any("differs" in line for line in lines)
    assert "1500" in lines[2] and "1575" in lines[2] and "0.95" in lines[2]
    results   = {key: one for key, one in results.items() if key[0] == "chipset"}
    assert all(line.endswith("1.67  differs: waits for tag: 2 % of the time, in the model 42 %")
        for line in compare.show(documents, results)[2:])


@pytest.mark.parametrize("documents, message", [
    ([], "no report of litepcie_util, or its dma_test failed"),
    ([document(name, "sim_gen2_x4_128") for name in RATES], "no model of sim_gen2_x4_128; there are models of ")])
def test_what_cannot_be_compared_is_said(documents, message, tmp_path, capsys):
    assert main(["--compare", str(write(tmp_path / "report.json", documents)), "--output-dir", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert message in said and len(said.splitlines()) == 1
