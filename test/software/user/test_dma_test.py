# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""dma_test on a mock card: it moves and counts the right data and finds every kind of wrong data: a plain file loses,
flips and spills bytes. The real card and driver are tested in the guest."""

import errno
import json
import re
import signal
import time

import pytest

from test.software.user.conftest import LIMIT, unwrapped, write

SEQUENCES = {"write": {"write"}, "read": {"read"},
    **{name: {"read", "write"} for name in ("read-then-write", "write-then-read", "read-and-write")}}

FAILED, MISMATCH, GONE = 1, 3, 4


def run(card, *arguments, **settings):
    result = card("dma_test", "--json", *arguments, **settings)
    return result.code, json.loads(result.out), result.err


@pytest.mark.parametrize("sequence, length, offset, host_offset", [
    *((sequence, 100001, 12345, 77) for sequence in SEQUENCES), ("write", 1, (1 << 20) - 1, 4095),
    ("read-and-write", 1, (1 << 20) - 1, 4095), ("write-then-read", 4096, 0, 0), ("read", 65, 1, 4090)])
def test_sequences(card, sequence, length, offset, host_offset):
    arguments = ["-s", sequence, "-l", length, "-o", offset, "--host-offset", host_offset, "--iterations", 3]
    if sequence == "read-and-write" and offset + length == 1 << 20:
        assert card("dma_test", *arguments).code == 2
        return
    code, result, err = run(card, *arguments)
    assert (code, err, result["ok"]) == (0, "", True)
    assert {"read", "write"} & result.keys() == SEQUENCES[sequence]
    for side in (result[direction] for direction in SEQUENCES[sequence]):
        # Filling and verifying use the same engines and must not be measured.
        assert side["transfers"] == 3 and side["counter_bytes"] == side["bytes"] == 3*length
        assert side["counter_active_cycles"] == 3*-(-length//10)


def test_counters(card):
    """Short calls are continued; the mock's wait_data starts 100 below 2^32; rates are those of the counter, 10 bytes
    per cycle at 125 MHz, although the mock's file is faster or slower."""
    code, result, _ = run(card, "--length", 10000, short=4096)
    assert code == 0 and result["read"]["counter_bytes"] == 20*10000
    result = run(card, "--length", 10000)[1]
    assert result["read"]["wait_percent_of_active_cycles"] == {"descriptor": 0, "tag": 0, "link": 25.0, "data": 10.0}
    for direction in ("read", "write"):
        assert set(result[direction]["counter_bytes_per_second"].values()) == {1250000000}


def test_a_rate_above_theory_has_a_reason(card):
    """The mock has 1250 MB/s always: within theory at Gen2 x4, above each at Gen1 x4."""
    assert "above_theory" not in run(card)[1]["read"] and "above theory" not in card("dma_test").out
    for line, settings, said in (
        (("-s", "read"), {"gen": 1}, "no formula allows it: compare link and clock"),
        (("-s", "write", "-l", 4096), {"gen": 1}, "a short write: the card's counter ends before"),
        (("-s", "write", "--header", 16), {"gen": 1}, "the formulas assume the header of --header 16"),
        (("-s", "write", "-l", 40, "--header", 16), {}, "the link needs fewer ACK and flow control packets than "),
        (("-s", "read", "--latency-ns", 100000), {}, "the host answers faster than --latency-ns says"),
    ):
        told = run(card, *line, **settings)[1]
        assert told[line[1]]["above_theory"].startswith(said)
        shown = unwrapped(card("dma_test", *line, **settings).out)
        assert f"\n  above theory           {said}" in shown
    theory = run(card, "-s", "read", "--latency-ns", 10000)[1]["read"]["theory_bytes_per_second"]
    assert theory["bound"] < theory["pcie_bench"] < theory["application_note"] and theory["tags"] == 32


def test_both_at_once_overlap(card):
    _, result, _ = run(card, "-s", "read-and-write", "-n", 1, delay_us=100000, long_from=5)
    assert result["host_wall_clock_overlap_percent"] > 20
    assert result["read"]["host_wall_clock_microseconds_per_call"] > 100000


def test_areas_of_both_are_apart(card):
    assert run(card, "-s", "read-and-write", "-l", 5000, "-o", 100)[0] == 0
    memory = card.file.read_bytes()
    assert not any(memory[:100]) and not any(memory[5100:8192 + 100])
    assert any(memory[100:5100]) and any(memory[8192 + 100:8192 + 5100])


