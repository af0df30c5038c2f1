# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Generated cores at work: a host, a memory and streams of the tests' own at the plain ports."""

import re

import pytest

from test.gateware.standalone.bench import BACK, BUFFER, MEMORY, RING, Bench
from test.gateware.standalone.clients import ExternalMemory
from test.gateware.standalone.model import EXAMPLES, generate

WIDE = """\
# Both examples are narrower, without relaxed ordering, and have one channel and a number of streams.
name: wide_core
data_width: 512
tags: 128
channels: 2
streams:
- {name: loop, depth: 64 KiB}
- {name: adc, direction: to_host, depth: 128 KiB}
- {name: dac, direction: from_host}
pcie: {gen: 3, lanes: 8}
phy: {block: ultrascale+, shape: shared}
memory: {kind: external, size: 4 GiB, read_ahead: 16}
ordering: {relaxed_ordering: true, no_snoop: true}
"""


@pytest.fixture(scope="module", params=("everything",
    *[pytest.param(name, marks=pytest.mark.full) for name in ("small", "wide")]))
def files(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    config = EXAMPLES / f"{request.param}.yml"
    if request.param == "wide":
        config = folder / "wide.yml"
        config.write_text(WIDE)
    result = generate(config, folder)
    assert result.returncode == 0, result.stderr
    return folder, f"{request.param}_core"


@pytest.fixture
def bench(files):
    made = Bench(*files)
    yield made
    made.core.close()


def sheet_beats(sheet, port):
    """The beats of the example of an integration sheet."""
    rows = re.search(rf"^\| `{port}` beat .*\n\| ---.*\n((?:\|.*\n)+)", sheet, re.M)[1].splitlines()
    rows = [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]
    return [{"first": int(first), "last": int(last), "dat": int(dat, 0), "be": int(be, 0)}
        for _, first, last, dat, be in rows]


def test_the_example_of_the_sheet(files):
    """MAGIC, beat by beat as the sheet has it."""
    bench  = Bench(*files, stall=0)
    rx, tx = ("rx_req", "tx_cmp") if bench.host.split else ("rx", "tx")
    came   = []
    taker  = next(part for part in bench.host.parts if part.prefix == tx)
    taker.take = came.append
    bench.host.givers[0].beats.extend(sheet_beats(bench.sheet, rx))
    bench.host.wait(lambda: came and came[-1]["last"], "the answer")
    assert came == sheet_beats(bench.sheet, tx)
    bench.core.close()


def test_identity(bench, files):
    regs, soc, read = bench.regs, bench.soc, bench.host.read
    assert read(regs["MAGIC"]) == regs["MAGIC_VALUE"]
    assert read(regs["MEMORY_SIZE_LO"]) | read(regs["MEMORY_SIZE_HI"]) << 32 == soc["MEMORY_SIZE"]
    assert read(regs["GEOMETRY"]) >> 8 & 0xff == soc["PCIE_DATA_WIDTH"] // 32
    assert read(regs["CLOCK_HZ"]) == soc["CLOCK_FREQUENCY"]
    assert read(regs["BUILT_LINK"]) == soc["PCIE_GEN"] | soc["PCIE_LANES"] << 8
    lacking = [sum((not user.has[way]) << n for n, user in enumerate(bench.streams)) for way in ("source", "sink")]
    assert read(regs["STREAMS"]) == len(bench.streams) | lacking[0] << 8 | lacking[1] << 16
    name = bench.host.read_bytes(regs["TARGET"], regs["TARGET_BYTES"]).rstrip(b"\0").decode()
    assert name == f"{files[1]} gen{soc['PCIE_GEN']} x{soc['PCIE_LANES']} {soc['PCIE_DATA_WIDTH']} bit"


def test_a_read_sees_the_write_before_it(bench):
    """However late the memory takes writes, and while another client reads the memory."""
    offset = bench.host.read(bench.regs["WINDOW_OFFSET"])
    writer = bench.engine("writer")
    writer.submit([(BACK, 0, 4096, 0)])
    if isinstance(bench.memory, ExternalMemory):
        bench.memory.writes.stall = 0.9
    for _ in range(20):
        data = bench.bytes(32)
        bench.host.write_bytes(offset + 0x2000, data)
        assert bench.host.read_bytes(offset + 0x2000, 32) == data
    writer.wait()

LENGTHS = (1, 3, 64, 127, 512, 1000, 2047, 4096)


def scatter(bench, base):
    """(host address, endpoint address, length) of pieces that do not touch, of any alignment."""
    pieces, host, at = [], base, 0
    for length in bench.random.sample(LENGTHS, len(LENGTHS)):
        host += bench.random.randint(1, 5000)
        at   += bench.random.randint(1, 200)
        pieces.append((host, at, length))
        host += length
        at   += length
    return pieces


def test_reader(bench):
    """Host memory to endpoint memory; the bytes around the pieces stay as they were."""
    memory = bytearray(bench.bytes(MEMORY))
    bench.memory.write(0, bytes(memory))
    pieces = scatter(bench, BUFFER)
    for address, endpoint, length in pieces:
        data = bench.bytes(length)
        bench.host.put(address, data)
        memory[endpoint:endpoint + length] = data
    reader = bench.engine("reader")
    reader.submit([(*piece, 0) for piece in pieces])
    reader.wait()
    assert bench.memory.read(0, MEMORY) == memory


def test_writer(bench):
    """Endpoint memory to host memory; the MSI comes when data and status are there."""
    memory = bench.bytes(MEMORY)
    bench.memory.write(0, memory)
    pieces = scatter(bench, BACK)
    seen   = []
    writer = bench.engine("writer")
    bench.host.on_msi = lambda: seen.append((writer.completed,
        [bench.host.get(address, length) for address, _, length in pieces]))
    writer.submit([(*piece, 0) for piece in pieces])
    bench.host.wait(lambda: seen, "the MSI")
    assert seen == [(len(pieces), [memory[endpoint:endpoint + length] for _, endpoint, length in pieces])]
    touched = {n for address, _, length in pieces for n in range(address, address + length)}
    assert {n for n in bench.host.memory if BACK <= n < RING} == touched


def test_the_end_of_the_memory(bench):
    """Up to its last byte both ways, and no byte further: 4 GiB is as far as a descriptor's address goes."""
    size, regs = bench.soc["MEMORY_SIZE"], bench.regs
    data = bench.bytes(100)
    bench.host.put(BUFFER, data)
    for direction, address in (("reader", BUFFER), ("writer", BACK)):
        engine = bench.engine(direction)
        engine.submit([(address, size - 100, 100, 0)])
        engine.wait()
        engine.submit([(address, size - 99, 100, 0)])
        bench.host.wait(lambda: engine.reason, "the stop")
        assert (engine.reason, engine.completed) == (regs["REASON_MEMORY_RANGE"], 1)
    assert bench.memory.read(size - 100, 100) == bench.host.get(BACK, 100) == data


def test_a_word_a_cycle(files):
    """Ports and a late memory cost no cycle: 16 KiB out without a gap between TLPs."""
    bench = Bench(*files, stall=0, mps=512)
    if isinstance(bench.memory, ExternalMemory):
        bench.memory.latency = (10, 10) if files[1] == "wide_core" else (50, 50)  # It asks 16 and 64 words ahead.
    bench.memory.write(0, bench.bytes(16 << 10))
    store, ends = bench.host.store, []
    def timed(tlp):
        ends.extend([bench.host.cycle] * (tlp.length > 4))  # Longer than a status block.
        store(tlp)
    bench.host.store = timed
    writer = bench.engine("writer")
    writer.submit([(BACK, 0, 16 << 10, 0)])
    writer.wait()
    assert bench.host.get(BACK, 16 << 10) == bench.memory.read(0, 16 << 10)
    beats = (len(ends) - 1) * -(-(12 + 512) // bench.memory.lanes)
    assert len(ends) == 32
    assert ends[-1] - ends[0] <= 1.02 * beats
    bench.core.close()


REMEMBERED = ("CONTROL", "RING_LO", "RING_HI", "RING_LOG2", "STATUS_ADDRESS_LO", "STATUS_ADDRESS_HI", "DOORBELL",
    "COMPLETED", "MODERATION", "STOPPED_BYTES", "BYTES_LO", "DESCRIPTORS")


def forgotten(*engines):
    """After a reset of the function no engine is enabled, and no register has a value of before."""
    for engine in engines:
        engine.wait_for_reset()
        assert {name: engine.read(name) for name in REMEMBERED} == dict.fromkeys(REMEMBERED, 0)


def busy(bench, turn):
    """A reader and a writer in the middle of 4096 bytes each."""
    reader, writer = bench.engine("reader"), bench.engine("writer")
    reader.submit([(BUFFER, 0, 4096, 0)])
    writer.submit([(BACK, 0x4000, 4096, 0)])
    bench.host.ticks(150 + 40 * turn)
    return reader, writer


@pytest.mark.parametrize("rude", [False, True], ids=["ends", "cuts"])
def test_the_link_goes_and_comes_back(bench, rude):
    """In mid-transfer, and in a completion; afterwards everything is as new."""
    host = bench.host
    data = bench.bytes(4096)
    host.put(BUFFER, data)
    for turn in range(4):
        reader, writer = busy(bench, turn)
        host.wait(lambda: host.givers[-1].inside, "a completion under way")
        host.link(up=False, rude=rude)
        host.ticks(300)
        host.link(up=True)
        forgotten(reader, writer)
    works(bench, data)


def works(bench, data):
    reader, writer = bench.engine("reader"), bench.engine("writer")
    reader.submit([(BUFFER, 0, 4096, 0)])
    reader.wait()
    writer.submit([(BACK, 0, 4096, 0)])
    writer.wait()
    assert bench.memory.read(0, 4096) == bench.host.get(BACK, 4096) == data


def test_a_function_level_reset_in_a_transfer(bench):
    """The function is reset in less than 100 ms, although completions of before still come."""
    host = bench.host
    data = bench.bytes(4096)
    host.put(BUFFER, data)
    for turn in range(3):
        reader, writer = busy(bench, turn)
        bench.core["phy_function_reset"] = 1
        host.wait(lambda: bench.core["phy_function_reset_done"], "the end of the function level reset")
        bench.core["phy_function_reset"] = 0
        forgotten(reader, writer)
    works(bench, data)


def test_streams(bench):
    if not bench.streams:
        pytest.skip("the core has no streams")
    first = bench.channels
    for n, user in enumerate(bench.streams):
        reader, writer = bench.engine("reader", first + n), bench.engine("writer", first + n)
        packets = [bench.bytes(length) for length in bench.random.sample(LENGTHS, len(LENGTHS))]
        source, at = [], BUFFER
        for packet in packets:
            at += bench.random.randint(1, 300)
            bench.host.put(at, packet)
            source.append((at, 0, len(packet), bench.regs["DESCRIPTOR_LAST"]))
            at += len(packet)
        if user.has["source"]:
            reader.submit(source)
        if user.has["sink"]:
            writer.submit([(BACK + 0x2000 * k, 0, 0x1800, 0) for k in range(len(packets))])
            for packet in packets:
                user.send(packet)
        if user.has["source"]:
            reader.wait()
            bench.host.wait(lambda: len(user.packets) == len(packets), "packets")
            assert user.packets == packets
        if user.has["sink"]:
            writer.wait()
        for k, packet in enumerate(packets if user.has["sink"] else ()):
            report = bench.host.get32(writer.status + 64 + 4 * k)
            assert report == len(packet) | bench.regs["REPORT_LAST"]
            assert bench.host.get(BACK + 0x2000 * k, len(packet)) == packet
