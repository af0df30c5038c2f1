#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Records packets of a stream, verifies them and plots them, in cells as a notebook has them.

Open it in an editor that runs `# %%` cells, or run it as a program:

    record_and_plot.py [CARD [PACKETS [PICTURE]]]

The card sends back what it gets, as that of `./targets/sim.py --build --load --streams 1` does. With a card that has a
source of its own, leave out what is sent, and verify what your source promises.
"""

# %% What to record
import sys
import threading

import numpy

from matplotlib.figure import Figure

from liblitepcie import Card

CARD    = sys.argv[1] if len(sys.argv) > 1 else "litepcie0"
PACKETS = int(sys.argv[2]) if len(sys.argv) > 2 else 64
PICTURE = sys.argv[3] if len(sys.argv) > 3 else "record.svg"
SAMPLES = 1024  # of 16 bit in a packet

# %% What is sent: a tone that rises from packet to packet, with the number of the packet before the samples
time   = numpy.arange(SAMPLES)/SAMPLES
sent   = [numpy.concatenate([[number], 30000*numpy.sin(2*numpy.pi*(1 + number)*time)]).astype(numpy.int16)
    for number in range(PACKETS)]

# %% Record: one thread sends while this one receives
with Card(CARD) as card, card.stream(0) as stream:
    def send():
        for packet in sent:
            stream.write_packet(packet)

    sender = threading.Thread(target=send)
    sender.start()
    recorded = [stream.read_packet().view(numpy.int16) for _ in range(PACKETS)]
    sender.join()
    lost = stream.info("writer").lost_bytes

# %% Verify: every packet in its order, every sample
wrong = [number for number, (a, b) in enumerate(zip(sent, recorded)) if not numpy.array_equal(a, b)]
print(f"{PACKETS} packets of {SAMPLES} samples recorded; {len(wrong)} wrong, {lost} bytes lost")

# %% Plot: three packets, and all of them as a picture
figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2)
for number in sorted({0, min(1, PACKETS - 1), min(3, PACKETS - 1)}):
    left.plot(recorded[number][1:], label=f"packet {recorded[number][0]}")
left.set(xlabel="sample", ylabel="value")
left.legend()
right.imshow(numpy.stack([packet[1:] for packet in recorded]), aspect="auto", interpolation="nearest")
right.set(xlabel="sample", ylabel="packet")
figure.savefig(PICTURE)
print(PICTURE)
sys.exit(3 if wrong or lost else 0)
