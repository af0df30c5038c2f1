#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Generates the committed header `software/user/util/litepcie_lane.h` from the layout of the lane's state.

    python3 -m litepcie_soc.build.lane --write     updates it
    python3 -m litepcie_soc.build.lane --check     compares it; exit status 1 if it differs
"""

import sys

from litepcie_soc.build import generated
from litepcie_soc.endpoint import LANE_HEADER, lane_header


def main(argv=None):
    return generated.main(argv, "litepcie_soc.build.lane", "The state of the lane as a C header, from the gateware.",
        {LANE_HEADER: lambda _committed: lane_header()})


if __name__ == "__main__":
    sys.exit(main())
