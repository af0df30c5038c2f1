# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A client that does what QEMU never does: it must neither kill nor hang litepcie_simulator."""

import errno
import os
import random
import signal
import socket
import struct
import time

import pytest

from test.sim.conftest import make_endpoint
from test.sim.test_simulator import DATA, INTERRUPT, MAGIC, READ, STATUS, WRITE, command
from test.sim.vfio_user_client import (
    BAR0, CONFIG, MSI, NO_REPLY, REGION_READ, REGION_WRITE, SET_IRQS, TIMEOUT, Client, ClientError, Simulator)

MESSAGES = 1500  # Random messages of a run.


def ends_at(server, number):
    """Whether the simulator ends in order at the signal `number`."""
    server.process.send_signal(number)
    return server.end()[0] == 128 + number


def test_a_pipe_is_not_an_eventfd(client):
    """A pipe without a reader would end the simulator by SIGPIPE, a full one would stop it."""
    reader, writer = os.pipe()
    with pytest.raises(ClientError) as refused:
        client.call(SET_IRQS, struct.pack("<IIIII", 20, 0x24, MSI, 0, 1), fds=[writer])
    assert refused.value.errno == errno.EINVAL
    os.close(reader), os.close(writer)
    command(client, INTERRUPT)
    assert client.wait_interrupt() == 1  # The eventfd of before is still used.


def test_a_full_eventfd_that_blocks(client):
    full = os.eventfd(0)
    os.eventfd_write(full, (1 << 64) - 2)
    client.call(SET_IRQS, struct.pack("<IIIII", 20, 0x24, MSI, 0, 1), fds=[full])
    for _ in range(3):
        command(client, INTERRUPT)
    assert client.read(BAR0, MAGIC) == 0x4c504953
    assert os.eventfd_read(full) == (1 << 64) - 2
    command(client, INTERRUPT)
    assert client.read(BAR0, MAGIC) == 0x4c504953
    assert os.eventfd_read(full) == 1
    os.close(full)


def test_memory_that_shrinks(simulator, path):
    """The card's accesses are refused like those to memory that does not exist; other memory is still accessed."""
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.map(0x100000, 0x10000)
        other = os.memfd_create("other")
        os.ftruncate(other, 0x1000)
        memory, client.fd = client.fd, other
        client.map(0x200000, 0x1000)
        client.fd = memory
        os.ftruncate(memory, 0)
        command(client, WRITE, 0x100100, 4)
        for _ in range(2):
            command(client, READ, 0x100100, 4)
            assert client.wait_interrupt() == 1
            assert client.read(BAR0, STATUS) == 1  # Unsupported Request.
        client.write(BAR0, DATA, 0x12345678)
        command(client, WRITE, 0x200000, 1)
        assert client.read(BAR0, MAGIC) == 0x4c504953
        assert os.pread(other, 4, 0) == struct.pack("<I", 0x12345678)
        client.unmap(0x100000, 0x10000)
        os.close(other)
        client.close()
        status, errors = server.end()
    assert status == 0 and errors.count("is shorter than its mapping") == 1


def test_a_client_that_never_reads(simulator, path):
    with Simulator(simulator, path) as server, Client(path) as client:
        client.negotiate()
        client.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            for _ in range(100000):
                client.send(REGION_READ, struct.pack("<QII", 0, CONFIG, 4096))
        assert ends_at(server, signal.SIGTERM)


def test_writes_of_a_client_that_does_not_wait_take_bounded_memory(simulator, path):
    """4096 messages of 1 MiB are not kept: the client waits in its socket."""
    payload = struct.pack("<QII", 0, BAR0, 1 << 20) + bytes(1 << 20)
    message = struct.pack("<HHIII", 1, REGION_WRITE, 16 + len(payload), NO_REPLY, 0) + payload
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            client.socket.sendall(message)
        pages = int(open(f"/proc/{server.process.pid}/statm", encoding="ascii").read().split()[1])
        assert pages*os.sysconf("SC_PAGE_SIZE") < 256 << 20
        assert ends_at(server, signal.SIGTERM)


