# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What a user has at the memory and stream ports of a core."""

from collections import deque

from test.gateware.standalone.ports import Giver, Taker


class MemoryUser:
    """The user's logic at the ports of a core's memory: bytes in, bytes out."""
    def __init__(self, host, stall=0.0):
        core         = host.core
        self.host    = host
        self.lanes   = core.ports["memory_write_dat"][1] // 8
        self.words   = deque()
        self.writes  = Giver(core, "memory_write", host.random, stall)
        self.command = Giver(core, "memory_read_command", host.random, stall)
        host.parts  += [self.writes, self.command,
            Taker(core, "memory_read_data", host.random, lambda beat: self.words.append(beat["dat"]), stall)]

    def write(self, address, data):
        at = address
        while at < address + len(data):
            word  = at // self.lanes
            lanes = range(at % self.lanes, min(self.lanes, address + len(data) - word * self.lanes))
            piece = {lane: data[word * self.lanes + lane - address] for lane in lanes}
            self.writes.beats.append({
                "address": word,
                "dat":     sum(byte << 8 * lane for lane, byte in piece.items()),
                "be":      sum(1 << lane for lane in lanes)})
            at = (word + 1) * self.lanes
        self.host.wait(lambda: not self.writes.beats, "memory writes")

    def read(self, address, length):
        first, last = address // self.lanes, (address + length - 1) // self.lanes
        self.command.beats.extend({"address": word} for word in range(first, last + 1))
        self.host.wait(lambda: len(self.words) == last - first + 1, "memory reads")
        data = b"".join(word.to_bytes(self.lanes, "little") for word in self.words)
        self.words.clear()
        return data[address % self.lanes:][:length]


class ExternalMemory:
    """A memory at the ports of a core: it answers late, with stalls, and in order."""
    def __init__(self, host, stall=0.0, latency=(1, 40)):
        core         = host.core
        self.host    = host
        self.latency = latency
        self.lanes   = core.ports["memory_write_dat"][1] // 8
        self.memory  = {}
        self.answers = deque()  # (cycle, word).
        self.data    = Giver(core, "memory_read_data", host.random, stall)
        self.writes  = Taker(core, "memory_write", host.random, self.take_write, stall)
        # A command does not see a write of its own cycle: the core may not rely on it.
        host.parts  += [Taker(core, "memory_read_command", host.random, self.take_command, stall), self.writes, self,
            self.data]

    def take_write(self, beat):
        for lane in range(self.lanes):
            if beat["be"] >> lane & 1:
                self.memory[beat["address"] * self.lanes + lane] = beat["dat"] >> 8 * lane & 0xff

    def take_command(self, beat):
        word = self.read(beat["address"] * self.lanes, self.lanes)
        late = self.host.cycle + self.host.random.randint(*self.latency)
        self.answers.append((late, word))

    def drive(self):
        while self.answers and self.answers[0][0] <= self.host.cycle:
            self.data.beats.append({"dat": int.from_bytes(self.answers.popleft()[1], "little")})

    def sample(self):
        """Room for every answer, as the sheet says."""
        if self.data.offered:
            assert self.host.core["memory_read_data_ready"], "an answer is not taken"

    def write(self, address, data):
        self.memory.update(enumerate(data, address))

    def read(self, address, length):
        return bytes(self.memory.get(n, 0) for n in range(address, address + length))


class StreamUser:
    """The user's logic at stream ``n``: ``send`` packets; ``packets`` that came, the last one open."""
    def __init__(self, host, n, stall=0.0):
        core         = host.core
        has          = {way: f"stream{n}_{way}_dat" in core.ports for way in ("source", "sink")}
        self.lanes   = core.ports[f"stream{n}_{'sink' if has['sink'] else 'source'}_dat"][1] // 8
        self.has     = has
        self.packets = []
        self.open    = None
        if has["sink"]:
            self.sink   = Giver(core, f"stream{n}_sink", host.random, stall)
            host.parts += [self.sink]
        if has["source"]:
            host.parts += [Taker(core, f"stream{n}_source", host.random, self.take, stall)]

    def send(self, packet):
        for at in range(0, len(packet), self.lanes):
            piece = packet[at:at + self.lanes]
            self.sink.beats.append({
                "dat":   int.from_bytes(piece, "little"),
                "be":    (1 << len(piece)) - 1,
                "first": int(at == 0),
                "last":  int(at + self.lanes >= len(packet))})

    def take(self, beat):
        assert bool(beat["first"]) == (self.open is None), "first"
        count = beat["be"].bit_length()
        assert count and beat["be"] == (1 << count) - 1, "be"
        assert beat["last"] or count == self.lanes, "partial beat within a packet"
        self.open = (self.open or b"") + beat["dat"].to_bytes(self.lanes, "little")[:count]
        if beat["last"]:
            self.packets.append(self.open)
            self.open = None
