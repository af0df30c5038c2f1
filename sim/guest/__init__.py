#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs a virtual machine with the simulated board: packages, kernel, module, QEMU, commands. Standard library only."""

from litepcie_sim.guest.debug_kernel import DEBUG_KERNEL
from litepcie_sim.guest.errors      import GuestError, GuestTimeout
from litepcie_sim.guest.kernels     import DEFAULT_KERNEL, KERNELS
from litepcie_sim.guest.machine     import Guest
from litepcie_sim.guest.preparation import prepare
from litepcie_soc.build.processes   import handle_signals

__all__ = ["DEBUG_KERNEL", "DEFAULT_KERNEL", "KERNELS", "Guest", "GuestError", "GuestTimeout", "handle_signals",
    "prepare"]
