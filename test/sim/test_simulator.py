# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""litepcie_simulator with the test endpoint and a client in place of QEMU, whose memory has a file or not."""

import json
import os
import signal
import socket
import struct
import time

import pytest

from test.sim.scripts import refused
from test.sim.vfio_user_client import (BAR0, CONFIG, DEVICE_RESET, DMA_READ, DMA_WRITE, ERROR, GET_INFO, REGION_READ,
    TIMEOUT, Client, ClientError, Simulator)

# Registers and commands of the test endpoint.
MAGIC, SCRATCH, ADDRESS, HIGH, DWORDS, TAG, COMMAND = 0x00, 0x28, 0x40, 0x44, 0x48, 0x4c, 0x50
STATUS, DATA = 0x54, 0x80
WRITE, READ, INTERRUPT = 1, 2, 3


def command(client, code, address=0, dwords=1):
    for register, value in ((ADDRESS, address & 0xffffffff), (HIGH, address >> 32),
            (DWORDS, dwords), (TAG, 3), (COMMAND, code)):
        client.write(BAR0, register, value)


def test_registers_memory_and_interrupts(simulator, path, tmp_path):
    stats, trace = tmp_path / "stats.json", tmp_path / "trace.txt"
    with Simulator(simulator, path, "--stats", stats, "--trace", trace) as server, Client(path) as client:
        client.set_up()
        client.map(0x100000, 0x10000, offset=0x2000)
        assert client.read(CONFIG, 0x00) == 0x1ce01234
        assert client.read(BAR0, MAGIC) == 0x4c504953
        client.write(BAR0, SCRATCH, 0x0123456789abcdef, 8)
        assert client.read(BAR0, SCRATCH, 8) == 0x0123456789abcdef
        assert client.read(BAR0, SCRATCH + 1, 1) == 0xcd
        client.write(BAR0, SCRATCH, 0x55, posted=False)
        assert client.read(BAR0, SCRATCH) == 0x55

        for i in range(4):
            client.write(BAR0, DATA + 4 * i, 0x11111111 * (i + 1))
        command(client, WRITE, 0x100100, 4)
        command(client, INTERRUPT)
        assert client.wait_interrupt() == 1
        assert client.memory[0x2100:0x2110] == struct.pack("<4I", *(0x11111111 * (i + 1) for i in range(4)))

        client.memory[0x3000:0x3080] = bytes(range(128))
        command(client, READ, 0x101000, 32)
        assert client.wait_interrupt() == 1
        assert client.read(BAR0, STATUS) == 0
        assert client.read(BAR0, DATA + 4, 4) == 0x07060504
        client.close()
        assert server.end() == (0, "")
    assert not path.exists()
    figures = json.loads(stats.read_text())
    assert figures["violations"] == 0 and figures["interrupts"] == 2
    assert figures["to_host"]["tlps"]["MWr32"] == {"tlps": 1, "payload_bytes": 16, "wire_bytes": 36}
    assert figures["card_read_bytes"] == 128
    lines = trace.read_text().splitlines()
    assert any(" < MWr32 length 4 " in line for line in lines)
    assert any(" > CplD length 32 " in line for line in lines)
    assert any(line.endswith("< MSI vector 0") for line in lines)


@pytest.mark.parametrize("iommu", [False, True])
def test_access_outside_a_mapping(simulator, path, tmp_path, iommu):
    stats = tmp_path / "stats.json"
    with Simulator(simulator, path, "--stats", stats, *["--iommu"] * iommu) as server, Client(path) as client:
        client.set_up()
        client.map(0x100000, 0x1000)
        command(client, READ, 0x100000, 1)
        assert client.wait_interrupt() == 1
        assert client.read(BAR0, STATUS) == 0
        client.unmap(0x100000, 0x1000)
        for _ in range(15):
            command(client, READ, 0x100000, 1)
            assert client.wait_interrupt() == 1
            assert client.read(BAR0, STATUS) == 1  # Unsupported Request.
        client.map(0x100000, 0x1000, flags=1)
        client.memory[0:4] = b"kept"
        command(client, WRITE, 0x100000, 1)
        command(client, INTERRUPT)
        assert client.wait_interrupt() == 1
        assert client.memory[0:4] == b"kept"  # It is mapped read-only.
        client.close()
        status, errors = server.end()
    assert status == 0
    assert errors.count("outside a live mapping: address 0x100000, 4 bytes: M") == (16 if iommu else 10)
    figures = json.loads(stats.read_text())
    assert (figures["unmapped_reads"], figures["unmapped_writes"]) == (15, 1)


