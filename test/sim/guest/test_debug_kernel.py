#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import pytest

from litepcie_sim.guest              import DEBUG_KERNEL, Guest, GuestError
from litepcie_sim.guest.arm64        import ARM64_KERNELS, Arm64Kernel, VirtMachine
from litepcie_sim.guest.debug_kernel import CONFIG, DebugKernel, check_config, kernel
from litepcie_sim.guest.kernels      import Kernel


def test_the_names_of_kernels():
    assert kernel("6.12") == Kernel("6.12")
    assert isinstance(kernel(DEBUG_KERNEL), DebugKernel)
    assert kernel(DEBUG_KERNEL).suite == Kernel("6.1").suite
    for name in ARM64_KERNELS:
        assert isinstance(kernel(name), Arm64Kernel) and kernel(name).suite == Kernel("6.12").suite
    with pytest.raises(GuestError, match="there is no guest kernel '5.10'"):
        kernel("5.10")


def test_an_option_that_kconfig_dropped_is_an_error():
    wanted = CONFIG.read_text()
    check_config(wanted, wanted)
    with pytest.raises(GuestError, match="the debug kernel cannot have CONFIG_KASAN=y; change debug.config"):
        check_config(wanted, wanted.replace("CONFIG_KASAN=y\n", "# CONFIG_KASAN is not set\n"))


def test_a_guest_with_an_arm_processor_has_no_iommu_and_none_of_these_programs():
    with pytest.raises(GuestError, match="a guest with an ARM processor cannot have an IOMMU here; leave iommu out"):
        VirtMachine(iommu=True)
    with pytest.raises(GuestError, match="there is no fio for a guest with an ARM processor; leave with_fio out"):
        Guest(kernel="6.12-arm64", with_fio=True)
    with pytest.raises(GuestError, match="there is no lspci for a guest with an ARM processor; leave with_lspci out"):
        Guest(kernel="6.12-arm64", with_lspci=True)
    arguments = VirtMachine().arguments("kernel", "initrd", 3, 4)
    assert "cortex-a76" in arguments and not any("q35" in word or "ttyS" in word for word in arguments)
