# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A board's report beside the model: the nearest host, and where the two differ."""

import json

import pytest

from litepcie_bench import compare
from litepcie_bench.__main__ import main
from litepcie_bench.runner import Result

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
    ([document(name, "sim_gen2_x4_128") for name in RATES], "no model of sim_gen2_x4_128; there are models of "),
])
def test_what_cannot_be_compared_is_said(documents, message, tmp_path, capsys):
    assert main(["--compare", str(write(tmp_path / "report.json", documents)), "--output-dir", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert message in said and len(said.splitlines()) == 1
