# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""DLLPs and the LCRC against recorded ones, cocotbext-pcie's decoder, and zlib."""

import random

from cocotbext.pcie.core.dllp import Dllp, DllpType

from litepcie_soc.endpoint.data_link.dllp import COMPLETION, NONPOSTED, POSTED, DLLPReceiver, DLLPTransmitter
from litepcie_soc.endpoint.data_link.lcrc import LCRCAppender, LCRCChecker
from test.gateware.endpoint.packets import framed, inverted, joined, lcrc, send_words, words
from test.gateware.simulation import Stalls, Watch, accept, drive, forever, simulate
from test.gateware.steps import wait

# Dword, CRC: recorded on a link of other implementations, or computed by three of them.
RECORDED = [bytes.fromhex(text) for text in """
    40080080f35a 50080001b1f6 60000000d892 c00800808925 d0080001cb89 e0000000a2ed 80084088d0a9 9008400279f4
    800c44028296 00000000b362 00000fff25a8 00000017d53a 0000080066bf 1000012309e2 400803f035bc 2000000065ad
    210000001055 23000000eb05 24000000930c 31000000fb32 c00803f04fc3
    """.split()]

PULSES = ("ack", "nak", "init1", "init2", "update", "power", "vendor", "ignored", "error")
FIELDS = ("dword", "sequence", "credits", "header_fc", "data_fc")

TYPES  = {
    DllpType.INIT_FC1_P:  ("init1",  POSTED), DllpType.INIT_FC1_NP:  ("init1",  NONPOSTED),
    DllpType.INIT_FC2_P:  ("init2",  POSTED), DllpType.INIT_FC2_NP:  ("init2",  NONPOSTED),
    DllpType.UPDATE_FC_P: ("update", POSTED), DllpType.UPDATE_FC_NP: ("update", NONPOSTED),
    DllpType.INIT_FC1_CPL: ("init1", COMPLETION), DllpType.INIT_FC2_CPL: ("init2", COMPLETION),
    DllpType.UPDATE_FC_CPL: ("update", COMPLETION)}


def receive(packets):
    """What the receiver says of each of ``packets`` (bytes, {signal: value}): [(pulse, {field: value})]."""
    dut, results = DLLPReceiver(), []
    def send():
        yield from send_words(dut, packets)
        yield from wait(5)
    def watch():
        signals = [getattr(dut, name) for name in (*PULSES, *FIELDS)]
        while True:
            values = dict(zip((*PULSES, *FIELDS), (yield signals)))
            pulses = [name for name in PULSES if values[name]]
            assert len(pulses) <= 1
            if pulses:
                results.append((pulses[0], {name: values[name] for name in FIELDS}))
            yield
    simulate(dut, [send(), forever(watch())])
    return results


def test_decodes_recorded_dllps():
    got = receive([(packet, {}) for packet in RECORDED])
    assert [fields["dword"].to_bytes(4, "big") for _, fields in got] == [packet[:4] for packet in RECORDED]
    assert [pulse for pulse, _ in got] == ["init1"]*3 + ["init2"]*3 + ["update"]*3 + ["ack"]*4 + ["nak", "init1"] + \
        ["power"]*4 + ["ignored", "init2"]
    numbers = [fields["sequence"] for pulse, fields in got if pulse in ("ack", "nak")]
    assert numbers == [0, 0xfff, 0x17, 0x800, 0x123]
    assert [(fields["header_fc"], fields["data_fc"]) for _, fields in got[:2]] == [(32, 128), (32, 1)]


def test_decodes_what_another_implementation_sends():
    rng, sent = random.Random(1), []
    for n in range(120):
        dllp = Dllp.create_ack(rng.randrange(4096)) if n % 4 == 0 else Dllp.create_nak(rng.randrange(4096))
        if n % 2:
            dllp = Dllp()
            dllp.type, dllp.hdr_fc, dllp.data_fc = rng.choice(list(TYPES)), rng.randrange(256), rng.randrange(4096)
        sent.append(dllp)
    got = receive([(dllp.pack_crc(), {}) for dllp in sent])
    assert len(got) == len(sent)
    for dllp, (pulse, fields) in zip(sent, got):
        if dllp.type in TYPES:
            assert (pulse, fields["credits"]) == TYPES[dllp.type]
            assert (fields["header_fc"], fields["data_fc"]) == (dllp.hdr_fc, dllp.data_fc)
        else:
            assert (pulse, fields["sequence"]) == (dllp.type.name.lower(), dllp.seq)


def test_ignores_reserved_fields_scales_and_unknown_types():
    ack = Dllp.create_ack(0x123)
    ack.type = DllpType.UPDATE_FC_P
    ack.hdr_scale, ack.data_scale, ack.hdr_fc, ack.data_fc = 3, 3, 7, 9
    other = Dllp()
    other.type, other.vc = DllpType.INIT_FC1_P, 3
    feature = Dllp()
    feature.type, feature.feature_ack = DllpType.DATA_LINK_FEATURE, True
    (scaled, fields), *rest = receive([(dllp.pack_crc(), {}) for dllp in (ack, other, feature)])
    assert scaled == "update" and (fields["header_fc"], fields["data_fc"]) == (7, 9)
    assert [pulse for pulse, _ in rest] == ["ignored"]*2


