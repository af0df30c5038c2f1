# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A host for any core: memory, a root port that completes reads late and in pieces, registers, rings."""

import random
from collections import deque

from test.gateware.simulation import TLP, written_bytes
from test.gateware.standalone.ports import Giver, Taker

HOST, CARD, BAR0 = 0x0008, 0x0300, 0xfe000000
RCB              = 64
LIMIT            = 50000  # Cycles any wait lasts.


def check_card(tlp):
    """Fails on what no card may send, by the PCIe specification and the integration sheet."""
    assert (tlp.tc, tlp.td, tlp.ep, tlp.attr >> 2) == (0, 0, 0, 0), f"TC, TD, EP or Attr[2] of {tlp}"
    if tlp.is_completion:
        assert tlp.type == 0b01010, f"a locked completion: {tlp}"
        return
    assert tlp.type == 0, f"type {tlp.type:x}"
    assert bool(tlp.fmt & 1) == (tlp.address >= 1 << 32), f"size of the header: {tlp}"
    assert bool(tlp.last_be) == (tlp.length > 1) and tlp.first_be, f"byte enables: {tlp}"
    assert tlp.address % 4096 + 4*tlp.length <= 4096, f"it crosses 4 KiB: {tlp}"


class Assembler:
    """Beats of a stream port to TLPs, held to first, last and be."""
    def __init__(self, data_width, endianness, take):
        self.data_width = data_width
        self.endianness = endianness
        self.take       = take
        self.beats      = []

    def beat(self, beat):
        assert bool(beat["first"]) == (not self.beats), f"`first` is wrong in beat {len(self.beats)}: {beat}"
        assert beat["be"], f"beat {len(self.beats)} is empty: {beat}"
        self.beats.append(beat)
        if beat["last"]:
            beats, self.beats = self.beats, []
            tlp = TLP.from_beats(beats, self.data_width, self.endianness)
            check_card(tlp)
            self.take(tlp)


