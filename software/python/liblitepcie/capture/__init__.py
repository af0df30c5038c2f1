#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Captures of stream packets: recorded, replayed, converted, served. `python3 -m liblitepcie.capture --help`

A capture moves in blocks (`block`) from a source (a card, a file, a server) to a sink (a card, a file).
"""
