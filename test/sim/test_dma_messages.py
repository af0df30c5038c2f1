#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A client that maps memory without a file: the card reads and writes it by messages to the client."""

import signal
import struct

import pytest

from test.sim.test_simulator import DATA, INTERRUPT, MAGIC, READ, SCRATCH, STATUS, WRITE, command
from test.sim.vfio_user_client import BAR0, DMA_READ, DMA_WRITE, TIMEOUT, Client, Simulator

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
