#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What `make bench BENCH=--guest` measures besides operations: streams, several memory channels, loads and stores.

Rates are in time of the link, which the simulator counts: its clock stands while nothing is under way.
"""

from litepcie_bench.guest_measure import CARD, GuestError, Point

MIB       = 1 << 20
STREAM    = "/dev/litepcie0_stream1"  # Sends a pattern, and takes everything.
MEBIBYTES = 16

# Bytes of a load or store of each way of pio.c; None: the driver does them.
PIO_WAYS  = {"word4": 4, "word8": 8, "combined4": 4, "combined8": 8, "combined16": 16, "string": 8, "call": None,
    "calls": None}
PIO_BYTES = 4096

# Bytes per second of a link of generation 1 with one lane, after 8b/10b; of a read request on it; latency of the host.
GEN1_X1 = 250e6
REQUEST = 20
LATENCY = 1e-6


def link_rate(sequence, tlps, wire, payload=64):
    """Returns the bytes per second of stores or loads over Gen1 x1, at most.

    Stores are posted, so their TLPs leave one after the other. The processor waits for each load: the host's latency,
    the request and the completion on the link.
    """
    waits = tlps*(LATENCY + REQUEST/GEN1_X1) if sequence == "read" else 0
    return payload/(waits + wire/GEN1_X1)


def _base(interface, sequence, **others):
    return {"design": "litepcie_soc", "source": "bench --guest", "device": CARD, "interface": interface,
        "sequence": sequence, **others}


def stream(counter, how, sequence):
    """Returns the record of a stream, by "call", "ring" or "direct" (O_DIRECT): figures for each MiB."""
    output, counts = counter.count(f"stream {STREAM} {sequence} {how} {MEBIBYTES}")
    interrupts, moved, copied = map(int, output.split())
    return _base(f"stream {how}", sequence, transfer_bytes=MIB, iterations=MEBIBYTES,
        **{name: value*MIB/moved for name, value in counts.items()}, interrupts=interrupts*MIB/moved,
        copied_bytes=copied*MIB/moved)


def channels(counter, number, sequence, size=512, depth=32):
    """Returns the record of small transfers on a card with `number` memory channels."""
    point  = Point(CARD, "uring", size, depth, 1, sequence)
    before = counter.link()
    counter.count(point.command)
    after  = counter.link()
    count  = point.operations + 2*depth  # With the warm-up.
    cycles = after["cycles"] - before["cycles"]
    return _base("channels", sequence, transfer_bytes=size, depth=depth, callers=1, iterations=count, channels=number,
        transfers_per_second=count*after["board"]["clock_hz"]/cycles)


def _traffic(stats, sequence):
    """TLPs of the host's loads or stores, and their bytes on the link in the direction of the data."""
    name, end = ("MWr32", "to_card") if sequence == "write" else ("CplD", "to_host")
    count     = stats[end]["tlps"].get(name, {"tlps": 0, "payload_bytes": 0, "wire_bytes": 0})
    return count["tlps"], count["payload_bytes"], count["wire_bytes"]


def pio(counter, way, sequence):
    """Returns the record of loads or stores of the processor: figures for 64 bytes of data.

    The first loads of the program touch the pages of its mapping; these are in the figures of loads.
    """
    before    = counter.link()
    _, counts = counter.count(f"pio {way} {sequence} {PIO_BYTES}")
    after     = counter.link()
    tlps, payload, wire = (b - a for a, b in zip(_traffic(before, sequence), _traffic(after, sequence)))
    if payload < PIO_BYTES:
        raise GuestError(f"pio {way} {sequence}: {payload} bytes crossed the link instead of {PIO_BYTES}")
    return _base(f"pio {way}", sequence, transfer_bytes=64, iterations=PIO_BYTES//64, tlps=tlps*64/payload,
        wire_bytes=wire*64/payload, link_bytes_per_second=link_rate(sequence, tlps, wire, payload),
        **{name: counts[name]*64/PIO_BYTES for name in ("program_instructions", "kernel_instructions", "system_calls")})