def test_flipped_bit(card):
    result = card("dma_test", "--sequence", "write", "--offset", 16, flip=500)
    assert result.code == MISMATCH and "hardware counter" not in result.out
    assert re.fullmatch(r"litepcie_util: /dev/litepcie0: write, iteration 0 \(warm-up\): wrong byte 500 of the data "
        r"\(card offset 0x204\): expected 0x.*; 1 differ, seed 1; read back again: wrong too\n", result.err)


@pytest.mark.parametrize("sequence, first", [*((sequence, 4) for sequence in SEQUENCES), ("write-then-read", 1)])
def test_lost_writes(card, sequence, first):
    """Stale data is found, of an earlier run with the same seed and of the previous transfer."""
    assert run(card, "--sequence", sequence, "-n", 1)[0] == 0
    code, result, err = run(card, "--sequence", sequence, "-n", 3, lose_from=first)
    assert (code, result["ok"], result["mismatch"]["where"]) == (MISMATCH, False, "data") and "wrong byte" in err
    assert result["mismatch"]["differing_bytes"] > 0.99*result["transfer_bytes"]


@pytest.mark.parametrize("sequence, first", [*((sequence, 4) for sequence in SEQUENCES), ("write-then-read", 3),
    ("read-then-write", 8)])
def test_bytes_that_never_arrive(card, sequence, first):
    """The previous content of the host buffer is found, in every byte."""
    code, result, _ = run(card, "--sequence", sequence, "-n", 3, lose_reads=first)
    lost = {"data": result["transfer_bytes"], "card guard": 64}
    assert code == MISMATCH and result["mismatch"]["differing_bytes"] == lost[result["mismatch"]["where"]]


@pytest.mark.parametrize("spill, position", [(1, 3001), (2, -1)])
def test_bytes_outside_the_host_buffer(card, spill, position):
    code, result, err = run(card, "-s", "write", "-l", 3001, "--host-offset", 9, spill_host=spill)
    assert code == MISMATCH
    assert (result["mismatch"]["where"], result["mismatch"]["position_bytes"]) == ("host guard", position)
    assert f"wrong byte {position} outside the data in host memory: expected 0xa5, got 0x00" in err


def test_bytes_outside_the_area_of_the_card(card):
    code, result, err = run(card, "-s", "read", "-l", 3001, "-o", 5, spill_card=1)
    assert code == MISMATCH
    assert result["mismatch"] | {"expected": 0, "got": 0} == {
        "where": "card guard", "direction": "read", "iteration": 0, "position_bytes": 3001,
        "card_offset_bytes": 3006, "expected": 0, "got": 0, "differing_bytes": 1}
    assert "outside the data in the card's memory (card offset 0xbbe): expected 0x00, got 0x" in err


def test_error_in_mid_test_shows_what_was_measured(card):
    for error, status, said in ((errno.EIO, FAILED, "the host answered a request of the card with an error"),
            (errno.ENODEV, GONE, "the card is gone")):
        code, result, err = run(card, "-n", 20, fail_call=60, fail_errno=error)
        assert code == status and not result["ok"] and 0 < result["read"]["transfers"] < 20
        assert said in result["error"] and result["error"] in err


def test_every_call_that_fails_is_reported(card):
    """Every call of the test: filling, moving, verifying, reading the guards."""
    for call in range(1, 21):
        result = card("dma_test", "-n", 1, "-o", 100, fail_call=call, fail_errno=errno.ETIMEDOUT)
        assert result.code == FAILED, call
        assert "timed out" in result.err and result.err.count("\n") == 1


@pytest.mark.parametrize("sequence", ["write", "read", "read-and-write"])
def test_errors_with_right_data(card, sequence):
    """The data is right, but the card has counted an error: the test fails and names it."""
    code, result, err = run(card, "-s", sequence, ur_from=30)
    assert code == FAILED and not result["ok"] and result["card_errors"] == "unsupported request 1"
    assert ": the data is right, but there were errors; the card counted: unsupported request 1\n" in err
    result = card("dma_test", "-s", sequence, fail_call=7, ur_from=7)  # An error that a call meets.
    assert result.code == FAILED
    assert result.err.endswith("poisoned or wrong data); the card counted: unsupported request 1\n")


def test_counters_that_do_not_increase(card):
    code, _, err = run(card, still=1)
    assert code == FAILED and "counters of the reader did not increase" in err


