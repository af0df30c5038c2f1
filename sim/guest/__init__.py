#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A virtual machine with the simulated board in it: packages, kernel, module, QEMU, commands.

Standard library only, and importable from any Python 3.11, so that the parts of the guest can be
fetched while the rest of the environment is still being made.
"""

from litepcie_sim.guest.errors      import GuestError, GuestTimeout
from litepcie_sim.guest.kernels     import DEFAULT_KERNEL, KERNELS
from litepcie_sim.guest.machine     import Guest
from litepcie_sim.guest.preparation import prepare
from litepcie_soc.build.processes   import handle_signals

__all__ = ["DEFAULT_KERNEL", "KERNELS", "Guest", "GuestError", "GuestTimeout", "handle_signals",
    "prepare"]