def test_violation_ends_the_run(simulator, path, tmp_path):
    stats = tmp_path / "stats.json"
    with Simulator(simulator, path, "--stats", stats) as server, Client(path) as client:
        client.set_up()
        client.map(0x100000, 0x10000)
        command(client, WRITE, 0x100ff0, 8)
        status, errors = server.end()
    assert status == 3
    assert "request crosses a 4 KiB boundary" in errors
    assert "MWr32 length 8" in errors and "00100ff0" in errors  # The decoded TLP, and its dwords.
    assert json.loads(stats.read_text())["violations"] == 1
    assert not path.exists()


def test_reset(client):
    client.write(BAR0, SCRATCH, 1)
    assert client.read(BAR0, SCRATCH) == 1
    client.call(DEVICE_RESET)
    assert client.read(CONFIG, 0x10) == 0
    assert client.read(BAR0, SCRATCH) == 0xffffffff  # Memory space is disabled.
    client.write(CONFIG, 0x10, 0xe0000000, posted=False)
    client.enable()
    # The link was down. The test endpoint keeps its power and remembers; the card clears its registers itself.
    assert client.read(BAR0, SCRATCH) == 1


@pytest.mark.parametrize("fault, status", [("ur@1", 1), ("ca@2", 4)])
def test_fault_by_pipe(simulator, path, tmp_path, fault, status):
    """A fault in the pipe counts completions from the next one on."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Simulator(simulator, path, "--inject-pipe", pipe) as server, Client(path) as client:
        def read():
            command(client, READ, 0x100000, 1)
            assert client.wait_interrupt() == 1
            return client.read(BAR0, STATUS)

        client.set_up()
        client.map(0x100000, 0x1000)
        assert read() == 0
        pipe.write_text(f"{fault}\n")
        number = int(fault[-1])
        assert [read() for _ in range(number + 1)] == [0]*(number - 1) + [status, 0]
        client.close()
        assert server.end()[0] == 0


def test_a_pipe_with_another_text_ends_the_simulator(simulator, path, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Simulator(simulator, path, "--inject-pipe", pipe) as server, Client(path) as client:
        pipe.write_text("nothing\n")
        with pytest.raises((ConnectionError, AssertionError, OSError)):
            client.set_up()
        status, errors = server.end()
        assert status == 1 and "'nothing' is not FAULT@N or FAULT%P with FAULT ur, ca," in errors


def test_values_of_a_file_in_place_of_the_cards(simulator, path, tmp_path):
    """Whole and partial loads, from the first or a later one on, and another file while the simulator runs."""
    registers, other = tmp_path / "registers", tmp_path / "other"
    registers.write_text(f"# of another card\n{MAGIC:#x} 0x12345678\n\n{SCRATCH} 7 2  # later\n")
    with Simulator(simulator, path, "--registers", registers) as server, Client(path) as client:
        client.set_up()
        assert client.read(BAR0, MAGIC) == 0x12345678
        assert client.read(BAR0, MAGIC + 1, 2) == 0x3456
        client.write(BAR0, SCRATCH, 0x55)
        assert [client.read(BAR0, SCRATCH) for _ in range(4)] == [0x55, 0x55, 7, 7]
        other.write_text(f"{SCRATCH + 4:#x} 9\n")
        other.rename(registers)
        assert client.read(BAR0, MAGIC) == 0x4c504953
        assert client.read(BAR0, SCRATCH, 8) == 9 << 32 | 0x55
        client.close()
        assert server.end() == (0, "")


@pytest.mark.parametrize("text, said", [
    (None,       "cannot read {}: No such file or directory"),
    ("0 1 2 3",  "{}, line 1: '0 1 2 3' is not OFFSET VALUE or OFFSET VALUE AFTER"),
    ("\n\n6 1",  "{}, line 3: OFFSET: '6' is not a multiple of 4"),
    ("0 0x100000000", "{}, line 1: VALUE: '0x100000000' is not a number from 0 to 4294967295"),
    ("-4 1",     "{}, line 1: OFFSET: '-4' is not a number from 0 to ")])
def test_a_bad_file_of_registers_is_one_line(simulator, path, tmp_path, text, said):
    registers = tmp_path / "registers"
    if text is not None:
        registers.write_text(text)
    assert refused(simulator, "--socket", path, "--registers", registers).startswith(
        "litepcie_simulator: --registers: " + said.format(registers))


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat", encoding="ascii").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_sleeps_while_nothing_is_outstanding(simulator, path):
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.read(BAR0, MAGIC)
        deadline = time.monotonic() + TIMEOUT
        before, now = -1, processor_seconds(server.process.pid)
        while before != now:  # Until the simulator uses no processor time in a fifth of a second.
            assert time.monotonic() < deadline
            time.sleep(0.2)
            before, now = now, processor_seconds(server.process.pid)
        assert client.read(BAR0, MAGIC) == 0x4c504953
        client.close()
        assert server.end()[0] == 0


def test_malformed_messages_are_answered(simulator, path):
    with Simulator(simulator, path) as server, Client(path) as client:
        with pytest.raises(ClientError):
            client.call(GET_INFO, bytes(16))     # Not allowed before VERSION.
        client.negotiate()
        for number, payload in ((99, b""), (REGION_READ, b"short"), (GET_INFO, b"")):
            with pytest.raises(ClientError):
                client.call(number, payload)
        assert client.read(CONFIG, 0) == 0x1ce01234  # The server still works.
        client.socket.sendall(struct.pack("<HHIII", 7, 4, 3, 0, 0))
        header = struct.unpack("<HHIII", client.socket.recv(16))
        assert header[0] == 7 and header[3] & ERROR
        status, errors = server.end()
    assert status == 1 and "size of a message is impossible" in errors


def test_client_dies_in_a_transfer(simulator, path):
    with Simulator(simulator, path, "--latency-ns", "100000000") as server, Client(path) as client:
        client.set_up()
        client.map(0x100000, 0x1000)
        command(client, READ, 0x100000, 1)
        client.socket.close()
        assert server.end()[0] == 0


def test_socket_in_use(simulator, path):
    with Simulator(simulator, path) as server:
        in_use = f"litepcie_simulator: socket {path} is in use by another server\n"
        assert refused(simulator, "--socket", path, status=4) == in_use
        with Client(path) as client:  # The second server left the first one alone,
            client.negotiate()
            assert refused(simulator, "--socket", path, status=4) == in_use  # and does so while the first has a client.
            assert client.read(CONFIG, 0) == 0x1ce01234
        assert server.end()[0] == 0


def test_stale_socket_is_replaced(simulator, path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert path.exists()
    with Simulator(simulator, path) as server, Client(path) as client:
        client.negotiate()
        client.close()
        assert server.end()[0] == 0


@pytest.mark.parametrize("number, connected", [(signal.SIGTERM, False), (signal.SIGINT, True)])
def test_signal_ends_in_order(simulator, path, tmp_path, number, connected):
    stats = tmp_path / "stats.json"
    with Simulator(simulator, path, "--stats", stats) as server:
        if connected:
            client = Client(path)
            client.negotiate()
        server.process.send_signal(number)
        assert server.end()[0] == 128 + number
        if connected:
            client.close()
    assert stats.exists() and not path.exists()


def test_bad_paths(simulator, tmp_path):
    (tmp_path / "file").write_text("precious")
    for path, words in ((tmp_path / "file", "is not a socket"), (tmp_path / "none" / "s", "No such"),
            (tmp_path / ("x" * 120), "longer than 107")):
        assert words in refused(simulator, "--socket", path, status=1)
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("args, words", [
    ([], "--socket PATH is missing"),
    (["--completion-bytes", "64", "--rcb", "128"], "--completion-bytes 64 is not possible with --rcb 128"),
    (["--update-fc", "seldom"], "allowed: guideline, per-type, minimum"),
    (["--inject", "ur"], "FAULT@N")])
def test_usage(simulator, args, words):
    assert words in refused(simulator, *args)


def test_files_that_cannot_be_written(simulator, path, tmp_path):
    trace = tmp_path / "none" / "trace"
    assert "cannot write trace" in refused(simulator, "--socket", path, "--trace", trace, status=1)
    assert not path.exists()


# A client that maps memory without a file: the card reads and writes it by messages to the client.
AT = 0x100000


def unsupported(client):
    """Whether the card's read is an unsupported request."""
    command(client, READ, AT, 1)
    assert client.wait_interrupt() == 1
    return client.read(BAR0, STATUS) == 1


