#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A client that maps memory without a file: the card reads and writes it by messages to the client."""

import errno
import json
import signal
import struct

import pytest

from test.sim.test_simulator import DATA, INTERRUPT, MAGIC, READ, SCRATCH, STATUS, WRITE, command
from test.sim.vfio_user_client import BAR0, DMA_READ, DMA_WRITE, TIMEOUT, VERSION, Client, ClientError, Simulator

AT = 0x100000  # Of the memory without a file.


@pytest.fixture
def path(tmp_path):
    return tmp_path / "card.sock"


def refused(client):
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


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("most, pieces", [(1 << 20, [(0, 128)]), (48, [(0, 48), (48, 48), (96, 32)])])
def test_reads_and_writes(simulator, path, most, pieces, narrow):
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


@pytest.mark.parametrize("narrow", [False, True])
def test_the_first_access_is_a_write(simulator, path, narrow):
    """Where memory has zeros, and something else; every byte is where it belongs."""
    for before in (bytes(0x100), bytes(range(1, 0x100)) + b"\xff"):
        with Simulator(simulator, path) as server, Client(path) as client:
            client.set_up()
            client.map(0, 0x1000)
            client.memory[:128] = bytes(40) + bytes(range(128, 216))
            command(client, READ, 0, 32)
            assert client.wait_interrupt() == 1
            client.map_without_file(AT, 0x1000)
            client.narrow = narrow
            client.own[AT][:0x100] = before
            command(client, WRITE, AT + 0x40, 32)
            command(client, INTERRUPT)
            assert client.wait_interrupt() == 1
            assert client.own[AT][:0x100] == before[:0x40] + client.memory[:128] + before[0xc0:]
            client.close()
            assert server.end()[0] == 0


def test_a_client_that_waits_answers_later(simulator, path):
    """As QEMU, whose processor holds the lock that a DMA needs while it waits for a register."""
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
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
        client.close()
        assert server.end() == (0, "")


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
        assert refused(client) and len(client.asked) == 1
        client.close()
        assert server.end()[0] == 0


def test_flags_of_a_mapping(simulator, path):
    """A client may say that its file is to be mapped (4), but not without a file; other flags (8) are refused."""
    with Simulator(simulator, path), Client(path) as client:
        client.set_up()
        client.map(AT, 0x1000, flags=7)
        assert not refused(client)
        for call in (lambda: client.map(AT + 0x1000, 0x1000, flags=11),
                lambda: client.map_without_file(AT + 0x1000, 0x1000, flags=7)):
            with pytest.raises(ClientError) as error:
                call()
            assert error.value.errno == errno.EINVAL


# Wrong answers: what the client does with the request.
ANSWERS = {
    "error":         lambda client, number, code, payload: client.reply(number, code, error=errno.EFAULT),
    "no data":       lambda client, number, code, payload: client.reply(number, code, payload),
    "empty":         lambda client, number, code, payload: client.reply(number, code),
    "too long":      lambda client, number, code, payload: client.reply(number, code, payload + bytes(8)),
    "other address": lambda client, number, code, payload: client.reply(number, code, bytes(16) + bytes(4)),
    "other command": lambda client, number, code, payload: client.reply(number, DMA_WRITE, payload + bytes(4)),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_wrong_answers_refuse_the_access(simulator, path, answer):
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.map_without_file(AT, 0x1000)
        right, client.answer = client.answer, lambda *request: ANSWERS[answer](client, *request)
        assert refused(client)
        client.answer = right
        assert not refused(client)
        client.close()
        assert server.end()[0] == 0


@pytest.mark.full
def test_a_client_that_never_answers(simulator, path):
    """The access ends by itself, and the next ones do not wait again; a late answer is for nothing."""
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.map_without_file(AT, 0x1000)
        late = []
        client.answer = lambda *request: late.append(request)
        assert refused(client)
        (number, code, payload), = late
        client.reply(number, code, payload + bytes(4))
        assert all(refused(client) for _ in range(20)) and len(late) == 1
        client.map(AT + 0x1000, 0x1000)
        command(client, READ, AT + 0x1000, 1)
        assert client.wait_interrupt() == 1
        assert client.read(BAR0, STATUS) == 0
        client.close()
        status, errors = server.end()
    assert status == 0 and errors.count("does not answer a DMA by message") == 1


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


@pytest.mark.parametrize("most", [0, -1, "many", 1.5])
def test_impossible_size_of_data(simulator, path, most):
    text = json.dumps({"capabilities": {"max_data_xfer_size": most}}).encode() + b"\0"
    with Simulator(simulator, path), Client(path) as client:
        with pytest.raises(ClientError) as error:
            client.call(VERSION, struct.pack("<HH", 0, 0) + text)
        assert error.value.errno == errno.EINVAL
        client.negotiate()
