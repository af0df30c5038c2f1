#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The benchmark: this SoC and stock LitePCIe under one model of link and host, compared with published figures."""