@pytest.mark.parametrize("capabilities, lacks", [(0x1e, "reader"), (0x1d, "writer")])
def test_missing_capability(card, capabilities, lacks):
    result = card("dma_test", capabilities=capabilities)
    assert result.code == FAILED and result.out == ""
    assert f"the card has no {lacks}, and dma_test needs reader and writer" in result.err


@pytest.mark.parametrize("command", ["dma_test", "bench"])
def test_a_card_with_streams_only(card, command):
    assert card(command, channels=0, streams=1) == (FAILED, "", "litepcie_util: /dev/litepcie0: the card has no "
        "memory channels; its streams are for the command stream\n")


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("sequence", ["read-then-write", "read-and-write"])
def test_signal(card, number, code, sequence):
    """The results so far are printed. Some transfers are done in 60 calls, but not all."""
    ended  = card.interrupted("call 60", "dma_test", "--json", "-n", 100000, "-s", sequence, number=number,
        delay_us=2000)
    result = json.loads(ended.out)
    assert ended.code == code and result["ended_by_signal"] == number and not result["ok"]
    assert 0 < result["read"]["transfers"] < 100000
    assert ended.err.startswith(f"litepcie_util: ended by signal {number} in iteration ") and ended.err.count("\n") == 1


# Calls that move data in all threads of the tool: the first lasts long, and all after it.
LONG_CALLS = {"read": (5,), "read-and-write": (5, 6)}


@pytest.mark.parametrize("sequence", LONG_CALLS)
@pytest.mark.parametrize("settings", [{"short": 4096, "delay_us": 500000}, {"delay_us": 600000000}])
def test_a_signal_ends_a_long_transfer(card, sequence, settings):
    """A transfer of minutes, of one call or of many: nothing after the signal may last as long."""
    with card.start("dma_test", "-s", sequence, "-l", "256K" if sequence == "read-and-write" else "1M",
            long_from=LONG_CALLS[sequence][0], says=card.says, **settings) as process:
        for call in LONG_CALLS[sequence]:
            card.wait_for(process, f"call {call}")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130 and err.startswith("litepcie_util: ended by signal 2 in iteration ")


@pytest.mark.full
def test_progress_on_a_terminal(card):
    """A terminal on stderr gets a line while the transfer lasts, and no trace of it stays before a line of results."""
    status, said = card.on_terminal("dma_test", "-s", "read", "-n", 1, "-l", "1M", "-i", 1, short=65536, delay_us=60000)
    assert status == 0
    assert re.search(rb"\r\x1b\[Kiteration [01] of 1, \d+\.\d MB counted by the card", said)
    assert re.search(rb"\r\x1b\[K +\d\.\d s  read 1 transfers", said) and b"\r\x1b[K\r\n" in said


def test_two_tests_on_one_area(card):
    with card.start("dma_test", "-s", "read", "-l", "64K", "-o", "64K", delay_us=60000000, long_from=5) as first:
        # The header is there while the first transfer lasts, and comes when the lock is held.
        assert [first.stdout.readline().split()[0] for _ in range(3)] == ["device", "host", "link"]
        result = card("dma_test", "-l", "4K", "-o", "128K")  # The guard bytes belong to the test.
        apart  = card("dma_test", "-l", "4K", "-o", "256K", "-n", 1)
        first.kill()
    assert result == (FAILED, "", f"litepcie_util: /dev/litepcie0: process {first.pid} (litepcie_util) uses bytes "
        "65472 to 131135 of the card's memory: wait for its end, or give another --offset\n")
    assert apart.code == 0
    assert card("dma_test", "-l", "4K", "-o", "128K", "-n", 1).code == 0


def test_time_and_json_lines(card):
    """Two seconds of transfers of 2 ms, and not only 20; the limit that comes first ends the test."""
    result = card("dma_test", "-s", "write", "-l", 4096, "--time", 2, "--json-lines", delay_us=2000)
    lines  = [json.loads(line) for line in result.out.splitlines()]
    last   = lines[-1]
    assert [line["event"] for line in lines[-2:]] == ["interval", "result"] and result.code == 0
    assert all(line["command"] == "dma_test" and line["format_version"] == 2 for line in lines)
    assert last["ok"] and last["write"]["transfers"] >= sum(one["write"]["transfers"] for one in lines[:-1])
    assert 20 < last["write"]["transfers"] == last["iterations"] <= 1000
    assert last["elapsed_seconds"] > 1.9 and last["time_limit_seconds"] == 2
    code, result, _ = run(card, "-s", "write", "--time", 60, "-n", 3)
    assert code == 0 and result["write"]["transfers"] == 3
    error = json.loads(card("dma_test", "--json-lines", open_errno=errno.ENODEV).out)
    assert error["error"]["exit_status"] == 4


