#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Physical layer: symbols of the SerDes to packets, and the training of the link (PCIe 2.1 chapter 4).

    `link.py`        SerDesInterface                       data link layer
                            |                                     |
    receive:    descrambler +--> FrameReceiver ------------------>|
                            '--> SetReceiver --> LTSSM            |
                                                   | send         |
    transmit:   scrambler <---- SetTransmitter <---'              |
                                 ^--- FrameTransmitter <----------|

`CompliancePattern` and `Loopback` take the place of the scrambler.
"""