# Rules: DLL.4.1#5-33
def test_ignores_every_type_that_it_does_not_know():
    known = {0x00, 0x10, 0x30, *range(0x20, 0x28)}
    known |= {kind << 6 | credits << 4 for kind in (1, 2, 3) for credits in range(3)}
    other = [value for value in range(256) if value not in known]
    got   = receive([(framed(bytes([value, 1, 2, 3])), {}) for value in other])
    assert [pulse for pulse, _ in got] == ["ignored"]*len(other)


# Rules: DLL.4.1#34
def test_drops_and_counts_damaged_dllps():
    good, packets = framed(bytes.fromhex("00000017")), []
    for bit in range(48):
        damaged = bytearray(good)
        damaged[bit//8] ^= 1 << bit % 8
        packets.append((bytes(damaged), {}))
    packets += [(wrong, {}) for wrong in (good[:2], good[:4], good + bytes(2), good + bytes(8))]
    packets.append((good, dict(damaged=1)))
    packets  = [packet for wrong in packets for packet in (wrong, (good, {}))]
    got = receive(packets)
    assert [pulse for pulse, _ in got] == ["error", "ack"]*(len(packets)//2)
    assert all(fields["sequence"] == 0x17 for pulse, fields in got if pulse == "ack")


def transmit(dwords, stalls=0.0):
    dut   = DLLPTransmitter()
    watch = Watch(dut.source)
    def until_sent():
        while len(watch.packets()) < len(dwords):
            yield
    simulate(dut, [drive(dut.sink, [dict(dword=int.from_bytes(dword, "big")) for dword in dwords]), until_sent(),
        forever(accept(dut.source, Stalls(stalls))), forever(watch.watch())])
    return watch


# Rules: DLL.4.1#34
def test_sends_recorded_dllps():
    """test_data_link.py has others, decoded by another implementation."""
    for stalls in (0.4, 0):
        watch = transmit([packet[:4] for packet in RECORDED], stalls)
        assert [joined(beats) for beats in watch.packets()] == RECORDED
    # Three words each, without a gap.
    assert watch.beats[-1]["cycle"] - watch.beats[0]["cycle"] == 3*len(RECORDED) - 1


# Sequence number, TLP, LCRC: recorded on a link of other implementations.
RECORDED_TLPS = [(bytes.fromhex(packet), bytes.fromhex(crc)) for packet, crc in [
    ("0019 330000000001000000000000 00000000", "3cfca208"),
    ("001a 740000010001085000000000 00000000 71077345", "dc6c3273"),
    ("0000 040000010000000f01000000", "4fa62aff"),
    ("0014 400000010000000fa0100000 67c66973", "333f60ac")]]


def append(packets, share):
    dut   = LCRCAppender()
    watch = Watch(dut.source)
    def drain():
        while len(watch.packets()) < len(packets):
            yield from wait(20)
    simulate(dut, [drive(dut.sink, [beat for packet in packets for beat in words(packet)], Stalls(share, 2)),
        forever(accept(dut.source, Stalls(share, 3))), forever(watch.watch()), drain()])
    return watch


# Rules: DLL.5.2#20
def test_appends_what_was_recorded_and_what_zlib_computes():
    """TLPs of all lengths that MPS 512 allows."""
    rng     = random.Random(1)
    packets = [packet for packet, _ in RECORDED_TLPS] + [rng.randbytes(2 + length)
        for length in (12, 16, 20, 528, *(4*rng.randrange(3, 133) for _ in range(15)))]
    right   = [crc for _, crc in RECORDED_TLPS] + list(map(lcrc, packets[len(RECORDED_TLPS):]))
    for share in (0.3, 0):
        watch = append(packets, share)
        assert [joined(beats) for beats in watch.packets()] == [packet + crc for packet, crc in zip(packets, right)]
    # Without a gap.
    assert watch.beats[-1]["cycle"] - watch.beats[0]["cycle"] == len(watch.beats) - 1


def check(packets):
    """(good, nullified) of each packet, which ends with its LCRC."""
    dut, results = LCRCChecker(), []
    def send():
        yield from send_words(dut, [(packet, {}) for packet in packets])
        yield from wait(4)
    def receive():
        while True:
            if (yield dut.done):
                results.append(((yield dut.good), (yield dut.nullified)))
            yield
    simulate(dut, [send(), forever(receive())])
    return results


# Rules: DLL.5.2#20
def test_checks_recorded_packets():
    """test_data_link.py has packets with wrong bits."""
    good = [packet + crc for packet, crc in RECORDED_TLPS]
    null = [packet + inverted(crc) for packet, crc in RECORDED_TLPS]
    assert null[0].endswith(bytes.fromhex("c3035df7"))
    assert check(good + null + good) == [(1, 0)]*4 + [(0, 1)]*4 + [(1, 0)]*4
