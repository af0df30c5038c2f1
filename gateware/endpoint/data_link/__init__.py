#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Data link layer: packets to TLPs that arrive once and in order (PCIe 2.1 chapter 3).

    `layer.py`   physical layer                                         transaction layer
                       |                                                       |
    receive:           +-- TLPs --> Receiver (LCRC, order, LengthCheck) ------>|
                       '-- DLLPs --> DLLPReceiver                              |
                                       | ACK, NAK     | credits                |
    transmit:  LCRCAppender <---- ReplayBuffer <-- CreditEntrance, one a type <|
               DLLPTransmitter <-- DLLPSelector <-- AckScheduler, FlowControlInit, Advertiser

`Stack` joins this layer, the physical layer, and the power management of the link.
"""