def test_percentiles(card):
    """Calls of 20 ms: no percentile is below, and all are within the bucket's width of a time that was measured. In the
    text, they have their unit."""
    code, result, _ = run(card, "-s", "read", "-n", 10, delay_us=20000)
    times = result["read"]["host_wall_clock_call_microseconds"]
    assert code == 0 and 19800 < times["p50"] <= times["longest"]
    assert times["p50"] < 1.02*1e6*result["elapsed_seconds"]
    begun = time.monotonic()
    said  = card("dma_test", "-s", "read", "-n", 3, delay_us=20000).out
    times = re.search(r"host wall clock .* MB/s; ([0-9.]+) us each\n.* p50 ([0-9.]+), longest ([0-9.]+) us", said)
    assert times and all(19800 < float(one) < 1.02e6*(time.monotonic() - begun) for one in times.groups()), said


@pytest.mark.parametrize("count, known", [(99, {"p50", "longest"}), (100, {"p50", "p99", "longest"}),
    (1000, {"p50", "p99", "p99_9", "longest"})])
def test_percentiles_need_transfers(card, count, known):
    """At least one transfer is above a percentile: otherwise it is the longest time under another name."""
    code, result, _ = run(card, "-s", "read", "-l", 64, "-n", count)
    assert code == 0 and set(result["read"]["host_wall_clock_call_microseconds"]) == known
    said = card("dma_test", "-s", "read", "-l", 64, "-n", count).out
    assert [f" p{n} " in said for n in ("50", "99", "99.9")] == [f"p{n}" in known for n in ("50", "99", "99_9")]


@pytest.mark.parametrize("vendor, simulated", [("0x1234", True), ("0x10ee", False)])
def test_a_word_about_simulation_for_a_simulated_card(card, tmp_path, vendor, simulated):
    write(tmp_path / "sys" / "bus" / "pci" / "devices" / "0000:01:00.0", {"vendor": vendor, "device": "0x1ce0"})
    said = " ".join(card("dma_test", "-n", 1, sysfs=tmp_path / "sys").out.split())
    assert ("in simulation it says nothing about the link" in said) == simulated


@pytest.mark.parametrize("arguments, said", [
    ("-l 4096 -o 64",                     "bytes 64 to 4159 of the card's memory are overwritten "),
    ("-l 4096 --preserve -s write",       "bytes 0 to 4095 of the card's memory are overwritten, and restored at the "),
    ("-l 4096 -s read-and-write",         " of the card's memory are overwritten ")])
def test_says_first_what_it_overwrites(card, arguments, said):
    words = " ".join(card("dma_test", "-n", 1, *arguments.split()).out.split())
    assert said in words.partition("read: ")[0].partition("write: card")[0] + " "
    if "and-write" in arguments:
        areas = re.search(r"bytes (\d+) to (\d+) and (\d+) to (\d+) of", words)
        assert areas and all(int(areas[n + 1]) - int(areas[n]) == 4095 for n in (1, 3))


@pytest.mark.full
def test_interval_lines(card):
    result = card("dma_test", "-l", 4096, "--time", 3, "--interval", 1, delay_us=20000)
    lines  = re.findall(r"^ +([0-9.]+) s  read (\d+) transfers, counter ([0-9.]+), wall clock [0-9.]+ MB/s  write \2 ",
        result.out, re.M)
    assert result.code == 0 and len(lines) in (2, 3), result.out
    # The mock card needs a cycle of 125 MHz for 10 bytes.
    assert all(abs(float(counter) - 1250) < 2 for _, _, counter in lines)


@pytest.mark.parametrize("sequence, settings, said", [
    ("read", {"other_read": 7},            "the counter of the reader has 2000{} bytes, but the test moved 2000000: "),
    ("read", {"other_write": 7},           "the writer moved 140 bytes while only the reader was measured: "),
    ("read-and-write", {"other_write": 7}, "the counter of the writer has ")])
def test_other_traffic(card, sequence, settings, said):
    """The data is right, so the test is; the reason why its rates are not is in text and JSON."""
    code, result, _ = run(card, "-s", sequence, **settings)
    assert code == 0 and result["ok"] and result["disturbed"].startswith(said.format(140))
    text = card("dma_test", "-s", sequence, **settings).out
    assert f"\nnote: the rates are not those of the test alone: {said.format(140)}" in text
    assert "disturbed" not in run(card, "-s", sequence)[1]