def learn(client):
    """The server knows the client's layout after bytes that are not zero. Before, it asks for four bytes each."""
    client.own[AT][:4] = b"tell"
    command(client, READ, AT, 1)
    assert client.wait_interrupt() == 1
    assert client.asked == [(DMA_READ, AT, 4)]
    client.asked.clear()


@pytest.mark.parametrize("narrow, most, pieces", [(False, 1 << 20, [(0, 128)]),
    (True, 48, [(0, 48), (48, 48), (96, 32)])])
def test_reads_and_writes(simulator, path, narrow, most, pieces):
    """As much as the client takes at once, in order; what the card writes precedes the interrupt."""
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up(max_data_xfer_size=most)
        client.map_without_file(AT, 0x10000)
        client.narrow = narrow
        learn(client)
        client.own[AT][0x1000:0x1080] = bytes(range(128))
        command(client, READ, AT + 0x1000, 32)
        assert client.wait_interrupt() == 1
        assert client.read(BAR0, STATUS) == 0
        assert client.read(BAR0, DATA + 4) == 0x07060504
        assert client.asked == [(DMA_READ, AT + 0x1000 + at, count) for at, count in pieces]
        client.asked.clear()
        command(client, WRITE, AT + 0x2000, 32)
        command(client, INTERRUPT)
        assert client.wait_interrupt() == 1
        assert client.asked == [(DMA_WRITE, AT + 0x2000 + at, count) for at, count in pieces]
        assert client.own[AT][0x2000:0x2080] == bytes(range(128))
        client.close()
        status, errors = server.end()
        assert status == 0 and ("a count of 32 bits" in errors) == narrow


