#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Transaction layer of the endpoint: what it answers and sends itself, and what passes (PCIe 2.1 chapters 2, 6 and 7).

    `layer.py`   data link layer                                                  PHY
                       |                                                           |
    receive:           '--> RequestSorter --+--> WordsToBeats -------------------->|
                                            +--> ConfigAccess --> ConfigSpace      |
                                            '--> messages: power                   |
    transmit:   TransmitQueues <--+-- ConfigAccess (completions)                   |
                 one a type       +-- OwnRequests (MSI, errors, PME_TO_Ack)        |
                                  '-- BeatsToWords <-- BusMasterStop <-------------|
"""