@pytest.mark.parametrize("sequence", ["write", "read-then-write", "read-and-write"])
def test_preserve(card, sequence):
    data = bytes(range(256))*4096
    card.file.write_bytes(data)
    code, result, _ = run(card, "-s", sequence, "-o", 100, "--preserve")
    assert code == 0 and result["preserved"] and card.file.read_bytes() == data
    assert run(card, "-s", sequence, "-o", 100)[0] == 0 and card.file.read_bytes() != data


@pytest.mark.parametrize("settings, status", [({"fail_call": 9}, FAILED), ({"flip": 10}, MISMATCH)])
def test_preserve_after_a_failure(card, settings, status):
    """The byte that flips on its way to the host is restored as it was read."""
    data = bytearray(range(256))*4096
    card.file.write_bytes(data)
    assert card("dma_test", "--preserve", **settings).code == status
    if "flip" in settings:
        data[settings["flip"]] ^= 0x10
    assert card.file.read_bytes() == data


def test_preserve_after_a_signal(card):
    data = bytes(range(256))*4096
    card.file.write_bytes(data)
    result = card.interrupted("call 60", "dma_test", "--preserve", "-n", 100000, delay_us=2000)
    assert result.code == 130 and "The card's memory has its bytes again.\n" in result.out
    assert card.file.read_bytes() == data


def test_memory_that_cannot_be_restored(card):
    result = card("dma_test", "--preserve", "--json", "-s", "read", "-n", 1, fail_call=9, fail_errno=errno.EIO)
    assert result.code == FAILED and "the memory was not restored, its bytes are lost: the host answered" in result.err
    assert not json.loads(result.out)["preserved"]
    assert card("dma_test", "--preserve", fail_call=1).err.startswith(
        "litepcie_util: /dev/litepcie0: reading the memory to preserve: ")


def test_all_channels_count_and_have_their_rates(card):
    """The driver moves short transfers on any channel of the card."""
    for channel, counted in enumerate(([2000000, 0], [0, 2000000])):
        code, result, err = run(card, channels=2, channel=channel)
        assert code == 0 and result["ok"] and result["read"]["counter_active_cycles"] > 0, err
        assert [one["counter_bytes"] for one in result["read"]["channels"]] == counted
    assert "  channel 1                             1250.0             MB/s, 2000000 bytes\n" in \
        card("dma_test", channels=2, channel=1).out


PATTERNS = {
    ("counter",)                          : b"".join(n.to_bytes(4, "little") for n in range(100)),
    ("counter", "--value", "0xfffffffe")  : bytes.fromhex("fefffffffffffffF00000000"),
    ("constant", "--value", "0x11223344") : bytes.fromhex("44332211")*9,
    ("file", "--file", "FILE")            : b"abcdefg",
}


@pytest.mark.parametrize("pattern", PATTERNS, ids=" ".join)
def test_patterns(card, tmp_path, pattern):
    """What stays in the card's memory is the pattern; stale bytes are found although each transfer has the same."""
    wanted = PATTERNS[pattern]
    file   = tmp_path / "data"
    file.write_bytes(wanted)
    line   = ["-s", "read", "-n", 2, "-o", 5, "--pattern", *[part.replace("FILE", str(file)) for part in pattern]]
    if pattern[0] != "file":
        line += ["--length", len(wanted)]
    code, result, err = run(card, *line)
    assert (code, err, result["pattern"], result["transfer_bytes"]) == (0, "", pattern[0], len(wanted))
    assert card.file.read_bytes()[5:5 + len(wanted)] == wanted
    for lost in ("lose_from", "lose_reads"):
        for call in range(3, 12):
            assert run(card, *line, **{lost: call})[0] == MISMATCH, (lost, call)
    assert f", pattern {pattern[0]}" in card("dma_test", *line, lose_from=4).err


def test_a_file_without_its_bytes(card, tmp_path):
    file = tmp_path / "data"
    file.write_bytes(bytes(99))
    for name, said in ((file, f"{file} has 99 bytes, fewer than --length, which is 100: give a smaller --length or a "
            "longer file"), ("/nowhere/x", "/nowhere/x: No such file or directory"),
            (tmp_path, f"{tmp_path} is not a plain file")):
        assert card("dma_test", "-p", "file", "-f", name, "-l", 100) == (2, "", f"litepcie_util: --file: {said}\n")


