# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A vfio-user client that sends the same messages as QEMU, for tests of the server without a guest."""

import contextlib
import json
import mmap
import os
import select
import socket
import struct
import subprocess

from litepcie_soc.build import processes

VERSION, DMA_MAP, DMA_UNMAP, GET_INFO = 1, 2, 3, 4
GET_IRQ_INFO, SET_IRQS, REGION_READ, REGION_WRITE, DEVICE_RESET = 7, 8, 9, 10, 13
DMA_READ, DMA_WRITE = 11, 12

NO_REPLY, ERROR = 0x10, 0x20
BAR0, CONFIG    = 0, 7
MSI, MSIX       = 1, 2     # Indices of interrupts.
EVENTS          = 16
TIMEOUT         = 120      # Seconds to wait for what comes for certain; only a hang takes them.


class ClientError(Exception):
    """The server refused a request with `errno`."""
    def __init__(self, errno):
        super().__init__(os.strerror(errno))
        self.errno = errno


class Simulator:
    """A running litepcie_simulator that listens on a socket."""
    def __init__(self, program, path, *args):
        self.path    = path
        self.process = processes.start([program, "--socket", path, *args], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        assert line.startswith("listening"), self.process.communicate(timeout=TIMEOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        """Waits for the simulator to end; returns its exit status and standard error."""
        _, errors = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, errors


class Client:
    """A connection to the server, with `memory_bytes` of guest memory that the server can map."""
    def __init__(self, path, memory_bytes=1 << 20):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.socket.settimeout(TIMEOUT)
        self.id     = 0
        self.fd     = os.memfd_create("ram")
        os.ftruncate(self.fd, memory_bytes)
        self.memory = mmap.mmap(self.fd, memory_bytes)
        self.events = [os.eventfd(0, os.EFD_NONBLOCK) for _ in range(EVENTS)]
        self.own    = {}    # Memory that is mapped without a file, by address.
        self.asked  = []    # What the server asked for of it: (command, address, bytes).
        self.narrow = False # Answers as QEMU 10.1 and 10.2 do.

    def close(self):
        self.socket.close()
        self.memory.close()
        for fd in [self.fd, *self.events]:
            if fd is not None:
                os.close(fd)
        self.fd, self.events = None, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, command, payload=b"", flags=0, fds=()):
        self.id = self.id + 1 & 0xffff
        message = struct.pack("<HHIII", self.id, command, 16 + len(payload), flags, 0) + payload
        socket.send_fds(self.socket, [message], list(fds))

    def receive(self):
        while True:
            number, code, flags, error, payload = self._message()
            if flags & 0xf == 1:
                break
            self.answer(number, code, payload)
        assert number == self.id
        if flags & ERROR:
            raise ClientError(error)
        return payload

    def _message(self):
        number, code, size, flags, error = struct.unpack("<HHIII", self._exactly(16))
        return number, code, flags, error, self._exactly(size - 16)

    def answer(self, number, code, payload):
        """Answers a DMA by message of the server.

        With `narrow` the count has 32 bits, the data begins after it, and a message is four bytes longer than both. The
        reply to a write is a header.
        """
        address, count = struct.unpack("<QI" if self.narrow else "<QQ", payload[:12 if self.narrow else 16])
        assert code in (DMA_READ, DMA_WRITE) and len(payload) == (16 if code == DMA_READ else 16 + count)
        self.asked.append((code, address, count))
        base   = max(base for base in self.own if base <= address)
        memory = memoryview(self.own[base])[address - base:address - base + count]
        begin  = 12 if self.narrow else 16
        if code == DMA_WRITE:
            memory[:] = payload[begin:begin + count]
            self.reply(number, code, b"" if self.narrow else payload[:16])
        else:
            self.reply(number, code, payload[:begin] + bytes(memory) + bytes(16 - begin))

    def reply(self, number, code, payload=b"", error=0):
        flags = 1 | (ERROR if error else 0)
        self.socket.sendall(struct.pack("<HHIII", number, code, 16 + len(payload), flags, error) + payload)

    def call(self, command, payload=b"", fds=()):
        self.send(command, payload, fds=fds)
        return self.receive()

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the server closed the socket")
            data += piece
        return data

    def negotiate(self, max_data_xfer_size=1 << 20):
        capabilities = {"capabilities": {"max_msg_fds": 16, "max_data_xfer_size": max_data_xfer_size,
            "pgsizes": 4096, "max_dma_maps": 65535, "write_multiple": True}}
        self.call(VERSION, struct.pack("<HH", 0, 0) + json.dumps(capabilities).encode() + b"\0")

    def map(self, address, size, offset=0, flags=3):
        self.call(DMA_MAP, struct.pack("<IIQQQ", 32, flags, offset, address, size), fds=[self.fd])

    def map_without_file(self, address, size, flags=3):
        """Maps memory that the server accesses by messages."""
        self.own[address] = bytearray(size)
        self.call(DMA_MAP, struct.pack("<IIQQQ", 32, flags, 0, address, size))

    def unmap(self, address, size):
        self.call(DMA_UNMAP, struct.pack("<IIQQ", 24, 0, address, size))

    def read(self, region, offset, size=4):
        data = self.call(REGION_READ, struct.pack("<QII", offset, region, size))[16:]
        return int.from_bytes(data, "little")

    def write(self, region, offset, value, size=4, posted=True):
        payload = struct.pack("<QII", offset, region, size) + value.to_bytes(size, "little")
        self.send(REGION_WRITE, payload, flags=NO_REPLY if posted else 0)
        if not posted:
            self.receive()

    def irq_count(self, index):
        return struct.unpack("<IIII", self.call(GET_IRQ_INFO, struct.pack("<IIII", 16, 0, index, 0)))[3]

    def connect_events(self, index, count):
        self.call(SET_IRQS, struct.pack("<IIIII", 20, 0x24, index, 0, count), fds=self.events[:count])

    def enable(self, command=6):
        """Writes the Command register; 6 enables memory and bus mastering."""
        self.write(CONFIG, 0x04, command, 2, posted=False)

    def reset_function(self):
        """A function level reset, and BAR0 and bus mastering after it."""
        self.write(CONFIG, 0x68, 1 << 15, 2, posted=False)
        self.write(CONFIG, 0x10, 0xe0000000, posted=False)
        self.enable()

    def set_up(self, mps=256, mrrs=512, vectors=1, msix=0, **capabilities):
        """Sets up BAR0, bus mastering and MSI or MSI-X with so many vectors, as firmware and driver do."""
        code = {128: 0, 256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
        self.negotiate(**capabilities)
        self.write(CONFIG, 0x10, 0xe0000000, posted=False)
        self.write(CONFIG, 0x68, code[mps] << 5 | code[mrrs] << 12, 2, posted=False)
        self.enable()
        if msix:
            self.connect_events(MSIX, msix)
            self.write(CONFIG, 0xa2, 1 << 15, 2, posted=False)
        else:
            self.connect_events(MSI, vectors)
            self.write(CONFIG, 0x4a, 0x81 | vectors.bit_length() - 1 << 4, 2, posted=False)

    def wait_interrupt(self, seconds=TIMEOUT, vector=0):
        """Waits for an interrupt; returns the number since the last call, or 0 if none came in time."""
        event = self.events[vector]
        while event not in (ready := select.select([event, self.socket], [], [], seconds)[0]):
            if not ready:
                return 0
            number, code, flags, _, payload = self._message()
            assert flags & 0xf == 0
            self.answer(number, code, payload)
        return os.eventfd_read(event)

    def nothing_comes(self, *vectors):
        """Whether no interrupt of these vectors has come after the card has answered many reads of a register.

        The answer to a read does not overtake an interrupt that the card has sent before.
        """
        for _ in range(50):
            self.read(BAR0, 0)
        return not any(self.wait_interrupt(0, vector) for vector in vectors)


@contextlib.contextmanager
def connected(program, folder, client=Client):
    """A client of the board's simulator, which must end well and find no broken rule."""
    stats, path = folder / "stats.json", folder / "card.sock"
    with Simulator(program, path, "--stats", stats) as server, client(path) as card:
        yield card
        card.close()
        assert server.end() == (0, "")
    assert json.loads(stats.read_text())["violations"] == 0