def test_a_client_that_waits_answers_later(client):
    """As QEMU, whose processor holds the lock that a DMA needs while it waits for a register."""
    client.map_without_file(AT, 0x10000)
    learn(client)
    later, right = [], client.answer
    client.answer = lambda *request: later.append(request)
    command(client, READ, AT, 32)
    assert client.read(BAR0, MAGIC) == 0x4c504953
    assert len(later) == 1
    client.answer = right
    client.answer(*later[0])
    assert client.wait_interrupt() == 1 and client.read(BAR0, STATUS) == 0
    # The interrupt follows what the card has written.
    later.clear()
    client.answer = lambda *request: later.append(request)
    command(client, WRITE, AT + 0x2000, 32)
    command(client, INTERRUPT)
    assert client.read(BAR0, MAGIC) == 0x4c504953
    assert len(later) == 1 and client.wait_interrupt(0.2) == 0
    client.answer = right
    client.answer(*later[0])
    assert client.wait_interrupt() == 1


def test_beside_a_file(simulator, path):
    """An access over the border of both kinds of memory; memory that must not be written is not."""
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.map(AT - 0x1000, 0x1000)
        client.map_without_file(AT, 0x1000, flags=1)
        client.memory[0xffc:0x1000] = b"file"
        client.own[AT][:4] = b"mess"
        command(client, READ, AT - 4, 1)
        assert client.wait_interrupt() == 1
        assert client.read(BAR0, DATA).to_bytes(4, "little") == b"file"
        command(client, READ, AT, 1)
        assert client.wait_interrupt() == 1
        assert client.read(BAR0, DATA).to_bytes(4, "little") == b"mess"
        command(client, WRITE, AT, 1)
        assert client.read(BAR0, MAGIC) == 0x4c504953
        assert client.asked == [(DMA_READ, AT, 4)]
        client.unmap(AT, 0x1000)
        assert unsupported(client) and len(client.asked) == 1
        client.close()
        assert server.end()[0] == 0


@pytest.mark.parametrize("leave", ["signal", "close"])
def test_end_while_the_client_is_asked(simulator, path, leave):
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.map_without_file(AT, 0x1000)
        client.write(BAR0, SCRATCH, 0x55)
        command(client, READ, AT, 1)
        header = client.socket.recv(32)
        assert struct.unpack("<HHI", header[:8])[1:] == (DMA_READ, 32)
        if leave == "signal":
            server.process.send_signal(signal.SIGTERM)
        else:
            client.close()
        assert server.process.wait(TIMEOUT) == (128 + signal.SIGTERM if leave == "signal" else 0)
    # The next one on the same path finds a card that knows nothing of it.
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.map_without_file(AT, 0x1000)
        assert client.read(BAR0, SCRATCH) == 0
        learn(client)
        client.close()
        assert server.end() == (0, "")
