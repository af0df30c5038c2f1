#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""SerDes, at one boundary: `SerDesInterface`. A part of a family is a folder here."""