@pytest.mark.parametrize("sequence, length, depth, offset", [
    *((sequence, 4097, 3, 11) for sequence in SEQUENCES), ("write-then-read", 65536, 8, 4096), ("read", 100, 256, 0)])
def test_transfers_in_flight(card, sequence, length, depth, offset):
    """The mock's aio gives results in the reverse order; each transfer is counted and verified."""
    code, result, err = run(card, "-s", sequence, "-l", length, "--depth", depth, "-o", offset, "-n", 2, aio=1)
    assert (code, err, result["ok"], result["in_flight"]) == (0, "", True, depth)
    for direction in SEQUENCES[sequence]:
        assert result[direction]["transfers"] == result[direction]["bytes"]/length == 2*depth
        assert result[direction]["counter_bytes"] == 2*depth*length


def test_transfers_in_flight_are_continued_and_fail_in_one_line(card):
    assert run(card, "-l", 10000, "--depth", 3, aio=1, short=4096)[0] == 0
    result = card("dma_test", "-s", "write", "--depth", 4, "-n", 1, aio=1, fail_call=6)
    assert result.code == FAILED and ", transfer: the host answered" in result.err and result.err.count("\n") == 1
    assert run(card, "-s", "write", "-l", 1000, "--depth", 4, aio=1, flip=500)[0] == MISMATCH
    result = card("dma_test", "-l", "300K", "--depth", 4)
    assert (result.code, result.err) == (2, "litepcie_util: --length: 307200 is too large at offset 0: the transfers "
        "in flight do not fit in the card's memory of 1048576 bytes\n")


def two(card, tmp_path, *arguments, **settings):
    other = tmp_path / "second.bin"
    other.write_bytes(bytes(1 << 20))
    return card("dma_test", "--cards", "0,1", *arguments, second=other, **settings), other


def test_several_cards(card, tmp_path):
    """Each has its report, the rates are added up, and the calls of the two overlap in time."""
    result, other = two(card, tmp_path, "--json", "-s", "read", "-n", 5, delay_us=20000)
    assert (result.code, result.err) == (0, "")
    told = json.loads(result.out)
    assert [(one["device"], one["ok"]) for one in told["cards"]] == [("/dev/litepcie0", True), ("/dev/litepcie1", True)]
    assert told["total"]["read"]["counter_bytes_per_second"] == 2*1250000000 and "write" not in told["total"]
    assert card.file.read_bytes() == other.read_bytes() != bytes(1 << 20)
    text, _ = two(card, tmp_path, "-s", "read", "-n", 2)
    assert text.code == 0 and "\n2 cards, added up: read 2500.0 MB/s by counter, " in text.out
    assert sorted(re.findall("^/dev/litepcie[01]$", text.out, re.M)) == ["/dev/litepcie0", "/dev/litepcie1"]
    lines = [json.loads(line) for line in two(card, tmp_path, "--json-lines", "-n", 2)[0].out.splitlines()]
    assert sorted(line["device"] for line in lines if line["event"] == "result") == ["/dev/litepcie0", "/dev/litepcie1"]
    total = lines[-1]
    assert (total["event"], total["ok"], total["cards"]) == ("total", True, 2)
    assert total["write"]["counter_bytes_per_second"] == 2*1250000000


def test_one_of_several_cards_fails(card):
    """The others end their test."""
    result = card("dma_test", "--cards", "0,7", "--json", "-n", 2)
    told   = json.loads(result.out)
    assert (result.code, told["ok"], told["cards"][0]["ok"], told["cards"][1]["ok"]) == (GONE, False, True, False)
    assert result.err.startswith("litepcie_util: /dev/litepcie7: ") and result.err.count("\n") == 1
    total = json.loads(card("dma_test", "--cards", "0,7", "--json-lines", "-n", 2).out.splitlines()[-1])
    assert (total["event"], total["ok"], total["cards"]) == ("total", False, 2)
    assert total["read"]["counter_bytes_per_second"] == 1250000000


def test_a_signal_ends_the_tests_of_all_cards(card, tmp_path):
    other = tmp_path / "second.bin"
    other.write_bytes(bytes(1 << 20))
    result = card.interrupted("call 60", "dma_test", "--json", "--cards", "0,1", "-n", 100000, count=2, delay_us=2000,
        second=other)
    assert result.code == 130 and [one["ended_by_signal"] for one in json.loads(result.out)["cards"]] == [2, 2]
