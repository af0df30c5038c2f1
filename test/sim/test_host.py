# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of litepcie_host on the default board: sequences, their reports, and errors."""

import json
import subprocess

import pytest

from test.sim.scripts import HIGH, LOW, PREPARE, TABLES, do, measured, refused, run_script, transfer

LENGTH = 20000


def run(host, *args):
    return subprocess.run([host, *map(str, args)], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("address_bits, sequence", [(32, "write-then-read"), (64, "read-and-write"),
    *(pytest.param(32, sequence, marks=pytest.mark.full) for sequence in ("write", "read", "read-then-write"))])
def test_sequence(host, tmp_path, sequence, address_bits):
    directions = {"read", "write"} & set(sequence.split("-"))
    report = measured(host, tmp_path, "--sequence", sequence, "--length", LENGTH, "--iterations", 3, "--address-bits",
        address_bits)
    assert report["ok"] and report["iterations"] == 3 and len(report["runs"]) == 3
    assert report["header_bytes"] == (12 if address_bits == 32 else 16)
    for one in report["runs"]:
        assert set(one) == directions
        for figures in one.values():
            assert figures["bytes"] == LENGTH
            # The gateware's counter and the model's clock measure the same transfer.
            assert figures["active_cycles"] == pytest.approx(figures["model_cycles"], abs=40)
    for direction in directions:
        figures = report[direction]
        assert figures["average_bytes_per_second"] < figures["bound_bytes_per_second"] * 1.01


@pytest.mark.parametrize("args", [
    ("--host-offset", "0x1K", "--endpoint-offset", "4KiB", "--descriptor-bytes", "1 K", "--mps", 512, "--mrrs", 128,
     "--completion-bytes", 64),
    ("--descriptor-bytes", 7, "--batch", 3),   # More than the ring holds, so a table is used.
    ("--gen", 3, "--lanes", 16, "--extended-tag", "off", "--lcrc-every", 7, "--update-fc", "minimum"),
    ("--host", "broadwell-iommu", "--credits", "1,16,1"),
    ("--host", "embedded", "--mps", 128),
    ("--outstanding", 1, "--reorder", "--stall-ns", 7799, "--flight-ns", 300, "--latency-outlier-ns", 20000,
     "--latency-outlier-every", 10)])
def test_shapes(host, tmp_path, args):
    measured(host, tmp_path, "--sequence", "read-and-write", "--length", 5001, "--iterations", 2, *args)


# bench/ measures all figures of the design; this test notices when one gets worse.
def test_speed_of_the_link(host, tmp_path):
    report = measured(host, tmp_path, "--sequence", "read-and-write", "--length", 100000, "--iterations", 1,
        "--batch", 20)
    assert report["read"]["share_of_bound"] >= 0.98
    assert report["write"]["share_of_bound"] >= 0.98


@pytest.mark.full
def test_replays_cost_what_they_take(host, tmp_path):
    """A damaged TLP is sent twice, and so is the TLP that followed it."""
    rates = {}
    for every in (0, 100):
        path   = tmp_path / "stats.json"
        report = measured(host, tmp_path, "--length", 100000, "--iterations", 1, "--batch", 20, "--stats", path,
            "--sequence", "read-and-write", "--lcrc-every", every)
        stats  = json.loads(path.read_text())
        rates[every]  = report["read"]["average_bytes_per_second"]
        for answers, damaged in (("to_host", "to_card"), ("to_card", "to_host")):
            count = sum(kind["tlps"] for kind in stats[damaged]["tlps"].values())
            naks  = stats[answers]["naks"]
            assert naks == (count//every if every else 0)
            assert 1.5*naks <= stats[damaged]["replayed_tlps"] <= 4*naks
    assert rates[100] == pytest.approx(rates[0]*100/102, rel=0.003)


@pytest.mark.parametrize("sequence, batch", [("read", 1), pytest.param("write", 3, marks=pytest.mark.full)])
def test_direct_descriptor_saves_a_round_trip(host, tmp_path, sequence, batch):
    """The data is verified; the transfers take a microsecond of host latency less."""
    seconds = []
    for direct in ((), ("--direct",)):
        report = measured(host, tmp_path, "--sequence", sequence, "--length", 10000, "--descriptor-bytes", 10000,
            "--iterations", 5, "--batch", batch, "--latency-ns", 1000, *direct)
        seconds.append(batch * 10000 / report[sequence]["average_bytes_per_second"])
    assert 0.9e-6 < seconds[0] - seconds[1] < 1.5e-6


def test_seed_repeats_the_run(host, tmp_path):
    traces = []
    for seed in (1, 1, 2):
        trace = tmp_path / "trace.txt"
        assert run(host, "--sequence", "read", "--length", 10000, "--iterations", 1, "--reorder",
            "--latency-jitter-ns", 1000, "--seed", seed, "--trace", trace).returncode == 0
        traces.append(trace.read_text())
    assert traces[0] == traces[1] != traces[2]


def test_pio(host, tmp_path):
    assert measured(host, tmp_path, "--sequence", "pio", "--length", 4096, "--store-bytes", 64)["ok"]


def test_does_not_fit(host):
    result = run(host, "--length", 4096, "--endpoint-offset", (64 << 20) - 100)
    assert result.returncode == 1
    assert "does not fit into the card's memory of 67108864 bytes" in result.stderr


def test_credits_below_a_payload(host):
    result = run(host, "--credits", "64,15,64", "--mps", 256, "--length", 4096, "--iterations", 1)
    assert (result.returncode, result.stderr) == (2, "litepcie_host: --credits: 15 units of posted data are less than "
        "a write of MPS 256 bytes, which could never be sent; give at least 16, or set a smaller MPS\n")
    result = run(host, "--credits", "64,15,64", "--mps", 128, "--length", 4096, "--iterations", 1)
    assert (result.returncode, result.stderr) == (0, "")


def test_fault_is_reported(host, tmp_path):
    out    = tmp_path / "out.json"
    result = run(host, "--sequence", "read", "--inject", "ur@40", "--json", out)
    reason = "reader stopped: UNSUPPORTED_REQUEST"
    assert (result.returncode, result.stderr) == (1, f"litepcie_host: {reason}\n")
    assert json.loads(out.read_text())["failure"] == reason


@pytest.mark.parametrize("args, words", [
    (["--sequence", "sideways"], "allowed: write, read, read-then-write"),
    (["--length", "0"], "from 1 to"),
    (["--length", "4KB"], "is not a size; give bytes, such as 4096, 0x1000, 4K, 4KiB or 64M"),
    (["--script", "/none"], "cannot read /none"),
    (["--host", "embedded"], "its root port takes at most 128 bytes in a TLP; set an MPS of at most that, not 256"),
    (["--stress", "1", "--stress-event", "flood"], "allowed: nothing, engine-reset, card-reset, bus-master-off, "),
    (["--stress", "1", "--stress-fault", "ur"], "--stress-fault: 'ur' is not FAULT@N or FAULT%P"),
    (["--stall-ns", "7800"], "give less than --stall-period-ns, which is 7800")])
def test_usage(host, args, words):
    assert words in refused(host, *args)


def test_test_endpoint_is_no_card(test_endpoint):
    result = run(test_endpoint / "simulator" / "litepcie_host")
    assert (result.returncode, result.stderr) == \
        (1, "litepcie_host: the gateware has major version 0, but this program supports only 1\n")


@pytest.mark.parametrize("status, steps, words", [
    (2, [do("dance")], "unknown step 'dance'"),
    (2, [do("configure", engine="reader7")], "reader1 to reader6, writer1 to writer6"),
    (2, [do("write_register", offset="five", value=0)], "'five' is not a number"),
    (1, [do("read_register", offset=0, expect=5)], "step 0: register is"),
    (1, [*PREPARE, {**transfer("reader", (LOW, 0, 4)), "reason": "TIMEOUT"}], "step 4: reason is NONE, not TIMEOUT"),
    (1, [do("wait_interrupts", count=1, cycles=100)], "step 0: interrupts is 0, not 1"),
    (1, [do("fill", address=0, bytes=4)], "outside host memory")])
def test_script_fails(host, tmp_path, status, steps, words):
    found, errors, _ = run_script(host, tmp_path, steps)
    assert found == status and words in errors and (status == 1 or errors.count("\n") == 1)


def test_verify_sees_what_is_missing(host, tmp_path):
    """A LINK with fewer descriptors than the shadow expects."""
    link = {"at": TABLES, "count": 1, "table": [{"host": HIGH + 5000, "endpoint": 0, "length": 100},
        {"host": HIGH, "endpoint": 200, "length": 9}]}
    status, errors, gave = run_script(host, tmp_path, [*PREPARE,
        transfer("reader", (LOW, 0, 1000)), do("transfer", engine="writer", descriptors=[link]), do("verify")])
    assert status == 1 and "step 6: data mismatch: host byte 0x100000000 is" in errors
    assert [step["do"] for step in gave] == ["fill", "fill", "configure", "configure", "transfer", "transfer"]