def test_more_descriptors_than_a_message_may_have(simulator, path):
    with Simulator(simulator, path) as server, Client(path) as client:
        client.negotiate()
        client.socket.sendall(struct.pack("<HHIII", 7, SET_IRQS, 16 + 100, 0, 0))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(50):  # Each piece of a message can bring descriptors.
                socket.send_fds(client.socket, [b"x"], client.events)
                time.sleep(0.01)
        status, errors = server.end()
    assert status == 1 and "more than 16 file descriptors" in errors


def test_a_silent_client_does_not_block_the_next(simulator, path):
    with Simulator(simulator, path) as server:
        silent = []
        for _ in range(40):
            silent.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            silent[-1].connect(str(path))
        with Client(path) as client:
            client.negotiate()
            assert client.read(CONFIG, 0) == 0x1ce01234
        assert server.end()[0] == 0
        for connection in silent:
            connection.close()


def random_message(rng):
    """A message of vfio-user, with values that are possible, at an edge, or anything."""
    def number(bits):
        edge = rng.choice([0, 1, 2, 4, 16, 24, 32, 4095, 4096, 1 << 20, (1 << bits) - 1, 1 << bits - 1])
        return rng.choice([edge, rng.getrandbits(bits), rng.randrange(64)]) & (1 << bits) - 1

    code  = rng.choice([*range(0, 17), number(16)])
    words = b"".join(struct.pack("<I", number(32)) for _ in range(rng.randrange(10)))
    wide  = struct.pack("<QII", number(64) % (1 << rng.choice([8, 12, 22, 64])), rng.choice([0, 7, number(32)]),
        rng.choice([1, 2, 4, 8, 4096, number(32)]))
    payload = rng.choice([b"", words, wide, wide + rng.randbytes(rng.choice([1, 4, 8, 64, 4096])),
        struct.pack("<II", rng.choice([16, 20, 24, 32, number(32)]), rng.choice([0, 1, 2, 3, 0x21, 0x24])) + words])
    size  = 16 + len(payload)
    return struct.pack("<HHIII", number(16), code, size, rng.choice([0, 0, NO_REPLY, number(32)]), 0) + payload


def throw(simulator, path, seed):
    """Sends random messages until all are sent or the server ends the stream; returns status and errors."""
    rng = random.Random(seed)
    with Simulator(simulator, path) as server, Client(path) as client:
        client.set_up()
        client.map(0x100000, 0x10000)
        try:
            for _ in range(MESSAGES):
                fds = rng.choices([client.fd, *client.events[:3]], k=rng.choice([0, 0, 0, 1, 1, 3]))
                socket.send_fds(client.socket, [random_message(rng)], fds)
                client.socket.setblocking(False)
                try:
                    while client.socket.recv(1 << 20):
                        pass
                except BlockingIOError:
                    pass
                client.socket.settimeout(TIMEOUT)
        except ConnectionError:
            pass
        client.close()
        return server.end()


@pytest.fixture(scope="module")
def sanitized():
    """`litepcie_simulator` of the test endpoint, built with the sanitizers of addresses and undefined behaviour."""
    return make_endpoint("SANITIZE=address,undefined", suffix="_sanitized") / "simulator" / "litepcie_simulator"


@pytest.mark.search
@pytest.mark.timeout(1800)  # The first case compiles the model anew.
@pytest.mark.parametrize("number", range(20))
def test_random_messages_with_sanitizers(sanitized, path, number):
    seed = int(os.environ.get("LITEPCIE_SEARCH_SEED", 0)) + number
    status, errors = throw(sanitized, path, seed)
    assert status in (0, 1) and "anitizer" not in errors and "runtime error" not in errors, f"seed {seed}: {errors}"


def test_random_messages(simulator, path):
    status, errors = throw(simulator, path, 1)
    assert status in (0, 1), errors