class Host:
    """The far side of a core's PHY ports.

    ``parts`` are ticked with it: whatever is at the core's other ports. ``memory`` is a sparse
    byte array. What the core may not do ends in an AssertionError.
    """
    def __init__(self, core, *, endianness="big", stall=0.0, mps=128, mrrs=512, latency=(20, 120), seed=1):
        self.core       = core
        self.random     = random.Random(seed)
        self.endianness = endianness
        self.mps        = mps
        self.mrrs       = mrrs
        self.latency    = latency
        self.width      = core.ports[next(name for name in core.ports if name.startswith("tx") and
            name.endswith("dat"))][1]
        self.memory     = {}        # Byte address -> byte.
        self.msis       = []        # Cycles.
        self.on_msi     = None
        self.cycle      = 0
        self.due        = []        # (cycle, tag, deque of completions).
        self.reads      = {}        # Tag -> bytes, of the host's own reads.
        self.begun      = {}        # Tag -> bytes, likewise, of those whose last completion has not come.
        self.open_tags  = set()     # Of the card.
        self.split      = "tx_req_valid" in core.ports
        self.parts      = []
        self.connect(stall)
        self.reset()

    def connect(self, stall):
        core = self.core
        tx, rx = (("tx_req", "tx_cmp"), ("rx_req", "rx_cmp")) if self.split else (("tx",), ("rx",))
        self.assemblers = [Assembler(self.width, self.endianness, self.take) for _ in tx]
        self.takers     = [Taker(core, name, self.random, assembler.beat, stall)
            for name, assembler in zip(tx, self.assemblers)]
        self.givers     = [Giver(core, name, self.random, stall) for name in rx]
        self.parts     += [*self.takers, *self.givers, Taker(core, "msi", self.random, self.take_msi, stall)]

    def reset(self):
        core = self.core
        core["phy_id"], core["phy_max_payload_size"], core["phy_max_request_size"] = CARD, self.mps, self.mrrs
        for name in ("extended_tag", "bus_master_enable", "link_up", "msi_enable", "relaxed_ordering_enable",
                "no_snoop_enable"):
            core[f"phy_{name}"] = 1
        core["phy_rcb_128"], core["phy_function_reset"], core["sys_rst"] = 0, 0, 1
        core.settle()
        core.edge()
        core["sys_rst"] = 0

    def link(self, up, rude=False):
        """The link goes: what is under way is lost, what the card offers is thrown away. Or comes back.

        `rude`: a TLP that was begun is not ended, and what the card offers is not taken.
        """
        self.core["phy_link_up"] = up
        self.due.clear()
        self.open_tags.clear()
        for giver in self.givers:
            giver.lose(cut=rude)
        for taker, assembler in zip(self.takers, self.assemblers):
            assembler.beats = []
            taker.lose(everything=not up, stuck=rude)

    # Time -----------------------------------------------------------------------------------------

    def tick(self):
        for part in self.parts:
            part.drive()
        self.core.settle()
        for part in self.parts:
            part.sample()
        self.core.edge()
        self.cycle += 1
        self.complete()

    def ticks(self, count):
        for _ in range(count):
            self.tick()

    def wait(self, condition, what):
        for _ in range(LIMIT):
            if condition():
                return
            self.tick()
        raise AssertionError(f"{what} did not come in {LIMIT} cycles, by cycle {self.cycle}")

    # TLPs of the card -----------------------------------------------------------------------------

    def take(self, tlp):
        if tlp.is_completion:
            self.take_completion(tlp)
            return
        most = self.mps if tlp.fmt & 2 else self.mrrs
        assert tlp.requester == CARD, f"requester of {tlp}"
        assert 4 * tlp.length <= most, f"{4 * tlp.length} bytes at {tlp.address:#x}, of {most} that are allowed"
        if tlp.fmt & 2:
            self.store(tlp)
        else:
            self.answer(tlp)

    def take_completion(self, tlp):
        assert (tlp.requester, tlp.completer) == (HOST, CARD), f"IDs of {tlp}"
        assert tlp.tag in self.reads and not self.reads[tlp.tag], f"a completion without a request: {tlp}"
        data = self.begun.pop(tlp.tag, b"") + tlp.data
        if tlp.status == 0 and (tlp.byte_count or 4096) > len(tlp.data) - tlp.lower_address % 4:
            self.begun[tlp.tag] = data  # The rest comes in another completion.
        else:
            self.reads[tlp.tag] = (tlp.status, data)

    def store(self, tlp):
        self.memory.update(written_bytes(tlp))

    def answer(self, tlp):
        """Completions of 64 or 128 bytes, split where the specification lets a root port (2.3.1.1)."""
        assert tlp.tag not in self.open_tags, f"tag {tlp.tag} is in use"
        self.open_tags.add(tlp.tag)
        lead  = (tlp.first_be & -tlp.first_be).bit_length() - 1
        last  = tlp.last_be or tlp.first_be
        at    = tlp.address + lead
        end   = tlp.address + 4 * (tlp.length - 1) + last.bit_length()
        step  = RCB * self.random.choice((1, 2))
        queue = deque()
        while at < end:
            to    = min(end, (at // step + 1) * step)
            start = at & ~3
            data  = bytes(self.memory.get(n, 0) for n in range(start, -(-to // 4) * 4))
            queue.append(TLP(fmt=2, type=0b01010, length=len(data) // 4, requester=CARD, tag=tlp.tag, attr=tlp.attr,
                completer=HOST, byte_count=end - at, lower_address=at & 0x7f, data=data))
            at = to
        self.due.append((self.cycle + self.random.randint(*self.latency), tlp.tag, queue))

    def complete(self):
        """One completion of any request that is due; requests overtake each other."""
        ready = [entry for entry in self.due if entry[0] <= self.cycle]
        if ready and len(self.givers[-1].beats) < 4:
            entry = self.random.choice(ready)
            self.send(entry[2].popleft(), completion=True)
            if not entry[2]:
                self.due.remove(entry)
                self.open_tags.remove(entry[1])

    def take_msi(self, beat):
        assert beat["dat"] == 0
        self.msis.append(self.cycle)
        if self.on_msi:
            self.on_msi()

    # TLPs of the host -----------------------------------------------------------------------------

    def send(self, tlp, completion=False):
        self.givers[-1 if completion else 0].beats.extend(tlp.beats(self.width, self.endianness))

    def send_request(self, fmt, offset, length, first_be=0xf, last_be=0xf, **fields):
        """A request for BAR0: aligned dwords."""
        self.send(TLP(fmt=fmt, type=0, length=length // 4, requester=HOST, address=BAR0 + offset, first_be=first_be,
            last_be=last_be * (length > 4), **fields))

    def try_read(self, offset, length, first_be=0xf, last_be=0xf):
        """(status, bytes) of the completion of a read of BAR0: aligned dwords."""
        tag = next(n for n in range(256) if n not in self.reads)
        self.reads[tag] = None
        self.send_request(0, offset, length, first_be, last_be, tag=tag)
        self.wait(lambda: self.reads[tag], f"the read of {offset:#x}")
        return self.reads.pop(tag)

    def read_bytes(self, offset, length):
        """A read of BAR0 that succeeds: aligned dwords."""
        status, data = self.try_read(offset, length)
        assert status == 0, f"status {status} of a read of {length} bytes at {offset:#x} of BAR0"
        return data

    def read(self, offset):
        return int.from_bytes(self.read_bytes(offset, 4), "little")

    def write_bytes(self, offset, data, first_be=0xf, last_be=0xf):
        self.send_request(2, offset, len(data), first_be, last_be, data=data)

    def write(self, offset, value):
        self.write_bytes(offset, value.to_bytes(4, "little"))

    # Host memory ----------------------------------------------------------------------------------

    def put(self, address, data):
        self.memory.update(enumerate(data, address))

    def get(self, address, length):
        return bytes(self.memory.get(n, 0) for n in range(address, address + length))

    def get32(self, address):
        return int.from_bytes(self.get(address, 4), "little")


class Engine:
    """A DMA engine as a driver uses it: a ring of 64 descriptors and a status block in host memory."""
    RING_LOG2 = 6

    def __init__(self, host, regs, base, memory):
        self.host     = host
        self.regs     = regs
        self.base     = base
        self.ring     = memory
        self.status   = memory + 0x1000
        self.doorbell = 0
        for name, value in (("RING_LO", self.ring & 0xffffffff), ("RING_HI", self.ring >> 32),
            ("RING_LOG2", self.RING_LOG2), ("STATUS_ADDRESS_LO", self.status & 0xffffffff),
            ("STATUS_ADDRESS_HI", self.status >> 32), ("CONTROL", regs["ENGINE_CONTROL_ENABLE"])):
            self.write(name, value)

    def write(self, name, value):
        self.host.write(self.base + self.regs[f"ENGINE_{name}"], value)

    def read(self, name):
        return self.host.read(self.base + self.regs[f"ENGINE_{name}"])

    def wait_for_reset(self):
        self.host.wait(lambda: not self.read("STATUS") & self.regs["ENGINE_STATUS_RESETTING"], "the end of a reset")
        self.host.put(self.status, bytes(16))

    def reset(self):
        """Resets the engine as a driver does; it needs a ring again."""
        self.write("CONTROL", self.regs["ENGINE_CONTROL_RESET"])
        self.wait_for_reset()

    def submit(self, descriptors):
        """(host, endpoint, length, flags) each; the last one interrupts."""
        for n, (address, endpoint, length, flags) in enumerate(descriptors, 1):
            slot   = self.doorbell % (1 << self.RING_LOG2)
            flags |= self.regs["DESCRIPTOR_INTERRUPT"] * (n == len(descriptors))
            self.host.put(self.ring + 16 * slot, (length | flags).to_bytes(4, "little") +
                endpoint.to_bytes(4, "little") + address.to_bytes(8, "little"))
            self.doorbell += 1
        self.write("DOORBELL", self.doorbell)

    @property
    def completed(self):
        return self.host.get32(self.status)

    def wait(self):
        self.host.wait(lambda: self.completed == self.doorbell or self.reason, "a completion")
        assert self.reason == 0, (f"engine {self.base:#x} stopped after {self.completed} of {self.doorbell} "
            f"descriptors, reason {self.reason}")

    @property
    def reason(self):
        return self.host.get32(self.status + 4) & 0xff
