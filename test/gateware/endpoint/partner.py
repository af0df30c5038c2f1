# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A link partner in Python: the data link layer of a root port, and the wire to it with faults.

Written from the specification. DLLPs are packed and decoded by cocotbext-pcie, LCRCs are those of zlib.
"""

from collections import deque
from dataclasses import dataclass, replace

from cocotbext.pcie.core.dllp import Dllp, DllpType

from test.gateware.endpoint.packets import lcrc, numbered

P, NP, CPL = range(3)
INIT1  = [DllpType.INIT_FC1_P, DllpType.INIT_FC1_NP, DllpType.INIT_FC1_CPL]
INIT2  = [DllpType.INIT_FC2_P, DllpType.INIT_FC2_NP, DllpType.INIT_FC2_CPL]
UPDATE = [DllpType.UPDATE_FC_P, DllpType.UPDATE_FC_NP, DllpType.UPDATE_FC_CPL]


@dataclass(frozen=True)
class Frame:
    """What is between the control symbols at the begin and at the end of a packet."""
    data: bytes
    dllp: bool = False
    edb:  bool = False
    bad:  bool = False  # With a wrong symbol.


def kind_of(tlp):
    """P, NP or CPL by format and type (PCIe 2.1 2.2.1)."""
    kind = tlp[0] & 0x1f
    if kind in (0b01010, 0b01011):
        return CPL
    return P if kind >> 3 == 0b10 or (tlp[0] >> 6 & 1 and kind == 0) else NP


def units_of(tlp):
    """Credits for data."""
    return -(-((tlp[2] & 3) << 8 | tlp[3] or 1024)//4) if tlp[0] >> 6 & 1 else 0


class Partner:
    """Data link layer of the other side. `receive` takes a frame, `send` gives one or None.

    credits  : [(headers, data)] for P, NP, CPL that the other side gets; 0 is infinite.
    ack      : cycles after which a TLP is acknowledged.
    drain    : cycles after which the credits of a TLP are given back, or None: never.
    timeout  : cycles of the replay timer.
    """
    def __init__(self, credits=((32, 128), (32, 128), (0, 0)), ack=60, drain=40, timeout=600):
        self.credits, self.ack, self.drain, self.timeout = credits, ack, drain, timeout
        self.tlps      = deque()    # To be sent.
        self.received  = []
        self.log       = []         # DLLPs that came.
        self.counts    = dict.fromkeys(("bad", "nak", "replay", "error", "duplicate"), 0)
        self.reset()

    def reset(self):
        self.cycle     = 0
        self.phase     = 1          # 1: InitFC1, 2: InitFC2, 3: up.
        self.seen      = {}         # Their limits at the initialization.
        self.limits    = {}
        self.consumed  = [[0, 0] for _ in range(3)]
        self.given     = [list(pair) for pair in self.credits]
        self.taken     = [[0, 0] for _ in range(3)]
        self.expected  = 0          # NEXT_RCV_SEQ
        self.acked     = 4095       # ACKD_SEQ
        self.next      = 0          # NEXT_TRANSMIT_SEQ
        self.flying    = deque()    # (sequence, tlp)
        self.again     = deque()    # Frames to be replayed.
        self.nak_sent  = False
        self.due       = {}         # DLLPs by what they are for: (cycle, DLLP or None).
        self.freeing   = deque()    # (cycle, kind, units)
        self.progress  = 0          # Cycle of the last progress.
        self.turn      = 0
        self.confirmed = False

    # Receive --------------------------------------------------------------------------------------

    def receive(self, frame):
        if frame.dllp:
            try:
                dllp = Dllp.unpack_crc(frame.data)
                assert not frame.bad and not frame.edb
            except Exception:
                self.counts["bad"] += 1
                return
            self.log.append((self.cycle, dllp))
            self.receive_dllp(dllp)
        elif self.phase > 1:
            self.receive_tlp(frame)

    def receive_dllp(self, dllp):
        if dllp.type in (DllpType.ACK, DllpType.NAK):
            self.receive_ack(dllp.seq, dllp.type == DllpType.NAK)
        elif dllp.type in INIT1 + INIT2 and self.phase == 1:
            self.seen[(INIT1 + INIT2).index(dllp.type) % 3] = dllp.hdr_fc, dllp.data_fc
            if len(self.seen) == 3:
                self.phase, self.turn, self.limits = 2, 0, dict(self.seen)
        elif dllp.type in INIT2 + UPDATE and self.phase > 1:
            self.confirmed = True
            if dllp.type in UPDATE:
                self.limits[UPDATE.index(dllp.type)] = dllp.hdr_fc, dllp.data_fc

    def receive_ack(self, sequence, nak):
        ahead = (sequence - self.acked) % 4096
        if ahead > len(self.flying):
            self.counts["error"] += 1
            return
        for _ in range(ahead):
            self.flying.popleft()
        if ahead:
            self.acked, self.progress = sequence, self.cycle
        if nak:
            self.counts["nak"] += 1
            self.start_replay()

    def start_replay(self):
        if self.flying:
            self.counts["replay"] += 1
        self.again    = deque(Frame(numbered(sequence, tlp)) for sequence, tlp in self.flying)
        self.progress = self.cycle

    def receive_tlp(self, frame):
        self.confirmed  = True
        sequence, right = int.from_bytes(frame.data[:2], "big"), lcrc(frame.data[:-4])
        if frame.edb and bytes(byte ^ 0xff for byte in right) == frame.data[-4:]:
            return
        behind = (self.expected - sequence) % 4096
        if frame.bad or frame.edb or right != frame.data[-4:] or behind > 2048:
            self.counts["bad"] += frame.bad or right != frame.data[-4:]
            if not self.nak_sent:
                self.nak_sent   = True
                self.due["ack"] = self.cycle, Dllp.create_nak((self.expected - 1) % 4096)
        elif behind:
            self.counts["duplicate"] += 1
            self.due.setdefault("ack", (self.cycle, None))
        else:
            self.accept(frame.data[2:-4])

    def accept(self, tlp):
        kind, need = kind_of(tlp), (1, units_of(tlp))
        for pool in range(2):
            self.taken[kind][pool] += need[pool]
            assert not self.credits[kind][pool] or self.taken[kind][pool] <= self.given[kind][pool], "no credit"
        self.received.append(tlp)
        self.expected, self.nak_sent = (self.expected + 1) % 4096, False
        self.due.setdefault("ack", (self.cycle + self.ack, None))
        if self.drain is not None:
            self.freeing.append((self.cycle + self.drain, kind, need))

    # Send -----------------------------------------------------------------------------------------

    def tick(self):
        """Called once in every cycle."""
        self.cycle += 1
        if self.phase == 2 and self.confirmed and self.turn >= 3:
            self.phase = 3
        while self.freeing and self.freeing[0][0] <= self.cycle:
            _, kind, need = self.freeing.popleft()
            self.free(kind, *need)
        if self.flying and self.cycle - self.progress > self.timeout:
            self.start_replay()
        if not self.flying:
            self.progress = self.cycle

    def free(self, kind, headers, data):
        self.given[kind][0] += headers
        self.given[kind][1] += data
        self.due.setdefault(kind, (self.cycle, None))

    def flow_control(self, kind, types):
        dllp = Dllp()
        dllp.type    = types[kind]
        dllp.hdr_fc  = self.given[kind][0] % 256 if self.credits[kind][0] else 0
        dllp.data_fc = self.given[kind][1] % 4096 if self.credits[kind][1] else 0
        return dllp

    def send(self):
        """The next frame, or None."""
        dllp = self.next_dllp()
        if dllp:
            return Frame(dllp.pack_crc(), dllp=True)
        if self.phase < 3:
            return None
        if self.again:
            return self.again.popleft()
        if self.tlps and self.allowed(self.tlps[0]):
            return self.send_new(self.tlps.popleft())
        return None

    def next_dllp(self):
        if self.phase < 3:
            self.turn += 1
            return self.flow_control((self.turn - 1) % 3, (INIT1, INIT2)[self.phase - 1])
        for reason, (cycle, dllp) in list(self.due.items()):
            if cycle <= self.cycle:
                del self.due[reason]
                return dllp or (Dllp.create_ack((self.expected - 1) % 4096) if reason == "ack" else
                    self.flow_control(reason, UPDATE))
        return None

    def allowed(self, tlp):
        """There are credits, and room in the window."""
        kind, need = kind_of(tlp), (1, units_of(tlp))
        for pool, bits in enumerate((8, 12)):
            left = (self.limits[kind][pool] - self.consumed[kind][pool] - need[pool]) % 2**bits
            if self.seen[kind][pool] and left > 2**bits//2:
                return False
        return len(self.flying) < 100

    def send_new(self, tlp):
        kind = kind_of(tlp)
        self.consumed[kind][0] += 1
        self.consumed[kind][1] += units_of(tlp)
        self.flying.append((self.next, tlp))
        frame     = Frame(numbered(self.next, tlp))
        self.next = (self.next + 1) % 4096
        return frame


def damaged(frame, rng):
    """The frame with a wrong bit."""
    data = bytearray(frame.data)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return replace(frame, data=bytes(data))
